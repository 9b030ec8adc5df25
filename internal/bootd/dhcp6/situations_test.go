package dhcp6

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

// A situation is what a recorded packet meets.
type situation struct {
	reason   string
	stranger bool
	segment  func(*boot.Segment)
	plan     func(*boot.Plan)
	view     func(*View)
	in       func(Ingress) Ingress
	// edit changes what was sent, as its sender would have it here.
	edit func(data []byte, from netip.Addr) []byte
}

// The network in which the project's own recordings were made.
var (
	recordedLink    = netip.MustParsePrefix("fd00:88::/64")
	recordedServer  = netip.MustParseAddr("fd00:88::3")
	recordedAddress = netip.MustParsePrefix("fd00:88::11/64")
)

func situations() map[string]situation {
	const relay = "fd00:1::5"
	through := func(link string) func([]byte, netip.Addr) []byte {
		return func(data []byte, from netip.Addr) []byte { // Its library takes no message that it can't read itself.
			b := append([]byte{byte(dhcpv6.MessageTypeRelayForward), 0}, netip.MustParseAddr(link).AsSlice()...)
			b = binary.BigEndian.AppendUint16(append(b, from.AsSlice()...), uint16(dhcpv6.OptionRelayMsg))
			return append(binary.BigEndian.AppendUint16(b, uint16(len(data))), data...) //nolint:gosec // A packet.
		}
	}
	fromRelay := func(Ingress) Ingress { return viaRelay(relay) }
	trusted := func(g *boot.Segment) { g.Relays = []netip.Prefix{netip.MustParsePrefix(relay + "/128")} }
	return map[string]situation{
		"owner": {reason: "from its own link, as recorded"},
		"recorded": {
			reason: "the same, by the server and with the address that the project's own recordings name", segment: func(g *boot.Segment) { g.Subnets = []netip.Prefix{recordedLink} },
			plan: func(p *boot.Plan) { p.Network.Address = recordedAddress }, in: func(in Ingress) Ingress { in.Addresses = []netip.Addr{recordedServer}; return in },
		},
		"shim":              {reason: "what mustn't run what's unsigned gets its address, and no file", plan: func(p *boot.Plan) { p.FirstStage = boot.FirstStageShim }, edit: ofOurs},
		"native":            {reason: "firmware whose own driver of the NIC doesn't go on", plan: func(p *boot.Plan) { p.FirstStage = boot.FirstStageNativeIPXE }, edit: ofOurs},
		"unproven":          {reason: "nothing but a DUID says whose it is, which is worth an address to a system, and to firmware nothing", in: func(in Ingress) Ingress { in.From = onLink(private).From; return in }, edit: ofOurs},
		"selected":          {reason: "the same, where it names a server it's ours", edit: ofOurs},
		"stranger":          {reason: "the same of a machine that isn't ours", stranger: true},
		"relay-only":        {reason: "where relays alone are answered", segment: func(g *boot.Segment) { g.Mode = boot.SegmentRelayOnly }, edit: ofOurs},
		"off":               {reason: "its segment has no DHCP of ours", segment: func(g *boot.Segment) { g.Mode = boot.SegmentOff }, edit: ofOurs},
		"proxy":             {reason: "another server gives the addresses", segment: func(g *boot.Segment) { g.Mode = boot.SegmentProxy }, edit: ofOurs},
		"other-interface":   {reason: "its segment is served on another interface", segment: func(g *boot.Segment) { g.Interfaces = []string{"eth7"} }, edit: ofOurs},
		"unicast":           {reason: "from elsewhere, by a router", in: func(in Ingress) Ingress { in.To = testServer; return in }, edit: ofOurs},
		"relayed":           {reason: "by a relay that's trusted", segment: trusted, in: fromRelay, edit: through("fd00:99::7")},
		"relayed-elsewhere": {reason: "by the same, of another link", segment: trusted, in: fromRelay, edit: through("fd00:98::7")},
		"relayed-untrusted": {reason: "by a relay that isn't trusted", in: fromRelay, edit: through("fd00:99::7")},
		"declined":          {reason: "its address was declined: another has it", view: func(v *View) { v.Declined = func(boot.Name, netip.Addr, time.Time) bool { return true } }, edit: ofOurs},
		"no-keys":           {reason: "there are no token keys yet", view: func(v *View) { v.Keys = nil }, edit: ofOurs},
		"unsynced":          {reason: "bootd knows nothing yet", view: func(v *View) { v.State = nil }},
	}
}

// ofOurs has a message that names a server name us.
func ofOurs(data []byte, _ netip.Addr) []byte {
	d, err := dhcpv6.FromBytes(data)
	if m, ok := d.(*dhcpv6.Message); err == nil && ok && len(m.Options.Get(dhcpv6.OptionServerID)) > 0 {
		m.Options.Del(dhcpv6.OptionServerID)
		toUs(testServer)(m)
		return m.ToBytes()
	}
	return data
}

// owner is the MAC that a packet's sender has, by whatever says it; that of a test's machine where nothing does, which has the DUID then.
func owner(data []byte, from netip.Addr) boot.MAC {
	m := &wire.Message{}
	if m.Read(bytes.Clone(data)) == nil {
		if f := Classify(m, from); f.Link != "" {
			return f.Link
		} else if f.Named != "" {
			return f.Named
		}
	}
	return testMAC
}

// meets is what becomes of a recorded packet.
func (s situation) meets(tb testing.TB, r recording) (a Answer, text string) {
	tb.Helper()
	data, mac := bytes.Clone(r.data), owner(r.data, r.from)
	if s.edit != nil {
		data = s.edit(data, r.from)
	}
	v := testView(testState(s.segment, testPlan(func(p *boot.Plan) {
		if p.MACs[0] = mac; s.stranger {
			p.MACs[0] = otherMAC
		}
		if s.plan != nil {
			s.plan(p)
		}
	})))
	v.Learnt = func([]byte) (boot.MAC, bool) { return mac, !s.stranger }
	if s.view != nil {
		s.view(&v)
	}
	in := onLink(r.from)
	if s.in != nil {
		in = s.in(in)
	}
	m := &wire.Message{}
	if err := m.Read(data); err != nil {
		return Answer{}, "  unreadable: " + err.Error() + "\n"
	}
	a = Respond(v, m, in, nil)
	return a, shownAnswer(tb, a, r.data)
}
