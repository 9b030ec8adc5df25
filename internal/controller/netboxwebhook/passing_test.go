package netboxwebhook

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/hooks"
)

// TestPass: what comes to a provider that doesn't lead is taken by the one that does, once; nothing else gets that far.
func TestPass(t *testing.T) {
	b := body("updated", 7, "1", "m")
	const path = "/netbox/webhook/netbox"
	cases := map[string]struct {
		reason, path, signature string
		// leader is where the one that leads is: here unless it's said.
		leader string
		// nobody says that the other one doesn't lead either, and passed that another one passed it on already.
		nobody, passed bool
		// other is a secret that the one that leads knows instead.
		other  string
		status int
		// result is what the one counts that was sent it, and taken what the other one does.
		result, taken string
	}{
		"Cluster":    {reason: "a ClusterProviderConfig's", path: path, signature: sign(b), status: 204, result: resultPassed, taken: resultTaken},
		"Namespaced": {reason: "a ProviderConfig's", path: "/netbox/webhook/team-a/mine", signature: sign(b), status: 204, result: resultPassed, taken: resultTaken},
		"Forged":     {reason: "who can't sign reaches nobody else", path: path, signature: "forged", status: 403, result: resultUnsigned},
		"Unknown":    {reason: "nobody leads just now", path: path, signature: sign(b), leader: "-", status: 503, result: resultUnled},
		"Unread":     {reason: "it can't be asked who does", path: path, signature: sign(b), leader: "unknown", status: 503, result: resultUnled},
		"Gone":       {reason: "the one that led is gone", path: path, signature: sign(b), leader: "127.0.0.1:1", status: 503, result: resultUnled},
		"Nonsense":   {reason: "what isn't an address", path: path, signature: sign(b), leader: "a b", status: 503, result: resultUnled},
		"Changing":   {reason: "the one that led doesn't any more: it isn't passed on again", path: path, signature: sign(b), nobody: true, status: 503, result: resultUnled, taken: resultUnled},
		"Rotated":    {reason: "the one that leads has read another secret: it's no delivery that it counts", path: path, signature: sign(b), other: "s", status: 403, result: resultRefused, taken: resultUnsigned},
		"Again":      {reason: "nor by this one", path: path, signature: sign(b), passed: true, status: 503, result: resultUnled},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			leads, follows := newStage(t), newStage(t)
			srv := httptest.NewServer(leads.Handler(t.Context()))
			t.Cleanup(srv.Close)
			own := httptest.NewServer(follows.Handler(t.Context()))
			t.Cleanup(own.Close)
			if tc.other != "" {
				leads.secret = tc.other
			}
			leads.follows, leads.leader = tc.nobody, strings.TrimPrefix(own.URL, "http://")
			follows.follows, follows.leader = true, strings.TrimPrefix(srv.URL, "http://")
			if tc.leader != "" {
				follows.leader = strings.TrimPrefix(tc.leader, "-")
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, own.URL+tc.path, strings.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(netbox.SignatureHeader, tc.signature)
			if tc.passed {
				req.Header.Set(hooks.PassedHeader, "1")
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != tc.status {
				t.Errorf("%s: %d, want %d", tc.reason, res.StatusCode, tc.status)
			}
			want := map[string]int{}
			if tc.taken != "" {
				want[tc.taken] = 1
			}
			for s, want := range map[*stage]map[string]int{follows: {tc.result: 1}, leads: want} {
				s.mu.Lock()
				if diff := cmp.Diff(want, s.results); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
				s.mu.Unlock()
			}
			if tc.taken == resultTaken {
				leads.eventually(t, "it's read", func() bool { return len(leads.reads) == 1 })
			}
			follows.mu.Lock()
			defer follows.mu.Unlock()
			if len(follows.reads)+len(follows.freed) != 0 {
				t.Errorf("%s: one that doesn't lead asks NetBox nothing", tc.reason)
			}
		})
	}
}
