package dhcp

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// scarce is a Conn whose system is short of memory at first.
type scarce struct {
	failures []error
	closed   bool
}

func (c *scarce) Receive([]Packet, bool) (int, error) {
	if len(c.failures) == 0 {
		return 0, net.ErrClosed
	}
	err := c.failures[0]
	c.failures = c.failures[1:]
	return 0, fmt.Errorf("recvmmsg: %w", err)
}
func (c *scarce) Send([]Outgoing) {}
func (c *scarce) Close() error    { c.closed = true; return nil }

// TestScarceMemory: what passes doesn't end a server, by which a whole hall has its addresses; what stays does.
func TestScarceMemory(t *testing.T) {
	cases := map[string]struct {
		reason   string
		failures []error
		fails    bool
	}{
		"Passes": {"the system had no memory for a moment", []error{syscall.ENOBUFS, syscall.ENOMEM}, false},
		"Stays":  {"the socket is no socket", []error{syscall.ENOTSOCK}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &scarce{failures: tc.failures}
			s := New(Config{State: func() *boot.State { return nil }, Keys: func() [][]byte { return nil }})
			if err := s.Serve(t.Context(), c); (err != nil) != tc.fails || c.closed != tc.fails || len(c.failures) > 0 {
				t.Errorf("%s: %v, closed %v", tc.reason, err, c.closed)
			}
		})
	}
}

// TestOneByOne: a sandbox may allow recvmsg, and not recvmmsg.
func TestOneByOne(t *testing.T) {
	listen := func() *net.UDPConn {
		t.Helper()
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	from, to := listen(), listen()
	c, err := NewConn(to, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.(*udpConn).single = true
	for _, s := range []string{"first", "second, longer", "x"} {
		if _, err := from.WriteTo([]byte(s), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		if err := to.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		ps := []Packet{{Data: make([]byte, 0, maxPacket)}, {}}
		n, err := c.Receive(ps, true)
		if err != nil || n != 1 || string(ps[0].Data) != s || ps[0].In.From != from.LocalAddr().(*net.UDPAddr).AddrPort() ||
			ps[0].In.To != netip.MustParseAddr("127.0.0.1") || ps[0].In.Index == 0 {
			t.Errorf("%d packets, %+v, %v", n, ps[0], err)
		}
	}
	if n, err := c.Receive([]Packet{{}}, false); n != 0 || err != nil {
		t.Errorf("%d packets, %v, where nobody waits", n, err)
	}
}
