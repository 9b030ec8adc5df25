package advertisement

import (
	"encoding/hex"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/ndp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

var update = flag.Bool("update", false, "write the golden files")

// described is an advertisement as golden files hold it: as somebody else's library reads it, and byte by byte.
func described(tb testing.TB, a Answer) string {
	tb.Helper()
	m, err := ndp.ParseMessage(a.Packet)
	if err != nil {
		tb.Fatalf("our own answer can't be read: %v", err)
	}
	ra, ok := m.(*ndp.RouterAdvertisement)
	if !ok {
		tb.Fatalf("it's answered by a %T", m)
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "to %s managed=%t other=%t lifetime=%s hops=%d\n", a.To, ra.ManagedConfiguration, ra.OtherConfiguration, ra.RouterLifetime, ra.CurrentHopLimit)
	for _, o := range ra.Options {
		switch o := o.(type) {
		case *ndp.LinkLayerAddress:
			_, _ = fmt.Fprintf(&b, "hardware %s\n", o.Addr)
		case *ndp.MTU:
			_, _ = fmt.Fprintf(&b, "mtu %d\n", o.MTU)
		case *ndp.PrefixInformation:
			_, _ = fmt.Fprintf(&b, "prefix %s/%d link=%t autonomous=%t for ever=%t\n", o.Prefix, o.PrefixLength, o.OnLink, o.AutonomousAddressConfiguration, o.ValidLifetime == ndp.Infinity)
		case *ndp.RecursiveDNSServer:
			_, _ = fmt.Fprintf(&b, "dns %s for %s\n", o.Servers, o.Lifetime)
		default:
			_, _ = fmt.Fprintf(&b, "%T\n", o)
		}
	}
	return b.String() + hex.Dump(a.Packet)
}

func TestGolden(t *testing.T) {
	cases := map[string]struct {
		reason string
		v      View
		from   netip.Addr
	}{
		"ipv6":      {"addresses are DHCPv6's, and the subnet is on the link", view(segment("rack-1", nil, "fd00:99::/64")), machine},
		"to-all":    {"who has no address yet is answered with everybody", view(segment("rack-1", nil, "fd00:99::/64")), nobody},
		"ipv4":      {"there's no IPv6, and nothing to wait for", view(segment("rack-1", nil, "10.99.0.0/24")), machine},
		"both":      {"a network of both has IPv6", view(segment("rack-1", nil, "10.99.0.0/24", "fd00:99::/64")), machine},
		"relayed":   {"another subnet is behind a relay, for all that's known", view(segment("rack-1", nil, "fd00:98::/64", "fd00:99::/64")), machine},
		"no-more":   {"a network that says no more", view(segment("rack-1", func(g *boot.Segment) { g.Advertises = &boot.Advertisement{} }, "fd00:99::/64")), machine},
		"interface": {"a network that names where it's served", view(segment("rack-1", func(g *boot.Segment) { g.Interfaces = []string{"eth1"} }, "fd00:99::/64")), machine},
		"proxy": {
			"beside another server of IPv4", view(segment("rack-1", func(g *boot.Segment) { g.Mode = boot.SegmentProxy }, "10.99.0.0/24")), machine,
		},
		"two": {
			"two networks of one link: one answer, of the least that either says", view(
				segment("rack-2", func(g *boot.Segment) {
					g.Advertises = &boot.Advertisement{
						MTU: 1400, Lease: time.Minute, DNS: []netip.Addr{netip.MustParseAddr("fd00:99::54"), netip.MustParseAddr("fd00:99::53")},
					}
				}, "fd00:99::/60"), segment("rack-1", nil, "fd00:99::/64"), segment("rack-3", nil, "10.99.0.0/24")), machine,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := Respond(tc.v, solicitation(t), from(tc.from))
			if a.Reason != Advertised {
				t.Fatalf("%s: %s", tc.reason, a.Reason)
			}
			path := filepath.Join("testdata", "golden", name+".txt")
			got := described(t, a)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	six := segment("rack-1", nil, "fd00:99::/64")
	mode := func(m boot.SegmentMode, subnet string) View {
		return view(segment("rack-1", func(g *boot.Segment) { g.Mode = m }, subnet))
	}
	rs := func(change func([]byte)) []byte {
		b := solicitation(t, hardware())
		change(b)
		return b
	}
	advertisement, err := ndp.MarshalMessage(&ndp.RouterAdvertisement{})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		v      View
		b      []byte
		in     func(*Ingress)
		want   dhcp.Reason
	}{
		"Answered":       {reason: "all is as it should be", b: solicitation(t, hardware()), want: Advertised},
		"Unknown":        {reason: "an option that nobody knows is nothing (RFC 4861 §4.1)", b: solicitation(t, &ndp.RawOption{Type: 200, Length: 1, Value: make([]byte, 6)}), want: Advertised},
		"Unsynced":       {reason: "nothing is known yet", v: View{DHCPv6: true}, want: dhcp.SilentUnsynced},
		"Off":            {reason: "a BootNetwork doesn't ask for it", v: view(segment("rack-1", ignores, "fd00:99::/64")), want: dhcp.SilentNoSegment},
		"ModeOff":        {reason: "nothing is answered there", v: mode(boot.SegmentOff, "fd00:99::/64"), want: dhcp.SilentNoSegment},
		"RelayOnly":      {reason: "nor anybody who is near", v: mode(boot.SegmentRelayOnly, "fd00:99::/64"), want: dhcp.SilentNoSegment},
		"ProxySix":       {reason: "there's no proxy of DHCPv6", v: mode(boot.SegmentProxy, "fd00:99::/64"), want: dhcp.SilentNoSegment},
		"Elsewhere":      {reason: "the network's machines are behind a relay", v: view(segment("rack-1", nil, "fd00:98::/64")), want: dhcp.SilentNoSegment},
		"SixElsewhere":   {reason: "its IPv6 is, of which nothing can be said then", v: view(segment("rack-1", nil, "fd00:98::/64", "10.99.0.0/24")), want: dhcp.SilentNoSegment},
		"OtherInterface": {reason: "it's served elsewhere", v: view(segment("rack-1", func(g *boot.Segment) { g.Interfaces = []string{"eth7"} }, "fd00:99::/64")), want: dhcp.SilentNoSegment},
		"Another":        {reason: "a network with a router of its own is on the link", v: view(six, segment("rack-2", ignores, "fd00:99::/64")), want: SilentAnother},
		"AnotherFour":    {reason: "nor is it said that there's no IPv6", v: view(segment("rack-1", nil, "10.99.0.0/24"), segment("rack-2", ignores, "fd00:99::/64")), want: SilentAnother},
		"AnotherOff":     {reason: "one without IPv6 has no say", v: view(six, segment("rack-2", ignores, "10.99.0.0/24")), want: Advertised},
		"NoDHCPv6":       {reason: "nobody is sent to a port that's closed", v: View{State: view(six).State}, want: SilentUnserved},
		"NoDHCPv6Four":   {reason: "a network of IPv4 needs none", v: View{State: view(segment("rack-1", nil, "10.99.0.0/24")).State}, want: Advertised},
		"NoAddress":      {reason: "an advertisement comes from an address of the link (RFC 4861 §4.2)", in: func(i *Ingress) { i.Link.Local = netip.Addr{} }, want: dhcp.SilentNoServer},
		"NoInterface":    {reason: "whose interface is gone by now", in: func(i *Ingress) { i.Link = links.Link{} }, want: dhcp.SilentNoSegment},
		"HopLimit":       {reason: "RFC 4861 §6.1.1: a router has passed it on", in: func(i *Ingress) { i.HopLimit = 254 }, want: dhcp.SilentUnicast},
		"Global":         {reason: "a machine that looks for a router has no such address", in: func(i *Ingress) { i.From = netip.MustParseAddr("fd00:99::77") }, want: dhcp.SilentUnicast},
		"Group":          {reason: "nobody is a group", in: func(i *Ingress) { i.From = everybody() }, want: dhcp.SilentUnicast},
		"Nowhere":        {reason: "who doesn't say where it comes from", in: func(i *Ingress) { i.From = netip.Addr{} }, want: dhcp.SilentUnicast},
		"Code":           {reason: "RFC 4861 §6.1.1: its code is 0", b: rs(func(b []byte) { b[1] = 1 }), want: dhcp.SilentMalformed},
		"Short":          {reason: "it has eight octets", b: solicitation(t)[:7], want: dhcp.SilentMalformed},
		"Nothing":        {reason: "or some", b: []byte{}, want: dhcp.SilentMalformed},
		"OptionOfNone":   {reason: "an option has a length", b: rs(func(b []byte) { b[9] = 0 }), want: dhcp.SilentMalformed},
		"OptionTooLong":  {reason: "and ends where the message does", b: rs(func(b []byte) { b[9] = 2 }), want: dhcp.SilentMalformed},
		"HardwareOfNone": {reason: "who has no address tells no hardware's", b: solicitation(t, hardware()), in: func(i *Ingress) { i.From = nobody }, want: dhcp.SilentMalformed},
		"NoSolicitation": {reason: "a router's word is no question", b: advertisement, want: dhcp.SilentNotRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.v.State == nil && !tc.v.DHCPv6 {
				tc.v = view(six)
			}
			if tc.b == nil {
				tc.b = solicitation(t)
			}
			in := from(machine)
			if tc.in != nil {
				tc.in(&in)
			}
			a := Respond(tc.v, tc.b, in)
			if a.Reason != tc.want || (a.Packet != nil) != (tc.want == Advertised) {
				t.Errorf("%s: %s, %d bytes", tc.reason, a.Reason, len(a.Packet))
			}
		})
	}
}

// TestLargest: an answer fits into the smallest packet that a link of IPv6 must carry, however much there is to say.
func TestLargest(t *testing.T) {
	l, all := testLink(), []boot.Segment{}
	for i := range 100 {
		a := netip.MustParseAddr(fmt.Sprintf("fd00:%x::1", i))
		l.Addresses = append(l.Addresses, a)
		all = append(all, segment(fmt.Sprintf("rack-%02d", i), func(g *boot.Segment) { g.Advertises.DNS = []netip.Addr{a} }, netip.PrefixFrom(a, 64).Masked().String()))
	}
	in := from(machine)
	in.Link = l
	const header = 40
	a := Respond(view(all...), solicitation(t), in)
	if n := header + len(a.Packet); n > leastMTU || n < leastMTU-100 {
		t.Errorf("%d bytes", n)
	}
	described(t, a)
}

// FuzzRespond: whatever comes, nothing breaks; an answer is for the sender or for all, and says what the network says whoever asks.
func FuzzRespond(f *testing.F) {
	f.Add(solicitation(f), []byte(nil), uint8(255))
	f.Add(solicitation(f, hardware()), machine.AsSlice(), uint8(255))
	f.Add(solicitation(f, &ndp.RecursiveDNSServer{Servers: []netip.Addr{machine}}), machine.AsSlice(), uint8(255))
	v := view(segment("rack-1", nil, "fd00:99::/64"))
	want := Respond(v, solicitation(f), from(machine)).Packet
	f.Fuzz(func(t *testing.T, b, sender []byte, hops uint8) {
		in := from(nobody)
		if a, ok := netip.AddrFromSlice(sender); ok {
			in.From = a
		}
		in.HopLimit = int(hops)
		a := Respond(v, b, in)
		if a.Packet == nil {
			return
		}
		if cmp.Diff(want, a.Packet) != "" || hops != 255 || b[0] != 133 {
			t.Errorf("%x from %s is answered by %x", b, in.From, a.Packet)
		}
		if a.To != in.From && (a.To != everybody() || !in.From.IsUnspecified()) {
			t.Errorf("%s is answered at %s", in.From, a.To)
		}
	})
}
