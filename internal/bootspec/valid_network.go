package bootspec

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	validNTP(f.field(".ntp"), s.NTP)
	f.field(".domain").whenf(s.Domain != "" && (len(s.Domain) > 253 || !domainForm.MatchString(s.Domain)), "domain must be a DNS name in lower case, such as rack7.example")
	f.field(".mtu").whenf(s.MTU != 0 && (s.MTU < 576 || s.MTU > 9216), "mtu should be from 576 to 9216")
	if slices.ContainsFunc(s.Subnets, isSix) {
		validSix(f, s)
	}
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
	six := p.Addr().Is6()
	f.field(".cidr").whenf(six && (p.Addr().Is4In6() || !p.Addr().IsGlobalUnicast()), "an IPv6 subnet must be of global or unique local addresses, such as fd00:77::/64")
	if s.Gateway != "" {
		g, err := netip.ParseAddr(s.Gateway)
		f.field(".gateway").whenf(err != nil, "gateway must be an IP address")
		f.field(".gateway").whenf(err == nil && !p.Contains(g) && (!six || !g.Is6() || g.Is4In6() || g.Zone() != "" || !g.IsLinkLocalUnicast()),
			"gateway must be inside cidr, or link-local in an IPv6 subnet, such as fe80::1")
	}
	f.field(".dns").whenf(len(s.DNS) > 8, "dns has more than 8 addresses")
	for i, d := range s.DNS {
		a, err := netip.ParseAddr(d)
		f.field(".dns[%d]", i).whenf(err != nil || a.Is6() != six, "dns must be addresses of the subnet's own family, such as 10.77.0.2 for an IPv4 subnet")
	}
	validRoutes(f.field(".routes"), p, s.Routes)
	validRanges(f.field(".discoveryRanges"), p, s.DiscoveryRanges)
	validSources(f.field(".addressesFrom"), p, s.AddressesFrom)
}

// largest range: as many addresses as are looked after for a network.
const largest = 4096

func validRanges(f faults, cidr netip.Prefix, rs []v1alpha1.AddressRange) {
	f.whenf(len(rs) > 4, "discoveryRanges has more than 4 ranges")
	for i, r := range rs {
		at := f.field("[%d]", i)
		start, err := netip.ParseAddr(r.Start)
		at.field(".start").whenf(err != nil || !start.Is4(), "start must be an IPv4 address, such as 10.77.0.200")
		end, also := netip.ParseAddr(r.End)
		at.field(".end").whenf(also != nil || !end.Is4(), "end must be an IPv4 address, such as 10.77.0.220")
		if err != nil || also != nil || !start.Is4() || !end.Is4() {
			continue
		}
		at.whenf(number(end) < number(start) || number(end)-number(start) >= largest, "a range must not end before it starts, and has at most 4096 addresses")
		f.whenf(!cidr.Contains(start) || !cidr.Contains(end), "discoveryRanges must be inside cidr")
		for _, before := range rs[:i] {
			from, to, ok := rangeOf(before)
			f.whenf(ok && !end.Less(from) && !to.Less(start), "discoveryRanges must not overlap")
		}
	}
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func validNTP(f faults, list []string) {
	f.whenf(len(list) > 8, "ntp has more than 8 addresses")
	for i, s := range list {
		_, err := netip.ParseAddr(s)
		f.field("[%d]", i).whenf(err != nil, "ntp must be IP addresses, such as 10.77.0.2")
	}
}

func isSix(s v1alpha1.Subnet) bool {
	p, err := netip.ParsePrefix(s.CIDR)
	return err == nil && p.Addr().Is6()
}

// validSix says what can't be had on a network with a subnet of IPv6.
func validSix(f faults, s v1alpha1.BootNetworkSpec) {
	const leastMTU = 1280 // RFC 8200 §5.
	f.field(".mtu").whenf(s.MTU != 0 && s.MTU < leastMTU, "mtu must be at least 1280 with an IPv6 subnet")
	if d := s.DHCP; d != nil {
		f.field(".dhcp").whenf(d.Mode == v1alpha1.DHCPProxy, "dhcp.mode: Proxy is not supported with an IPv6 subnet; use Authoritative, RelayOnly or Off")
		f.field(".dhcp").whenf(d.ForeignServer == v1alpha1.ForeignServerRefuse, "dhcp.foreignServer: Refuse is not supported with an IPv6 subnet; use Warn")
	}
}

func validDHCP(f faults, d v1alpha1.NetworkDHCP) {
	f.field(".mode").whenf(!slices.Contains([]v1alpha1.DHCPMode{"", v1alpha1.DHCPAuthoritative, v1alpha1.DHCPProxy, v1alpha1.DHCPRelayOnly, v1alpha1.DHCPOff}, d.Mode),
		"mode: %s is unknown; use Authoritative, Proxy, RelayOnly or Off", d.Mode)
	f.field(".foreignServer").whenf(d.ForeignServer != "" && d.ForeignServer != v1alpha1.ForeignServerRefuse && d.ForeignServer != v1alpha1.ForeignServerWarn,
		"foreignServer: %s is unknown; use Refuse or Warn", d.ForeignServer)
	f.field(".routerSolicitations").whenf(!slices.Contains([]string{"", v1alpha1.RouterSolicitationsAnswer, v1alpha1.RouterSolicitationsIgnore}, d.RouterSolicitations),
		"routerSolicitations: %s is unknown; use Answer or Ignore", d.RouterSolicitations)
	f.whenf(d.RouterSolicitations == v1alpha1.RouterSolicitationsAnswer && (d.Mode == v1alpha1.DHCPRelayOnly || d.Mode == v1alpha1.DHCPOff),
		"dhcp.routerSolicitations: Answer goes with mode Authoritative or Proxy: in the others bootd answers nobody on the link")
	f.field(".relays").whenf(len(d.Relays) > 64, "relays has more than 64 entries")
	for i, r := range d.Relays {
		_, err := netip.ParsePrefix(r)
		f.field(".relays[%d]", i).whenf(err != nil, "relays must be CIDRs, such as 10.77.0.1/32")
	}
	validOptions(f.field(".options"), d.Options)
	f.field(".leaseDuration").whenf(!validLease(d.LeaseDuration), "leaseDuration must be a duration in hours, minutes and seconds, such as 12h, of a minute at least and a year at most")
}

// validLease says so of what the API server's rule says it of.
func validLease(d *metav1.Duration) bool {
	const least, most = time.Minute, 8784 * time.Hour
	return d == nil || d.Duration >= least && d.Duration <= most && d.Duration%time.Second == 0
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
