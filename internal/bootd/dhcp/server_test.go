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

func (s seen) Seen(_ *boot.Plan, _ boot.MAC, stage boot.Stage, _ boot.Firmware, _ time.Time) {
	s <- stage
}

// loopback serves a state on an unprivileged port, as the demo does, and gives a relay's socket.
func loopback(t *testing.T, s *boot.State, sightings Sightings) (relay *net.UDPConn, server netip.AddrPort) {
	t.Helper()
	sock, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := NewConn(sock, nil)
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

// cable is a Conn of a test: what it's given comes in, what goes out is kept.
type cable struct {
	in     chan []byte
	out    chan Outgoing
	closed chan struct{}
	once   sync.Once
	broken error
}

func newCable() *cable {
	return &cable{in: make(chan []byte), out: make(chan Outgoing, 64), closed: make(chan struct{})}
}

func (c *cable) Receive(ps []Packet, wait bool) (int, error) {
	if c.broken != nil {
		return 0, c.broken
	}
	if !wait {
		return 0, nil
	}
	select {
	case data := <-c.in:
		ps[0].Data, ps[0].In = append(ps[0].Data[:0], data...), broadcastIn()
		return 1, nil
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *cable) Send(out []Outgoing) {
	for _, o := range out {
		o.Data = bytes.Clone(o.Data)
		c.out <- o
	}
}

func (c *cable) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func serving(t *testing.T, w *cable, cfg Config) (stop func() error) {
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
	w := newCable()
	reasons := make(chan Reason, 8)
	cfg := testConfig(testState(nil, testPlan()))
	asked, state := 0, cfg.State
	cfg.State = func() *boot.State {
		asked++
		if asked <= 2 { // When it's foreseen, and when it's answered.
			panic("a bug that one packet has found")
		}
		return state()
	}
	cfg.Observe = func(_ string, _ Client, r Reason) { reasons <- r }
	stop := serving(t, w, cfg)

	w.in <- request(t, asPXE(0)).ToBytes() // The panic.
	w.in <- []byte("no packet at all")
	if r := <-reasons; r != SilentMalformed {
		t.Errorf("reason %s, want %s", r, SilentMalformed)
	}
	w.in <- request(t, asPXE(0)).ToBytes()
	if r := <-reasons; r != Offered {
		t.Errorf("reason %s, want %s: one bad packet must not end the boots of a rack", r, Offered)
	}
	if o := <-w.out; o.To.String() != everybody || o.Index != broadcastIn().Index {
		t.Errorf("sent to %s on interface %d", o.To, o.Index)
	}
	if err := stop(); err != nil {
		t.Errorf("a stop is no error: %v", err)
	}
}

func TestDeclineIsPassedOn(t *testing.T) {
	w, declined := newCable(), make(chan string, 1)
	var log strings.Builder
	cfg := testConfig(testState(nil, testPlan()))
	cfg.Declined = func(p *boot.Plan, mac boot.MAC, a netip.Addr, _ time.Time) {
		declined <- p.Entry.String() + " " + string(mac) + " " + a.String()
	}
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	stop := serving(t, w, cfg)
	ours := all(addressOpt(54, "10.99.0.1"), addressOpt(50, "10.99.0.83"))
	w.in <- request(t, ofType(dhcpv4.MessageTypeRequest), ours).ToBytes()
	<-w.out
	w.in <- request(t, ofType(dhcpv4.MessageTypeDecline), ours).ToBytes()
	if got, want := <-declined, "tenant/web-1 "+string(testPlan().MACs[0])+" 10.99.0.83"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.in <- request(t, asPXE(0)).ToBytes()
	w.in <- request(t, asPXE(0)).ToBytes() // The one before is done.
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "reason=Declined") || !strings.Contains(log.String(), "10.99.0.83") || len(w.out) > 0 {
		t.Errorf("%d answers, and the log says:\n%s", len(w.out), log.String())
	}
}

func TestServeReportsABrokenSocket(t *testing.T) {
	w := newCable()
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
	w := newCable()
	cfg := testConfig(testState(nil, testPlan()))
	sent := -1
	cfg.Sightings = SightingsFn(func(_ *boot.Plan, _ boot.MAC, stage boot.Stage, _ boot.Firmware, at time.Time) {
		sent = len(w.out)
		if stage != boot.StageDHCP || !at.Equal(testNow) {
			t.Errorf("a sight of %s at %s", stage, at)
		}
	})
	req := request(t, asPXE(0), ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.1"), addressOpt(50, "10.99.0.83"))
	take(New(cfg), w, req.ToBytes())
	if sent != 0 || len(w.out) != 1 {
		t.Errorf("%d answers were sent before the sight, want none, and one after it", sent)
	}
}

// take has a server answer one packet.
func take(s *Server, c Conn, data []byte) {
	w := newWork(s, c)
	w.one(context.Background(), &Packet{Data: data, In: broadcastIn()})
	w.flush(context.Background())
}

// flood is a Conn on which packets wait.
type flood struct {
	cable

	waiting [][]byte
}

func (f *flood) Receive(ps []Packet, _ bool) (int, error) {
	n := min(len(ps), len(f.waiting))
	for i, data := range f.waiting[:n] {
		ps[i].Data, ps[i].In = append(ps[i].Data[:0], data...), broadcastIn()
	}
	f.waiting = f.waiting[n:]
	return n, nil
}

func TestTheOldestIsDropped(t *testing.T) {
	for _, sent := range []int{5, atOnce, 3 * atOnce, 20 * atOnce} {
		dropped := 0
		cfg := testConfig(testState(nil, testPlan()))
		cfg.Queue = 2
		cfg.Observe = func(_ string, _ Client, r Reason) {
			if r == Dropped {
				dropped++
			}
		}
		c := &flood{cable: *newCable()}
		for i := range sent {
			c.waiting = append(c.waiting, request(t, dhcpv4.WithTransactionID(dhcpv4.TransactionID{0, 0, byte(i >> 8), byte(i)})).ToBytes())
		}
		w := newWork(New(cfg), c)
		heard := []byte(nil)
		for left := -1; left != len(c.waiting); {
			left = len(c.waiting)
			n, err := w.receive()
			if err != nil || n > cfg.Queue {
				t.Fatalf("%d wait, %v", n, err)
			}
			w.answer(t.Context(), n)
			for len(c.out) > 0 {
				heard = append(heard, (<-c.out).Data[7])
			}
		}
		if n := len(heard); n+dropped != sent || n < 2 || int(heard[n-1]) != (sent-1)&255 || int(heard[n-2]) != (sent-2)&255 {
			t.Errorf("of %d packets %d were dropped, and %v answered: want the youngest, whose machines still wait", sent, dropped, heard)
		}
	}
}

func TestReadWithoutEnd(t *testing.T) {
	b := request(t, option(12, 'x')).ToBytes()
	cut := b[:bytes.LastIndexByte(b, 255)]
	if out, a := reply(testView(testState(nil, testPlan())), cut, broadcastIn()); out == nil {
		t.Errorf("some firmware forgets the end mark: %s", a.Reason)
	}
	if _, a := reply(testView(testState(nil, testPlan())), cut[:100], broadcastIn()); a.Reason != SilentMalformed {
		t.Error("half a header is no packet")
	}
}

func TestLogHoldsNothingOfAStranger(t *testing.T) {
	var out bytes.Buffer
	cfg := testConfig(testState(nil, testPlan()))
	cfg.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w := newCable()
	req := request(t, text(60, "secret of a phone's memory"), func(d *dhcpv4.DHCPv4) {
		d.BootFileName, d.ClientHWAddr = "secret", net.HardwareAddr{2, 0, 0, 0, 0, 9}
	})
	take(New(cfg), w, req.ToBytes())
	if got := out.String(); strings.Contains(got, "secret") || !strings.Contains(got, "UnknownMachine") {
		t.Errorf("log: %s", got)
	}
}
