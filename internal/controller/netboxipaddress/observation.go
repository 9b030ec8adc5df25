package netboxipaddress

import (
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// observation is what status says of a record.
func observation(ip netbox.IPAddress, prefix *v1alpha1.PrefixObservation) v1alpha1.NetBoxIPAddressObservation {
	o := v1alpha1.NetBoxIPAddressObservation{
		ID: ip.ID, URL: ip.URL, Address: ip.Address.String(), Family: v1alpha1.IPv4, Prefix: prefix,
		Status: ip.Status, Role: ip.Role, DNSName: ip.DNSName, Description: ip.Description, Tenant: ip.Tenant, Tags: ip.Tags,
		LastUpdated: ip.LastUpdated,
	}
	if ip.Address.Addr().Is6() {
		o.Family = v1alpha1.IPv6
	}
	if ip.VRF != nil {
		o.VRF = &v1alpha1.VRFObservation{ID: ip.VRF.ID, Name: ip.VRF.Name}
	}
	return o
}

// vrfRef is what a selector means; nil is any table.
func vrfRef(s *v1alpha1.VRFSelector) netbox.VRFRef {
	if s == nil {
		return netbox.VRFRef{}
	}
	r := netbox.VRFRef{Global: s.Table == v1alpha1.VRFGlobal, Name: s.Name, RD: s.RD}
	if s.ID != nil {
		r = netbox.VRFRef{ID: *s.ID}
	}
	return r
}
