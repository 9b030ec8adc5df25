package bootspec

import (
	"net/netip"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// validSources says what is wrong with the sources of a subnet's addresses. Nobody takes an address from them without a cluster; but what an API
// server refuses isn't to be found out when a site gets one.
func validSources(f faults, cidr netip.Prefix, from *v1alpha1.AddressesFrom) {
	if from == nil {
		return
	}
	for _, s := range from.Sources {
		network, family := sourceOf(s)
		if family == "" {
			continue
		}
		f.whenf((family == v1alpha1.IPv4) != cidr.Addr().Is4(), "addressesFrom.sources must be of the subnet's own family, such as cidr 10.77.0.0/24 for an IPv4 subnet")
		f.whenf(network.IsValid() && (!cidr.Contains(network.Addr()) || network.Bits() < cidr.Bits()),
			"addressesFrom.sources must be inside the subnet's cidr: machines with other addresses don't boot here")
	}
}

// sourceOf is where a source says that it is, of a range its first address alone, and of which family: invalid and "" where it doesn't say.
func sourceOf(s v1alpha1.AddressSource) (network netip.Prefix, family v1alpha1.IPFamily) {
	if p := s.Prefix; p != nil {
		network, _ = netip.ParsePrefix(p.CIDR)
		if p.Filter != nil {
			family = p.Filter.Family
		}
	}
	if r := s.Range; r != nil {
		if start, err := netip.ParsePrefix(r.Start); err == nil {
			network = netip.PrefixFrom(start.Addr(), start.Addr().BitLen())
		}
		if r.Filter != nil {
			family = r.Filter.Family
		}
	}
	switch {
	case !network.IsValid():
	case network.Addr().Is4():
		family = v1alpha1.IPv4
	default:
		family = v1alpha1.IPv6
	}
	return network, family
}
