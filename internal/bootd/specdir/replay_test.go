package specdir

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// TestReplay asks for scripts by tokens that were seen on the wire or in a log: none takes the place of the machine's own, and none uses up what
// its grant has of scripts.
func TestReplay(t *testing.T) {
	const granted, superseded = boot.DecidedGranted, boot.DecidedSuperseded
	type step struct {
		// token of that exchange is made when it's first named, so many minutes after the step before.
		token string
		after int
		asks  bool
		want  string
	}
	asks := func(token, want string) step { return step{token: token, asks: true, want: want} }
	cases := map[string]struct {
		reason string
		steps  []step
		// uses is the token whose boot uses the grant in the end.
		uses string
	}{
		"Older":       {"an earlier script isn't served again", []step{asks("p1", granted), asks("p2", granted), asks("p1", superseded), asks("p2", granted)}, "p2"},
		"Alternating": {"nor does it end in a boot loop", []step{asks("q1", granted), asks("q2", granted), asks("q1", superseded), asks("q2", granted), asks("q1", superseded), asks("q2", granted), asks("q1", superseded), asks("q3", granted)}, "q3"},
		"Unused":      {"nor is one that nobody asked for, once the machine has begun again", []step{{token: "r1"}, {token: "r2", after: 5, asks: true, want: granted}, asks("r1", superseded), asks("r2", granted)}, "r2"},
		"Waited":      {"a machine that waits keeps its place", []step{{token: "s1"}, {token: "s1", after: 20, asks: true, want: granted}}, "s1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			g := gate.New(gate.Options{
				State: r.src.State, Keys: r.src.Keys, Synced: r.src.Synced, Held: r.src.Held, Sessions: r.m, Artifacts: noFiles{},
				Now: func() time.Time { return r.now }, Logger: slog.New(slog.DiscardHandler),
			})
			tokens, boots := map[string]string{}, map[string]string{}
			var got, want []string
			for _, s := range tc.steps {
				r.now = r.now.Add(time.Duration(s.after) * time.Minute)
				if tokens[s.token] == "" {
					token, ok := dhcp.ScriptToken(r.src.State(), r.src.Keys(), r.plan(), mac1, s.token, false, r.now)
					if !ok {
						t.Fatal("there are no keys")
					}
					tokens[s.token] = token
				}
				if !s.asks {
					continue
				}
				c, ok := g.Caller(tokens[s.token], boot.TokenScript)
				if !ok {
					t.Fatalf("token %s isn't known", s.token)
				}
				a := g.Script(t.Context(), c, boot.Firmware{Arch: boot.AMD64}, true, func(gate.Answer) error { return nil })
				if a.Token != "" {
					boots[s.token] = a.Token
				}
				got, want = append(got, fmt.Sprint(s.token, " ", a.Reason)), append(want, fmt.Sprint(s.token, " ", s.want))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", tc.reason, diff)
			}
			for token, b := range boots {
				c, ok := g.Caller(b, boot.TokenBoot)
				if !ok {
					t.Fatalf("the boot of %s isn't known", token)
				}
				if err := g.Begin(t.Context(), c); (err == nil) != (token == tc.uses) {
					t.Errorf("%s: begin of %s: %v", tc.reason, token, err)
				}
			}
		})
	}
}
