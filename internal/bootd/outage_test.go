package bootd

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/snapshot"
)

// TestGrantsOfASnapshot: a bootd that is restarted while nothing can be read goes on from its snapshot: addresses, and the disk. A live grant in
// it is never honoured.
func TestGrantsOfASnapshot(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		source func(c *Config)
		why    string
	}{
		"API":    {"the API is away", func(c *Config) { c.Kube = &rest.Config{Host: "http://" + freePort(t)} }, boot.DecidedNotSynced},
		"Folder": {"the disk with the specs isn't mounted", func(c *Config) { c.SpecDir = t.TempDir() }, gate.ReasonHeld},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			c.HealthListen = freePort(t)
			tc.source(&c)
			save(t, c.StateDir, granted())
			running(t, c)
			_, script := get(t, request(t, c.DHCPListen))
			if !strings.Contains(script, tc.why) || strings.Contains(script, "kernel") {
				t.Errorf("%s:\n%s", tc.reason, script)
			}
			if status, _ := get(t, "http://"+c.HTTPListen+"/metrics"); status != http.StatusNotFound {
				t.Errorf("machines see the metrics: %d", status)
			}
		})
	}
}

// granted is a state of a machine that may be installed.
func granted() *boot.State {
	name := boot.Name{Namespace: "lab", Name: "rack"}
	st := boot.NewState(
		[]boot.Segment{{Name: name, Subnets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Mode: boot.SegmentRelayOnly}},
		[]boot.Plan{{
			Entry: boot.Name{Namespace: "lab", Name: "m1"}, EntryUID: "u1", HostUID: "h", MACs: []boot.MAC{"52:54:00:00:00:01"},
			Network: boot.Network{Name: name, Address: netip.MustParsePrefix("127.0.0.11/8")}, Mode: boot.ModeInstall, InstallGeneration: 1,
			Artifacts: []boot.Artifacts{{Arch: boot.AMD64}},
		}},
		[]boot.Session{{EntryUID: "u1", Grant: &boot.Grant{ID: "00000000000000aa", HostUID: "h", EntryUID: "u1", Generation: 1, Expires: time.Now().Add(time.Hour)}}},
	)
	p, _ := st.ByMAC("52:54:00:00:00:01")
	st.Sessions["u1"].Grant.PlanDigest = p.Digest()
	return st
}

func save(t *testing.T, dir string, st *boot.State) {
	t.Helper()
	c, err := Config{Name: "b", StateDir: dir, PlansDir: "x"}.complete()
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot.In(dir)
	s.Offer(st, [][]byte{[]byte("key")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx, c.Logger); err != nil {
		t.Fatal(err)
	}
}
