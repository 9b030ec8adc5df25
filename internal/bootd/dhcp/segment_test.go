package dhcp

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestRespondBySegment(t *testing.T) {
	const sub19 = "\x13\x00"
	link := func(a string) []byte { return append([]byte{5, 4}, netip.MustParseAddr(a).AsSlice()...) }
	override := append([]byte{11, 4}, netip.MustParseAddr("10.99.0.254").AsSlice()...)
	trust := func(cidr string) func(*boot.Segment) {
		return func(g *boot.Segment) { g.Relays = []netip.Prefix{netip.MustParsePrefix(cidr)} }
	}
	viaRelay := Ingress{
		From: netip.MustParseAddrPort("172.16.0.1:40001"), To: netip.MustParseAddr("172.16.0.9"), Interface: "eth0",
		Addresses: []netip.Addr{netip.MustParseAddr("172.16.0.9")},
	}
	routed := Ingress{
		From: netip.MustParseAddrPort("192.0.2.66:68"), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer},
	}
	renewal := routed
	renewal.From = netip.AddrPortFrom(testAddress, 68)
	cases := map[string]struct {
		reason  string
		req     dhcpv4.Modifier
		in      Ingress
		segment func(*boot.Segment)
		want    told
	}{
		"Relay": {
			reason: "by a relay inside the segment, to the relay's port 67; its own port need not be that",
			req:    relayed("10.99.0.1", 1, 1, 'x'), in: viaRelay,
			want: told{Offered, dhcpv4.MessageTypeOffer, "10.99.0.1:67", "172.16.0.9", ""},
		},
		"RelaySourcePort": {
			reason: "RFC 8357: back to the port it came from",
			req:    relayed("10.99.0.1", []byte(sub19)...), in: viaRelay,
			want: told{Offered, dhcpv4.MessageTypeOffer, "10.99.0.1:40001", "172.16.0.9", ""},
		},
		"RelayElsewhere": {
			reason: "a relay of another segment: the machine was moved, and gets no address that's wrong there",
			req:    relayed("10.98.0.1"), in: viaRelay,
			want: told{Reason: SilentRelayUntrusted},
		},
		"RelayUntrusted": {
			reason: "with a list, a relay must be on it",
			req:    relayed("10.99.0.1"), in: viaRelay, segment: trust("10.99.0.2/32"),
			want: told{Reason: SilentRelayUntrusted},
		},
		"LinkSelection": {
			reason: "RFC 3527: a trusted relay says the segment, its own address is elsewhere",
			req:    relayed("172.16.0.1", link("10.99.0.1")...), in: viaRelay, segment: trust("172.16.0.1/32"),
			want: told{Offered, dhcpv4.MessageTypeOffer, "172.16.0.1:67", "172.16.0.9", ""},
		},
		"LinkSelectionCisco": {
			reason: "IOS has numbers of its own for the link and the server, unless it's told otherwise",
			req: relayed("172.16.0.1", append(append([]byte{152, 4}, netip.MustParseAddr("10.99.0.254").AsSlice()...),
				append([]byte{150, 4}, netip.MustParseAddr("10.99.0.1").AsSlice()...)...)...),
			in: viaRelay, segment: trust("172.16.0.1/32"),
			want: told{Offered, dhcpv4.MessageTypeOffer, "172.16.0.1:67", "10.99.0.254", ""},
		},
		"LinkSelectionBoth": {
			reason: "the standard's counts before Cisco's",
			req:    relayed("172.16.0.1", append(link("10.99.0.1"), append([]byte{150, 4}, netip.MustParseAddr("10.98.0.1").AsSlice()...)...)...),
			in:     viaRelay, segment: trust("172.16.0.1/32"),
			want: told{Offered, dhcpv4.MessageTypeOffer, "172.16.0.1:67", "172.16.0.9", ""},
		},
		"LinkSelectionElsewhere": {
			reason: "the link isn't of the machine's segment though the relay is",
			req:    relayed("10.99.0.1", link("10.98.0.1")...), in: viaRelay,
			want: told{Reason: SilentElsewhere},
		},
		"LinkSelectionUntrusted": {
			reason: "who isn't trusted can't say where a machine is",
			req:    relayed("172.16.0.1", link("10.99.0.1")...), in: viaRelay,
			want: told{Reason: SilentRelayUntrusted},
		},
		"ServerOverride": {
			reason: "RFC 5107: the machine is to take the relay for its server",
			req:    relayed("10.99.0.1", override...), in: viaRelay,
			want: told{Offered, dhcpv4.MessageTypeOffer, "10.99.0.1:67", "10.99.0.254", ""},
		},
		"ServerOverrideRequest": {
			reason: "and its REQUEST then names the relay",
			req: all(relayed("10.99.0.1", override...), ofType(dhcpv4.MessageTypeRequest), asPXE(0),
				addressOpt(54, "10.99.0.254"), addressOpt(50, "10.99.0.83")),
			in:   viaRelay,
			want: told{Acknowledged, dhcpv4.MessageTypeAck, "10.99.0.1:67", "10.99.0.254", boot.StageDHCP},
		},
		"OwnOption82": {
			reason: "option 82 without a relay is the client's own invention",
			req:    option(82, append(link("10.98.0.1"), override...)...), in: broadcastIn(),
			want: told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""},
		},
		"RelayOnlyBroadcast": {
			reason: "on such a segment somebody else answers broadcasts",
			req:    all(), in: broadcastIn(), segment: func(g *boot.Segment) { g.Mode = boot.SegmentRelayOnly },
			want: told{Reason: SilentRelayOnly},
		},
		"RelayOnlyRelay": {
			reason: "and its relay is answered",
			req:    relayed("10.99.0.1"), in: viaRelay, segment: func(g *boot.Segment) { g.Mode = boot.SegmentRelayOnly },
			want: told{Offered, dhcpv4.MessageTypeOffer, "10.99.0.1:67", "172.16.0.9", ""},
		},
		"RelayOnlyWrongAddress": {
			reason: "where somebody else is authoritative no address is refused",
			req:    all(relayed("10.99.0.1"), ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.99.0.9")), in: viaRelay,
			segment: func(g *boot.Segment) { g.Mode = boot.SegmentRelayOnly },
			want:    told{Reason: SilentWrongAddress},
		},
		"OtherInterface": {
			reason: "a broadcast on an interface without an address of the segment",
			req:    all(), in: Ingress{Interface: "eth1", Addresses: []netip.Addr{netip.MustParseAddr("10.98.0.1")}},
			want: told{Reason: SilentElsewhere},
		},
		"NamedInterface": {
			reason: "the segment names where it's served",
			req:    all(), in: broadcastIn(), segment: func(g *boot.Segment) { g.Interfaces = []string{"br0"} },
			want: told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""},
		},
		"NotNamedInterface": {
			reason: "and where it isn't, even with an address there",
			req:    all(), in: broadcastIn(), segment: func(g *boot.Segment) { g.Interfaces = []string{"eth7"} },
			want: told{Reason: SilentNotServedHere},
		},
		"RoutedDiscover": {
			reason: "sent from far away in the name of our machine's MAC, to be given its script's token at an address of its own",
			req:    all(asIPXE(7), dhcpv4.WithClientIP(net.IPv4(192, 0, 2, 66))), in: routed,
			want: told{Reason: SilentUnicast},
		},
		"RoutedRequest": {
			reason: "the same, asking for the planned address",
			req: all(asIPXE(7), ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.99.0.83"),
				dhcpv4.WithClientIP(net.IPv4(192, 0, 2, 66))),
			in:   routed,
			want: told{Reason: SilentUnicast},
		},
		"RoutedInform": {
			reason: "the same, asking for options alone",
			req:    all(asIPXE(7), ofType(dhcpv4.MessageTypeInform), dhcpv4.WithClientIP(net.IPv4(192, 0, 2, 66))), in: routed,
			want: told{Reason: SilentUnicast},
		},
		"ForgedAddress": {
			reason: "an answer doesn't leave the segment on a stranger's word",
			req:    all(asIPXE(7), dhcpv4.WithClientIP(net.IPv4(192, 0, 2, 66))), in: broadcastIn(),
			want: told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""},
		},
		"ForgedBroadcast": {
			reason: "nor to all of it by the subnet's broadcast address",
			req:    all(asIPXE(7), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 255))), in: broadcastIn(),
			want: told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""},
		},
		"ForgedFirst": {
			reason: "nor to the subnet's own address, which some take for that",
			req:    all(asIPXE(7), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 0))), in: broadcastIn(),
			want: told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""},
		},
		"PointToPoint": {
			reason: "of a subnet of two both are hosts' (RFC 3021)",
			req:    all(asIPXE(7), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 255))), in: broadcastIn(),
			segment: func(g *boot.Segment) { g.Subnets = append(g.Subnets, netip.MustParsePrefix("10.99.0.254/31")) },
			want:    told{Offered, dhcpv4.MessageTypeOffer, "10.99.0.255:68", "10.99.0.1", ""},
		},
		"FirmwareRenews": {
			reason: "UEFI renews its lease by unicast during a long download; that's no boot",
			req:    all(asPXE(7), ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.IP(testAddress.AsSlice()))), in: renewal,
			want: told{Acknowledged, dhcpv4.MessageTypeAck, "10.99.0.83:68", "10.99.0.1", ""},
		},
		"NoAddressOfOurs": {
			reason: "an interface that has lost its address",
			req:    all(), in: Ingress{Interface: "br0"}, segment: func(g *boot.Segment) { g.Interfaces = []string{"br0"} },
			want: told{Reason: SilentNoServer},
		},
		"RelayedNAK": {
			reason: "a relay broadcasts a NAK, since the client's address is wrong (RFC 2131 §4.3.2)",
			req:    all(relayed("10.99.0.1"), ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.99.0.9")), in: viaRelay,
			want: told{Refused, dhcpv4.MessageTypeNak, "10.99.0.1:67", "172.16.0.9", ""},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, p := answered(t, testView(testState(tc.segment, testPlan())), request(t, tc.req), tc.in)
			if diff := cmp.Diff(tc.want, toldBy(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got.Reason == Refused && p.GatewayIPAddr.To4()[0] != 0 && !p.IsBroadcast() {
				t.Errorf("%s: the broadcast flag isn't set", tc.reason)
			}
		})
	}
}
