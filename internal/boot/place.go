package boot

import (
	"iter"
	"net/netip"
)

// A Place is an address of a machine, and what DHCP of its family says beside it.
type Place struct {
	Address netip.Prefix
	Gateway netip.Addr
	DNS     []netip.Addr
	NTP     []netip.Addr
}

// InSix is the machine's place in IPv6; false: it has none.
func (n *Network) InSix() (Place, bool) {
	switch {
	case n.Six != nil:
		return *n.Six, true
	case n.Address.Addr().Is6():
		return Place{n.Address, n.Gateway, n.DNS, n.NTP}, true
	}
	return Place{}, false
}

// Told is the segment as a machine is told it that came over one family: with that family's place alone, where the machine has one in each.
func (n *Network) Told(six bool) Network {
	out := *n
	if six && n.Six != nil {
		out.Address, out.Gateway, out.DNS, out.NTP = n.Six.Address, n.Six.Gateway, n.Six.DNS, n.Six.NTP
	}
	out.Six = nil
	return out
}

// Addresses are those of the machine, that of IPv4 first.
func (n *Network) Addresses() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		if n.Address.IsValid() && !yield(n.Address) {
			return
		}
		if n.Six != nil {
			yield(n.Six.Address)
		}
	}
}

// Has says whether an address is one of the machine's.
func (n *Network) Has(a netip.Addr) bool {
	for p := range n.Addresses() {
		if p.Addr() == a {
			return true
		}
	}
	return false
}
