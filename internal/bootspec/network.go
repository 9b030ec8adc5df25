package bootspec

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// SegmentConfig gives a BootNetwork as plans need it. What no schema would let in is left out.
func SegmentConfig(n *v1alpha1.BootNetwork) boot.SegmentConfig {
	out := boot.SegmentConfig{
		Name: boot.Name{Namespace: n.Namespace, Name: n.Name}, NTP: addrs(n.Spec.NTP), Domain: n.Spec.Domain, MTU: int(n.Spec.MTU),
	}
	if d := n.Spec.DHCP; d != nil && d.LeaseDuration != nil {
		out.Lease = d.LeaseDuration.Truncate(time.Second)
	}
	for _, s := range n.Spec.Subnets {
		cidr, err := netip.ParsePrefix(s.CIDR)
		if err != nil {
			continue
		}
		gw, _ := netip.ParseAddr(s.Gateway)
		out.Subnets = append(out.Subnets, boot.Subnet{CIDR: cidr, Gateway: gw, DNS: addrs(s.DNS)})
	}
	return out
}

func addrs(as []string) []netip.Addr {
	var out []netip.Addr
	for _, s := range as {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// SegmentOf gives a BootNetwork as a bootd serves it on a node with those labels. The bool is false
// where this bootd doesn't serve it.
func SegmentOf(n *v1alpha1.BootNetwork, node map[string]string) (boot.Segment, bool, error) {
	g := boot.Segment{Name: boot.Name{Namespace: n.Namespace, Name: n.Name}, Mode: boot.SegmentAuthoritative}
	if d := n.Spec.DHCP; d != nil {
		if d.Mode != "" {
			g.Mode = boot.SegmentMode(d.Mode)
		}
		g.RefuseForeign = d.ForeignServer == v1alpha1.ForeignServerRefuse
		if d.RouterSolicitations == v1alpha1.RouterSolicitationsAnswer {
			g.Advertises = advertisement(n)
		}
		g.Options = options(d.Options)
		for _, r := range d.Relays {
			p, err := netip.ParsePrefix(r)
			if err != nil {
				return g, false, fmt.Errorf("relay %q of BootNetwork %q isn't a CIDR", r, g.Name)
			}
			g.Relays = append(g.Relays, p)
		}
	}
	switch g.Mode {
	case boot.SegmentAuthoritative, boot.SegmentRelayOnly, boot.SegmentProxy, boot.SegmentOff:
	default:
		return g, false, nil // Of a newer version than this one.
	}
	for _, s := range n.Spec.Subnets {
		p, err := netip.ParsePrefix(s.CIDR)
		if err != nil {
			return g, false, fmt.Errorf("subnet %q of BootNetwork %q isn't a CIDR", s.CIDR, g.Name)
		}
		g.Subnets = append(g.Subnets, p)
		g.Pools = append(g.Pools, pools(n, s, p)...)
		g.Routes = append(g.Routes, routes(s)...)
		g.Hostless = append(g.Hostless, hostless(s, p)...)
	}
	g.Hostless = append(g.Hostless, manyOrNone(addrs(n.Spec.NTP))...)
	interfaces, served, err := servedOn(n.Spec.ServeOn, node)
	if err != nil {
		return g, false, fmt.Errorf("serveOn of BootNetwork %q: %w", g.Name, err)
	}
	g.Interfaces = interfaces
	return g, served, nil
}

// hostless are the routers and servers of a subnet that no host can be: the subnet's own address and its broadcast address aren't a router's.
func hostless(s v1alpha1.Subnet, cidr netip.Prefix) []netip.Addr {
	out := manyOrNone(addrs(s.DNS))
	routers := []string{s.Gateway}
	for _, r := range s.Routes {
		routers = append(routers, r.Via)
	}
	for _, a := range addrs(routers) {
		if boot.AtItsEnd(cidr, a) {
			out = append(out, a)
		}
	}
	return out
}

// manyOrNone are those of some addresses that are of many hosts, or of none.
func manyOrNone(as []netip.Addr) []netip.Addr {
	return slices.DeleteFunc(as, func(a netip.Addr) bool { return a.IsGlobalUnicast() || a.IsLinkLocalUnicast() || a.IsLoopback() })
}

// advertisement is what router solicitations on a BootNetwork are answered with.
func advertisement(n *v1alpha1.BootNetwork) *boot.Advertisement {
	c := SegmentConfig(n)
	out := &boot.Advertisement{MTU: c.MTU, Lease: c.Lease}
	for _, s := range c.Subnets {
		for _, a := range s.DNS {
			if a.Is6() && !slices.Contains(out.DNS, a) {
				out.DNS = append(out.DNS, a)
			}
		}
	}
	return out
}

// pools gives the discovery ranges of a subnet. What no schema would let in is left out.
func pools(n *v1alpha1.BootNetwork, s v1alpha1.Subnet, cidr netip.Prefix) (out []boot.Pool) {
	c := SegmentConfig(n)
	gateway, _ := netip.ParseAddr(s.Gateway)
	for _, r := range s.DiscoveryRanges {
		start, end, ok := rangeOf(r)
		if !ok || !cidr.Contains(start) || !cidr.Contains(end) {
			continue
		}
		out = append(out, boot.Pool{Start: start, End: end, Network: boot.Network{
			Name: c.Name, Address: cidr, Gateway: gateway, DNS: addrs(s.DNS), NTP: c.NTP, Domain: c.Domain, MTU: c.MTU, Lease: boot.LentFor,
		}})
	}
	return out
}

// rangeOf reads a range; false: it isn't one.
func rangeOf(r v1alpha1.AddressRange) (start, end netip.Addr, ok bool) {
	start, err := netip.ParseAddr(r.Start)
	end, also := netip.ParseAddr(r.End)
	return start, end, err == nil && also == nil && start.Is4() && end.Is4() && !end.Less(start)
}

func servedOn(on []v1alpha1.ServeOn, node map[string]string) (interfaces []string, served bool, err error) {
	if len(on) == 0 {
		return nil, true, nil
	}
	all := false
	for _, o := range on {
		if o.NodeSelector != nil {
			s, err := metav1.LabelSelectorAsSelector(o.NodeSelector)
			if err != nil {
				return nil, false, err
			}
			if !s.Matches(labels.Set(node)) {
				continue
			}
		}
		served = true
		all = all || len(o.Interfaces) == 0
		interfaces = append(interfaces, o.Interfaces...)
	}
	if all {
		return nil, served, nil
	}
	return interfaces, served, nil
}
