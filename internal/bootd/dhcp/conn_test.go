package dhcp

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// TestBroadcastLeavesWhereItCameIn: a node has several interfaces, and the kernel would choose that of its default route.
func TestBroadcastLeavesWhereItCameIn(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Skipf("no loopback interface: %v", err)
	}
	listen := func() *net.UDPConn {
		t.Helper()
		c, err := net.ListenUDP("udp4", &net.UDPAddr{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	machine := listen()
	heard, err := NewConn(machine)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewConn(listen())
	if err != nil {
		t.Fatal(err)
	}
	port := machine.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	a := Answer{To: netip.AddrPortFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), port), From: netip.MustParseAddr("127.0.0.1"), Broadcast: true}
	if err := c.Send([]byte("x"), a, Ingress{Index: lo.Index}); err != nil {
		t.Fatal(err)
	}
	if err := machine.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	n, in, err := heard.Receive(b)
	if err != nil || n != 1 || in.Index != lo.Index || in.To.IsValid() {
		t.Errorf("%d bytes, %+v, %v", n, in, err)
	}
}
