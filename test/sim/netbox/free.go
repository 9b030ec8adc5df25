package netbox

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"
)

// byHost is NetBox's order of addresses: by host, then number.
func byHost(a, b Address) int {
	return cmp.Or(a.Address.Addr().Compare(b.Address.Addr()), cmp.Compare(a.ID, b.ID))
}

// all returns the addresses in no order.
func (s *state) all() []Address {
	out := make([]Address, 0, len(s.addresses))
	for _, a := range s.addresses {
		out = append(out, a)
	}
	return out
}

// sorted returns the addresses in NetBox's order.
func (s *state) sorted() []Address {
	out := s.all()
	slices.SortFunc(out, byHost)
	return out
}

// A pool is what addresses are allocated from: a prefix or a range.
type pool struct {
	// vrf and bits are those of the addresses that it gives.
	vrf  int64
	bits int
	// from and to are the first and last address that it could give.
	from, to netip.Addr
	// everywhere: the addresses of all VRFs count, as in a global container.
	everywhere bool
	// closed to allocation.
	closed bool
	// without are the ranges whose addresses it doesn't give.
	without []Range
}

// poolOf a prefix: the network's own addresses are skipped as NetBox skips them (303 to 312).
func (s *state) poolOf(p Prefix, tr traits) pool {
	out := pool{
		vrf: p.VRF, bits: p.Prefix.Bits(), from: p.Prefix.Addr(), to: lastOf(p.Prefix),
		everywhere: p.VRF == 0 && p.Status == "container", closed: p.MarkUtilized && !tr.atLeast(4, 4),
	}
	for _, r := range s.ranges {
		// Before ranges could be declared populated, all were (421).
		if r.VRF == p.VRF && (r.MarkPopulated || !tr.populated()) {
			out.without = append(out.without, r)
		}
	}
	if p.IsPool || p.Prefix.Addr().BitLen()-p.Prefix.Bits() <= 1 {
		return out
	}
	out.from = out.from.Next()
	if out.to.Is4() {
		out.to = out.to.Prev()
	}
	return out
}

// poolOfRange gives every address from its start to its end.
func poolOfRange(r Range) pool {
	return pool{vrf: r.VRF, bits: r.Start.Bits(), from: r.Start.Addr(), to: r.End.Addr(), closed: r.MarkPopulated}
}

// lastOf is the last address of a prefix: an IPv4 network's broadcast.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// free yields what a pool has to give: an address of any mask and status in its table counts as taken.
func (s *state) free(p pool) iter.Seq[netip.Addr] {
	if p.closed {
		return func(func(netip.Addr) bool) {}
	}
	taken := map[netip.Addr]bool{}
	for _, a := range s.addresses {
		if a.VRF == p.vrf || p.everywhere {
			taken[a.Address.Addr()] = true
		}
	}
	return func(yield func(netip.Addr) bool) {
		for a := p.from; a.IsValid() && !p.to.Less(a); a = a.Next() {
			if taken[a] || slices.ContainsFunc(p.without, func(r Range) bool { return r.holds(a) }) {
				continue
			}
			if !yield(a) {
				return
			}
		}
	}
}

// firstFree are NetBox's first n by first fit, or false where there are fewer.
func (s *state) firstFree(p pool, n int) ([]netip.Addr, bool) {
	var out []netip.Addr
	if n == 0 {
		return nil, true
	}
	for a := range s.free(p) {
		if out = append(out, a); len(out) == n {
			return out, true
		}
	}
	return nil, false
}

// holder finds another address that has this value in a custom field.
func (s *state) holder(field string, value any, except int64) bool {
	for _, a := range s.addresses {
		if a.ID != except && a.CustomFields[field] == value {
			return true
		}
	}
	return false
}

// shared are the roles that several records of one address may have (503, 507).
func shared() []string {
	return []string{"anycast", "vip", "vrrp", "hsrp", "glbp", "carp"}
}

// duplicate finds another address with this host in this table, whatever the mask. Records with a shared role don't count if this one
// has such a role, too.
func (s *state) duplicate(a Address) (Address, bool) {
	exempt := slices.Contains(shared(), a.Role)
	for _, b := range s.addresses {
		if b.ID != a.ID && b.VRF == a.VRF && b.Address.Addr() == a.Address.Addr() && (!exempt || !slices.Contains(shared(), b.Role)) {
			return b, true
		}
	}
	return Address{}, false
}
