package dhcp6

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

const (
	testMAC  = boot.MAC("52:54:00:99:00:13")
	otherMAC = boot.MAC("52:54:00:99:00:99")
)

var (
	testNow     = time.Date(2026, 8, 1, 10, 41, 7, 0, time.UTC)
	testKey     = []byte("0123456789abcdef0123456789abcdef")
	testAddress = netip.MustParseAddr("fd00:99::83")
	testServer  = netip.MustParseAddr("fd00:99::1")
	testSegment = boot.Name{Namespace: "infra", Name: "rack-1"}
	// testLink is the link-local address of testMAC, otherLink that of otherMAC, and private one that holds no MAC.
	testLink  = netip.MustParseAddr("fe80::5054:ff:fe99:13")
	otherLink = netip.MustParseAddr("fe80::5054:ff:fe99:99")
	private   = netip.MustParseAddr("fe80::9c1a:77:1234:5678")
)

// testPlan is the one machine that the plane owns; tests change what they are about.
func testPlan(change ...func(*boot.Plan)) boot.Plan {
	p := boot.Plan{
		Entry: boot.Name{Namespace: "tenant", Name: "web-1"}, EntryUID: "entry-1", HostUID: "host-1", Bound: true,
		MACs: []boot.MAC{testMAC}, Hostname: "web-1", Mode: boot.ModeInstall, InstallGeneration: 1,
		Network: boot.Network{
			Name: testSegment, Address: netip.PrefixFrom(testAddress, 64), DNS: []netip.Addr{netip.MustParseAddr("fd00:99::53")},
			NTP: []netip.Addr{netip.MustParseAddr("fd00:99::123")}, Domain: "rack.example", Lease: time.Hour,
		},
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

// dual gives the machine an address of IPv4 as well, and puts what it had of IPv6 beside that.
func dual(p *boot.Plan) {
	n := &p.Network
	n.Six = &boot.Place{Address: n.Address, Gateway: n.Gateway, DNS: n.DNS, NTP: n.NTP}
	n.Address, n.Gateway = netip.MustParsePrefix("10.99.0.83/24"), netip.MustParseAddr("10.99.0.1")
	n.DNS, n.NTP = []netip.Addr{netip.MustParseAddr("10.99.0.53")}, []netip.Addr{netip.MustParseAddr("10.99.0.123")}
}

func testState(segment func(*boot.Segment), plans ...boot.Plan) *boot.State {
	g := boot.Segment{Name: testSegment, Subnets: []netip.Prefix{netip.MustParsePrefix("fd00:99::/64")}, Mode: boot.SegmentAuthoritative}
	if segment != nil {
		segment(&g)
	}
	grant := &boot.Grant{ID: "00112233445566ff", HostUID: "host-1", EntryUID: "entry-1", Generation: 1, Expires: testNow.Add(24 * time.Hour)}
	return boot.NewState([]boot.Segment{g}, plans, []boot.Session{{UID: "s-1", EntryUID: "entry-1", Grant: grant}})
}

func testView(s *boot.State) View {
	return View{
		State: s, Keys: [][]byte{testKey}, Now: testNow, HTTPPort: 8080, TFTP: true,
		Files: dhcp.Files{BIOS: "undionly.kpxe", UEFIAMD64: "snponly.efi", NativeAMD64: "ipxe.efi"},
	}
}

// onLink is a request that a machine sent to the group on its own segment.
func onLink(from netip.Addr) Ingress {
	return Ingress{From: netip.AddrPortFrom(from, 546), Interface: "br0", Index: 3, Addresses: []netip.Addr{testServer}}
}

// viaRelay is one that came from a relay.
func viaRelay(from string) Ingress {
	return Ingress{
		From: netip.AddrPortFrom(netip.MustParseAddr(from), 547), To: netip.MustParseAddr("fd00:1::9"), Interface: "eth0", Index: 2,
		Addresses: []netip.Addr{netip.MustParseAddr("fd00:1::9")},
	}
}

func hardware(tb testing.TB, mac boot.MAC) net.HardwareAddr {
	tb.Helper()
	hw, err := net.ParseMAC(string(mac))
	if err != nil {
		tb.Fatal(err)
	}
	return hw
}

func duidLLOf(tb testing.TB, mac boot.MAC) dhcpv6.DUID {
	tb.Helper()
	return &dhcpv6.DUIDLL{HWType: iana.HWTypeEthernet, LinkLayerAddr: hardware(tb, mac)}
}

// someUUID is a DUID that holds no MAC.
func someUUID() dhcpv6.DUID { return &dhcpv6.DUIDUUID{UUID: [16]byte{1, 2, 3, 4}} }

// request builds a SOLICIT of the machine, as its library would.
func request(tb testing.TB, mods ...dhcpv6.Modifier) *dhcpv6.Message {
	tb.Helper()
	m, err := dhcpv6.NewMessage(append([]dhcpv6.Modifier{
		dhcpv6.WithClientID(duidLLOf(tb, testMAC)), dhcpv6.WithIAID([4]byte{1, 2, 3, 4}),
		dhcpv6.WithRequestedOptions(dhcpv6.OptionDNSRecursiveNameServer, dhcpv6.OptionDomainSearchList, dhcpv6.OptionNTPServer),
	}, mods...)...)
	if err != nil {
		tb.Fatal(err)
	}
	if m.MessageType == 0 {
		m.MessageType = dhcpv6.MessageTypeSolicit
	}
	m.TransactionID = dhcpv6.TransactionID{1, 2, 3}
	return m
}

func ofType(t dhcpv6.MessageType) dhcpv6.Modifier {
	return func(d dhcpv6.DHCPv6) { d.(*dhcpv6.Message).MessageType = t }
}

func without(code dhcpv6.OptionCode) dhcpv6.Modifier {
	return func(d dhcpv6.DHCPv6) { d.(*dhcpv6.Message).Options.Del(code) }
}

func raw(code dhcpv6.OptionCode, v ...byte) dhcpv6.Modifier {
	return dhcpv6.WithOption(&dhcpv6.OptionGeneric{OptionCode: code, OptionData: v})
}

// toUs names a server by its address.
func toUs(at netip.Addr) dhcpv6.Modifier { return raw(dhcpv6.OptionServerID, ServerID(at)...) }

func having(a netip.Addr) dhcpv6.Modifier {
	return dhcpv6.WithIANA(dhcpv6.OptIAAddress{IPv6Addr: a.AsSlice(), PreferredLifetime: time.Hour, ValidLifetime: time.Hour})
}

// class is option 16 of Intel's number, arch option 61.
func class(text string) dhcpv6.Modifier {
	return raw(dhcpv6.OptionVendorClass, append([]byte{0, 0, 1, 0x57, 0, byte(len(text))}, text...)...) //nolint:gosec // A short text.
}

func arch(n byte) dhcpv6.Modifier { return raw(dhcpv6.OptionClientArchType, 0, n) }

func all(mods ...dhcpv6.Modifier) dhcpv6.Modifier {
	return func(d dhcpv6.DHCPv6) {
		for _, m := range mods {
			m(d)
		}
	}
}

func asPXE() dhcpv6.Modifier  { return all(arch(7), class("PXEClient:Arch:00007:UNDI:003000")) }
func asHTTP() dhcpv6.Modifier { return all(arch(16), class("HTTPClient:Arch:00016:UNDI:003000")) }
func asIPXE() dhcpv6.Modifier {
	return all(asPXE(), raw(dhcpv6.OptionUserClass, append([]byte{0, 4}, "iPXE"...)...))
}

// relayed puts a request into that of a relay on a link, which has it from an address.
func relayed(tb testing.TB, m dhcpv6.DHCPv6, link string, peer netip.Addr, mods ...dhcpv6.Modifier) *dhcpv6.RelayMessage {
	tb.Helper()
	r, err := dhcpv6.EncapsulateRelay(m, dhcpv6.MessageTypeRelayForward, net.ParseIP(link), peer.AsSlice())
	if err != nil {
		tb.Fatal(err)
	}
	for _, mod := range mods {
		mod(r)
	}
	return r
}

// answered is what a request gets, and its message as a client's library reads it; nil for silence.
func answered(tb testing.TB, v View, p dhcpv6.DHCPv6, in Ingress) (Answer, *dhcpv6.Message) {
	tb.Helper()
	m := &wire.Message{}
	if err := m.Read(bytes.Clone(p.ToBytes())); err != nil {
		tb.Fatal(err)
	}
	a := Respond(v, m, in, nil)
	if a.Packet == nil {
		return a, nil
	}
	got, err := dhcpv6.FromBytes(a.Packet)
	if err != nil {
		tb.Fatalf("our own answer can't be read: %v", err)
	}
	inner, err := got.GetInnerMessage()
	if err != nil {
		tb.Fatalf("our own answer has no message in it: %v", err)
	}
	return a, inner
}
