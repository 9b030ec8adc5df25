package boot

import (
	"maps"
	"net/netip"
	"slices"
)

// maxLate is how many plans may come to a state before all are indexed anew: those that came are copied each time.
const maxLate = 1024

// late are plans that came to a state, in the order in which they came.
type late struct {
	index

	to    *State // The state that all others are of.
	plans []*Plan
}

// index finds the few that are late.
type index struct {
	byMAC   map[MAC]*Plan
	byEntry map[EntryKey]*Plan
	byPort  map[portAt]*Plan
}

// taken says whether one of them has the UID, the port or a MAC of a plan.
func (x index) taken(p *Plan) bool {
	if at, ok := portOf(p); ok && x.byPort[at] != nil {
		return true
	}
	_, taken := x.byEntry[KeyOf(p.EntryUID)]
	return taken || slices.ContainsFunc(p.MACs, func(m MAC) bool { _, has := x.byMAC[m]; return has })
}

func (x index) add(p *Plan) {
	if at, ok := portOf(p); ok {
		x.byPort[at] = p
	}
	for _, m := range p.MACs {
		x.byMAC[m] = p
	}
	x.byEntry[KeyOf(p.EntryUID)] = p
}

// first is the state that this one was made of by With, or this one.
func (s *State) first() *State {
	if s.late != nil {
		return s.late.to
	}
	return s
}

// With gives a state with more plans, which nobody changes any more. It shares what it knows of the others with s, so that it costs what came
// and not what is there. false: one of them has the UID, the port or a MAC of another, or of a machine that isn't served, or too many have come; then
// all of them are a StateOf.
func (s *State) With(more []*Plan) (*State, bool) {
	n := &State{
		Segments: s.Segments, Sessions: s.Sessions, Refused: s.Refused, plans: s.plans, register: s.register, reserved: s.reserved, withheld: s.withheld,
		plain: s.plain, newest: s.newest,
		late: &late{to: s.first(), index: index{byMAC: map[MAC]*Plan{}, byEntry: map[EntryKey]*Plan{}, byPort: map[portAt]*Plan{}}},
	}
	if s.late != nil {
		n.late.plans = s.late.plans
	}
	if len(n.late.plans)+len(more) > maxLate {
		return nil, false
	}
	for _, p := range n.late.plans {
		n.late.add(p)
	}
	for _, p := range more {
		if !n.free(p) {
			return nil, false
		}
		n.late.add(p)
	}
	n.late.plans = slices.Concat(n.late.plans, more)
	n.reserveMore(more)
	return n, true
}

// free says whether a plan has nothing that another one has.
func (s *State) free(p *Plan) bool {
	if _, taken := s.register.taken(KeyOf(p.EntryUID), p); taken || s.late.taken(p) {
		return false
	}
	if _, refused := s.Refused[p.EntryUID]; refused {
		return false
	}
	return !slices.ContainsFunc(p.MACs, s.Withheld)
}

// reserveMore notes those of the plans' addresses that lie in a pool, in a set of its own.
func (s *State) reserveMore(more []*Plan) {
	if s.reserved == nil {
		return // Nothing is lent.
	}
	own := false
	for _, p := range more {
		a := p.Network.Address.Addr()
		if !s.pooled(a) || s.reserved[a] {
			continue
		}
		if !own {
			s.reserved, own = maps.Clone(s.reserved), true
		}
		s.reserved[a] = true
	}
}

func (s *State) pooled(a netip.Addr) bool {
	return slices.ContainsFunc(s.Segments, func(g Segment) bool {
		return slices.ContainsFunc(g.Pools, func(p Pool) bool { return p.Contains(a) })
	})
}

// Since gives the plans that came since a state of before; false where that isn't all that happened.
func (s *State) Since(before *State) ([]*Plan, bool) {
	switch {
	case before == s:
		return nil, true
	case before == nil || s.late == nil || s.first() != before.first():
		return nil, false
	case before.late == nil:
		return s.late.plans, true
	}
	n := len(before.late.plans)
	if n > len(s.late.plans) || !slices.Equal(before.late.plans, s.late.plans[:n]) {
		return nil, false
	}
	return s.late.plans[n:], true
}
