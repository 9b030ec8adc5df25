package dhcp

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// seen collects sights.
type seen chan boot.Stage

func (s seen) Seen(_ *boot.Plan, stage boot.Stage, _ time.Time) { s <- stage }

// loopback serves a state on an unprivileged port, as the demo does, and gives a relay's socket.
func loopback(t *testing.T, s *boot.State, sightings Sightings) (relay *net.UDPConn, server netip.AddrPort) {
	t.Helper()
	sock, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := NewConn(sock)
	if err != nil {
		t.Fatal(err)
	}
	srv := New(Config{
		State: func() *boot.State { return s }, Keys: func() [][]byte { return [][]byte{testKey} }, Sightings: sightings,
		HTTPPort: 8080, Files: testFiles, Now: func() time.Time { return testNow },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, conn) }()
	relay, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		_ = relay.Close()
	})
	return relay, sock.LocalAddr().(*net.UDPAddr).AddrPort()
}

func ask(t *testing.T, relay *net.UDPConn, server netip.AddrPort, p *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	t.Helper()
	if _, err := relay.WriteToUDPAddrPort(p.ToBytes(), server); err != nil {
		t.Fatal(err)
	}
	if err := relay.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1500)
	n, err := relay.Read(buf)
	if err != nil {
		t.Fatalf("no answer to %s: %v", p.Summary(), err)
	}
	got, err := dhcpv4.FromBytes(buf[:n])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestServe is one boot through a relay on an unprivileged port: two exchanges of firmware, one of the system.
func TestServe(t *testing.T) {
	viaLoopback := func(g *boot.Segment) { g.Relays = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	sights := make(seen, 8)
	relay, server := loopback(t, testState(viaLoopback, testPlan()), sights)
	sub := []byte{1, 2, 'x', 'y', 19, 0, 5, 4, 10, 99, 0, 1}

	exchange := func(xid byte, as dhcpv4.Modifier) *dhcpv4.DHCPv4 {
		same := all(as, relayed("127.0.0.1", sub...), dhcpv4.WithTransactionID(dhcpv4.TransactionID{xid}))
		offer := ask(t, relay, server, request(t, same))
		return ask(t, relay, server, request(t, same, ofType(dhcpv4.MessageTypeRequest), address(50, testAddress.String()),
			dhcpv4.WithOption(dhcpv4.OptServerIdentifier(offer.ServerIdentifier()))))
	}
	if ack := exchange(1, asPXE(0)); ack.MessageType() != dhcpv4.MessageTypeAck || ack.BootFileName != "undionly.kpxe" {
		t.Errorf("PXE: %s", ack.Summary())
	}
	ack := exchange(2, asIPXE(0))
	if !strings.HasPrefix(ack.BootFileName, "http://127.0.0.1:8080"+ipxe.PathBoot) {
		t.Errorf("iPXE got %q", ack.BootFileName)
	}
	if ack := exchange(3, all()); ack.BootFileName != "" || !ack.YourIPAddr.Equal(testAddress.AsSlice()) {
		t.Errorf("OS: %s", ack.Summary())
	}
	for _, want := range []boot.Stage{boot.StageDHCP, boot.StageBootedFromDisk} { // The firmware's two are one.
		if got := <-sights; got != want {
			t.Errorf("got a sight of %s, want %s", got, want)
		}
	}
}
