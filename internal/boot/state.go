package boot

import (
	"iter"
	"net/netip"
	"slices"
	"sync/atomic"
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
	// Kept are how many of the subnets, the last ones, are there for machines that an edit left outside alone (Covering).
	Kept int `json:",omitempty"` //nolint:tagliatelle // The domain's own names are the format.
	Mode SegmentMode
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
	// Routes that machines of IPv4 are told beside that of their gateway, each on the subnet that its Via is in.
	Routes []Route
	// Options that DHCP gives them beside its own.
	Options []DHCPOption
	// Hostless are the routers and servers that machines are told of, and that no host can be: somebody has mistyped them.
	Hostless []netip.Addr `json:",omitempty"` //nolint:tagliatelle // The domain's own names are the format.
}

// RoutesOn gives the routes of one of the segment's subnets.
func (s Segment) RoutesOn(subnet netip.Prefix) (out []Route) {
	for _, r := range s.Routes {
		if subnet.Contains(r.Via) {
			out = append(out, r)
		}
	}
	return out
}

// A Route leads to a network by a router on a subnet.
type Route struct {
	To  netip.Prefix
	Via netip.Addr
}

// A DHCPOption is one that means nothing to bootd.
type DHCPOption struct {
	Code  byte
	Value []byte
	// VendorClass that a machine's own begins with; "": any.
	VendorClass string `json:",omitempty"` //nolint:tagliatelle // The domain's own names are the format.
	// Always says that it's given to who doesn't ask for it, too.
	Always bool `json:",omitempty"` //nolint:tagliatelle // As above.
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
func (s Segment) GivesAddresses() bool { return s.Mode.givesAddresses() }

func (m SegmentMode) givesAddresses() bool {
	return m == SegmentAuthoritative || m == SegmentRelayOnly
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
	// Refused names, by entry UID, the entry that has one of its MACs, its port, or its UID.
	Refused map[string]Name

	// plans are those that are served, in the order of precedes, and register finds them there.
	plans    *Packed
	register register
	// late are the plans that came to those of the state that this one was made of; nil: none.
	late *late
	// reserved are the planned addresses that lie in a pool.
	reserved map[netip.Addr]bool
	// withheld are MACs of machines that have an entry and aren't served.
	withheld map[MAC]bool
	// plain and newest are what Plain and Newest say of all but the late ones.
	plain  bool
	newest time.Time
}

// NewState indexes plans, of which it has copies. Of two that want one MAC, or one port, a bound host beats raw MACs, then the earlier one
// beats the later: the loser isn't served at all.
func NewState(segments []Segment, plans []Plan, sessions []Session) *State {
	ps := make([]*Plan, len(plans)) // Plans are large: pointers are what's moved.
	for i := range plans {
		ps[i] = &plans[i]
	}
	return StateOf(segments, ps, sessions)
}

// StateOf is NewState of plans by their pointers.
func StateOf(segments []Segment, ps []*Plan, sessions []Session) *State {
	return PackedState(segments, Pack(ps, nil), sessions)
}

// PackedState is NewState of plans that are packed.
func PackedState(segments []Segment, all *Packed, sessions []Session) *State {
	s := &State{Segments: segments, Sessions: make(map[string]Session, len(sessions)), Refused: map[string]Name{}}
	for _, x := range sessions {
		s.Sessions[x.EntryUID] = x
	}
	s.plans = all.sorted()
	refused := s.place()
	s.reserve(s.plans)
	if len(refused) == 0 {
		s.plans.keep()
		return s
	}
	var p Plan
	for i := range s.plans.rows {
		s.plans.own(i, &p)
		if _, refused := s.Refused[p.EntryUID]; refused {
			s.Withhold(p.MACs, nil)
		}
	}
	s.plans = s.plans.without(refused)
	s.place()
	s.plans.keep()
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

// ByMAC gives the plan of a machine. The plan must not be changed.
func (s *State) ByMAC(m MAC) (*Plan, bool) { return s.ByMACIn(m, nil) }

// ByMACIn is ByMAC, and the plan may be in a room: it's good until that is used again.
func (s *State) ByMACIn(m MAC, in *Room) (*Plan, bool) {
	if i, ok := s.register.ofMAC(m); ok {
		return s.plans.plan(i, in), true
	}
	if s.late != nil {
		p, ok := s.late.byMAC[m]
		return p, ok
	}
	return nil, false
}

// Has says whether a machine has a plan, at less than it takes to find that.
func (s *State) Has(m MAC) bool {
	_, ok := s.register.ofMAC(m)
	if !ok && s.late != nil {
		_, ok = s.late.byMAC[m]
	}
	return ok
}

// NetworkOf names the network of a machine that has a plan; false: it has none. It makes no plan.
func (s *State) NetworkOf(m MAC) (Name, bool) {
	if i, ok := s.register.ofMAC(m); ok {
		return s.plans.Ref(i).of.Network.Name, true
	}
	if s.late == nil || s.late.byMAC[m] == nil {
		return Name{}, false
	}
	return s.late.byMAC[m].Network.Name, true
}

// ByEntry gives the plan behind a token. The plan must not be changed.
func (s *State) ByEntry(k EntryKey) (*Plan, bool) {
	x, ok := s.Noted(k)
	return x.Plan, ok
}

// Serves says whether a plan is still what is known of its entry: nothing else would be installed, nor is another install asked for.
func (s *State) Serves(p *Plan) bool {
	now, ok := s.ByEntry(KeyOf(p.EntryUID))
	return ok && now.InstallGeneration == p.InstallGeneration && now.Digest() == p.Digest()
}

// A Noted is a plan that must not be changed, beside which its reader may note something.
type Noted struct {
	*Plan

	// Note is there for as long as the plan is as it was made, and always of one type; nil: nothing can be noted.
	Note *atomic.Value

	of *Packed
	at int
}

// Ref is how the same plan is known again in another state.
func (n Noted) Ref() Ref {
	if n.of == nil {
		return Ref{of: n.Plan}
	}
	return n.of.Ref(n.at)
}

// Noted is ByEntry, with room for a note.
func (s *State) Noted(k EntryKey) (Noted, bool) {
	if i, ok := s.register.ofEntry(k); ok {
		x := s.plans.made(i)
		x.near()
		return Noted{&x.Plan, &x.note, s.plans, i}, true
	}
	if s.late != nil {
		p, ok := s.late.byEntry[k]
		return Noted{Plan: p}, ok
	}
	return Noted{}, false
}

// Refs gives all plans that are served, in no order that counts.
func (s *State) Refs() iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		for i := range s.plans.Len() {
			if !yield(s.plans.Ref(i)) {
				return
			}
		}
		if s.late == nil {
			return
		}
		for _, p := range s.late.plans {
			if !yield(Ref{of: p}) {
				return
			}
		}
	}
}

// All gives all plans that are served, each made as it's asked for. They must not be changed.
func (s *State) All() iter.Seq[*Plan] {
	return func(yield func(*Plan) bool) {
		for r := range s.Refs() {
			if !yield(r.Plan()) {
				return
			}
		}
	}
}

// Plans gives all of them at once, which takes the memory that a State spares.
func (s *State) Plans() []*Plan { return slices.Collect(s.All()) }

// Packed gives all plans that are served, in the order of NewState.
func (s *State) Packed() *Packed {
	if s.late == nil {
		return s.plans
	}
	return s.plans.With(nil, s.late.plans).sorted()
}

// Len counts the plans that are served.
func (s *State) Len() int {
	n := s.plans.Len()
	if s.late != nil {
		n += len(s.late.plans)
	}
	return n
}

// Segment gives a segment by name.
func (s *State) Segment(n Name) (Segment, bool) {
	if g := s.segment(n); g != nil {
		return *g, true
	}
	return Segment{}, false
}

// Elsewhere says whether another server gives the machines of a segment their addresses.
func (s *State) Elsewhere(n Name) bool {
	g := s.segment(n)
	return g != nil && !g.Mode.givesAddresses()
}

func (s *State) segment(n Name) *Segment {
	for i := range s.Segments {
		if g := &s.Segments[i]; g.Name == n {
			return g
		}
	}
	return nil
}
