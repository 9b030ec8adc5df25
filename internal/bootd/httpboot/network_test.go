package httpboot

import (
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestNetworkOfPlan: what a machine's system has its network on is told in each language, by the boot's token alone, and uses the grant.
func TestNetworkOfPlan(t *testing.T) {
	wired := func(r *rig) {
		r.plan.Network.Interface = &boot.Interface{VLAN: 77}
		r.data["user-data"] = []byte("{{ .nmstateURL }} {{ .talosNetwork }} {{ .other }}")
		r.session.Grant.PlanDigest = r.plan.Digest()
	}
	cases := map[string]struct {
		reason string
		path   string
		change func(*rig)
		claims boot.Claims
		status int
		want   []string
	}{
		"CloudInit":   {"without anything that a person wrote", "network-config", wired, boot.Claims{}, 200, []string{"version: 2\n", "port0.77:", `macaddress: "52:54:00:00:00:01"`}},
		"NMState":     {"a file that nmstate applies", "nmstate", wired, boot.Claims{}, 200, []string{"base-iface: \"port0\"\n"}},
		"Talos":       {"a patch", "talos-network", wired, boot.Claims{}, 200, []string{"machine:\n  network:\n", "vlanId: 77"}},
		"UserData":    {"its places are filled in, and others aren't", "user-data", wired, boot.Claims{}, 200, []string{"/nmstate {", `"vlanId": 77`, " {{ .other }}"}},
		"NoSecret":    {"nothing else needs to be there", "nmstate", func(r *rig) { wired(r); r.data = nil }, boot.Claims{}, 200, []string{"interfaces:"}},
		"MetaData":    {"what a person has to write isn't made up", "meta-data", wired, boot.Claims{}, 404, nil},
		"ScriptToken": {"a script's token opens none of it", "nmstate", wired, boot.Claims{Kind: boot.TokenScript}, 403, nil},
		"OldGrant":    {"nor does one of an earlier boot", "talos-network", wired, boot.Claims{GrantID: "00000000000000ee"}, 403, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			c := tc.claims
			if c.Kind == 0 {
				c.Kind = boot.TokenBoot
			}
			if c.GrantID == "" {
				c.GrantID = grantID
			}
			c.Nonce = r.nonce()
			got := r.do(http.MethodGet, "/v1/boot/"+r.mint(c)+"/"+tc.path, "")
			if got.status != tc.status {
				t.Fatalf("%s: %d %q", tc.reason, got.status, got.body)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.body, want) {
					t.Errorf("%s: %q isn't in %q", tc.reason, want, got.body)
				}
			}
			if used := strings.Join(r.sessions.calls, " "); (tc.status != 403) != strings.HasPrefix(used, "consume") {
				t.Errorf("%s: it's asked for %q", tc.reason, used)
			}
		})
	}
}
