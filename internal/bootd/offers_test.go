package bootd

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/kubesource"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tiebreak"
)

// sent is a connection that keeps what it's given.
type sent struct {
	dhcp.Conn

	packets [][]byte
}

func (s *sent) Send(out []dhcp.Outgoing) {
	for _, o := range out {
		s.packets = append(s.packets, slices.Clone(o.Data))
	}
}

// packet of a DHCP type for a machine.
func packet(kind, machine byte) []byte {
	b := make([]byte, 300)
	b[2] = 6
	copy(b[28:], []byte{0x52, 0x54, 0, 0, 0, machine})
	copy(b[236:], []byte{99, 130, 83, 99})
	copy(b[240:], []byte{0, 54, 4, 10, 77, 0, 1, 53, 1, kind, 255})
	return b
}

func outgoing(packets ...[]byte) (out []dhcp.Outgoing) {
	for _, b := range packets {
		out = append(out, dhcp.Outgoing{Data: b})
	}
	return out
}

const (
	offer, ack = 2, 5
	ours, next = 1, 2
)

// TestOffersTakeTurns: an offer waits where it's another bootd's turn, as it was when it was made; nothing else does.
func TestOffersTakeTurns(t *testing.T) {
	var later []func()
	conn := &sent{}
	o := holdOffers(conn, func(m boot.MAC) time.Duration {
		if m == "52:54:00:00:00:02" {
			return tiebreak.Delay(1)
		}
		return 0
	}, nil)
	o.after = func(d time.Duration, f func()) {
		if d != tiebreak.Delay(1) {
			t.Errorf("%s", d)
		}
		later = append(later, f)
	}
	held := packet(offer, next)
	o.Send(outgoing(packet(ack, next), held, packet(offer, ours), packet(ack, ours)))
	want := [][]byte{packet(ack, next), packet(offer, ours), packet(ack, ours)}
	if diff := cmp.Diff(want, conn.packets); diff != "" || len(later) != 1 {
		t.Fatalf("%d wait; -want, +sent:\n%s", len(later), diff)
	}
	clear(held) // The next answer lies there.
	later[0]()
	if diff := cmp.Diff(append(want, packet(offer, next)), conn.packets); diff != "" {
		t.Errorf("-want, +sent:\n%s", diff)
	}
	for range maxLater + 1 {
		o.Send(outgoing(packet(offer, next)))
	}
	if n := len(later) - 1; n != maxLater || len(conn.packets) != 5 {
		t.Errorf("%d wait, %d were sent", n, len(conn.packets))
	}
}

// TestNoOffersWhileStopping: who stops leaves offers to another one that's there, and answers everybody else.
func TestNoOffersWhileStopping(t *testing.T) {
	stopping, conn := false, &sent{}
	o := holdOffers(conn, nil, func() func(boot.MAC) bool {
		if !stopping {
			return nil
		}
		return func(m boot.MAC) bool { return m == "52:54:00:00:00:01" }
	})
	o.Send(outgoing(packet(offer, ours)))
	stopping = true
	out := outgoing(packet(offer, ours), packet(ack, ours))
	o.Send(out)
	if diff := cmp.Diff([][]byte{packet(offer, ours), packet(ack, ours)}, conn.packets); diff != "" || out[0].Err == nil || out[1].Err != nil {
		t.Errorf("%v; -want, +sent:\n%s", out, diff)
	}
}

// TestOffered: whatever stands in a packet, it's taken apart to its end at most.
func TestOffered(t *testing.T) {
	whole := packet(offer, ours)
	for n := range whole {
		_, ok := offered(whole[:n])
		if ok != (n > 249) {
			t.Fatalf("%d bytes: %v", n, ok)
		}
	}
	if m, ok := offered(whole); !ok || m != "52:54:00:00:00:01" {
		t.Error(m)
	}
}

// TestTurns: who is live is asked for once a second and network.
func TestTurns(t *testing.T) {
	asked := 0
	x := turns{self: "a", peers: func(boot.Name) []string {
		asked++
		return []string{"b", "c"}
	}}
	mac := boot.MAC("52:54:00:00:00:01")
	want := tiebreak.Delay(tiebreak.Rank(mac, "a", []string{"b", "c"}))
	for range 3 {
		if got := x.of(mac, boot.Name{Name: "rack"}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	x.of(mac, boot.Name{Name: "other"})
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func FuzzOffered(f *testing.F) {
	f.Add(packet(offer, ours))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = offered(b) })
}

// alone is a source that knows of other bootds.
type alone struct {
	Source

	st    *boot.State
	peers []string
	// skewed says that the host's clock is wrong.
	skewed bool
}

func (a *alone) State() *boot.State       { return a.st }
func (a *alone) Peers(boot.Name) []string { return a.peers }
func (a *alone) Skewed() bool             { return a.skewed }

// TestLeaves: who stops leaves a machine's offer to another bootd, where there's one.
func TestLeaves(t *testing.T) {
	mac := boot.MAC("52:54:00:00:00:01")
	st := boot.NewState([]boot.Segment{{Name: boot.Name{Name: "rack"}}}, []boot.Plan{{
		EntryUID: "u", Entry: boot.Name{Name: "e"}, MACs: []boot.MAC{mac}, Network: boot.Network{Name: boot.Name{Name: "rack"}},
	}}, nil)
	cases := map[string]struct {
		reason   string
		stopping bool
		peers    []string
		mac      boot.MAC
		want     bool
	}{
		"Runs":     {"one that doesn't stop offers", false, []string{"b"}, mac, false},
		"Other":    {"another one begins its boot", true, []string{"b"}, mac, true},
		"Alone":    {"nobody else would answer a system that boots its disk", true, nil, mac, false},
		"Stranger": {"whom nobody knows", true, []string{"b"}, "52:54:00:00:00:02", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &daemon{activity: newActivity(0), source: &alone{st: st, peers: tc.peers}}
			d.activity.stopping.Store(tc.stopping)
			if got := d.leaves(tc.mac); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

// TestSkewedComesLast: who takes the offer of a bootd whose clock is wrong isn't installed. Whom no other one hears has its address and its disk of it.
func TestSkewedComesLast(t *testing.T) {
	mac := boot.MAC("52:54:00:00:00:01")
	p := boot.Plan{EntryUID: "u", MACs: []boot.MAC{mac}}
	p.Network.Name = boot.Name{Name: "rack"}
	st := boot.NewState([]boot.Segment{{Name: p.Network.Name}}, []boot.Plan{p}, nil)
	for reason, tc := range map[string]struct {
		skewed bool
		peers  []string
		want   time.Duration
	}{
		"after all others":                       {true, []string{"b", "c"}, tiebreak.Behind},
		"at once where it's alone":               {true, nil, 0},
		"and where its clock is right by a hash": {false, []string{"b"}, tiebreak.Delay(tiebreak.Rank(mac, "/a", []string{"b"}))},
	} {
		d := &daemon{c: Config{Name: "a"}, activity: newActivity(0), source: &alone{st: st, peers: tc.peers, skewed: tc.skewed}}
		if _, ok := any(&kubesource.Source{}).(interface{ Skewed() bool }); !ok || skewedBy(&kubesource.Source{}) == nil {
			t.Error("a cluster's source doesn't say whether the clock is right")
		}
		if got := d.turn()(mac); got != tc.want || d.leaves(mac) {
			t.Errorf("%s: it waits for %s, want %s", reason, got, tc.want)
		}
	}
}
