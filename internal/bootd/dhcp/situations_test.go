package dhcp

import (
	"net/netip"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/pool"
)

// A situation is where a recorded packet is put: how it comes in, and what bootd knows.
type situation struct {
	reason string
	// stranger: the machine isn't ours, and must hear nothing.
	stranger bool
	// unknown: the machine isn't ours, and may be lent an address.
	unknown bool
	// edit changes the packet; planned is the address that the machine is to have.
	edit    func(p raw, planned netip.Addr) raw
	plan    func(*boot.Plan)
	segment func(*boot.Segment)
	view    func(*View)
	// in is where it comes in; nil: a broadcast on its own segment.
	in func(planned netip.Addr) Ingress
}

// A scene is a packet in its situation.
type scene struct {
	data []byte
	in   Ingress
	view View
}

// of puts a packet into the situation. Its machine is planned the address that it asks for.
func (s situation) of(data []byte) scene {
	p, planned := raw(data), testAddress
	if len(p) < rawOptions {
		return scene{data: data, in: broadcastIn(), view: testView(testState(s.segment))}
	}
	if a, ok := p.wanted(); ok {
		planned = a
	}
	plan := testPlan(func(x *boot.Plan) {
		x.MACs = []boot.MAC{otherMAC}
		if mac, ok := p.mac(); ok && !s.stranger && !s.unknown {
			x.MACs = []boot.MAC{mac}
		}
		x.Network.Address = netip.PrefixFrom(planned, 24)
		if s.plan != nil {
			s.plan(x)
		}
	})
	out := scene{data: p, in: broadcastIn(), view: testView(testState(s.segment, plan))}
	if s.edit != nil {
		out.data = s.edit(p, planned)
	}
	if s.in != nil {
		out.in = s.in(planned)
	}
	if s.view != nil {
		s.view(&out.view)
	}
	return out
}

// circuit is an option 82 as relays send it: an empty remote-id, the link, the server's identity, and the source port.
const circuit = "\x01\x0cge-1/0/1.0:4\x02\x00\x05\x04\x0a\x63\x00\x01\x0b\x04\x0a\x63\x00\xfe\x13\x00"

// fromRelay is a request that a relay at an address of its own sends on.
func fromRelay(netip.Addr) Ingress {
	to := netip.MustParseAddr("172.16.0.9")
	return Ingress{From: netip.MustParseAddrPort("172.16.0.1:40001"), To: to, Interface: "eth0", Index: 4, Addresses: []netip.Addr{to}}
}

// routed is a unicast from an address.
func routed(from netip.Addr) Ingress {
	in := broadcastIn()
	in.From, in.To = netip.AddrPortFrom(from, portClient), testServer
	return in
}

// ofOurs makes a REQUEST name us for its server.
func ofOurs(p raw, _ netip.Addr) raw {
	if _, ok := p.get(54); ok {
		return p.with(54, testServer.AsSlice()...)
	}
	return p
}

func throughRelay(giaddr string, edits ...func(raw) raw) func(raw, netip.Addr) raw {
	return func(p raw, a netip.Addr) raw {
		p = ofOurs(p, a).at(rawGiaddr, netip.MustParseAddr(giaddr).AsSlice()...)
		for _, e := range edits {
			p = e(p)
		}
		return p
	}
}

// asType makes it another message of the machine that has the planned address.
func asType(t byte) func(raw, netip.Addr) raw {
	return func(p raw, planned netip.Addr) raw {
		if p[0] != 1 {
			return p
		}
		return p.without(50).without(54).with(53, t).at(rawCiaddr, planned.AsSlice()...)
	}
}

// naming makes it a DECLINE or RELEASE of the planned address, to us.
func naming(t byte) func(raw, netip.Addr) raw {
	return func(p raw, planned netip.Addr) raw {
		return p.with(53, t).with(54, testServer.AsSlice()...).with(50, planned.AsSlice()...)
	}
}

// forBoot makes it the REQUEST of a machine that another server has given an address, for its boot alone.
func forBoot(p raw, _ netip.Addr) raw {
	return asType(3)(p, netip.MustParseAddr(elsewhereGiven))
}

// atProxy is where it comes in then.
func atProxy(port string) func(netip.Addr) Ingress {
	return func(netip.Addr) Ingress { return toProxy(elsewhereGiven + ":" + port) }
}

// upTo makes the packet ask for everything and say how much it takes.
func upTo(size int) func(raw, netip.Addr) raw {
	return func(p raw, a netip.Addr) raw {
		return ofOurs(p, a).with(55, 1, 3, 6, 12, 15, 26, 28, 42, 43, 51, 54, 58, 59, 60, 66, 67, 97, 119, 121, 175).
			with(57, byte(size>>8&255), byte(size&255))
	}
}

// large is a plan that doesn't fit into 576 bytes.
func large(p *boot.Plan) {
	for i := range 8 {
		p.Network.DNS = append(p.Network.DNS, netip.AddrFrom4([4]byte{10, 99, 1, byte(i)}))
		p.Network.NTP = append(p.Network.NTP, netip.AddrFrom4([4]byte{10, 99, 2, byte(i)}))
	}
	p.Network.Domain = strings.Repeat("a-long-name.", 15) + "example"
	p.Hostname = strings.Repeat("n", 63)
}

// native is a plan by which UEFI loads iPXE's own drivers.
func native(p *boot.Plan) { p.FirstStage = boot.FirstStageNativeIPXE }

// situations are those that exist; a mode or a rule that is added brings its own.
func situations() map[string]situation {
	relayOnly, proxy := ofMode(boot.SegmentRelayOnly), ofMode(boot.SegmentProxy)
	trusting := func(g *boot.Segment) { g.Relays = []netip.Prefix{netip.MustParsePrefix("172.16.0.1/32")} }
	with82 := func(p raw) raw { return p.with(54, 10, 99, 0, 254).with(82, []byte(circuit)...) }
	return map[string]situation{
		"owner":        {reason: "broadcast on its own segment, as recorded"},
		"stranger":     {reason: "the same of a machine that isn't ours", stranger: true},
		"selected":     {reason: "a REQUEST names us", edit: ofOurs},
		"moved":        {reason: "its plan has another address than it asks for", edit: ofOurs, plan: otherAddress},
		"asks-nothing": {reason: "without option 55", edit: func(p raw, a netip.Addr) raw { return ofOurs(p, a).without(55) }},
		"relayed":      {reason: "by a relay inside its segment", edit: throughRelay("10.99.0.1"), in: fromRelay},
		"relayed-82": {
			reason: "by a relay that says link, server and port", edit: throughRelay("172.16.0.1", with82),
			segment: trusting, in: fromRelay,
		},
		"relayed-untrusted": {reason: "by a relay of another segment", edit: throughRelay("10.98.0.1", with82), in: fromRelay},
		"relayed-stranger":  {reason: "by a relay, of a machine that isn't ours", stranger: true, edit: throughRelay("10.99.0.1"), in: fromRelay},
		"relay-only":        {reason: "where somebody else answers broadcasts", edit: ofOurs, segment: relayOnly},
		"relay-only-relayed": {
			reason: "the same through the relay", edit: throughRelay("10.99.0.1"), segment: relayOnly, in: fromRelay,
		},
		"renewal":           {reason: "a REQUEST by unicast from the planned address", edit: asType(3), in: routed},
		"renewal-elsewhere": {reason: "the same from another address", edit: asType(3), in: func(netip.Addr) Ingress { return routed(netip.MustParseAddr("192.0.2.66")) }},
		"rebinding":         {reason: "a REQUEST by broadcast with the planned address in ciaddr", edit: asType(3)},
		"inform":            {reason: "an INFORM", edit: asType(8)},
		"decline":           {reason: "a DECLINE of what we gave", edit: naming(4)},
		"release":           {reason: "a RELEASE of it", edit: naming(7)},
		"quarantined":       {reason: "its address was declined: another has it", edit: ofOurs, view: declinedAll},
		"quarantined-runs":  {reason: "the same, and a system that uses it renews it", edit: asType(3), view: declinedAll, in: routed},
		"unsynced":          {reason: "bootd knows nothing yet", view: func(v *View) { v.State = nil }},
		"no-keys":           {reason: "there are no token keys yet", edit: ofOurs, view: func(v *View) { v.Keys = nil }},
		"other-interface":   {reason: "its segment is served on another interface", segment: func(g *boot.Segment) { g.Interfaces = []string{"eth7"} }},
		"other-segment": {reason: "it came in where another segment is", in: func(netip.Addr) Ingress {
			return Ingress{Interface: "eth1", Index: 5, Addresses: []netip.Addr{netip.MustParseAddr("10.98.0.1")}}
		}},
		"advertised":         {reason: "machines are told another address of ours", view: func(v *View) { v.Advertise = netip.MustParseAddr("192.0.2.1") }},
		"proxy":              {reason: "another server gives the addresses", segment: proxy, view: proxyOpen},
		"proxy-half":         {reason: "the same, and port 4011 is another program's", segment: proxy},
		"proxy-stranger":     {reason: "the same of a machine that isn't ours", stranger: true, segment: proxy, view: proxyOpen},
		"proxy-relayed":      {reason: "the same through a relay", edit: throughRelay("10.99.0.1"), segment: proxy, in: fromRelay, view: proxyOpen},
		"proxy-4011":         {reason: "a REQUEST for a boot to port 4011", edit: forBoot, segment: proxy, in: atProxy("68"), view: proxyOpen},
		"proxy-4011-4011":    {reason: "the same from port 4011", edit: forBoot, segment: proxy, in: atProxy("4011"), view: proxyOpen},
		"proxy-4011-far":     {reason: "the same from an address elsewhere", edit: asType(3), segment: proxy, in: func(netip.Addr) Ingress { return toProxy("192.0.2.66:68") }, view: proxyOpen},
		"authoritative-4011": {reason: "the same where we give the addresses", edit: asType(3), in: atProxy("68"), view: proxyOpen},
		"foreign":            {reason: "another server is there, and ours has answered nobody yet", segment: refusesForeign, view: foreignThere},
		"foreign-renewal":    {reason: "the same, and a machine renews what ours gave it", edit: asType(3), segment: refusesForeign, view: foreignThere, in: routed},
		"lent":               {reason: "a machine that nobody knows, where addresses are lent", unknown: true, edit: ofOurs, segment: lending("10.99.0.100", "10.99.0.131"), view: lends},
		"lent-relayed":       {reason: "the same through a relay", unknown: true, edit: throughRelay("10.99.0.1"), segment: lending("10.99.0.100", "10.99.0.131"), view: lends, in: fromRelay},
		"lent-owner":         {reason: "a machine of ours there", edit: ofOurs, segment: lending("10.99.0.100", "10.99.0.131"), view: lends},
		"off":                {reason: "its segment has no DHCP of ours", segment: ofMode(boot.SegmentOff)},
		"native":             {reason: "firmware whose own driver of the NIC doesn't go on", edit: ofOurs, plan: native},
		"size-300":           {reason: "less than a client must take, which isn't believed", edit: upTo(300), plan: large},
		"size-576":           {reason: "the least, where the plan has more to say", edit: upTo(576), plan: large},
		"size-65280":         {reason: "as much as UEFI says: no more than a link takes", edit: upTo(65280), plan: large},
	}
}

func lends(v *View) { v.Lending.Book = pool.NewBook(pool.Most) }

func otherAddress(p *boot.Plan) { p.Network.Address = netip.MustParsePrefix("10.99.0.200/24") }

func declinedAll(v *View) { v.Declined = func(boot.Name, netip.Addr, time.Time) bool { return true } }
