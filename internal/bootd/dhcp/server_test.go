package dhcp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
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
		return ask(t, relay, server, request(t, same, ofType(dhcpv4.MessageTypeRequest), addressOpt(50, testAddress.String()),
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

// wire is a Conn of a test: what it's given comes in, what goes out is kept.
type wire struct {
	in     chan []byte
	out    chan Answer
	closed chan struct{}
	once   sync.Once
	broken error
}

func newWire() *wire {
	return &wire{in: make(chan []byte), out: make(chan Answer, 64), closed: make(chan struct{})}
}

func (w *wire) Receive(b []byte) (int, Ingress, error) {
	if w.broken != nil {
		return 0, Ingress{}, w.broken
	}
	select {
	case data := <-w.in:
		return copy(b, data), broadcastIn(), nil
	case <-w.closed:
		return 0, Ingress{}, net.ErrClosed
	}
}

func (w *wire) Send(_ []byte, a Answer, _ Ingress) error {
	w.out <- a
	return nil
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

func serving(t *testing.T, w *wire, cfg Config) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(cfg).Serve(ctx, w) }()
	t.Cleanup(cancel)
	return func() error {
		cancel()
		return <-done
	}
}

func testConfig(s *boot.State) Config {
	return Config{
		State: func() *boot.State { return s }, Keys: func() [][]byte { return [][]byte{testKey} },
		Files: testFiles, HTTPPort: 8080, Now: func() time.Time { return testNow },
	}
}

func TestServeGoesOn(t *testing.T) {
	w := newWire()
	reasons := make(chan Reason, 8)
	cfg := testConfig(testState(nil, testPlan()))
	first := true
	state := cfg.State
	cfg.Workers = 1
	cfg.State = func() *boot.State {
		if first {
			first = false
			panic("a bug that one packet has found")
		}
		return state()
	}
	cfg.Observe = func(_ Client, r Reason) { reasons <- r }
	stop := serving(t, w, cfg)

	w.in <- request(t, asPXE(0)).ToBytes() // The panic.
	w.in <- []byte("no packet at all")
	if r := <-reasons; r != SilentMalformed {
		t.Errorf("reason %s, want %s", r, SilentMalformed)
	}
	w.in <- request(t, asPXE(0)).ToBytes()
	if a := <-w.out; a.Reason != Offered {
		t.Errorf("reason %s, want %s: one bad packet must not end the boots of a rack", a.Reason, Offered)
	}
	if err := stop(); err != nil {
		t.Errorf("a stop is no error: %v", err)
	}
}

func TestDeclineIsPassedOn(t *testing.T) {
	w, declined := newWire(), make(chan string, 1)
	var log strings.Builder
	cfg := testConfig(testState(nil, testPlan()))
	cfg.Declined = func(p *boot.Plan, _ time.Time) { declined <- p.Entry.String() }
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	stop := serving(t, w, cfg)
	w.in <- request(t, ofType(dhcpv4.MessageTypeDecline), addressOpt(54, "10.99.0.1"), addressOpt(50, "10.99.0.83")).ToBytes()
	if got := <-declined; got != "tenant/web-1" {
		t.Errorf("got %q", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "reason=Declined") || !strings.Contains(log.String(), "10.99.0.83") || len(w.out) > 0 {
		t.Errorf("%d answers, and the log says:\n%s", len(w.out), log.String())
	}
}

func TestServeReportsABrokenSocket(t *testing.T) {
	w := newWire()
	w.broken = errors.New("boom")
	err := New(testConfig(nil)).Serve(t.Context(), w)
	if !errors.Is(err, w.broken) {
		t.Errorf("got %v, want %v", err, w.broken)
	}
	select {
	case <-w.closed:
	default:
		t.Error("the connection must be closed")
	}
}

// TestSightComesBeforeItsAnswer: what the machine does next must not be known before.
func TestSightComesBeforeItsAnswer(t *testing.T) {
	w := newWire()
	cfg := testConfig(testState(nil, testPlan()))
	sent := -1
	cfg.Sightings = SightingsFn(func(_ *boot.Plan, stage boot.Stage, at time.Time) {
		sent = len(w.out)
		if stage != boot.StageDHCP || !at.Equal(testNow) {
			t.Errorf("a sight of %s at %s", stage, at)
		}
	})
	req := request(t, asPXE(0), ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.1"), addressOpt(50, "10.99.0.83"))
	New(cfg).handle(w, packet{req.ToBytes(), broadcastIn()})
	if sent != 0 || len(w.out) != 1 {
		t.Errorf("%d answers were sent before the sight, want none, and one after it", sent)
	}
}

func TestPushDropsTheOldest(t *testing.T) {
	dropped := 0
	cfg := testConfig(nil)
	cfg.Observe = func(_ Client, r Reason) {
		if r == Dropped {
			dropped++
		}
	}
	s := New(cfg)
	queue := make(chan packet, 2)
	for i := range byte(5) {
		s.push(queue, packet{data: []byte{i}})
	}
	if dropped != 3 {
		t.Errorf("%d were dropped, want 3", dropped)
	}
	if got := (<-queue).data[0]; got != 3 {
		t.Errorf("the oldest left is %d, want 3: its machine has asked again already", got)
	}
}

func TestDecodeWithoutEnd(t *testing.T) {
	b := request(t, option(12, 'x')).ToBytes()
	cut := b[:bytes.LastIndexByte(b, 255)]
	if _, err := Decode(cut); err != nil {
		t.Errorf("some firmware forgets the end mark: %v", err)
	}
	if _, err := Decode(cut[:100]); err == nil {
		t.Error("half a header is no packet")
	}
}

func TestLogHoldsNothingOfAStranger(t *testing.T) {
	var out bytes.Buffer
	cfg := testConfig(testState(nil, testPlan()))
	cfg.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w := newWire()
	req := request(t, text(60, "secret of a phone's memory"), func(d *dhcpv4.DHCPv4) {
		d.BootFileName, d.ClientHWAddr = "secret", net.HardwareAddr{2, 0, 0, 0, 0, 9}
	})
	New(cfg).handle(w, packet{req.ToBytes(), broadcastIn()})
	if got := out.String(); strings.Contains(got, "secret") || !strings.Contains(got, "UnknownMachine") {
		t.Errorf("log: %s", got)
	}
}

func TestUnicast(t *testing.T) {
	k := knownInterface{addresses: []netip.Addr{testServer}, directed: []netip.Addr{netip.MustParseAddr("10.99.0.255")}}
	cases := map[string]struct {
		reason string
		to     string
		want   string
	}{
		"Own":       {"a relay or a renewal", "10.99.0.1", "10.99.0.1"},
		"Other":     {"an address of ours on another interface", "172.16.0.1", "172.16.0.1"},
		"Limited":   {"a broadcast", "255.255.255.255", "invalid IP"},
		"Directed":  {"a broadcast to the subnet", "10.99.0.255", "invalid IP"},
		"Multicast": {"no address of anybody", "224.0.0.1", "invalid IP"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := k.unicast(net.ParseIP(tc.to)).String(); got != tc.want {
				t.Errorf("got %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}
