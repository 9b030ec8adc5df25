package foreign

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"golang.org/x/net/bpf"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

var (
	rack   = boot.Name{Namespace: "infra", Name: "rack-7"}
	desks  = boot.Name{Namespace: "office", Name: "desks"}
	noon   = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	other  = netip.MustParseAddr("10.77.0.2")
	peer   = netip.MustParseAddr("10.77.0.3")
	onRack = Place{Interface: "eth1", Addresses: []netip.Addr{netip.MustParseAddr("10.77.0.1")}}
)

const otherMAC = "52:54:00:00:00:99"

// scene is a watch of rack-7, which refuses foreign servers, and of desks, a proxy's.
type scene struct {
	*Watch

	now  time.Time
	said bytes.Buffer
	path string
	st   *boot.State
	// peers are ours.
	peers []netip.Addr
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{now: noon, path: filepath.Join(t.TempDir(), "begun.json"), peers: []netip.Addr{peer}}
	s.st = boot.NewState([]boot.Segment{
		{Name: rack, Mode: boot.SegmentAuthoritative, RefuseForeign: true, Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24")}},
		{Name: desks, Mode: boot.SegmentProxy, Interfaces: []string{"eth2"}},
		{Name: boot.Name{Namespace: "infra", Name: "far"}, Mode: boot.SegmentRelayOnly, Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/16")}},
	}, nil, nil)
	s.open()
	return s
}

func (s *scene) open(served ...boot.Segment) {
	s.Watch = Open(Options{
		State: func() *boot.State { return s.st }, Ours: func(a netip.Addr) bool { return slices.Contains(s.peers, a) }, Path: s.path, Served: served,
		Now: func() time.Time { return s.now }, Logger: slog.New(slog.NewTextHandler(&s.said, nil)),
	})
}

// listened lets the time pass that a segment is listened to.
func (s *scene) listened() {
	s.listen(s.st, map[boot.Name]time.Time{})
	s.now = s.now.Add(listening)
}

func TestMay(t *testing.T) {
	cases := map[string]struct {
		reason string
		do     func(s *scene)
		want   Verdict
	}{
		"AtFirst": {"nobody has listened yet", func(*scene) {}, Listens},
		"Listens": {"not long enough", func(s *scene) {
			s.listen(s.st, map[boot.Name]time.Time{})
			s.now = s.now.Add(listening - time.Millisecond)
		}, Listens},
		"Pings": {"nor for one that looks for three seconds whether its address is free, as dnsmasq does", func(s *scene) {
			s.listen(s.st, map[boot.Name]time.Time{})
			s.now = s.now.Add(3500 * time.Millisecond)
		}, Listens},
		"Alone":    {"nobody else was heard", func(s *scene) { s.listened() }, Goes},
		"Heard":    {"another server was", func(s *scene) { s.Heard(other, otherMAC, onRack); s.listened() }, Refused},
		"Named":    {"or a machine that takes its offer", func(s *scene) { s.Heard(other, "", onRack); s.listened() }, Refused},
		"Late":     {"also after a quiet time, as long as nobody was answered", func(s *scene) { s.listened(); s.Heard(other, otherMAC, onRack) }, Refused},
		"Gone":     {"it was switched off", func(s *scene) { s.Heard(other, otherMAC, onRack); s.listened(); s.now = s.now.Add(fresh) }, Goes},
		"Peer":     {"one of ours", func(s *scene) { s.Heard(peer, otherMAC, onRack); s.listened() }, Goes},
		"Known":    {"one that was only then known as ours", func(s *scene) { s.Heard(other, otherMAC, onRack); s.peers = append(s.peers, other); s.listened() }, Goes},
		"Away":     {"on another interface", func(s *scene) { s.Heard(other, otherMAC, Place{Interface: "eth9"}); s.listened() }, Goes},
		"Begun":    {"what was answered once goes on", func(s *scene) { s.listened(); s.Began(rack); s.Heard(other, otherMAC, onRack) }, Goes},
		"Restart":  {"also after a restart", func(s *scene) { s.Began(rack); s.flush(); s.open(); s.Heard(other, otherMAC, onRack) }, Goes},
		"Served":   {"a restart begins nothing: it was served, and refused", func(s *scene) { s.flush(); s.open(s.st.Segments...); s.Heard(other, otherMAC, onRack) }, Refused},
		"Upgraded": {"what an earlier life served has begun", func(s *scene) { s.open(s.st.Segments...); s.Heard(other, otherMAC, onRack) }, Goes},
		"Lost": {"a new state folder begins anew", func(s *scene) {
			s.Began(rack)
			s.flush()
			_ = os.Remove(s.path)
			s.open()
			s.Heard(other, otherMAC, onRack)
		}, Refused},
		"Damaged": {"a damaged record knows no more than the snapshot", func(s *scene) {
			_ = os.WriteFile(s.path, []byte("{"), 0o600)
			s.open(s.st.Segments...)
			s.Heard(other, otherMAC, onRack)
		}, Goes},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tc.do(s)
			if got := s.May(rack); got != tc.want {
				t.Errorf("%s: %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestMarks: what has begun is written once, and a place that can't be written doesn't stop anything.
func TestMarks(t *testing.T) {
	s := newScene(t)
	s.flush()
	if b, err := os.ReadFile(s.path); err != nil || string(b) != "[]" {
		t.Errorf("nothing has begun, which a restart must know: %s, %v", b, err)
	}
	s.Began(rack)
	s.Began(rack)
	s.flush()
	if b, err := os.ReadFile(s.path); err != nil || !strings.Contains(string(b), "rack-7") {
		t.Errorf("%s, %v", b, err)
	}
	s.o.Path = filepath.Join(s.path, "no", "folder")
	s.Began(desks)
	s.flush()
	s.flush()
	if n := strings.Count(s.said.String(), "can't be remembered"); n != 1 {
		t.Errorf("a disk that's full is told %d times:\n%s", n, s.said.String())
	}
	if !s.dirty || s.May(desks) != Goes || !strings.Contains(s.said.String(), "can't be remembered") {
		t.Errorf("dirty %v: %s", s.dirty, s.said.String())
	}
}

func TestSights(t *testing.T) {
	s := newScene(t)
	s.Heard(other, "", onRack)
	s.now = s.now.Add(time.Minute)
	s.Heard(other, otherMAC, onRack)
	s.Heard(peer, otherMAC, onRack)
	s.Heard(other, otherMAC, Place{Interface: "eth2"})
	want := []Sight{{Network: rack, Interface: "eth1", Server: other, MAC: otherMAC, Since: noon, Last: s.now}}
	if diff := cmp.Diff(want, s.Of(rack), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if len(s.Of(desks)) != 1 || len(s.Of(boot.Name{Namespace: "infra", Name: "far"})) != 0 {
		t.Error("a proxy's segment tells of the server beside it, and one of relays of none")
	}
	if n := strings.Count(s.said.String(), "ForeignServer"); n != 1 {
		t.Errorf("%d lines: a server is told of once\n%s", n, s.said.String())
	}
	s.peers = append(s.peers, other)
	if got := s.Of(rack); len(got) != 0 {
		t.Errorf("it's known as ours by now: %+v", got)
	}
	s.peers = s.peers[:1]
	s.now = s.now.Add(shown)
	if got := s.Of(rack); len(got) != 0 {
		t.Errorf("long gone: %+v", got)
	}
}

// TestForgedServers: who invents servers fills no memory, and drives none out that is there.
func TestForgedServers(t *testing.T) {
	s := newScene(t)
	s.Heard(other, otherMAC, onRack)
	for i := range 1000 {
		s.Heard(netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}), "", onRack)
	}
	if n := strings.Count(s.said.String(), "ForeignServer"); n != most {
		t.Errorf("%d lines: of what isn't kept nothing is said", n)
	}
	got := s.Of(rack)
	if len(got) != most || !slices.ContainsFunc(got, func(x Sight) bool { return x.Server == other }) {
		t.Errorf("%d servers: %+v", len(got), got)
	}
}

// TestWhenToAsk: a new segment at once, and what waits to begin again and again.
func TestWhenToAsk(t *testing.T) {
	s := newScene(t)
	asked := map[boot.Name]time.Time{}
	for i, step := range []struct {
		after time.Duration
		do    func()
		want  int
	}{{0, nil, 1}, {time.Second, nil, 0}, {waiting, nil, 1}, {waiting, func() { s.Began(rack) }, 0}, {regularly, nil, 1}} {
		s.now = s.now.Add(step.after)
		if step.do != nil {
			step.do()
		}
		if got := s.listen(s.st, asked); len(got) != step.want {
			t.Errorf("step %d: %d are asked, want %d", i, len(got), step.want)
		}
	}
}

// TestBack: a segment that was given to somebody else for a while is listened to anew, where nothing began on it.
func TestBack(t *testing.T) {
	s := newScene(t)
	asked := map[boot.Name]time.Time{}
	s.listen(s.st, asked)
	if s.now = s.now.Add(listening); s.May(rack) != Goes {
		t.Fatal("it was listened to")
	}
	there := s.st
	s.st = boot.NewState([]boot.Segment{{Name: rack, Mode: boot.SegmentRelayOnly}}, nil, nil)
	s.listen(s.st, asked)
	s.st = there
	if s.May(rack) != Listens {
		t.Errorf("before the next turn: %v", s.May(rack))
	}
	if asks := s.listen(s.st, asked); len(asks) != 1 || s.May(rack) != Listens {
		t.Errorf("%d are asked, %v", len(asks), s.May(rack))
	}
}

// sent is an answer of a server as it comes in, from the header of IP on.
func sent(tb testing.TB, from, to uint16, m dhcpv4.MessageType) []byte {
	tb.Helper()
	p, err := dhcpv4.New(dhcpv4.WithMessageType(m), dhcpv4.WithOption(dhcpv4.OptServerIdentifier(other.AsSlice())))
	if err != nil {
		tb.Fatal(err)
	}
	p.OpCode = dhcpv4.OpcodeBootReply
	data := p.ToBytes()
	ip := make([]byte, 28, 28+len(data))
	ip[0], ip[9] = 0x45, 17
	binary.BigEndian.PutUint16(ip[20:], from)
	binary.BigEndian.PutUint16(ip[22:], to)
	return append(ip, data...)
}

func TestAnswer(t *testing.T) {
	offer := sent(t, 67, 68, dhcpv4.MessageTypeOffer)
	request := bytes.Clone(offer)
	request[28] = 1
	tcp := bytes.Clone(offer)
	tcp[9] = 6
	fragment := bytes.Clone(offer)
	fragment[7] = 1
	vm, err := bpf.NewVM(filter())
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason     string
		data       []byte
		passes, ok bool
	}{
		"Offer":    {"a server's", offer, true, true},
		"ACK":      {"the same", sent(t, 67, 68, dhcpv4.MessageTypeAck), true, true},
		"NAK":      {"it may say no", sent(t, 67, 68, dhcpv4.MessageTypeNak), true, true},
		"ToRelay":  {"a server's to a relay: another segment's", sent(t, 67, 67, dhcpv4.MessageTypeOffer), false, false},
		"Client":   {"a client's", sent(t, 68, 67, dhcpv4.MessageTypeDiscover), false, false},
		"Request":  {"a client's, from a server's port", request, true, false},
		"TCP":      {"another protocol", tcp, false, true},
		"Fragment": {"the end of something", fragment, false, true},
		"Short":    {"no header", offer[:10], false, false},
		"Cut":      {"half a packet", offer[:100], true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, err := vm.Run(tc.data)
			if err != nil || n > 0 != tc.passes {
				t.Errorf("%s: the filter lets %d octets by, %v", tc.reason, n, err)
			}
			if server, ok := answer(tc.data); ok != tc.ok || ok && server != other {
				t.Errorf("%s: %s, %v", tc.reason, server, ok)
			}
		})
	}
}

// FuzzAnswer: what is on a wire may be anything.
func FuzzAnswer(f *testing.F) {
	f.Add(sent(f, 67, 68, dhcpv4.MessageTypeOffer))
	f.Add([]byte{0x4f})
	f.Fuzz(func(t *testing.T, data []byte) {
		if server, ok := answer(data); ok && !server.Is4() {
			t.Errorf("server %s", server)
		}
	})
}

// TestDiscover: our own question is one that a client could ask, under a name of its own, and is to be answered by broadcast.
func TestDiscover(t *testing.T) {
	p, err := dhcpv4.FromBytes(discover([]byte{0x52, 0x54, 0, 0, 0, 1}))
	if err != nil {
		t.Fatal(err)
	}
	if p.MessageType() != dhcpv4.MessageTypeDiscover || !p.IsBroadcast() || p.ClientHWAddr.String() != "5a:54:00:00:00:01" || !slices.Equal(p.UserClass(), []string{wire.ProbeClass}) {
		t.Error(p.Summary())
	}
}
