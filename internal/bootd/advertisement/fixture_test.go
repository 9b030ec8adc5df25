package advertisement

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/mdlayher/ndp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

var (
	machine = netip.MustParseAddr("fe80::5054:ff:fe99:13")
	nobody  = netip.IPv6Unspecified()
)

// testLink is eth1, on which rack-1 lies with both families.
func testLink() links.Link {
	return links.Link{
		Name: "eth1", Index: 3, Hardware: net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 1}, Local: netip.MustParseAddr("fe80::1"),
		Addresses: []netip.Addr{netip.MustParseAddr("fd00:99::1"), netip.MustParseAddr("10.99.0.1")},
	}
}

// segment is one that answers, of some subnets.
func segment(name string, change func(*boot.Segment), subnets ...string) boot.Segment {
	g := boot.Segment{
		Name: boot.Name{Namespace: "infra", Name: name}, Mode: boot.SegmentAuthoritative,
		Advertises: &boot.Advertisement{DNS: []netip.Addr{netip.MustParseAddr("fd00:99::53")}, Lease: time.Hour, MTU: 1500},
	}
	for _, s := range subnets {
		g.Subnets = append(g.Subnets, netip.MustParsePrefix(s))
	}
	if change != nil {
		change(&g)
	}
	return g
}

func ignores(g *boot.Segment) { g.Advertises = nil }

func view(segments ...boot.Segment) View {
	return View{State: boot.NewState(segments, nil, nil), DHCPv6: true}
}

func from(a netip.Addr) Ingress { return Ingress{From: a, HopLimit: 255, Link: testLink()} }

// solicitation is one as machines send it, with their hardware address where they have an address.
func solicitation(tb testing.TB, options ...ndp.Option) []byte {
	tb.Helper()
	b, err := ndp.MarshalMessage(&ndp.RouterSolicitation{Options: options})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func hardware() ndp.Option {
	return &ndp.LinkLayerAddress{Direction: ndp.Source, Addr: net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 0x13}}
}
