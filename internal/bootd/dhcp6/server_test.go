package dhcp6

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
)

// wireFake is a Conn of packets that are there from the beginning.
type wireFake struct {
	in     []packet
	mu     sync.Mutex
	sent   []packet
	closed chan struct{}
	once   sync.Once
}

type packet struct {
	data []byte
	in   Ingress
	to   netip.AddrPort
}

func (w *wireFake) Receive(b []byte) (int, Ingress, error) {
	if len(w.in) == 0 {
		<-w.closed
		return 0, Ingress{}, net.ErrClosed
	}
	p := w.in[0]
	w.in = w.in[1:]
	return copy(b, p.data), p.in, nil
}

func (w *wireFake) Send(b []byte, to netip.AddrPort, _ netip.Addr, _ int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, packet{data: slices.Clone(b), to: to})
	return nil
}

func (w *wireFake) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// served gives what a server sends to these requests within a moment, and the reasons.
func served(t *testing.T, c Config, in Ingress, within time.Duration, requests ...dhcpv6.DHCPv6) (sent []packet, reasons []dhcp.Reason) {
	t.Helper()
	w := &wireFake{closed: make(chan struct{})}
	for _, r := range requests {
		w.in = append(w.in, packet{data: r.ToBytes(), in: in})
	}
	c.Observe = func(_ string, _ dhcp.Client, r dhcp.Reason) { reasons = append(reasons, r) }
	if c.State == nil {
		st := testState(nil, testPlan())
		c.State = func() *boot.State { return st }
	}
	if c.Now == nil {
		c.Now = func() time.Time { return testNow }
	}
	c.Keys = func() [][]byte { return [][]byte{testKey} }
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := New(c).Serve(ctx, w); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent, reasons
}

const moment = 100 * time.Millisecond

func TestServeSightings(t *testing.T) {
	var seen []boot.Stage
	c := Config{Sightings: dhcp.SightingsFn(func(_ *boot.Plan, _ boot.MAC, s boot.Stage, _ boot.Firmware, _ time.Time) { seen = append(seen, s) })}
	take := request(t, asPXE(), ofType(dhcpv6.MessageTypeRequest), toUs(testServer))
	chained := request(t, asIPXE(), ofType(dhcpv6.MessageTypeRequest), toUs(testServer))
	chained.TransactionID = dhcpv6.TransactionID{9, 9, 9}
	sent, _ := served(t, c, onLink(testLink), moment, request(t, asPXE()), take, take, chained)
	if len(sent) != 4 {
		t.Errorf("%d answers", len(sent))
	}
	if !slices.Equal(seen, []boot.Stage{boot.StageDHCP}) {
		t.Errorf("one boot, retransmitted and chained, is seen as %v", seen)
	}
}

// TestKindOf: what a client makes up is one word, or whoever likes could have metrics without end.
func TestKindOf(t *testing.T) {
	for kind, want := range map[wire.Type]string{wire.Solicit: "SOLICIT", wire.InformationRequest: "INFORMATION-REQUEST", 0: "UNKNOWN", 10: "UNKNOWN", 255: "UNKNOWN"} {
		if got := kindOf(kind); got != want {
			t.Errorf("type %d is %q, want %q", kind, got, want)
		}
	}
}

// TestServeTurns: an offer waits for another's turn, or is left to it; who has chosen us is answered at once.
func TestServeTurns(t *testing.T) {
	take := request(t, ofType(dhcpv6.MessageTypeRequest), toUs(testServer))
	delayed := Config{Delay: func(boot.MAC) time.Duration { return moment / 4 }}
	sent, _ := served(t, delayed, onLink(testLink), 2*moment, request(t), take)
	if len(sent) != 2 || sent[0].data[0] != byte(dhcpv6.MessageTypeReply) || sent[1].data[0] != byte(dhcpv6.MessageTypeAdvertise) {
		t.Errorf("%d answers in that order", len(sent))
	}
	left := Config{Leave: func(boot.MAC) bool { return true }}
	sent, _ = served(t, left, onLink(testLink), moment, request(t), request(t, dhcpv6.WithRapidCommit), take)
	if len(sent) != 1 || sent[0].data[0] != byte(dhcpv6.MessageTypeReply) {
		t.Errorf("%d answers of one that stops", len(sent))
	}
}

func TestServeDecline(t *testing.T) {
	for name, also := range map[string]func(*boot.Plan){"One": func(*boot.Plan) {}, "Both": dual} {
		t.Run(name, func(t *testing.T) {
			declined, st := 0, testState(nil, testPlan(also))
			c := Config{State: func() *boot.State { return st }, Declined: func(p *boot.Plan, mac boot.MAC, a netip.Addr, _ time.Time) {
				if a == testAddress && slices.Contains(p.MACs, mac) {
					declined++
				}
			}}
			take := request(t, ofType(dhcpv6.MessageTypeRequest), toUs(testServer))
			no := request(t, ofType(dhcpv6.MessageTypeDecline), toUs(testServer), having(testAddress))
			sent, reasons := served(t, c, onLink(testLink), moment, no, request(t), take, no, request(t), take)
			want := []dhcp.Reason{dhcp.SilentUnasked, Advertised, dhcp.Acknowledged, dhcp.Declined, dhcp.SilentDeclined, dhcp.SilentDeclined}
			if !slices.Equal(reasons, want) || declined != 1 || len(sent) != 3 {
				t.Errorf("%v, declined %d times, %d answers", reasons, declined, len(sent))
			}
		})
	}
}

// prefixInstead asks for a prefix in the place of an address.
func prefixInstead(d dhcpv6.DHCPv6) {
	m, ok := d.(*dhcpv6.Message)
	if !ok {
		return
	}
	m.Options.Del(dhcpv6.OptionIANA)
	m.AddOption(&dhcpv6.OptIAPD{IaId: [4]byte{1}})
}

// TestServeOtherServer: who takes another server's address is told of; a prefix of a router installs nothing.
func TestServeOtherServer(t *testing.T) {
	var ids [][]byte
	c := Config{OtherServer: func(_ *boot.Plan, id []byte) { ids = append(ids, id) }}
	other := ServerID(netip.MustParseAddr("fd00:99::2"))
	served(t, c, onLink(testLink), moment,
		request(t, ofType(dhcpv6.MessageTypeRequest), toUs(netip.MustParseAddr("fd00:99::2"))),
		request(t, ofType(dhcpv6.MessageTypeRenew), toUs(netip.MustParseAddr("fd00:99::2"))),
		request(t, ofType(dhcpv6.MessageTypeRequest), toUs(netip.MustParseAddr("fd00:99::3")), prefixInstead))
	if len(ids) != 1 || !slices.Equal(ids[0], other) {
		t.Errorf("other servers %x", ids)
	}
}

func TestServeLimits(t *testing.T) {
	c := Config{Limit: limit.New(limit.Rates{Machine: limit.Rate{PerSecond: 1, Burst: 2}, Stranger: limit.Rate{PerSecond: 1, Burst: 1}})}
	_, reasons := served(t, c, onLink(testLink), moment, request(t), request(t), request(t))
	if want := []dhcp.Reason{Advertised, Advertised, dhcp.LimitedMachine}; !slices.Equal(reasons, want) {
		t.Errorf("a machine: %v", reasons)
	}
	_, reasons = served(t, c, onLink(otherLink), moment, request(t), request(t))
	if want := []dhcp.Reason{dhcp.SilentUnknown, dhcp.LimitedStranger}; !slices.Equal(reasons, want) {
		t.Errorf("a stranger: %v", reasons)
	}
}

// TestServeLearnt: a DUID that came with a MAC is worth an address to a system that hides it, and no boot file to anybody.
func TestServeLearnt(t *testing.T) {
	l, err := OpenLearnt(filepath.Join(t.TempDir(), "duids.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Learnt: l}
	id := dhcpv6.WithClientID(someUUID())
	if _, reasons := served(t, c, onLink(private), moment, request(t, id)); !slices.Equal(reasons, []dhcp.Reason{dhcp.SilentUnknown}) {
		t.Errorf("before: %v", reasons)
	}
	served(t, c, onLink(testLink), moment, request(t, id, asPXE()))
	if err := l.keep(); err != nil {
		t.Fatal(err)
	}
	if c.Learnt, err = OpenLearnt(l.path); err != nil {
		t.Fatal(err)
	}
	sent, reasons := served(t, c, onLink(private), moment, request(t, id), request(t, id, asPXE()), request(t, id, asIPXE()))
	if want := []dhcp.Reason{Advertised, SilentUnproven, SilentUnproven}; !slices.Equal(reasons, want) || len(sent) != 1 {
		t.Errorf("after: %v", reasons)
	}
	// A second machine has the same UUID.
	c.Learnt.Learn(someUUID().ToBytes(), otherMAC, &boot.Plan{MACs: []boot.MAC{otherMAC}})
	if _, reasons = served(t, c, onLink(private), moment, request(t, id)); !slices.Equal(reasons, []dhcp.Reason{dhcp.SilentUnknown}) {
		t.Errorf("a DUID of two: %v", reasons)
	}
}

func TestOpenLearnt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "duids.json")
	for text, want := range map[string]bool{`{"0102":"52:54:00:99:00:13"}`: true, `{"zz":"52:54:00:99:00:13"}`: false, `{"0102":"nonsense"}`: false, `{"0102":"twice"}`: false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLearnt(path)
		if err != nil {
			t.Fatal(err)
		}
		if mac, ok := l.MAC([]byte{1, 2}); ok != want || ok && mac != testMAC {
			t.Errorf("%s: %s, %v", text, mac, ok)
		}
	}
	if err := os.WriteFile(path, []byte("half {"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLearnt(path)
	if err == nil || l == nil {
		t.Errorf("a damaged file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.Learn([]byte{1, 2, 3}, testMAC, &boot.Plan{})
	if err := errors.Join(l.Run(ctx, nil)); err != nil {
		t.Fatal(err)
	}
	if l, err = OpenLearnt(path); err != nil {
		t.Fatal(err)
	}
	if mac, ok := l.MAC([]byte{1, 2, 3}); !ok || mac != testMAC {
		t.Errorf("what was learnt last isn't written down: %s", mac)
	}
}

func TestServeOwnAddress(t *testing.T) {
	c := Config{Own: func(_ *boot.Plan, a netip.Addr) bool { return a == testAddress }}
	sent, reasons := served(t, c, onLink(testLink), moment, request(t), request(t, ofType(dhcpv6.MessageTypeRequest), toUs(testServer)))
	if want := []dhcp.Reason{dhcp.SilentOwn, dhcp.SilentOwn}; !slices.Equal(reasons, want) || len(sent) != 0 {
		t.Errorf("this server's own address: %v, %d answers", reasons, len(sent))
	}
}
