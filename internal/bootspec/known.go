package bootspec

import (
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// KnownOf gives the MACs and addresses that an entry names, in its spec or in the plan of its status, whether that counts or not: after a
// restore the plan is another object's until the provider has made a new one. What can't be read is left out.
func KnownOf(e *v1alpha1.BootEntry) (macs []boot.MAC, addresses []netip.Addr) {
	texts := e.Spec.ForProvider.Machine.MACs
	if p := e.Status.AtProvider.Plan; p != nil {
		texts = append(slices.Clip(texts), p.MACs...)
		addresses = addressIn(addresses, p.Network.Address)
		if six := p.Network.IPv6; six != nil {
			addresses = addressIn(addresses, six.Address)
		}
	}
	for _, t := range texts {
		if m, err := boot.ParseMAC(t); err == nil {
			macs = append(macs, m)
		}
	}
	for _, n := range e.Spec.ForProvider.Networks {
		for _, a := range n.Addresses {
			addresses = addressIn(addresses, a.Address)
		}
	}
	return macs, addresses
}

// addressIn adds an address that may have its mask.
func addressIn(to []netip.Addr, text string) []netip.Addr {
	if p, err := netip.ParsePrefix(text); err == nil {
		return append(to, p.Addr())
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return append(to, a)
	}
	return to
}
