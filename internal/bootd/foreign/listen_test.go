package foreign

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

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
