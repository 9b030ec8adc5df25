package boot

import (
	"slices"
	"testing"
)

// TestNear: looking at what is known of a machine changes nothing, whether its plan was made lately or not, and finds nobody where nobody is.
func TestNear(t *testing.T) {
	plans := hall(maxLately + 1)
	st := StateOf(nil, plans, nil)
	hw := func(p *Plan) (b [6]byte) {
		n, ok := p.MACs[0].number()
		if !ok {
			t.Fatal(p.MACs)
		}
		for i := range b {
			b[5-i] = byte(n >> (8 * i)) //nolint:gosec // An octet.
		}
		return b
	}
	_, _ = st.ByMAC(plans[0].MACs[0])
	late, ok := StateOf(nil, slices.Clone(plans[:1]), nil).With(plans[1:2])
	if !ok {
		t.Fatal("it isn't late")
	}
	cases := map[string]struct {
		reason string
		st     *State
		hw     [6]byte
		found  bool
	}{
		"Made":    {"its plan was made lately", st, hw(plans[0]), true},
		"Packed":  {"its plan is a row", st, hw(plans[maxLately]), true},
		"Nobody":  {"a stranger's", st, [6]byte{2, 0, 0, 0, 0, 1}, false},
		"Zeros":   {"none at all", st, [6]byte{}, false},
		"NoPlans": {"nothing is known", StateOf(nil, nil, nil), hw(plans[0]), false},
		"Late":    {"a plan that came since isn't packed yet", late, hw(plans[1]), false},
		"Before":  {"one that was there before is", late, hw(plans[0]), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.st.Near(tc.hw); !tc.found && got != 0 {
				t.Errorf("%s: %d", tc.reason, got)
			}
			if n := testing.AllocsPerRun(10, func() { tc.st.Near(tc.hw) }); n > 0 {
				t.Errorf("%s: it makes something: %v", tc.reason, n)
			}
		})
	}
}
