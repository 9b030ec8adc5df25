package boot

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot/pieces"
)

// A Room is memory for one plan, for who looks at many and keeps none: the plan in it is another one at the next, and an empty one once it's
// cleared, so that who kept it finds out. Its texts and its MACs stay what they are.
type Room struct {
	plan Plan
	six  Place
	// macs has place for those of the next plans. What is used of it is never used again: they stay what they are.
	macs []MAC
}

// roomMACs are made at once.
const roomMACs = 64

// make makes the plan of a row.
func (r *Room) make(of Ref) *Plan {
	r.plan = *of.of
	if len(r.macs) == 0 {
		r.macs = make([]MAC, roomMACs)
	}
	r.plan.MACs = r.macs[:0]
	in := pieces.Of(of.row)
	readRow(&in, &r.plan, &r.six)
	switch n := len(r.plan.MACs); {
	case n == 0:
		r.plan.MACs = nil
	case n <= len(r.macs):
		r.plan.MACs, r.macs = r.plan.MACs[:n:n], r.macs[n:]
	default:
		r.macs = nil // Too few were left: the next plan has new ones.
	}
	return &r.plan
}

// Clear leaves an empty plan.
func (r *Room) Clear() {
	r.plan, r.six = Plan{}, Place{}
}

// Kept is the plan for who keeps it, whatever memory it's in. What it shares with other plans is shared.
func (p *Plan) Kept() *Plan {
	kept := *p
	kept.MACs = slices.Clone(p.MACs)
	if p.Network.Six != nil {
		six := *p.Network.Six
		kept.Network.Six = &six
	}
	return &kept
}
