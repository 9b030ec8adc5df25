package bootd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
	"github.com/pin/tftp/v3"
	"github.com/vishvananda/netlink"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/ownnet"
)

const sixPlans = `
kind: BootNetwork
metadata: {namespace: lab, name: rack}
spec:
  subnets: [{cidr: "fd00:77::/64", dns: ["fd00:77::53"]}]
---
kind: BootEntry
metadata: {namespace: lab, name: m1, uid: u1}
status:
  atProvider:
    plan:
      entryUID: u1
      macs: ["%s"]
      network: {namespace: lab, name: rack, address: "fd00:77::11/64"}
      mode: Live
      method: Kernel
      artifacts: [{arch: amd64, kernel: {url: "http://127.0.0.1:1/k", digest: "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}]
`

// TestIPv6OnALink: a machine on a real link gets its address, its first stage by TFTP and by HTTP, and its script. It runs in a network
// namespace of its own: ports and groups are those that firmware asks.
func TestIPv6OnALink(t *testing.T) {
	if !ownnet.Inside(t) {
		return
	}
	theirs := link(t)
	c := config(t)
	c.DHCPListen, c.HTTPListen, c.TFTPListen, c.DHCP6Listen, c.HealthListen = "", "0.0.0.0:8480", "0.0.0.0:69", "[::]:547", "127.0.0.1:8481"
	c.PlansDir = t.TempDir()
	if err := os.WriteFile(c.PlansDir+"/plans.yaml", fmt.Appendf(nil, sixPlans, theirs.HardwareAddr), 0o600); err != nil {
		t.Fatal(err)
	}
	running(t, c)
	m := &sixMachine{t: t, on: theirs}
	m.listen()
	adv := m.ask(dhcpv6.MessageTypeSolicit, nil, "PXEClient", 7)
	if adv.MessageType != dhcpv6.MessageTypeAdvertise {
		t.Fatalf("SOLICIT is answered by %s", adv.MessageType)
	}
	got := m.ask(dhcpv6.MessageTypeRequest, adv.Options.ServerID(), "PXEClient", 7)
	if a := got.Options.OneIANA().Options.OneAddress(); got.MessageType != dhcpv6.MessageTypeReply || a.IPv6Addr.String() != "fd00:77::11" {
		t.Fatalf("REQUEST is answered by %s", got.Summary())
	}
	m.has("fd00:77::11/64")
	file, ok := strings.CutPrefix(got.Options.BootFileURL(), "tftp://[fd00:77::1]/")
	if !ok {
		t.Fatalf("boot file %q", got.Options.BootFileURL())
	}
	if n := m.tftp(file); n == 0 {
		t.Error("the first stage is empty")
	}
	url := m.ask(dhcpv6.MessageTypeSolicit, nil, "HTTPClient", 16).Options.BootFileURL()
	if status, body := get(t, url); status != http.StatusOK || body == "" {
		t.Errorf("HTTP Boot by %s: %d", url, status)
	}
	script := m.ask(dhcpv6.MessageTypeSolicit, nil, "iPXE", 7).Options.BootFileURL()
	if status, body := get(t, script); status != http.StatusOK || !strings.HasPrefix(body, "#!ipxe") {
		t.Errorf("script by %s: %d %q", script, status, body)
	}
	if _, body := get(t, "http://127.0.0.1:8481/metrics"); !strings.Contains(body, `bootd_dhcp6_packets_total{client="PXE",reason="Acknowledged",type="REQUEST"} 1`) {
		t.Error("the metrics don't count it")
	}
	if err := os.WriteFile(c.PlansDir+"/plans.yaml", []byte(strings.ReplaceAll(plans, "%s", "http://127.0.0.1:1/k")), 0o600); err != nil {
		t.Fatal(err)
	}
	m.closes()
}

// link makes a cable, one end of which is bootd's, and gives the other.
func link(t *testing.T) *net.Interface {
	t.Helper()
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lo, err := netlink.LinkByName("lo")
	try(err)
	try(netlink.LinkSetUp(lo))
	try(netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "ours"}, PeerName: "theirs"}))
	for _, name := range []string{"ours", "theirs"} {
		l, err := netlink.LinkByName(name)
		try(err)
		if name == "ours" {
			a, err := netlink.ParseAddr("fd00:77::1/64")
			try(err)
			a.Flags = syscall.IFA_F_NODAD
			try(netlink.AddrAdd(l, a))
		}
		try(netlink.LinkSetUp(l))
	}
	i, err := net.InterfaceByName("theirs")
	try(err)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if ip := linkLocal(i); !ip.IsUnspecified() {
			if c, err := net.ListenUDP("udp6", &net.UDPAddr{IP: ip, Port: 546, Zone: i.Name}); err == nil { // Nobody else has it (RFC 4862).
				_ = c.Close()
				return i
			}
		}
		if time.Now().After(end) {
			t.Fatal("the machine's address on the link doesn't get ready")
		}
	}
}

func linkLocal(i *net.Interface) net.IP {
	as, _ := i.Addrs()
	for _, a := range as {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsLinkLocalUnicast() {
			return p.Addr().AsSlice()
		}
	}
	return net.IPv6unspecified
}

// sixMachine is a machine at the other end of a cable.
type sixMachine struct {
	t    *testing.T
	on   *net.Interface
	conn *net.UDPConn
	xid  byte
}

func (m *sixMachine) listen() {
	m.t.Helper()
	var err error
	if m.conn, err = net.ListenUDP("udp6", &net.UDPAddr{IP: linkLocal(m.on), Port: 546, Zone: m.on.Name}); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = m.conn.Close() })
}

// ask sends a message until it's answered.
func (m *sixMachine) ask(kind dhcpv6.MessageType, server dhcpv6.DUID, class string, arch iana.Arch) *dhcpv6.Message {
	m.t.Helper()
	m.xid++
	text := class
	if class == "iPXE" {
		text = "PXEClient"
	}
	p, err := dhcpv6.NewMessage(
		dhcpv6.WithClientID(&dhcpv6.DUIDUUID{UUID: [16]byte{1, 2, 3}}), dhcpv6.WithIAID([4]byte{1}), dhcpv6.WithArchType(arch),
		dhcpv6.WithOption(&dhcpv6.OptVendorClass{EnterpriseNumber: 343, Data: [][]byte{[]byte(text + ":Arch:00007:UNDI:003000")}}))
	if err != nil {
		m.t.Fatal(err)
	}
	p.MessageType, p.TransactionID = kind, dhcpv6.TransactionID{0, 0, m.xid}
	if server != nil {
		p.AddOption(dhcpv6.OptServerID(server))
	}
	if class == "iPXE" {
		p.AddOption(&dhcpv6.OptUserClass{UserClasses: [][]byte{[]byte("iPXE")}})
	}
	b := make([]byte, 2000)
	for range 20 {
		if _, err := m.conn.WriteTo(p.ToBytes(), &net.UDPAddr{IP: net.ParseIP("ff02::1:2"), Port: 547, Zone: m.on.Name}); err != nil {
			m.t.Fatal(err)
		}
		_ = m.conn.SetReadDeadline(time.Now().Add(time.Second))
		n, err := m.conn.Read(b)
		if err != nil {
			continue
		}
		got, err := dhcpv6.MessageFromBytes(b[:n])
		if err == nil && got.TransactionID == p.TransactionID {
			return got
		}
	}
	m.t.Fatalf("%s isn't answered", kind)
	return nil
}

// has gives the machine an address.
func (m *sixMachine) has(address string) {
	m.t.Helper()
	l, err := netlink.LinkByIndex(m.on.Index)
	if err != nil {
		m.t.Fatal(err)
	}
	a, err := netlink.ParseAddr(address)
	if err != nil {
		m.t.Fatal(err)
	}
	a.Flags = syscall.IFA_F_NODAD
	if err := netlink.AddrAdd(l, a); err != nil {
		m.t.Fatal(err)
	}
}

// tftp gives the length of a file.
func (m *sixMachine) tftp(name string) int64 {
	m.t.Helper()
	c, err := tftp.NewClient("[fd00:77::1]:69")
	if err != nil {
		m.t.Fatal(err)
	}
	from, err := c.Receive(name, "octet")
	if err != nil {
		m.t.Fatal(err)
	}
	n, err := from.WriteTo(io.Discard)
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// closes waits until nothing is heard over IPv6 any more.
func (m *sixMachine) closes() {
	m.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.ListenPacket("udp6", "[::]:547")
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("the ports of IPv6 are open, though nobody needs them: %v", err)
		}
	}
}
