package bootspec

import (
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// ValidNetwork says what is wrong with a BootNetwork.
func ValidNetwork(n *v1alpha1.BootNetwork) []Fault {
	var list []Fault
	meta(faults{"metadata", &list}, n.Namespace, n.Name)
	f, s := faults{"spec", &list}, n.Spec
	validNamespaces(f.field(".allowedNamespaces"), s.AllowedNamespaces)
	validNamespaces(f.field(".allowedProfileNamespaces"), s.AllowedProfileNamespaces)
	f.field(".subnets").whenf(len(s.Subnets) == 0, "subnets must hold one subnet at least")
	f.field(".subnets").whenf(len(s.Subnets) > 16, "subnets has more than 16 subnets")
	seen := map[string]bool{}
	for i, x := range s.Subnets {
		at := f.field(".subnets[%d]", i)
		at.field(".cidr").whenf(seen[x.CIDR], "subnet %s is there twice", x.CIDR)
		seen[x.CIDR] = true
		validSubnet(at, x)
	}
	validIPv4s(f.field(".ntp"), "ntp", s.NTP)
	f.field(".domain").whenf(s.Domain != "" && !domainForm.MatchString(s.Domain), "domain must be a DNS name in lower case")
	f.field(".mtu").whenf(s.MTU != 0 && (s.MTU < 576 || s.MTU > 9216), "mtu should be from 576 to 9216")
	f.field(".vlanID").whenf(s.VLANID < 0 || s.VLANID > 4094, "vlanID should be from 1 to 4094")
	if d := s.DHCP; d != nil {
		validDHCP(f.field(".dhcp"), *d)
	}
	f.field(".serveOn").whenf(len(s.ServeOn) > 32, "serveOn has more than 32 entries")
	return list
}

func validSubnet(f faults, s v1alpha1.Subnet) {
	p, err := netip.ParsePrefix(s.CIDR)
	if err != nil || p != p.Masked() {
		f.field(".cidr").whenf(true, "cidr must be a network such as 10.77.0.0/24, without host bits, and is %q", s.CIDR)
		return
	}
	f.field(".cidr").whenf(!p.Addr().Is4(), "an IPv6 subnet is not supported yet; machines boot by IPv4")
	if s.Gateway != "" {
		g, err := netip.ParseAddr(s.Gateway)
		f.field(".gateway").whenf(err != nil, "gateway must be an IP address")
		f.field(".gateway").whenf(err == nil && !p.Contains(g), "gateway must be inside cidr")
	}
	validIPv4s(f.field(".dns"), "dns", s.DNS)
	f.field(".discoveryRanges").whenf(len(s.DiscoveryRanges) > 0, "discoveryRanges is not supported yet; a machine that nobody knows gets no answer")
}

func validIPv4s(f faults, what string, list []string) {
	f.whenf(len(list) > 8, "%s has more than 8 addresses", what)
	for i, s := range list {
		a, err := netip.ParseAddr(s)
		f.field("[%d]", i).whenf(err != nil || !a.Is4(), "%s must be IPv4 addresses, such as 10.77.0.2; IPv6 is not supported yet", what)
	}
}

func validDHCP(f faults, d v1alpha1.NetworkDHCP) {
	f.field(".mode").whenf(!slices.Contains([]v1alpha1.DHCPMode{"", v1alpha1.DHCPAuthoritative, v1alpha1.DHCPProxy, v1alpha1.DHCPRelayOnly, v1alpha1.DHCPOff}, d.Mode),
		"mode: %s is unknown; use Authoritative, Proxy, RelayOnly or Off", d.Mode)
	f.field(".foreignServer").whenf(d.ForeignServer != "" && d.ForeignServer != v1alpha1.ForeignServerRefuse && d.ForeignServer != v1alpha1.ForeignServerWarn,
		"foreignServer: %s is unknown; use Refuse or Warn", d.ForeignServer)
	f.field(".relays").whenf(len(d.Relays) > 64, "relays has more than 64 entries")
	for i, r := range d.Relays {
		_, err := netip.ParsePrefix(r)
		f.field(".relays[%d]", i).whenf(err != nil, "relays must be CIDRs, such as 10.77.0.1/32")
	}
	f.field(".leaseDuration").whenf(d.LeaseDuration != nil && d.LeaseDuration.Duration < 0, "leaseDuration must be a duration in hours, minutes and seconds, such as 12h")
}

// DefaultNetwork fills in what an API server fills in.
func DefaultNetwork(n *v1alpha1.BootNetwork) {
	if n.Spec.DHCP == nil {
		n.Spec.DHCP = &v1alpha1.NetworkDHCP{}
	}
	if n.Spec.DHCP.Mode == "" {
		n.Spec.DHCP.Mode = v1alpha1.DHCPAuthoritative
	}
}
