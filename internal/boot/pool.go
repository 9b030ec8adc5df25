package boot

import (
	"maps"
	"net/netip"
	"slices"
	"time"
)

// LentFor is how long a machine that nobody knows is lent an address. It's short: who asks is entered soon, or gone.
const LentFor = 10 * time.Minute

// A Pool is a range of addresses that machines which nobody knows are lent for a short time, both ends included, and what they're told
// beside their address.
type Pool struct {
	Start, End netip.Addr
	// Network has the subnet in the place of an address, and how long an address is lent.
	Network Network
}

// Contains says whether an address is of the range.
func (p Pool) Contains(a netip.Addr) bool {
	return a.Is4() && p.Start.Is4() && p.End.Is4() && !a.Less(p.Start) && !p.End.Less(a)
}

// Fixed says whether an address is that of a gateway or a server that machines are told, or none that a machine may have.
func (p Pool) Fixed(a netip.Addr) bool {
	n := &p.Network
	if a == n.Gateway || slices.Contains(n.DNS, a) || slices.Contains(n.NTP, a) {
		return true
	}
	return AtItsEnd(n.Address, a)
}

// AtItsEnd says whether an address of a subnet of IPv4 is the first or the last of it: the subnet's own and its broadcast address, which
// no machine has.
func AtItsEnd(subnet netip.Prefix, a netip.Addr) bool {
	const pointToPoint = 31 // Both addresses of such a link are hosts' (RFC 3021).
	if !a.Is4() || subnet.Bits() >= pointToPoint {
		return false
	}
	return a == subnet.Masked().Addr() || !subnet.Contains(a.Next())
}

// HasHost says whether an address is one that a machine of the segment may have: of a subnet's, and neither the first nor the last there.
func (s Segment) HasHost(a netip.Addr) bool {
	return slices.ContainsFunc(s.Subnets, func(p netip.Prefix) bool { return p.Contains(a) && !AtItsEnd(p, a) })
}

// reserve notes the planned addresses that lie in a pool: few, mostly none.
func (s *State) reserve(plans *Packed) {
	var pools []Pool
	for i := range s.Segments {
		pools = append(pools, s.Segments[i].Pools...)
	}
	if len(pools) == 0 {
		return
	}
	s.reserved = map[netip.Addr]bool{}
	var p Plan
	for i := range plans.Len() {
		plans.own(i, &p)
		a := p.Network.Address.Addr()
		for _, x := range pools {
			if x.Contains(a) {
				s.reserved[a] = true
			}
		}
	}
}

// Overlaps says whether two ranges have an address in common.
func (p Pool) Overlaps(q Pool) bool { return p.Contains(q.Start) || q.Contains(p.Start) }

// ReservedIn counts the planned addresses that lie in a pool, and gives the first of them.
func (s *State) ReservedIn(p Pool) (n int, first netip.Addr) {
	for a := range s.reserved {
		if !p.Contains(a) {
			continue
		}
		n++
		if !first.IsValid() || a.Less(first) {
			first = a
		}
	}
	return n, first
}

// Reserved says whether an address that lies in a pool is planned for a machine, be it one that isn't served.
func (s *State) Reserved(a netip.Addr) bool { return s.reserved[a] }

// Withhold notes MACs and addresses of an entry whose machine isn't served: it's lent nothing, and nobody is lent its addresses. It's for who
// makes a state, before others have it.
func (s *State) Withhold(macs []MAC, addresses []netip.Addr) {
	if s.reserved == nil {
		return // Nothing is lent.
	}
	if s.withheld == nil {
		s.withheld = map[MAC]bool{}
	}
	for _, m := range macs {
		s.withheld[m] = true
	}
	for _, a := range addresses {
		s.reserved[a] = true
	}
}

// Withheld says whether a MAC is that of a machine which has an entry and isn't served.
func (s *State) Withheld(m MAC) bool { return s.withheld[m] }

// Unserved gives the MACs and addresses of machines that have an entry and aren't served, as far as that counts for what is lent: what Withhold takes.
func (s *State) Unserved() (macs []MAC, addresses []netip.Addr) {
	if len(s.reserved) == 0 {
		return slices.Sorted(maps.Keys(s.withheld)), nil
	}
	others := maps.Clone(s.reserved)
	served := func(p *Plan) {
		for a := range p.Network.Addresses() {
			delete(others, a.Addr())
		}
	}
	for _, p := range s.plans.Scan() { // In memory that's used again: it's asked for with each snapshot.
		served(p)
	}
	if s.late != nil {
		for _, p := range s.late.plans {
			served(p)
		}
	}
	return slices.Sorted(maps.Keys(s.withheld)), slices.SortedFunc(maps.Keys(others), netip.Addr.Compare)
}
