package dhcp

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// told is what a table expects of an answer.
type told struct {
	Reason Reason
	Type   dhcpv4.MessageType
	To     string
	ID     string // option 54
	Stage  boot.Stage
}

func toldBy(tb testing.TB, a Answer) told {
	tb.Helper()
	t := told{Reason: a.Reason, Stage: a.Stage}
	if p := packetOf(tb, a); p != nil {
		t.Type, t.To, t.ID = p.MessageType(), a.To.String(), p.ServerIdentifier().String()
	}
	return t
}

const everybody = "255.255.255.255:68"

func TestRespondByType(t *testing.T) {
	selecting := func(server, address string) dhcpv4.Modifier {
		return all(ofType(dhcpv4.MessageTypeRequest), addressOpt(54, server), addressOpt(50, address))
	}
	renewing := all(ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.IP(testAddress.AsSlice())))
	relayOnly := func(g *boot.Segment) { g.Mode = boot.SegmentRelayOnly }
	unicast := Ingress{From: netip.MustParseAddrPort("10.99.0.83:68"), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}
	elsewhere := unicast
	elsewhere.From = netip.MustParseAddrPort("10.99.0.84:68")

	cases := map[string]struct {
		reason  string
		req     dhcpv4.Modifier
		in      *Ingress
		segment func(*boot.Segment)
		plan    func(*boot.Plan)
		want    told
	}{
		"Discover": {
			reason: "a machine of ours gets an offer, by broadcast, whatever its flag says",
			req:    asPXE(0),
			want:   told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""},
		},
		"Selecting": {
			reason: "it took our offer",
			req:    all(asPXE(0), selecting("10.99.0.1", "10.99.0.83")),
			want:   told{Acknowledged, dhcpv4.MessageTypeAck, everybody, "10.99.0.1", boot.StageDHCP},
		},
		"SelectingOther": {
			reason: "it took another server's offer: that one answers",
			req:    all(asPXE(0), selecting("10.99.0.2", "10.99.0.83")),
			want:   told{Reason: SilentOtherServer},
		},
		"SelectingWrongAddressPXE": {
			reason: "a NAK sends some ROMs to their disk; silence makes them begin again",
			req:    all(asPXE(0), selecting("10.99.0.1", "10.99.0.84")),
			want:   told{Reason: SilentWrongAddress},
		},
		"SelectingWrongAddressOS": {
			reason: "a system is told that its address is none of ours",
			req:    selecting("10.99.0.1", "10.99.0.84"),
			want:   told{Refused, dhcpv4.MessageTypeNak, everybody, "10.99.0.1", ""},
		},
		"InitReboot": {
			reason: "a system that started from its disk and remembers its lease",
			req:    all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.99.0.83")),
			want:   told{Acknowledged, dhcpv4.MessageTypeAck, everybody, "10.99.0.1", boot.StageBootedFromDisk},
		},
		"InitRebootWrongAddress": {
			reason: "where we are authoritative a wrong address is refused",
			req:    all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "192.168.0.9")),
			want:   told{Refused, dhcpv4.MessageTypeNak, everybody, "10.99.0.1", ""},
		},
		"InitRebootWrongAddressIPXE": {
			reason: "never to a client that netboots",
			req:    all(asIPXE(0), ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "192.168.0.9")),
			want:   told{Reason: SilentWrongAddress},
		},
		"Renew": {
			reason: "a running system renews by unicast; that is no sign of a boot",
			req:    renewing, in: &unicast,
			want: told{Acknowledged, dhcpv4.MessageTypeAck, "10.99.0.83:68", "10.99.0.1", ""},
		},
		"RenewRelayOnly": {
			reason: "renewals don't pass the relay, where everything else must",
			req:    renewing, in: &unicast, segment: relayOnly,
			want: told{Acknowledged, dhcpv4.MessageTypeAck, "10.99.0.83:68", "10.99.0.1", ""},
		},
		"RenewFromElsewhere": {
			reason: "from another address it isn't the machine that holds it",
			req:    renewing, in: &elsewhere, segment: relayOnly,
			want: told{Reason: SilentUnicast},
		},
		"RequestOfNothing": {
			reason: "neither option 50 nor ciaddr",
			req:    ofType(dhcpv4.MessageTypeRequest),
			want:   told{Reason: SilentMalformed},
		},
		"Inform": {
			reason: "options without an address, to where it is",
			req:    all(ofType(dhcpv4.MessageTypeInform), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 7))),
			want:   told{Informed, dhcpv4.MessageTypeAck, "10.99.0.7:68", "10.99.0.1", ""},
		},
		"InformFromElsewhere": {
			reason: "an answer goes to the address that it names, and none goes out of its segment",
			req:    all(ofType(dhcpv4.MessageTypeInform), dhcpv4.WithClientIP(net.IPv4(10, 98, 0, 83))),
			want:   told{Reason: SilentElsewhere},
		},
		"InformFromAll": {
			reason: "nor to the subnet's broadcast address, which no machine has",
			req:    all(ofType(dhcpv4.MessageTypeInform), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 255))),
			want:   told{Reason: SilentElsewhere},
		},
		"InformFromFirst": {
			reason: "nor to the subnet's own",
			req:    all(ofType(dhcpv4.MessageTypeInform), dhcpv4.WithClientIP(net.IPv4(10, 99, 0, 0))),
			want:   told{Reason: SilentElsewhere},
		},
		"InformOfNothing": {
			reason: "nobody knows where to answer",
			req:    ofType(dhcpv4.MessageTypeInform),
			want:   told{Reason: SilentMalformed},
		},
		"Decline": {
			reason: "noted, never answered",
			req:    all(ofType(dhcpv4.MessageTypeDecline), addressOpt(54, "10.99.0.1"), addressOpt(50, "10.99.0.83")),
			want:   told{Reason: Declined},
		},
		"DeclineOfAnotherAddress": {
			reason: "nobody has said that the planned one is taken",
			req:    all(ofType(dhcpv4.MessageTypeDecline), addressOpt(54, "10.99.0.1"), addressOpt(50, "10.99.0.84")),
			want:   told{Reason: SilentWrongAddress},
		},
		"DeclineOther": {
			reason: "another server's address",
			req:    all(ofType(dhcpv4.MessageTypeDecline), addressOpt(54, "10.99.0.2")),
			want:   told{Reason: SilentOtherServer},
		},
		"Release": {
			reason: "a reservation isn't released by its machine",
			req:    all(ofType(dhcpv4.MessageTypeRelease), addressOpt(54, "10.99.0.1"), dhcpv4.WithClientIP(net.IP(testAddress.AsSlice()))),
			want:   told{Reason: Released},
		},
		"BOOTP": {
			reason: "no message type: BOOTP, which we don't speak",
			req:    func(d *dhcpv4.DHCPv4) { d.DeleteOption(dhcpv4.OptionDHCPMessageType) },
			want:   told{Reason: SilentNotRequest},
		},
		"Reply": {
			reason: "a server's packet",
			req:    func(d *dhcpv4.DHCPv4) { d.OpCode = dhcpv4.OpcodeBootReply },
			want:   told{Reason: SilentNotRequest},
		},
		"LeaseQuery": {
			reason: "a type that machines don't send",
			req:    ofType(dhcpv4.MessageType(10)),
			want:   told{Reason: SilentType},
		},
		"Live": {
			reason: "a machine that netboots each time hasn't booted from a disk",
			req:    selecting("10.99.0.1", "10.99.0.83"),
			plan:   func(p *boot.Plan) { p.Mode = boot.ModeLive },
			want:   told{Acknowledged, dhcpv4.MessageTypeAck, everybody, "10.99.0.1", boot.StageKernel},
		},
		"NoAddress": {
			reason: "the address isn't allocated yet",
			req:    asPXE(0), plan: func(p *boot.Plan) { p.Network.Address = netip.Prefix{} },
			want: told{Reason: SilentNoAddress},
		},
		"IPv6Plan": {
			reason: "what DHCPv4 can't carry is no crash",
			req:    asPXE(0), plan: func(p *boot.Plan) { p.Network.Address = netip.MustParsePrefix("2001:db8::1/64") },
			want: told{Reason: SilentNoAddress},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := testPlan()
			if tc.plan != nil {
				tc.plan(&p)
			}
			in := broadcastIn()
			if tc.in != nil {
				in = *tc.in
			}
			got := Respond(testView(testState(tc.segment, p)), message(t, request(t, tc.req)), in)
			if diff := cmp.Diff(tc.want, toldBy(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRespondSilence: whatever an unknown machine asks, and however, it hears nothing.
func TestRespondSilence(t *testing.T) {
	stranger := func(d *dhcpv4.DHCPv4) { d.ClientHWAddr, _ = net.ParseMAC(string(otherMAC)) }
	cases := map[string]struct {
		reason string
		view   View
		req    dhcpv4.Modifier
		want   Reason
	}{
		"Stranger":    {"its MAC is nobody's", testView(testState(nil, testPlan())), all(asPXE(0), stranger), SilentUnknown},
		"StrangerNAK": {"nor is it refused an address", testView(testState(nil, testPlan())), all(stranger, ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "1.2.3.4")), SilentUnknown},
		"Multicast": {
			"no NIC has such an address", testView(testState(nil, testPlan())),
			func(d *dhcpv4.DHCPv4) { d.ClientHWAddr = net.HardwareAddr{1, 0, 0, 0, 0, 1} }, SilentUnknown,
		},
		"NoMAC":     {"InfiniBand without one", testView(testState(nil, testPlan())), func(d *dhcpv4.DHCPv4) { d.ClientHWAddr = nil }, SilentUnknown},
		"NoState":   {"nothing is known yet", View{Now: testNow}, asPXE(0), SilentUnsynced},
		"NoSegment": {"its network is gone", testView(boot.NewState(nil, []boot.Plan{testPlan()}, nil)), asPXE(0), SilentNoSegment},
		"NoKeys": {
			"a script without a token is no use; the firmware goes on to its disk",
			View{State: testState(nil, testPlan()), Now: testNow, HTTPPort: 8080, Files: testFiles}, asIPXE(0), SilentNoKeys,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Respond(tc.view, message(t, request(t, tc.req)), broadcastIn())
			if got.Packet != nil || got.Reason != tc.want {
				t.Errorf("%s: got %s and %v", tc.reason, got.Reason, got.Packet)
			}
		})
	}
}
