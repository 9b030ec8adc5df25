package dhcp

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

const (
	testMAC  = boot.MAC("52:54:00:99:00:13")
	otherMAC = boot.MAC("52:54:00:99:00:99")
)

var (
	testNow     = time.Date(2026, 8, 1, 10, 41, 7, 0, time.UTC)
	testKey     = []byte("0123456789abcdef0123456789abcdef")
	testAddress = netip.MustParseAddr("10.99.0.83")
	testServer  = netip.MustParseAddr("10.99.0.1")
	testSegment = boot.Name{Namespace: "infra", Name: "rack-1"}
	testFiles   = Files{BIOS: "undionly.kpxe", UEFIAMD64: "snponly.efi", NativeAMD64: "ipxe.efi"}
)

// testPlan is the one machine that the plane owns; tests change what they are about.
func testPlan(change ...func(*boot.Plan)) boot.Plan {
	p := boot.Plan{
		Entry: boot.Name{Namespace: "tenant", Name: "web-1"}, EntryUID: "entry-1", HostUID: "host-1", Bound: true,
		MACs: []boot.MAC{testMAC}, Hostname: "web-1", Mode: boot.ModeInstall, InstallGeneration: 1,
		Network: boot.Network{
			Name: testSegment, Address: netip.PrefixFrom(testAddress, 24), Gateway: testServer,
			DNS: []netip.Addr{netip.MustParseAddr("10.99.0.53")}, NTP: []netip.Addr{netip.MustParseAddr("10.99.0.123")},
			Domain: "rack.example", MTU: 1500, Lease: time.Hour,
		},
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func testState(segment func(*boot.Segment), plans ...boot.Plan) *boot.State {
	g := boot.Segment{
		Name: testSegment, Subnets: []netip.Prefix{netip.MustParsePrefix("10.99.0.0/24")}, Mode: boot.SegmentAuthoritative,
	}
	if segment != nil {
		segment(&g)
	}
	grant := &boot.Grant{
		ID: "00112233445566ff", HostUID: "host-1", EntryUID: "entry-1", Generation: 1, Expires: testNow.Add(24 * time.Hour),
	}
	return boot.NewState([]boot.Segment{g}, plans, []boot.Session{{UID: "s-1", EntryUID: "entry-1", Grant: grant}})
}

func testView(s *boot.State) View {
	return View{State: s, Keys: [][]byte{testKey}, Now: testNow, HTTPPort: 8080, Files: testFiles}
}

// broadcastIn is a request that was broadcast on the machine's own segment.
func broadcastIn() Ingress {
	return Ingress{
		From: netip.MustParseAddrPort("0.0.0.0:68"), Interface: "br0", Index: 3, Addresses: []netip.Addr{testServer},
	}
}

// request builds a request of a client.
func request(tb testing.TB, mods ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
	tb.Helper()
	mac, err := net.ParseMAC(string(testMAC))
	if err != nil {
		tb.Fatal(err)
	}
	p, err := dhcpv4.New(append([]dhcpv4.Modifier{
		dhcpv4.WithTransactionID(dhcpv4.TransactionID{1, 2, 3, 4}), dhcpv4.WithHwAddr(mac),
		dhcpv4.WithMessageType(dhcpv4.MessageTypeDiscover),
	}, mods...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// message is a request as it comes in.
func message(tb testing.TB, p *dhcpv4.DHCPv4) *wire.Message {
	tb.Helper()
	m := &wire.Message{}
	if err := m.Read(p.ToBytes()); err != nil {
		tb.Fatal(err)
	}
	return m
}

// answered is what a request gets, and its packet as a client's library reads it; nil for silence.
func answered(tb testing.TB, v View, p *dhcpv4.DHCPv4, in Ingress) (Answer, *dhcpv4.DHCPv4) {
	tb.Helper()
	a := Respond(v, message(tb, p), in)
	return a, packetOf(tb, a)
}

func packetOf(tb testing.TB, a Answer) *dhcpv4.DHCPv4 {
	tb.Helper()
	if a.Packet == nil {
		return nil
	}
	got, err := dhcpv4.FromBytes(a.Packet)
	if err != nil {
		tb.Fatalf("our own answer can't be read: %v", err)
	}
	return got
}

func option(code uint8, value ...byte) dhcpv4.Modifier {
	return dhcpv4.WithGeneric(dhcpv4.GenericOptionCode(code), value)
}

func text(code uint8, value string) dhcpv4.Modifier { return option(code, []byte(value)...) }

// all joins modifiers.
func all(mods ...dhcpv4.Modifier) dhcpv4.Modifier {
	return func(d *dhcpv4.DHCPv4) {
		for _, m := range mods {
			m(d)
		}
	}
}

func asPXE(arch byte) dhcpv4.Modifier {
	return all(option(93, 0, arch), option(94, 1, 2, 1), text(60, "PXEClient:Arch:00000:UNDI:002001"))
}

func asIPXE(arch byte) dhcpv4.Modifier { return all(asPXE(arch), text(77, "iPXE")) }

func ofType(m dhcpv4.MessageType) dhcpv4.Modifier { return dhcpv4.WithMessageType(m) }

func addressOpt(code uint8, a string) dhcpv4.Modifier {
	return option(code, netip.MustParseAddr(a).AsSlice()...)
}

// relayed is what a relay at giaddr adds, with raw sub-options.
func relayed(giaddr string, sub ...byte) dhcpv4.Modifier {
	return all(dhcpv4.WithGatewayIP(net.ParseIP(giaddr)), option(82, sub...))
}
