package netboxipaddress

import (
	"net/netip"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// observation is what status says of a record.
func observation(ip netbox.IPAddress, prefix *v1alpha1.PrefixObservation) v1alpha1.NetBoxIPAddressObservation {
	o := v1alpha1.NetBoxIPAddressObservation{
		ID: ip.ID, URL: ip.URL, Address: ip.Address.String(), Family: v1alpha1.IPv4, Prefix: prefix,
		Status: ip.Status, DNSName: ip.DNSName, LastUpdated: ip.LastUpdated,
	}
	if ip.Address.Addr().Is6() {
		o.Family = v1alpha1.IPv6
	}
	if ip.VRF != nil {
		o.VRF = &v1alpha1.VRFObservation{ID: ip.VRF.ID, Name: ip.VRF.Name}
	}
	return o
}

// prefixOf is what status says of where an address came from: what it said before as long as that fits, else the first source
// that fits, else nil. A CIDR alone says enough; its number is filled in where it's known.
func prefixOf(sources []netbox.Prefix, before *v1alpha1.PrefixObservation, ip netbox.IPAddress) *v1alpha1.PrefixObservation {
	if before != nil && before.ID != 0 {
		if p, err := netip.ParsePrefix(before.CIDR); err == nil && p.Contains(ip.Address.Addr()) {
			return before
		}
	}
	for _, s := range sources {
		if s.Prefix.Contains(ip.Address.Addr()) && sameTable(s.VRF, ip.VRF) {
			return &v1alpha1.PrefixObservation{ID: s.ID, CIDR: s.Prefix.String()}
		}
	}
	return nil
}

func sameTable(a, b *netbox.VRF) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID
}

// vrfRef is what a selector means; nil is the global table.
func vrfRef(s *v1alpha1.VRFSelector) netbox.VRFRef {
	if s == nil {
		return netbox.VRFRef{}
	}
	r := netbox.VRFRef{Name: s.Name, RD: s.RD}
	if s.ID != nil {
		r = netbox.VRFRef{ID: *s.ID}
	}
	return r
}
