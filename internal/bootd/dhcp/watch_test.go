package dhcp

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

// listener is a server that counts, with a clock that the test has.
type listener struct {
	*Server

	t      *testing.T
	now    time.Time
	counts map[Reason]int
	traced map[boot.MAC]int
}

func listening(t *testing.T, state *boot.State) *listener {
	t.Helper()
	l := &listener{t: t, now: testNow, counts: map[Reason]int{}, traced: map[boot.MAC]int{}}
	l.Server = New(Config{
		State: func() *boot.State { return state }, Keys: func() [][]byte { return [][]byte{testKey} }, HTTPPort: 8080, Files: testFiles,
		Now: func() time.Time { return l.now }, Limit: limit.New(limit.Default()),
		Observe: func(_ string, _ Client, r Reason) { l.counts[r]++ },
		Trace: func(request []byte, _ Ingress, a Answer, at time.Time) {
			if len(request) < 300 || !at.Equal(l.now) {
				t.Errorf("%d octets at %s", len(request), at)
			}
			l.traced[a.Facts.MAC]++
		},
	})
	return l
}

// hears takes a packet in.
func (l *listener) hears(data []byte, in Ingress) Answer {
	l.t.Helper()
	m := &wire.Message{}
	if err := m.Read(data); err != nil {
		l.t.Fatal(err)
	}
	return l.handle(m, in, desk{reply: &wire.Reply{}})
}

// TestStrangersShout: ten thousand machines that nobody entered ask at once, all the time, through the relay of one that is known. That one
// boots, each time it asks; the others cost a look at most.
func TestStrangersShout(t *testing.T) {
	l := listening(t, testState(nil, testPlan()))
	relay := netip.MustParseAddr("10.99.0.1")
	in := Ingress{From: netip.AddrPortFrom(relay, 67), To: testServer, Interface: "br0", Index: 3, Addresses: []netip.Addr{testServer}}
	known, err := Discover(testMAC, Guise{ClientPXE, ArchUEFIAMD64}, relay, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	const shouts, boots = 30_000, 100
	for i := range shouts {
		l.now = l.now.Add(20 * time.Microsecond) // 50,000 a second.
		n := i % 10_000
		mac := boot.MAC(fmt.Sprintf("02:00:00:00:%02x:%02x", n>>8, n&255))
		data, err := Discover(mac, Guise{ClientPXE, ArchBIOS}, relay, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		if a := l.hears(data, in); a.Packet != nil {
			t.Fatal("a stranger is answered")
		}
		if i%(shouts/boots) != 0 {
			continue
		}
		if a := l.hears(known, in); a.Reason != Offered || a.Packet == nil {
			t.Fatalf("the known machine gets %s", a.Reason)
		}
	}
	if l.counts[Offered] != boots || l.traced[testMAC] != boots {
		t.Errorf("%v; %d are traced", l.counts, l.traced[testMAC])
	}
	// One relay's burst, and what comes in six tenths of a second.
	if seen := l.counts[SilentUnknown]; seen > 1000+300+1 || len(l.traced) > seen+1 || l.counts[LimitedRelay] < shouts/2 {
		t.Errorf("%v", l.counts)
	}
	if n := l.counts[SilentUnknown] + l.counts[LimitedRelay] + l.counts[LimitedStranger] + l.counts[LimitedStrangers]; n != shouts {
		t.Errorf("%d of %d are counted: %v", n, shouts, l.counts)
	}
	t.Logf("\n| bootd: 10,000 unknown machines shout while a known one asks | %d | %d |", boots, l.counts[Offered])
}

// TestLoopingMachine: one of ours that asks without end is answered no more often than any firmware asks, and goes on when it calms down.
func TestLoopingMachine(t *testing.T) {
	l := listening(t, testState(nil, testPlan()))
	data := request(t, asPXE(7)).ToBytes()
	const asks = 10_000
	for range asks {
		l.hears(data, broadcastIn())
	}
	met := l.counts[Offered] + l.counts[LimitedMachine]
	if l.counts[Offered] != limit.Default().Machine.Burst || met != asks {
		t.Errorf("%v", l.counts)
	}
	if l.now = l.now.Add(time.Second); l.hears(data, broadcastIn()).Reason != Offered {
		t.Error("a second later it isn't heard")
	}
	silent := request(t, asPXE(7), ofType(dhcpv4.MessageTypeRequest), addressOpt(54, "10.99.0.9"), addressOpt(50, "10.99.0.83")).ToBytes()
	for range asks {
		if a := l.hears(silent, broadcastIn()); a.Reason != SilentOtherServer {
			t.Fatalf("what isn't answered anyway keeps its reason: %s", a.Reason)
		}
		met++
	}
	t.Logf("\n| bootd: a machine asks without end | %d | %d |", 2*asks, met)
}

// TestForesee: what is foretold for a guise is what the server then does, byte for byte, silence included.
func TestForesee(t *testing.T) {
	relay := netip.MustParseAddr("10.99.0.7")
	segments := map[string]func(*boot.Segment){
		"Authoritative": nil,
		"RelayOnly":     func(g *boot.Segment) { g.Mode = boot.SegmentRelayOnly },
		"Elsewhere":     func(g *boot.Segment) { g.Subnets = []netip.Prefix{netip.MustParsePrefix("10.98.0.0/24")} },
		"Interface":     func(g *boot.Segment) { g.Interfaces = []string{"eth9"} },
		"OtherRelays":   func(g *boot.Segment) { g.Relays = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")} },
	}
	reasons := map[Reason]bool{}
	for name, segment := range segments {
		for _, client := range []Client{ClientPXE, ClientHTTP, ClientIPXE, ClientOS} {
			for _, arch := range []uint16{ArchBIOS, ArchUEFIAMD64, ArchUEFIARM64, ArchUEFIHTTPAMD64, ArchUEFIHTTPARM64} {
				for _, via := range []netip.Addr{{}, relay} {
					g := Guise{client, arch}
					l := listening(t, testState(segment, testPlan()))
					in := broadcastIn()
					if via.IsValid() {
						in = Ingress{From: netip.AddrPortFrom(via, 67), To: testServer, Addresses: []netip.Addr{testServer}}
					}
					data, err := Discover(testMAC, g, via, via)
					if err != nil {
						t.Fatal(err)
					}
					want, as, err := Foresee(l.View(), data, in)
					if err != nil {
						t.Fatal(err)
					}
					got := l.hears(data, in)
					if got.Reason != want.Reason || !bytes.Equal(got.Packet, want.Packet) || got.To != want.To {
						t.Errorf("%s, %s: foretold %s, and got %s", name, g, want.Reason, got.Reason)
					}
					if client == ClientOS && as.Client != ClientOS || client == ClientIPXE && as != g {
						t.Errorf("%s asks as %s", g, as)
					}
					reasons[got.Reason] = true
				}
			}
		}
	}
	for _, r := range []Reason{Offered, SilentRelayOnly, SilentElsewhere, SilentNotServedHere, SilentRelayUntrusted} {
		if !reasons[r] {
			t.Errorf("%s was never foretold", r)
		}
	}
	if _, err := Discover("nonsense", Guise{}, netip.Addr{}, netip.Addr{}); err == nil {
		t.Error("that's no MAC")
	}
	if _, _, err := Foresee(testView(nil), []byte("no packet"), broadcastIn()); err == nil {
		t.Error("that's no request")
	}
}

// TestGuisesAreClients: what a guise sends is what its client is known by.
func TestGuisesAreClients(t *testing.T) {
	for _, g := range []Guise{
		{ClientPXE, ArchBIOS}, {ClientPXE, ArchUEFIAMD64}, {ClientPXE, ArchUEFIARM64}, {ClientHTTP, ArchUEFIHTTPAMD64},
		{ClientHTTP, ArchUEFIHTTPARM64}, {ClientIPXE, ArchUEFIAMD64},
	} {
		data, err := Discover(testMAC, g, netip.Addr{}, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		a, as, err := Foresee(testView(testState(nil, testPlan())), data, broadcastIn())
		if err != nil || as != g || a.Reason != Offered {
			t.Errorf("%s: %s, %s, %v", g, as, a.Reason, err)
		}
		file := ""
		if a.Packet != nil {
			m := &wire.Message{}
			if err := m.Read(a.Packet); err != nil {
				t.Fatal(err)
			}
			if file = m.BootFile(); m.Yours() != testAddress {
				t.Errorf("%s gets %s", g, m.Yours())
			}
		}
		if packet, err := dhcpv4.FromBytes(a.Packet); err != nil || packet.BootFileNameOption() != file {
			t.Errorf("%s: the boot file is %q, another reads %q (%v)", g, file, packet.BootFileNameOption(), err)
		}
	}
}

// TestLimitsAndTracesMakeNoGarbage: beside the packets themselves there's nothing to collect.
func TestLimitsAndTracesMakeNoGarbage(t *testing.T) {
	state := testState(nil, testPlan())
	serve := func(cfg Config) float64 {
		cfg.State, cfg.Keys, cfg.Files = func() *boot.State { return state }, func() [][]byte { return [][]byte{testKey} }, testFiles
		cfg.Now = func() time.Time { return testNow }
		s := New(cfg)
		m, r, buf := &wire.Message{}, &wire.Reply{}, make([]byte, 0, linkSize)
		data := request(t, asPXE(7)).ToBytes()
		return testing.AllocsPerRun(200, func() {
			if err := m.Read(data); err != nil {
				t.Fatal(err)
			}
			s.handle(m, broadcastIn(), desk{reply: r, buf: buf})
		})
	}
	without := serve(Config{})
	with := serve(Config{Limit: limit.New(limit.Default()), Trace: func([]byte, Ingress, Answer, time.Time) {}})
	if with > without {
		t.Errorf("%v allocations a packet, %v without limits and traces", with, without)
	}
}

// BenchmarkHandle is a packet of a hall on its way, with and without what limits and traces it.
func BenchmarkHandle(b *testing.B) {
	const machines = 10_000
	plans, packets := make([]boot.Plan, machines), make([][]byte, machines)
	for i := range plans {
		mac := boot.MAC(fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255))
		plans[i] = testPlan(func(p *boot.Plan) { p.EntryUID, p.MACs = fmt.Sprint(i), []boot.MAC{mac} })
		var err error
		if packets[i], err = Discover(mac, Guise{ClientPXE, ArchUEFIAMD64}, netip.Addr{}, netip.Addr{}); err != nil {
			b.Fatal(err)
		}
	}
	state := testState(nil, plans...)
	cfg := Config{
		State: func() *boot.State { return state }, Keys: func() [][]byte { return [][]byte{testKey} }, Files: testFiles, HTTPPort: 8080,
	}
	ring, seen := trace.New(trace.DefaultBytes), cfg
	seen.Limit = limit.New(limit.Default())
	seen.Trace = func(request []byte, in Ingress, a Answer, at time.Time) {
		ring.Add(a.Facts.MAC, a.Plan != nil, trace.Packet{At: at, From: in.From, Index: in.Index, Data: request}, trace.Packet{At: at, To: a.To, Sent: true, Data: a.Packet})
	}
	for name, c := range map[string]Config{"Alone": cfg, "LimitedAndTraced": seen} {
		b.Run(name, func(b *testing.B) {
			s, m, r, buf, in := New(c), &wire.Message{}, &wire.Reply{}, make([]byte, 0, linkSize), broadcastIn()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := m.Read(packets[i%machines]); err != nil {
					b.Fatal(err)
				}
				if a := s.handle(m, in, desk{reply: r, buf: buf}); a.Reason != Offered && a.Reason != LimitedMachine {
					b.Fatal(a.Reason)
				}
				i += 7919
			}
		})
	}
}
