package foreign

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/ownnet"
)

// frames opens a socket that sends whole frames, and is closed with the test.
func frames(t *testing.T) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// linked makes rack0, and wire0 at its other end.
func linked(t *testing.T) (rack, wire int) {
	t.Helper()
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "rack0"}, PeerName: "wire0"}
	if err := netlink.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	index := func(name string) int {
		l, err := netlink.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetUp(l); err != nil {
			t.Fatal(err)
		}
		return l.Attrs().Index
	}
	rack, wire = index("rack0"), index("wire0")
	for _, name := range []string{"rack0", "wire0"} { // Until they're up what is sent is dropped, and nobody told.
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			l, err := netlink.LinkByName(name)
			if err != nil {
				t.Fatal(err)
			}
			if l.Attrs().OperState == netlink.OperUp {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s doesn't come up", name)
			}
		}
	}
	return rack, wire
}

// TestListen: an offer is heard once, where it belongs to; what is for other VLANs and other hosts isn't, nor what we send ourselves.
func TestListen(t *testing.T) {
	if !ownnet.Inside(t) {
		return
	}
	f, err := open()
	if err != nil {
		t.Fatal(err)
	}
	rack, wire := linked(t)
	heard := make(chan int, 32)
	go func() {
		_ = listenTo(t.Context(), f, func(f frame) {
			if server, ok := answer(f.data); ok && server == other {
				heard <- f.index
			}
		})
	}()
	fd := frames(t)
	offer := sent(t, 67, 68, dhcpv4.MessageTypeOffer)
	broadcast, stranger := []byte{255, 255, 255, 255, 255, 255}, []byte{0x52, 0x54, 0, 0, 0, 0x77}
	from, err := net.ParseMAC(otherMAC)
	if err != nil {
		t.Fatal(err)
	}
	ip, priority, vlan := []byte{8, 0}, []byte{0x81, 0, 0xe0, 0, 8, 0}, []byte{0x81, 0, 0, 8, 8, 0}
	cases := map[string]struct {
		reason   string
		to, kind []byte
		by       int
		want     []int
	}{
		"Broadcast":  {"a server's, to all", broadcast, ip, wire, []int{rack}},
		"Priority":   {"VLAN 0 is none", broadcast, priority, wire, []int{rack}},
		"VLAN":       {"no interface of ours is in it", broadcast, vlan, wire, nil},
		"OtherHosts": {"a switch floods", stranger, ip, wire, nil},
		"Ours":       {"what this host sends is heard where it arrives alone", broadcast, ip, rack, []int{wire}},
		"ARP":        {"another protocol, whatever it holds", broadcast, []byte{8, 6}, wire, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := slices.Concat(tc.to, from, tc.kind, offer)
			if err := unix.Sendto(fd, b, 0, &unix.SockaddrLinklayer{Ifindex: tc.by, Protocol: networkOrder(unix.ETH_P_ALL)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, gathered(heard, len(tc.want))); diff != "" {
				t.Errorf("%s: heard on interfaces -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// gathered is what comes until there's enough, and shortly thereafter.
func gathered(heard <-chan int, enough int) (all []int) {
	patience := 5 * time.Second
	for {
		if len(all) >= enough {
			patience = 50 * time.Millisecond
		}
		select {
		case i := <-heard:
			all = append(all, i)
		case <-time.After(patience):
			return all
		}
	}
}

// TestHearsWhereItConcerns: a node whose machines all come through relays has no socket that hears all that comes; it has one as soon as, and as long as, there's
// a segment on its links.
func TestHearsWhereItConcerns(t *testing.T) {
	if !ownnet.Inside(t) {
		return
	}
	sockets := func() int {
		b, err := os.ReadFile("/proc/thread-self/net/packet")
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(b, []byte("\n")) - 1 // The first line says what the others have.
	}
	segments := func(mode boot.SegmentMode) *boot.State {
		return boot.NewState([]boot.Segment{{Name: rack, Mode: mode, Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24")}}}, nil, nil)
	}
	var now atomic.Pointer[boot.State]
	w := Open(Options{
		State: now.Load, Ours: func(netip.Addr) bool { return false }, Path: filepath.Join(t.TempDir(), "begun.json"), Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.Run(t.Context())
	}()
	for _, step := range []struct {
		st   *boot.State
		want int
	}{
		{nil, 0},
		{segments(boot.SegmentRelayOnly), 0},
		{segments(boot.SegmentAuthoritative), 1},
		{segments(boot.SegmentRelayOnly), 0},
		{segments(boot.SegmentProxy), 1},
		{segments(boot.SegmentOff), 0},
	} {
		now.Store(step.st)
		time.Sleep(2 * turn) // What isn't to come has had its time.
		for end := time.Now().Add(10 * time.Second); sockets() != step.want; time.Sleep(turn) {
			if time.Now().After(end) {
				t.Fatalf("%+v: %d sockets", step, sockets())
			}
		}
	}
}
