package dhcp

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// TestOutdated: a system whose address was changed in its plan is told so when it goes on with the old one, in whichever mode. Where relays alone are heard
// nobody is refused what another server may have given.
func TestOutdated(t *testing.T) {
	const old, nak = "10.99.0.9", dhcpv4.MessageTypeNak
	request0 := ofType(dhcpv4.MessageTypeRequest)
	goesOn := all(request0, dhcpv4.WithClientIP(net.ParseIP(old)))
	relayOnly, off, proxy := ofMode(boot.SegmentRelayOnly), ofMode(boot.SegmentOff), ofMode(boot.SegmentProxy)
	from := func(a string) Ingress { return routed(netip.MustParseAddr(a)) }
	far := from(old)
	far.Addresses = []netip.Addr{netip.MustParseAddr("172.16.0.9")}
	far.To = far.Addresses[0]
	relay, here := fromRelay(netip.Addr{}), broadcastIn()
	byRelay := told{Refused, nak, "10.99.0.1:67", "172.16.0.9", ""}
	cases := map[string]struct {
		reason  string
		req     dhcpv4.Modifier
		in      Ingress
		segment func(*boot.Segment)
		want    told
	}{
		"Renewing":       {"to who comes from it, and to nobody else", goesOn, from(old), nil, told{Refused, nak, "10.99.0.9:68", "10.99.0.1", ""}},
		"RenewingRouted": {"behind its router nobody would hear a broadcast", goesOn, far, nil, told{Refused, nak, "10.99.0.9:68", "172.16.0.9", ""}},
		"RenewingRelays": {"a renewal never comes by the relay", goesOn, far, relayOnly, told{Refused, nak, "10.99.0.9:68", "172.16.0.9", ""}},
		"Rebinding":      {"the server that gave it was silent", all(goesOn, relayed("10.99.0.1")), relay, relayOnly, byRelay},
		"Override":       {"RFC 5107: who took the relay for its server renews through that", all(goesOn, relayed("10.99.0.1", 11, 4, 10, 99, 0, 254)), relay, relayOnly, told{Refused, nak, "10.99.0.1:67", "10.99.0.254", ""}},
		"Selecting": {
			"it took our offer, and the plan was changed meanwhile", all(request0, relayed("10.99.0.1"), addressOpt(54, "172.16.0.9"), addressOpt(50, old)), relay, relayOnly, byRelay,
		},
		"SelectingOther": {"what another server gives is that one's to refuse", all(request0, relayed("10.99.0.1"), addressOpt(54, "10.99.0.2"), addressOpt(50, old)), relay, relayOnly, told{Reason: SilentOtherServer}},
		"InitReboot":     {"the relay's other server may have given it", all(request0, relayed("10.99.0.1"), addressOpt(50, old)), relay, relayOnly, told{Reason: SilentWrongAddress}},
		"InitRebootOurs": {"where there's no other we say it", all(request0, relayed("10.99.0.1"), addressOpt(50, old)), relay, nil, byRelay},
		"Broadcast":      {"by no relay, where relays alone are heard", goesOn, here, relayOnly, told{Reason: SilentRelayOnly}},
		"Untrusted":      {"anybody may write that he's a relay", all(goesOn, relayed("10.98.0.1")), relay, relayOnly, told{Reason: SilentRelayUntrusted}},
		"Firmware":       {"a NAK sends some firmware to its disk", all(goesOn, asPXE(7), relayed("10.99.0.1")), relay, relayOnly, told{Reason: SilentWrongAddress}},
		"FirmwareRenews": {"nor is it believed by unicast", all(goesOn, asPXE(7)), from(old), relayOnly, told{Reason: SilentUnicast}},
		"NotFromIt":      {"in another's name: that one would have to begin anew", goesOn, from("10.99.0.10"), relayOnly, told{Reason: SilentUnicast}},
		"OutOfIt": {
			"nothing is sent out of the segment on a stranger's word", all(request0, dhcpv4.WithClientIP(net.IPv4(192, 0, 2, 66))), from("192.0.2.66"), relayOnly, told{Reason: SilentUnicast},
		},
		"Wishes":    {"who renews names no address beside its own", all(goesOn, addressOpt(50, "10.99.0.10")), from(old), relayOnly, told{Reason: SilentUnicast}},
		"Names":     {"nor a server", all(goesOn, addressOpt(54, "10.99.0.1")), from(old), relayOnly, told{Reason: SilentUnicast}},
		"Discovers": {"nothing else is heard from there", dhcpv4.WithClientIP(net.ParseIP(old)), from(old), relayOnly, told{Reason: SilentUnicast}},
		"Foreign":   {"a segment that hasn't begun refuses nothing", goesOn, from(old), func(g *boot.Segment) { g.RefuseForeign = true }, told{Reason: SilentForeign}},
		"Off":       {"where bootd gives no addresses it takes none", goesOn, from(old), off, told{Reason: SilentOff}},
		"Proxy":     {"nor where another gives them", goesOn, from(old), proxy, told{Reason: SilentNoNetboot}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := testView(testState(tc.segment, testPlan()))
			v.Frames, v.Proxy = true, true
			foreignThere(&v)
			got, p := answered(t, v, request(t, tc.req), tc.in)
			if diff := cmp.Diff(tc.want, toldBy(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if p != nil && (got.Broadcast || got.Hardware != [6]byte{} || !p.YourIPAddr.IsUnspecified() || p.IsBroadcast() != (p.GatewayIPAddr.To4()[0] != 0)) {
				t.Errorf("%s: broadcast %t, to %x: %s", tc.reason, got.Broadcast, got.Hardware, p.Summary())
			}
		})
	}
}

// TestLentIsTakenBack: what was lent to a machine that nobody knows, and is another's by now, is refused where relays alone are heard as well.
func TestLentIsTakenBack(t *testing.T) {
	const a9 = "10.99.0.9"
	now := testNow
	s := lender(func(g *boot.Segment) { lending(a9, a9)(g); g.Mode = boot.SegmentRelayOnly }, &now)
	s.cfg.Lending.Book.Take(testSegment, netip.MustParseAddr(a9), "52:54:00:99:00:77", now)
	rebinds := all(asMAC(otherMAC), ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.ParseIP(a9)), relayed("10.99.0.1"))
	if a := s.handle(message(t, request(t, rebinds)), fromRelay(netip.Addr{}), desk{reply: &wire.Reply{}}); a.Reason != Refused || a.To.String() != "10.99.0.1:67" {
		t.Errorf("%s to %s", a.Reason, a.To)
	}
}
