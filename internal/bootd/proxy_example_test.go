package bootd

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// exampleSite writes an example of a site as loopback can serve it: its relay is 127.0.0.1, its files are here.
func exampleSite(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", "bootd", name))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })) //nolint:gosec // A file that is its own name.
	t.Cleanup(web.Close)
	text := strings.NewReplacer("https://images.example", web.URL, "10.77.0.", "127.77.0.", "  dhcp:\n", "  dhcp:\n    relays: [127.0.0.1/32]\n").Replace(string(b))
	for path, digest := range map[string]string{
		"/rescue/amd64/vmlinuz":    "a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2",
		"/rescue/amd64/initrd.img": "3e2c41a0b9c1d5f0f3c8f0e0a1f0dd2f6a5a7c0f4f3d2b1a09e8d7c6b5a49382",
	} {
		sum := sha256.Sum256([]byte(path))
		text = strings.ReplaceAll(text, digest, hex.EncodeToString(sum[:]))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil { //nolint:gosec // A test's own file.
		t.Fatal(err)
	}
	return dir
}

// dhcpAsk sends a packet from an address and gives the answer; nil: there was none within a moment.
func dhcpAsk(t *testing.T, from, server string, p *dhcpv4.DHCPv4, patience time.Duration) *dhcpv4.DHCPv4 {
	t.Helper()
	conn, err := net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(from+":0")), net.UDPAddrFromAddrPort(netip.MustParseAddrPort(server)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write(p.ToBytes()); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2000)
	n, err := conn.Read(b)
	if err != nil {
		return nil
	}
	got, err := dhcpv4.FromBytes(b[:n])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// firmwareOf makes a packet of a BIOS ROM, or of iPXE.
func firmwareOf(t *testing.T, mac string, ipxe bool, mods ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
	t.Helper()
	hw, err := net.ParseMAC(mac)
	if err != nil {
		t.Fatal(err)
	}
	mods = append([]dhcpv4.Modifier{
		dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient:Arch:00000:UNDI:002001")),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionClientSystemArchitectureType, []byte{0, 0})),
	}, mods...)
	if ipxe {
		mods = append(mods, dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionUserClassInformation, []byte("iPXE"))))
	}
	p, err := dhcpv4.NewDiscovery(hw, mods...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProxyExample boots the machine of examples/bootd/proxy.yaml beside a server that gave it an address: by the relay, and at port 4011.
func TestProxyExample(t *testing.T) {
	const mac, given = "52:54:00:00:08:01", "127.77.0.201"
	log := &lines{}
	c := config(t)
	c.SpecDir, c.DHCPListen, c.ProxyListen, c.Logger = exampleSite(t, "proxy.yaml"), freeUDP(t), freeUDP(t), slogTo(log)
	c.Advertise = netip.MustParseAddr("127.0.0.1")
	running(t, c)
	eventually(t, "the proxy's port is open", func() bool { return strings.Contains(log.String(), "for=proxyDHCP") })
	relay := []dhcpv4.Modifier{
		dhcpv4.WithRelay(net.IPv4(127, 0, 0, 1)), dhcpv4.WithOption(dhcpv4.OptRelayAgentInfo(
			dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(19), nil), dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(5), []byte{127, 77, 0, 1}))),
	}
	offer := dhcpAsk(t, "127.0.0.1", c.DHCPListen, firmwareOf(t, mac, false, relay...), 5*time.Second)
	if offer == nil || !offer.YourIPAddr.IsUnspecified() || offer.ClassIdentifier() != "PXEClient" || offer.BootFileName == "" {
		t.Fatalf("a ROM is offered %v", offer)
	}
	request := func(mac string) *dhcpv4.DHCPv4 {
		return firmwareOf(t, mac, true, dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(net.ParseIP(given)))
	}
	ack := dhcpAsk(t, given, c.ProxyListen, request(mac), 5*time.Second)
	if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck || !ack.YourIPAddr.IsUnspecified() {
		t.Fatalf("iPXE gets %v", ack)
	}
	var script string
	eventually(t, "the script", func() bool {
		_, script = get(t, ack.BootFileNameOption())
		return strings.Contains(script, "kernel ${bootd-bound} --name vmlinuz")
	})
	if strings.Contains(script, "baremetal.address=") || strings.Contains(script, "baremetal.gateway=") {
		t.Errorf("the kernel is given an address that the other server didn't give:\n%s", script)
	}
	if got := dhcpAsk(t, given, c.ProxyListen, request("52:54:00:00:08:99"), 300*time.Millisecond); got != nil {
		t.Errorf("a stranger gets %v", got)
	}
}
