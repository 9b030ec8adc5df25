package boot

import (
	"net/netip"
	"slices"
	"time"
)

// SegmentMode says what bootd is on a segment.
type SegmentMode string

// Values of SegmentMode.
const (
	// SegmentAuthoritative answers broadcasts and relays, and refuses wrong addresses.
	SegmentAuthoritative SegmentMode = "Authoritative"
	// SegmentRelayOnly answers only what comes through a trusted relay.
	SegmentRelayOnly SegmentMode = "RelayOnly"
	// SegmentProxy says what known machines load, beside another DHCP server that gives them their addresses.
	SegmentProxy SegmentMode = "Proxy"
	// SegmentOff answers no DHCP.
	SegmentOff SegmentMode = "Off"
)

// A Segment is one BootNetwork as bootd serves it.
type Segment struct {
	Name

	Subnets []netip.Prefix
	Mode    SegmentMode
	// Relays whose option 82 is trusted; empty: any relay inside one of the subnets.
	Relays []netip.Prefix
	// Interfaces that it's served on; empty: all that have an address in a subnet.
	Interfaces []string
	// Pools are lent to machines that nobody knows; empty: those hear nothing.
	Pools []Pool
	// RefuseForeign says that it doesn't begin where another DHCP server answers. One that has begun goes on.
	RefuseForeign bool
	// Advertises is what router solicitations on its links are answered with; nil: they aren't.
	Advertises *Advertisement
}

// An Advertisement is what machines that look for a router of IPv6 are told of a segment, beside its subnets.
type Advertisement struct {
	// DNS servers of IPv6, and for how long they're good; 0: twelve hours.
	DNS   []netip.Addr
	Lease time.Duration
	// MTU of the link in bytes; 0: the medium's.
	MTU int
}

// GivesAddresses says whether machines have the addresses that are planned for them from us.
func (s Segment) GivesAddresses() bool {
	return s.Mode == SegmentAuthoritative || s.Mode == SegmentRelayOnly
}

// Contains says whether an address is of the segment.
func (s Segment) Contains(a netip.Addr) bool {
	for _, p := range s.Subnets {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// TrustsRelay says whether a relay's word (giaddr, option 82) counts on the segment.
func (s Segment) TrustsRelay(a netip.Addr) bool {
	if len(s.Relays) == 0 {
		return s.Contains(a)
	}
	for _, p := range s.Relays {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// A State is all that one bootd knows at one moment. It's never changed, only replaced.
type State struct {
	Segments []Segment
	Sessions map[string]Session // by entry UID
	// Refused names, by entry UID, the entry that has one of its MACs, or its UID.
	Refused map[string]Name

	byMAC   map[MAC]*Plan
	byEntry map[EntryKey]*Plan
	// late are the plans that came to those of the state that this one was made of; nil: none.
	late *late
	// reserved are the planned addresses that lie in a pool.
	reserved map[netip.Addr]bool
	// withheld are MACs of machines that have an entry and aren't served.
	withheld map[MAC]bool
}

// NewState indexes plans, of which it has copies. Of two that want one MAC, a bound host beats raw MACs, then the earlier one
// beats the later: the loser isn't served at all.
func NewState(segments []Segment, plans []Plan, sessions []Session) *State {
	copied := append([]Plan(nil), plans...)
	ps := make([]*Plan, len(copied)) // Plans are large: pointers are what's moved.
	for i := range copied {
		ps[i] = &copied[i]
	}
	return StateOf(segments, ps, sessions)
}

// StateOf is NewState of plans that nobody changes any more: it has them as they are.
func StateOf(segments []Segment, ps []*Plan, sessions []Session) *State {
	s := &State{
		Segments: segments, Sessions: make(map[string]Session, len(sessions)), Refused: map[string]Name{},
		byMAC: make(map[MAC]*Plan, len(ps)), byEntry: make(map[EntryKey]*Plan, len(ps)),
	}
	for _, x := range sessions {
		s.Sessions[x.EntryUID] = x
	}
	if !slices.IsSortedFunc(ps, order) { // As those of a snapshot are.
		ps = slices.Clone(ps)
		slices.SortStableFunc(ps, order)
	}
	for _, p := range ps {
		s.add(p)
	}
	s.reserve(ps)
	for _, p := range ps {
		if _, refused := s.Refused[p.EntryUID]; refused {
			s.Withhold(p.MACs, nil)
		}
	}
	return s
}

// Precedes orders plans that want one MAC.
func Precedes(a, b Plan) bool { return precedes(&a, &b) }

func order(a, b *Plan) int {
	switch {
	case precedes(a, b):
		return -1
	case precedes(b, a):
		return 1
	}
	return 0
}

func precedes(a, b *Plan) bool {
	if a.Bound != b.Bound {
		return a.Bound
	}
	if !a.Since.Equal(b.Since) {
		return a.Since.Before(b.Since)
	}
	return a.EntryUID < b.EntryUID
}

// index finds plans by what machines have, and by what tokens say.
type index struct {
	byMAC   map[MAC]*Plan
	byEntry map[EntryKey]*Plan
}

// taken names the entry whose UID, or one of whose MACs, a plan has, too.
func (x index) taken(p *Plan) (Name, bool) {
	// Tokens, sessions and grants are found by UID: of two entries with one, each machine would be installed by the other's grant.
	if other, taken := x.byEntry[KeyOf(p.EntryUID)]; taken {
		return other.Entry, true
	}
	for _, m := range p.MACs {
		if other, taken := x.byMAC[m]; taken {
			return other.Entry, true
		}
	}
	return Name{}, false
}

func (x index) add(p *Plan) {
	for _, m := range p.MACs {
		x.byMAC[m] = p
	}
	x.byEntry[KeyOf(p.EntryUID)] = p
}

func (s *State) index() index { return index{s.byMAC, s.byEntry} }

func (s *State) add(p *Plan) {
	if other, taken := s.index().taken(p); taken {
		s.Refused[p.EntryUID] = other
		return
	}
	s.index().add(p)
}

// ByMAC gives the plan of a machine. The plan must not be changed.
func (s *State) ByMAC(m MAC) (*Plan, bool) {
	p, ok := s.byMAC[m]
	if !ok && s.late != nil {
		p, ok = s.late.byMAC[m]
	}
	return p, ok
}

// ByEntry gives the plan behind a token. The plan must not be changed.
func (s *State) ByEntry(k EntryKey) (*Plan, bool) {
	p, ok := s.byEntry[k]
	if !ok && s.late != nil {
		p, ok = s.late.byEntry[k]
	}
	return p, ok
}

// Plans gives all plans that are served, in no order.
func (s *State) Plans() []*Plan {
	ps := make([]*Plan, 0, s.Len())
	for _, p := range s.byEntry {
		ps = append(ps, p)
	}
	if s.late != nil {
		ps = append(ps, s.late.plans...)
	}
	return ps
}

// Len counts the plans that are served.
func (s *State) Len() int {
	n := len(s.byEntry)
	if s.late != nil {
		n += len(s.late.plans)
	}
	return n
}

// Segment gives a segment by name.
func (s *State) Segment(n Name) (Segment, bool) {
	for _, g := range s.Segments {
		if g.Name == n {
			return g, true
		}
	}
	return Segment{}, false
}
