package advertisement

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mdlayher/ndp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

const (
	defaultLease = 12 * time.Hour
	// leastMTU of a link that carries IPv6 (RFC 8200 §5). An advertisement with maxPrefixes and maxDNS fits into it.
	leastMTU    = 1280
	maxPrefixes = 32
	maxDNS      = 8
	// ethernet is the length of the only hardware addresses that are told.
	ethernet = 6
)

// Reasons that only solicitations have. All others are DHCP's.
const (
	// Advertised is an answer, and Coming one that is on its way to all already, so that none is added.
	Advertised dhcp.Reason = "Advertised"
	Coming     dhcp.Reason = "OnItsWay"
	// SilentAnother: a network on the link has a subnet of IPv6, and leaves solicitations to its router.
	SilentAnother dhcp.Reason = "AnotherNetworkIgnores"
	// SilentUnserved: bootd can't hear DHCPv6, and sends nobody there.
	SilentUnserved dhcp.Reason = "DHCPv6NotServed"
)

// Answers says whether a segment wants solicitations answered.
func Answers(g boot.Segment) bool {
	return g.Advertises != nil && (g.Mode == boot.SegmentAuthoritative || g.Mode == boot.SegmentProxy && !hasSix(g))
}

// A View is all that an answer rests on, besides the solicitation and its link.
type View struct {
	// State is what is known now; nil: nothing yet.
	State *boot.State
	// DHCPv6 says whether it's answered by us now.
	DHCPv6 bool
}

// Content is what a link's machines are told; nil, with the reason: nothing.
func Content(v View, l links.Link) (*ndp.RouterAdvertisement, dhcp.Reason) {
	if v.State == nil {
		return nil, dhcp.SilentUnsynced
	}
	here, reason := on(v, l)
	if reason != "" {
		return nil, reason
	}
	ra := &ndp.RouterAdvertisement{}
	if len(l.Hardware) == ethernet {
		ra.Options = append(ra.Options, &ndp.LinkLayerAddress{Direction: ndp.Source, Addr: l.Hardware})
	}
	prefixes := here.prefixes()
	if len(prefixes) == 0 { // There's no IPv6, and nothing to wait for.
		return ra, ""
	}
	ra.ManagedConfiguration, ra.OtherConfiguration = true, true
	if mtu := here.mtu(); mtu != 0 {
		ra.Options = append(ra.Options, ndp.NewMTU(mtu))
	}
	for _, p := range prefixes[:min(len(prefixes), maxPrefixes)] {
		ra.Options = append(ra.Options, &ndp.PrefixInformation{
			PrefixLength: uint8(p.Bits()), Prefix: p.Addr(), OnLink: true, //nolint:gosec // 128 at most.
			// Nothing is said unasked, so that nobody would hear that it goes on.
			ValidLifetime: ndp.Infinity, PreferredLifetime: ndp.Infinity,
		})
	}
	if servers, lease := here.dns(); len(servers) > 0 {
		ra.Options = append(ra.Options, &ndp.RecursiveDNSServer{Lifetime: lease, Servers: servers})
	}
	return ra, ""
}

// segments that answer on a link, by name, and what of each of their subnets is on it.
type segments []present

type present struct {
	boot.Segment

	six []netip.Prefix
}

// on finds them, or says why nobody is answered there. All networks of a link speak with one voice: machines believe whom they hear first.
func on(v View, l links.Link) (segments, dhcp.Reason) {
	var here segments
	another, six := false, false
	for _, g := range v.State.Segments {
		p := present{g, onLink(g, l, true)}
		switch {
		case len(g.Interfaces) > 0 && !slices.Contains(g.Interfaces, l.Name):
		case !Answers(g):
			another = another || len(p.six) > 0
		case len(p.six) > 0:
			here, six = append(here, p), true
		case !hasSix(g) && len(onLink(g, l, false)) > 0:
			here = append(here, p)
		}
	}
	switch {
	case len(here) == 0:
		return nil, dhcp.SilentNoSegment
	case another:
		return nil, SilentAnother
	case six && !v.DHCPv6:
		return nil, SilentUnserved
	case !l.Local.IsValid():
		return nil, dhcp.SilentNoServer
	}
	slices.SortFunc(here, func(a, b present) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name.Name, b.Name.Name))
	})
	return here, ""
}

// onLink are a segment's subnets of a family in which an address of the link lies: others may be behind a relay.
func onLink(g boot.Segment, l links.Link, six bool) (out []netip.Prefix) {
	for _, p := range g.Subnets {
		if p.Addr().Is6() == six && slices.ContainsFunc(l.Addresses, p.Contains) {
			out = append(out, p.Masked())
		}
	}
	return out
}

func hasSix(g boot.Segment) bool {
	return slices.ContainsFunc(g.Subnets, func(p netip.Prefix) bool { return p.Addr().Is6() })
}

func (s segments) prefixes() (out []netip.Prefix) {
	for _, p := range s {
		for _, x := range p.six {
			if !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// mtu is the least that one of them names; 0: none does.
func (s segments) mtu() (least uint32) {
	for _, p := range s {
		if m := p.Advertises.MTU; len(p.six) > 0 && m >= leastMTU && (least == 0 || uint32(m) < least) { //nolint:gosec // 9216 at most.
			least = uint32(m) //nolint:gosec // As above.
		}
	}
	return least
}

// dns are the servers, and how long they're good.
func (s segments) dns() (servers []netip.Addr, lease time.Duration) {
	for _, p := range s {
		if len(p.six) == 0 {
			continue
		}
		for _, a := range p.Advertises.DNS {
			if len(servers) < maxDNS && !slices.Contains(servers, a) {
				servers = append(servers, a)
			}
		}
		if l := cmp.Or(p.Advertises.Lease, defaultLease); lease == 0 || l < lease {
			lease = l
		}
	}
	return servers, lease
}
