package dhcp

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/net/ipv4"
)

const (
	sendTimeout = time.Second
	// interfacesFor is how long the addresses of an interface are believed.
	interfacesFor = 5 * time.Second
)

// udpConn is a Conn over one UDP socket for all interfaces: the kernel says on which one a packet came in.
type udpConn struct {
	conn       *net.UDPConn
	packets    *ipv4.PacketConn
	interfaces map[int]knownInterface // used by Receive alone
}

type knownInterface struct {
	name      string
	addresses []netip.Addr
	directed  []netip.Addr // broadcast addresses of its subnets
	at        time.Time
}

// NewConn makes a Conn of a socket: bound to 0.0.0.0:67 it hears broadcasts, bound to one address only relays and renewals.
// The socket is closed with the Conn.
func NewConn(c *net.UDPConn) (Conn, error) {
	p := ipv4.NewPacketConn(c)
	if err := p.SetControlMessage(ipv4.FlagInterface|ipv4.FlagDst, true); err != nil {
		return nil, fmt.Errorf("cannot learn on which interface DHCP requests to %s come in: %w", c.LocalAddr(), err)
	}
	return &udpConn{conn: c, packets: p, interfaces: map[int]knownInterface{}}, nil
}

// Close makes Receive return net.ErrClosed.
func (u *udpConn) Close() error { return u.conn.Close() }

// Receive waits for a packet. It must not be called by two at once.
func (u *udpConn) Receive(b []byte) (int, Ingress, error) {
	n, cm, from, err := u.packets.ReadFrom(b)
	if err != nil {
		return 0, Ingress{}, err
	}
	in := Ingress{}
	if a, ok := from.(*net.UDPAddr); ok {
		in.From = netip.AddrPortFrom(a.AddrPort().Addr().Unmap(), a.AddrPort().Port())
	}
	if cm == nil {
		return n, in, nil
	}
	i := u.interfaceOf(cm.IfIndex)
	in.Index, in.Interface, in.Addresses = cm.IfIndex, i.name, i.addresses
	in.To = i.unicast(cm.Dst)
	return n, in, nil
}

// Send puts a packet onto the wire: a broadcast on the interface of the request, anything else by the kernel's routes.
func (u *udpConn) Send(b []byte, a Answer, in Ingress) error {
	cm := &ipv4.ControlMessage{}
	if a.Broadcast {
		cm.IfIndex = in.Index
	}
	if a.From.IsValid() {
		cm.Src = a.From.AsSlice()
	}
	if err := u.conn.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return fmt.Errorf("cannot send to %s: %w", a.To, err)
	}
	if _, err := u.packets.WriteTo(b, cm, net.UDPAddrFromAddrPort(a.To)); err != nil {
		return fmt.Errorf("cannot send %d bytes to %s: %w", len(b), a.To, err)
	}
	return nil
}

func (u *udpConn) interfaceOf(index int) knownInterface {
	known, ok := u.interfaces[index]
	if ok && time.Since(known.at) < interfacesFor {
		return known
	}
	known = readInterface(index)
	u.interfaces[index] = known
	return known
}

func readInterface(index int) knownInterface {
	k := knownInterface{at: time.Now()}
	i, err := net.InterfaceByIndex(index)
	if err != nil {
		return k
	}
	k.name = i.Name
	as, err := i.Addrs()
	if err != nil {
		return k
	}
	for _, a := range as {
		p, err := netip.ParsePrefix(a.String())
		if err != nil || !p.Addr().Is4() {
			continue
		}
		k.addresses = append(k.addresses, p.Addr())
		directed, _ := netip.AddrFromSlice(broadcastOf(p).To4())
		k.directed = append(k.directed, directed)
	}
	return k
}

// unicast gives the address that a packet was sent to; invalid for broadcasts, which nothing can be sent from.
func (k knownInterface) unicast(ip net.IP) netip.Addr {
	to, _ := netip.AddrFromSlice(ip)
	to = to.Unmap()
	if !to.Is4() || to == netip.AddrFrom4([4]byte{255, 255, 255, 255}) || to.IsMulticast() || to.IsUnspecified() {
		return netip.Addr{}
	}
	if !slices.Contains(k.addresses, to) && slices.Contains(k.directed, to) {
		return netip.Addr{}
	}
	return to
}
