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
	heard, err := NewConn(machine, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewConn(listen(), nil)
	if err != nil {
		t.Fatal(err)
	}
	port := machine.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	out := []Outgoing{{Data: []byte("x"), To: netip.AddrPortFrom(everyone(), port), From: netip.MustParseAddr("127.0.0.1"), Index: lo.Index}}
	c.Send(out)
	if out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	if err := machine.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	ps := []Packet{{Data: make([]byte, 10)}, {Data: make([]byte, 10)}}
	n, err := heard.Receive(ps, true)
	if err != nil || n != 1 || string(ps[0].Data) != "x" || ps[0].In.Index != lo.Index || ps[0].In.To.IsValid() {
		t.Errorf("%d packets, %+v, %v", n, ps[0], err)
	}
	if n, err := heard.Receive(ps, false); n != 0 || err != nil {
		t.Errorf("%d packets, %v, where none is left and nobody waits", n, err)
	}
}

// TestOneBadDestination: an answer that can't be sent keeps nobody else's from being sent.
func TestOneBadDestination(t *testing.T) {
	listen := func() *net.UDPConn {
		t.Helper()
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	heard := listen()
	c, err := NewConn(listen(), nil)
	if err != nil {
		t.Fatal(err)
	}
	good := heard.LocalAddr().(*net.UDPAddr).AddrPort()
	const many = 2*atOnce + 3
	out := make([]Outgoing, many)
	for i := range out {
		out[i] = Outgoing{Data: []byte{byte(i)}, To: good}
		if i%5 == 0 { // From 127.0.0.1 nothing leaves by an interface that isn't there.
			out[i].Index = 1 << 20
		}
	}
	c.Send(out)
	want := 0
	for i := range out {
		if bad := i%5 == 0; bad != (out[i].Err != nil) {
			t.Errorf("packet %d: %v", i, out[i].Err)
		} else if !bad {
			want++
		}
	}
	if err := heard.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	for got := range want {
		if _, err := heard.Read(b); err != nil {
			t.Fatalf("%d of %d came: %v", got, want, err)
		}
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
			if got := k.unicast(netip.MustParseAddr(tc.to)).String(); got != tc.want {
				t.Errorf("got %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}
