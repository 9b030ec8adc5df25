package dhcp

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// elsewhereGiven is what the other server of a segment gave our machine.
const elsewhereGiven = "10.99.0.201"

func ofMode(m boot.SegmentMode) func(*boot.Segment) { return func(g *boot.Segment) { g.Mode = m } }

func proxyOpen(v *View) { v.Proxy = true }

// toProxy is a request that was sent to the port of proxyDHCP, from an address and a port.
func toProxy(from string) Ingress {
	in := broadcastIn()
	in.From, in.To, in.Proxy = netip.MustParseAddrPort(from), testServer, true
	return in
}

// askedBy is a REQUEST for a boot, of a machine that has an address.
func askedBy(address string, as dhcpv4.Modifier) dhcpv4.Modifier {
	return all(as, ofType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(netip.MustParseAddr(address).AsSlice()))
}

func TestProxy(t *testing.T) {
	const acked, offered = dhcpv4.MessageTypeAck, dhcpv4.MessageTypeOffer
	taken := all(ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.2"), addressOpt(50, elsewhereGiven))
	http := all(option(93, 0, 16), text(60, "HTTPClient:Arch:00016"))
	viaRelay := Ingress{
		From: netip.MustParseAddrPort("172.16.0.1:67"), To: netip.MustParseAddr("172.16.0.9"), Interface: "eth0",
		Addresses: []netip.Addr{netip.MustParseAddr("172.16.0.9")},
	}
	far := Ingress{ // A machine behind a router asks: its segment is none of ours.
		From: netip.MustParseAddrPort(elsewhereGiven + ":68"), To: netip.MustParseAddr("172.16.0.9"), Interface: "eth0",
		Addresses: []netip.Addr{netip.MustParseAddr("172.16.0.9")}, Proxy: true,
	}
	cases := map[string]struct {
		reason string
		req    dhcpv4.Modifier
		in     Ingress
		view   func(*View)
		mode   boot.SegmentMode
		want   told
		file   string // The beginning of the boot file.
	}{
		"PXE":      {reason: "a ROM's DISCOVER", req: asPXE(0), in: broadcastIn(), want: told{Proxied, offered, everybody, "10.99.0.1", ""}, file: "undionly.kpxe"},
		"UEFI":     {reason: "that of UEFI", req: asPXE(7), in: broadcastIn(), want: told{Proxied, offered, everybody, "10.99.0.1", ""}, file: "snponly.efi"},
		"HTTPBoot": {reason: "that of UEFI HTTP Boot", req: http, in: broadcastIn(), want: told{Proxied, offered, everybody, "10.99.0.1", ""}, file: "http://10.99.0.1:8080/v1/firmware/snponly.efi"},
		"IPXE":     {reason: "and the second stage", req: asIPXE(7), in: broadcastIn(), want: told{Proxied, offered, everybody, "10.99.0.1", ""}, file: "http://10.99.0.1:8080/v1/boot/"},
		"FlexBoot": {
			reason: "an iPXE that says so by its features alone", req: all(asPXE(7), option(175, featureHTTP, 1, 1)), in: broadcastIn(),
			want: told{Proxied, offered, everybody, "10.99.0.1", ""}, file: "http://10.99.0.1:8080/v1/boot/",
		},
		"Relay": {
			reason: "by a relay, which asks both servers", req: all(asPXE(7), relayed("10.99.0.1", 1, 1, 'x')), in: viaRelay,
			want: told{Proxied, offered, "10.99.0.1:67", "172.16.0.9", ""}, file: "snponly.efi",
		},
		"RelayUntrusted": {reason: "by one that isn't trusted", req: all(asPXE(7), relayed("10.98.0.1")), in: viaRelay, want: told{Reason: SilentRelayUntrusted}},
		"4011":           {reason: "the same at the other port", req: askedBy(elsewhereGiven, asPXE(7)), in: toProxy(elsewhereGiven + ":68"), want: told{Proxied, acked, elsewhereGiven + ":68", "10.99.0.1", ""}, file: "snponly.efi"},
		"4011From4011":   {reason: "from another port than a client's, which waits there", req: askedBy(elsewhereGiven, asPXE(0)), in: toProxy(elsewhereGiven + ":4011"), want: told{Proxied, acked, elsewhereGiven + ":4011", "10.99.0.1", ""}, file: "undionly.kpxe"},
		"4011OtherName":  {reason: "a ROM that names the server of its address there, too, means us", req: all(askedBy(elsewhereGiven, asPXE(7)), addressOpt(54, "10.99.0.2")), in: toProxy(elsewhereGiven + ":68"), want: told{Proxied, acked, elsewhereGiven + ":68", "10.99.0.1", ""}, file: "snponly.efi"},
		"4011IPXE":       {reason: "iPXE asks there where an offer names no file", req: askedBy(elsewhereGiven, asIPXE(0)), in: toProxy(elsewhereGiven + ":68"), want: told{Proxied, acked, elsewhereGiven + ":68", "10.99.0.1", ""}, file: "http://10.99.0.1:8080/v1/boot/"},
		"4011Routed":     {reason: "from behind a router: the answer goes to its segment", req: askedBy(elsewhereGiven, asPXE(7)), in: far, want: told{Proxied, acked, elsewhereGiven + ":68", "172.16.0.9", ""}, file: "snponly.efi"},
		"4011Far":        {reason: "from an address out of the segment, in the name of our machine's MAC", req: askedBy("192.0.2.66", asIPXE(7)), in: toProxy("192.0.2.66:68"), want: told{Reason: SilentUnicast}},
		"4011Forged":     {reason: "with another's address as its own", req: askedBy(elsewhereGiven, asIPXE(7)), in: toProxy("192.0.2.66:68"), want: told{Reason: SilentUnicast}},
		"4011NoAddress":  {reason: "without an address: it can't have come from there", req: all(asPXE(7), ofType(dhcpv4.MessageTypeRequest)), in: toProxy("192.0.2.66:68"), want: told{Reason: SilentUnicast}},
		"4011System":     {reason: "a system asks there by mistake", req: askedBy(elsewhereGiven, all()), in: toProxy(elsewhereGiven + ":68"), want: told{Reason: SilentNoNetboot}},
		"4011Alone": {
			reason: "where port 67 is another program's this is all that's heard of a boot", req: askedBy(elsewhereGiven, asPXE(7)), in: toProxy(elsewhereGiven + ":68"),
			view: func(v *View) { v.ProxyAlone = true }, want: told{Proxied, acked, elsewhereGiven + ":68", "10.99.0.1", boot.StageDHCP}, file: "snponly.efi",
		},
		"Half":  {reason: "the other port is somebody else's: a ROM that goes on there would find him", req: asPXE(7), in: broadcastIn(), view: func(v *View) { v.Proxy = false }, want: told{Reason: SilentNoProxy}},
		"Taken": {reason: "a ROM takes its address from the other server, which is the sight of a boot", req: all(asPXE(7), taken), in: broadcastIn(), want: told{Reason: SilentOtherServer, Stage: boot.StageDHCP}},
		"TakenBySystem": {
			reason: "and so does a system that has started", req: taken, in: broadcastIn(), want: told{Reason: SilentOtherServer, Stage: boot.StageBootedFromDisk},
		},
		"TakenRouted": {
			reason: "what may come from anywhere is no sight", req: all(taken, dhcpv4.WithClientIP(netip.MustParseAddr(elsewhereGiven).AsSlice())),
			in: func() Ingress { in := toProxy(elsewhereGiven + ":68"); in.Proxy = false; return in }(), want: told{Reason: SilentNoNetboot},
		},
		"Reboot":   {reason: "a system asks for the address that it had", req: all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "10.99.0.9")), in: broadcastIn(), want: told{Reason: SilentProxied, Stage: boot.StageBootedFromDisk}},
		"Wrong":    {reason: "nor is a wrong one refused: it's the other server's to say", req: all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, "192.0.2.9")), in: broadcastIn(), want: told{Reason: SilentProxied, Stage: boot.StageBootedFromDisk}},
		"Selects":  {reason: "a ROM that takes us for the server of its address gets none", req: all(asPXE(7), ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.1"), addressOpt(50, "10.99.0.83")), in: broadcastIn(), want: told{Reason: SilentProxied, Stage: boot.StageDHCP}},
		"System":   {reason: "a system's DISCOVER", req: all(), in: broadcastIn(), want: told{Reason: SilentNoNetboot}},
		"Inform":   {reason: "a system's INFORM", req: all(ofType(dhcpv4.MessageTypeInform), dhcpv4.WithClientIP(netip.MustParseAddr(elsewhereGiven).AsSlice())), in: broadcastIn(), want: told{Reason: SilentProxied}},
		"BMC":      {reason: "a BMC under the machine's MAC", req: text(60, "iDRAC"), in: broadcastIn(), want: told{Reason: SilentNoNetboot}},
		"UBoot":    {reason: "firmware that we have nothing for", req: text(60, "U-Boot.armv8"), in: broadcastIn(), want: told{Reason: SilentNoFile}},
		"ARM":      {reason: "and an architecture", req: asPXE(11), in: broadcastIn(), want: told{Reason: SilentNoFile}},
		"NoHTTP":   {reason: "what its first stage goes on by isn't served", req: asPXE(7), in: broadcastIn(), view: func(v *View) { v.HTTPPort = 0 }, want: told{Reason: SilentNoFile}},
		"NoScript": {reason: "nor has an iPXE any script then", req: asIPXE(7), in: broadcastIn(), view: func(v *View) { v.HTTPPort = 0 }, want: told{Reason: SilentNoFile}},
		"NoKeys":   {reason: "no token can be made", req: asIPXE(7), in: broadcastIn(), view: func(v *View) { v.Keys = nil }, want: told{Reason: SilentNoKeys}},
		"Declines": {reason: "a DECLINE is the other server's", req: all(ofType(dhcpv4.MessageTypeDecline), addressOpt(50, "10.99.0.83")), in: broadcastIn(), want: told{Reason: SilentType}},
		"Releases": {reason: "and a RELEASE", req: ofType(dhcpv4.MessageTypeRelease), in: broadcastIn(), want: told{Reason: SilentType}},
		"Declined": {reason: "nor does a declined address matter", req: asPXE(7), in: broadcastIn(), view: declinedAll, want: told{Proxied, offered, everybody, "10.99.0.1", ""}, file: "snponly.efi"},
		"Authoritative4011": {
			reason: "a segment of ours isn't served at the proxy's port", mode: boot.SegmentAuthoritative, req: askedBy(testAddress.String(), asPXE(7)),
			in: toProxy(testAddress.String() + ":68"), want: told{Reason: SilentNotProxied},
		},
		"Off":      {reason: "nothing is answered", mode: boot.SegmentOff, req: asPXE(7), in: broadcastIn(), want: told{Reason: SilentOff}},
		"OffSees":  {reason: "and a system's start is seen", mode: boot.SegmentOff, req: taken, in: broadcastIn(), want: told{Reason: SilentOff, Stage: boot.StageBootedFromDisk}},
		"OffRelay": {reason: "nor by a relay", mode: boot.SegmentOff, req: all(asPXE(7), relayed("10.99.0.1")), in: viaRelay, want: told{Reason: SilentOff}},
		"Newer":    {reason: "a mode that this version doesn't know", mode: "Fancy", req: asPXE(7), in: broadcastIn(), want: told{Reason: SilentNoSegment}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.mode == "" {
				tc.mode = boot.SegmentProxy
			}
			v := testView(testState(ofMode(tc.mode), testPlan()))
			proxyOpen(&v)
			if tc.view != nil {
				tc.view(&v)
			}
			got, p := answered(t, v, request(t, tc.req), tc.in)
			if diff := cmp.Diff(tc.want, toldBy(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if p == nil {
				return
			}
			if file := p.BootFileNameOption(); !strings.HasPrefix(file, tc.file) || tc.file == "" {
				t.Errorf("%s: file %q, want %q", tc.reason, file, tc.file)
			}
			for _, bad := range unproxied(p.ToBytes()) {
				t.Errorf("%s: %s", tc.reason, bad)
			}
		})
	}
}

// TestProxyStrangers: who isn't ours hears nothing at either port.
func TestProxyStrangers(t *testing.T) {
	v := testView(testState(ofMode(boot.SegmentProxy), testPlan(func(p *boot.Plan) { p.MACs = []boot.MAC{otherMAC} })))
	proxyOpen(&v)
	for reason, in := range map[string]Ingress{"by broadcast": broadcastIn(), "at 4011": toProxy(elsewhereGiven + ":68")} {
		for _, m := range []dhcpv4.Modifier{asPXE(7), asIPXE(7), askedBy(elsewhereGiven, asPXE(7)), askedBy(elsewhereGiven, asIPXE(0))} {
			if a, _ := answered(t, v, request(t, m), in); a.Packet != nil || a.Reason != SilentUnknown || a.Stage != "" {
				t.Errorf("%s: %s, %d bytes", reason, a.Reason, len(a.Packet))
			}
		}
	}
}

// TestProxySameDecision: the script that iPXE is told of at one port is that of the other.
func TestProxySameDecision(t *testing.T) {
	v := testView(testState(ofMode(boot.SegmentProxy), testPlan()))
	proxyOpen(&v)
	_, offer := answered(t, v, request(t, asIPXE(7)), broadcastIn())
	_, ack := answered(t, v, request(t, askedBy(elsewhereGiven, asIPXE(7))), toProxy(elsewhereGiven+":68"))
	if offer == nil || ack == nil || offer.BootFileNameOption() != ack.BootFileNameOption() {
		t.Errorf("offered %v, acknowledged %v", offer, ack)
	}
}

// TestProxyTellsOfOthers: that a machine of ours takes its address from another server is told, and by whom; that it asks for the one
// it had isn't.
func TestProxyTellsOfOthers(t *testing.T) {
	var told []netip.Addr
	cfg := testConfig(testState(ofMode(boot.SegmentProxy), testPlan()))
	cfg.Proxy = func() bool { return true }
	cfg.OtherServer = func(_ *boot.Plan, a netip.Addr) { told = append(told, a) }
	s := New(cfg)
	for _, m := range []dhcpv4.Modifier{
		all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, elsewhereGiven)),
		all(ofType(dhcpv4.MessageTypeRequest), addressOpt(50, elsewhereGiven), addressOpt(54, "10.99.0.2")),
	} {
		s.handle(message(t, request(t, m)), broadcastIn(), desk{reply: &wire.Reply{}})
	}
	if diff := cmp.Diff([]string{"10.99.0.2"}, words(told)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func words(as []netip.Addr) (out []string) {
	for _, a := range as {
		out = append(out, a.String())
	}
	return out
}
