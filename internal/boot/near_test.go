package boot

import (
	"slices"
	"testing"
)

// TestNear: looking at what is known of machines makes nothing and fails at nothing, whoever they are.
func TestNear(t *testing.T) {
	plans := hall(maxLately + 1)
	st := StateOf(nil, plans, nil)
	hw := func(ps ...*Plan) (macs []uint64) {
		for _, p := range ps {
			n, ok := p.MACs[0].number()
			if !ok {
				t.Fatal(p.MACs)
			}
			macs = append(macs, n)
		}
		return macs
	}
	_, _ = st.ByMAC(plans[0].MACs[0])
	late, ok := StateOf(nil, slices.Clone(plans[:1]), nil).With(plans[1:2])
	if !ok {
		t.Fatal("it isn't late")
	}
	cases := map[string]struct {
		reason string
		st     *State
		hw     []uint64
	}{
		"Made":    {"its plan was made lately", st, hw(plans[0])},
		"Packed":  {"its plan is a row", st, hw(plans[maxLately])},
		"Many":    {"more than are looked for at once", st, hw(plans[:2*maxNear]...)},
		"None":    {"no packet has a MAC", st, nil},
		"Nobody":  {"a stranger's", st, []uint64{0x020000000001}},
		"Zeros":   {"none at all", st, []uint64{0}},
		"NoPlans": {"nothing is known", StateOf(nil, nil, nil), hw(plans[0])},
		"Late":    {"a plan that came since isn't packed yet", late, hw(plans[1])},
		"Before":  {"one that was there before is", late, hw(plans[0])},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.st.Near(tc.hw)
			if n := testing.AllocsPerRun(10, func() { tc.st.Near(tc.hw) }); n > 0 {
				t.Errorf("%s: it makes something: %v", tc.reason, n)
			}
		})
	}
}
