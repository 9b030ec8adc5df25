package dhcp

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

func refusesForeign(g *boot.Segment) { g.RefuseForeign = true }

func foreignThere(v *View) { v.Foreign = func(boot.Name) Reason { return SilentForeign } }

// TestForeign: another server on the segment keeps ours from beginning, and from nothing else.
func TestForeign(t *testing.T) {
	asking := func(mods ...dhcpv4.Modifier) dhcpv4.Modifier {
		return all(append(mods, ofType(dhcpv4.MessageTypeRequest))...)
	}
	const acked = dhcpv4.MessageTypeAck
	renewal := broadcastIn()
	renewal.From, renewal.To = netip.AddrPortFrom(testAddress, 68), testServer
	viaRelay := Ingress{From: netip.MustParseAddrPort("10.99.0.1:67"), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}
	cases := map[string]struct {
		reason  string
		req     dhcpv4.Modifier
		in      Ingress
		segment func(*boot.Segment)
		view    func(*View)
		want    told
	}{
		"Discover":  {"a new machine is offered nothing", asPXE(7), broadcastIn(), refusesForeign, foreignThere, told{Reason: SilentForeign}},
		"System":    {"nor is a system", all(), broadcastIn(), refusesForeign, foreignThere, told{Reason: SilentForeign}},
		"Wrong":     {"nor is an address refused", asking(addressOpt(50, "10.99.0.9")), broadcastIn(), refusesForeign, foreignThere, told{Reason: SilentForeign}},
		"Renewal":   {"a machine that has its address keeps it", asking(dhcpv4.WithClientIP(testAddress.AsSlice())), renewal, refusesForeign, foreignThere, told{Acknowledged, acked, "10.99.0.83:68", "10.99.0.1", ""}},
		"Rebinding": {"also by broadcast", asking(dhcpv4.WithClientIP(testAddress.AsSlice())), broadcastIn(), refusesForeign, foreignThere, told{Acknowledged, acked, "10.99.0.83:68", "10.99.0.1", ""}},
		"Reboot":    {"and after a restart of its system", asking(addressOpt(50, "10.99.0.83")), broadcastIn(), refusesForeign, foreignThere, told{Acknowledged, acked, everybody, "10.99.0.1", boot.StageBootedFromDisk}},
		"Selects":   {"and who took our offer a moment before", asking(asPXE(7), addressOpt(50, "10.99.0.83"), addressOpt(54, "10.99.0.1")), broadcastIn(), refusesForeign, foreignThere, told{Acknowledged, acked, everybody, "10.99.0.1", boot.StageDHCP}},
		"Relay":     {"a relay knows whom it asks", all(asPXE(7), relayed("10.99.0.1")), viaRelay, refusesForeign, foreignThere, told{Offered, dhcpv4.MessageTypeOffer, "10.99.0.1:67", "10.99.0.1", ""}},
		"Warn":      {"a segment that only tells of it", asPXE(7), broadcastIn(), nil, foreignThere, told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""}},
		"Alone":     {"nobody else is there", asPXE(7), broadcastIn(), refusesForeign, func(v *View) { v.Foreign = func(boot.Name) Reason { return "" } }, told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""}},
		"Deaf":      {"nobody looks", asPXE(7), broadcastIn(), refusesForeign, nil, told{Offered, dhcpv4.MessageTypeOffer, everybody, "10.99.0.1", ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := testView(testState(tc.segment, testPlan()))
			if tc.view != nil {
				tc.view(&v)
			}
			got, _ := answered(t, v, request(t, tc.req), tc.in)
			if diff := cmp.Diff(tc.want, toldBy(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestServersAreNamed: whoever takes another server's offer on this link tells of it, be it a stranger; a relay's link is another one.
func TestServersAreNamed(t *testing.T) {
	var named []string
	began := 0
	cfg := testConfig(testState(nil, testPlan()))
	cfg.Named = func(a netip.Addr, in Ingress) { named = append(named, a.String()+" on "+in.Interface) }
	cfg.Began = func(boot.Name) { began++ }
	s := New(cfg)
	stranger := func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = []byte{2, 0, 0, 9, 9, 9} }
	taking := func(server string) dhcpv4.Modifier {
		return all(ofType(dhcpv4.MessageTypeRequest), addressOpt(54, server), addressOpt(50, testAddress.String()))
	}
	for _, m := range []dhcpv4.Modifier{taking("10.99.0.1"), taking("10.99.0.2"), all(taking("10.99.0.3"), stranger), all(taking("10.99.0.4"), relayed("10.99.0.1")), asPXE(0)} {
		s.handle(message(t, request(t, m)), broadcastIn(), desk{reply: &wire.Reply{}})
	}
	if want := []string{"10.99.0.2 on br0", "10.99.0.3 on br0"}; !slices.Equal(want, named) || began != 1 {
		t.Errorf("named %q, want %q; began %d times", named, want, began)
	}
}

// TestForeignStaysForeign: what a machine may have of another server is acknowledged, and begins no segment: its other machines would be offered addresses
// beside that server from then on. Nor does an offer, which nobody may take.
func TestForeignStaysForeign(t *testing.T) {
	lease, renewal := addressOpt(50, testAddress.String()), broadcastIn()
	renewal.From, renewal.To = netip.AddrPortFrom(testAddress, 68), testServer
	routed := renewal
	routed.Addresses = []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	viaRelay := Ingress{From: netip.MustParseAddrPort("10.99.0.1:67"), To: testServer, Interface: "br0", Addresses: []netip.Addr{testServer}}
	asking := func(m ...dhcpv4.Modifier) dhcpv4.Modifier {
		return all(append([]dhcpv4.Modifier{ofType(dhcpv4.MessageTypeRequest)}, m...)...)
	}
	cases := map[string]struct {
		reason string
		req    dhcpv4.Modifier
		in     Ingress
		why    Reason // of the segment not to begin
		begins bool
		answer Reason
	}{
		"Reboot":    {"INIT-REBOOT names no server", asking(lease), broadcastIn(), SilentForeign, false, Acknowledged},
		"Rebinding": {"nor does REBINDING", asking(dhcpv4.WithClientIP(testAddress.AsSlice())), broadcastIn(), SilentForeign, false, Acknowledged},
		"Listening": {"whether there's another isn't known yet", asking(lease), broadcastIn(), SilentListening, false, Acknowledged},
		"Selects":   {"it took our offer", asking(lease, addressOpt(54, "10.99.0.1")), broadcastIn(), SilentForeign, true, Acknowledged},
		"Renewal":   {"it asks us", asking(dhcpv4.WithClientIP(testAddress.AsSlice())), renewal, SilentForeign, true, Acknowledged},
		"Alone":     {"there's no other", asking(lease), broadcastIn(), "", true, Acknowledged},
		"Routed":    {"it asks us, from behind a relay, which renewals don't pass", asking(dhcpv4.WithClientIP(testAddress.AsSlice())), routed, SilentForeign, false, Acknowledged},
		"Peer":      {"it took another bootd's offer", asking(lease, addressOpt(54, "10.99.0.2")), broadcastIn(), SilentForeign, true, SilentOtherServer},
		"PeerWrong": {"of an address that isn't its own", asking(addressOpt(50, "10.99.0.9"), addressOpt(54, "10.99.0.2")), broadcastIn(), SilentForeign, false, SilentOtherServer},
		"Theirs":    {"it took the other one's", asking(lease, addressOpt(54, "10.99.0.3")), broadcastIn(), SilentForeign, false, SilentOtherServer},
		"PeerRelay": {"on a relay's link", asking(lease, addressOpt(54, "10.99.0.2"), relayed("10.99.0.1")), viaRelay, SilentForeign, false, SilentOtherServer},
		"Relay":     {"a relay's link is another one", asking(lease, relayed("10.99.0.1")), viaRelay, SilentForeign, false, Acknowledged},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			began := 0
			cfg := testConfig(testState(refusesForeign, testPlan()))
			cfg.Began = func(boot.Name) { began++ }
			cfg.Peer = func(a netip.Addr) bool { return a.String() == "10.99.0.2" }
			cfg.Foreign = func(boot.Name) Reason { return tc.why }
			a := New(cfg).handle(message(t, request(t, tc.req)), tc.in, desk{reply: &wire.Reply{}})
			if a.Reason != tc.answer || began > 0 != tc.begins {
				t.Errorf("%s: %s, and it begins: %d", tc.reason, a.Reason, began)
			}
		})
	}
}

// TestForeignBesideAProxy: where another server gives the addresses on purpose, who takes them begins nothing.
func TestForeignBesideAProxy(t *testing.T) {
	began := 0
	cfg := testConfig(testState(func(g *boot.Segment) { refusesForeign(g); g.Mode = boot.SegmentProxy }, testPlan()))
	cfg.Began, cfg.Peer = func(boot.Name) { began++ }, func(netip.Addr) bool { return true }
	taking := all(ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.2"), addressOpt(50, testAddress.String()))
	New(cfg).handle(message(t, request(t, taking)), broadcastIn(), desk{reply: &wire.Reply{}})
	if began > 0 {
		t.Error("a proxy's segment has begun by the other server")
	}
}
