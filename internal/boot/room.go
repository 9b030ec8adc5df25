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
}

// make makes the plan of a row.
func (r *Room) make(of Ref) *Plan {
	r.plan = *of.of
	in := pieces.Of(of.row)
	readRow(&in, &r.plan, &r.six)
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
