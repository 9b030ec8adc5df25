package specdir

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// twoArchs is a site whose machine has files for two architectures.
func twoArchs() string {
	const one = "image: {url: \"http://x.example/i\", digest: \"" + kernel + "\"}\n"
	return strings.Replace(all(1), one, one+"    - arch: arm64\n      kernel: {url: \"http://x.example/k2\", digest: \""+kernel+"\"}\n      image: {url: \"http://x.example/i2\", digest: \""+kernel+"\"}\n", 1)
}

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
		// arch that's said, where not amd64, and turn says that the keys had their turn before.
		arch boot.Arch
		turn bool
	}
	asks := func(token, want string) step { return step{token: token, asks: true, want: want} }
	cases := map[string]struct {
		reason string
		steps  []step
		// uses is the token whose boot uses the grant in the end.
		uses string
	}{
		"Older":       {"an earlier script isn't served again", []step{asks("p1", granted), asks("p2", granted), asks("p1", superseded), asks("p2", granted)}, "p2"},
		"Late":        {"nor is the newest, long after its machine had it", []step{asks("l1", granted), {token: "l1", after: 180, asks: true, want: superseded}, asks("l2", granted)}, "l2"},
		"OtherArch":   {"no firmware says two architectures by one token", []step{asks("a1", granted), {token: "a1", asks: true, want: superseded, arch: boot.ARM64}, asks("a1", granted)}, "a1"},
		"KeysTurn":    {"nor is an earlier one after the keys had their turn", []step{asks("k1", granted), asks("k2", granted), {token: "k1", asks: true, want: superseded, turn: true}, asks("k2", granted)}, "k2"},
		"Alternating": {"nor does it end in a boot loop", []step{asks("q1", granted), asks("q2", granted), asks("q1", superseded), asks("q2", granted), asks("q1", superseded), asks("q2", granted), asks("q1", superseded), asks("q3", granted)}, "q3"},
		"Unused":      {"nor is one that nobody asked for, once the machine has begun again", []step{{token: "r1"}, {token: "r2", after: 5, asks: true, want: granted}, asks("r1", superseded), asks("r2", granted)}, "r2"},
		"Waited":      {"a machine that waits keeps its place", []step{{token: "s1"}, {token: "s1", after: 20, asks: true, want: granted}}, "s1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, twoArchs())
			r.start()
			keys := r.src.Keys()
			g := r.gate(func(o *gate.Options) { o.Keys = func() [][]byte { return keys } })
			tokens, boots := map[string]string{}, map[string]string{}
			var got, want []string
			for _, s := range tc.steps {
				r.pass(time.Duration(s.after) * time.Minute)
				if tokens[s.token] == "" {
					token, ok := dhcp.ScriptToken(r.src.State(), keys, r.plan(), mac1, s.token, false, r.now())
					if !ok {
						t.Fatal("there are no keys")
					}
					tokens[s.token] = token
				}
				if !s.asks {
					continue
				}
				if s.turn {
					r.turn() // Which key a boot is of is known by what was heard of its session.
					keys = append([][]byte{[]byte("the next key, of thirty-two bytes")}, keys...)
				}
				c, ok := g.Caller(tokens[s.token], boot.TokenScript)
				if !ok {
					t.Fatalf("token %s isn't known", s.token)
				}
				a := g.Script(t.Context(), c, boot.Firmware{Arch: cmp.Or(s.arch, boot.AMD64)}, true, func(gate.Answer) error { return nil })
				if a.Token != "" {
					boots[s.token] = a.Token
				}
				got, want = append(got, fmt.Sprint(s.token, " ", a.Reason)), append(want, fmt.Sprint(s.token, " ", s.want))
			}
			if diff := gocmp.Diff(want, got); diff != "" {
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
