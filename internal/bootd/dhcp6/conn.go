package dhcp6

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/ipv6"
)

const (
	sendTimeout = time.Second
	// interfacesFor is how long the addresses of an interface are believed.
	interfacesFor = 5 * time.Second
	// received is what the kernel may hold for us: some thousand packets, which a rack sends at once when it's powered on.
	received = 4 << 20
	// maxPacket is the longest request that's read whole; links carry no longer ones.
	maxPacket = 2048
)

// A Conn moves DHCPv6 packets. Close makes Receive return net.ErrClosed.
type Conn interface {
	// Receive waits for a packet. It must not be called by two at once.
	Receive(b []byte) (n int, in Ingress, err error)
	// Send puts a packet onto the wire, by an interface, from an address of ours; invalid: whichever. Several may call it at once.
	Send(b []byte, to netip.AddrPort, from netip.Addr, index int) error
	Close() error
}

// A Socket is a Conn over one UDP socket for all interfaces.
type Socket struct {
	conn       *net.UDPConn
	packets    *ipv6.PacketConn
	interfaces map[int]knownInterface // used by Receive alone

	mu     sync.Mutex
	joined map[int]string // names by index
}

type knownInterface struct {
	name      string
	addresses []netip.Addr
	at        time.Time
}

// NewSocket makes a Conn of a socket that's bound to [::]:547. It's closed with the Conn.
func NewSocket(c *net.UDPConn) (*Socket, error) {
	p := ipv6.NewPacketConn(c)
	if err := p.SetControlMessage(ipv6.FlagInterface|ipv6.FlagDst, true); err != nil {
		return nil, fmt.Errorf("cannot learn on which interface DHCPv6 requests to %s come in: %w", c.LocalAddr(), err)
	}
	_ = c.SetReadBuffer(received) // As much as the system allows.
	return &Socket{conn: c, packets: p, interfaces: map[int]knownInterface{}, joined: map[int]string{}}, nil
}

// groups that DHCPv6 servers are asked at: by clients and relays on the link, and by relays of the site (RFC 8415 §7.1).
func groups() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("ff02::1:2"), netip.MustParseAddr("ff05::1:3")}
}

// Group is where clients ask (All_DHCP_Relay_Agents_and_Servers, RFC 8415 §7.1).
func Group() netip.Addr { return groups()[0] }

// Join hears the servers' groups on the interfaces that are wanted, by their names and addresses, and leaves them on all others. It's to
// be called now and then: interfaces come and go, and so do their addresses. The names are those that are heard; an error says of each
// interface that can't be why.
func (s *Socket) Join(wanted func(name string, addresses []netip.Addr) bool) (names []string, err error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("cannot list the interfaces: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[int]string{}
	var errs []error
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagMulticast == 0 || !wanted(i.Name, addressesOf(&i)) {
			continue
		}
		if s.joined[i.Index] != i.Name {
			if err := s.join(&i); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		there[i.Index] = i.Name
		names = append(names, i.Name)
	}
	for index := range s.joined {
		if _, ok := there[index]; !ok {
			for _, g := range groups() {
				_ = s.packets.LeaveGroup(&net.Interface{Index: index}, &net.UDPAddr{IP: g.AsSlice()}) // It may be gone.
			}
		}
	}
	s.joined = there
	return names, errors.Join(errs...)
}

func (s *Socket) join(i *net.Interface) error {
	for _, g := range groups() {
		if err := s.packets.JoinGroup(i, &net.UDPAddr{IP: g.AsSlice()}); err != nil {
			return fmt.Errorf("cannot hear DHCPv6 requests to %s on interface %s: %w", g, i.Name, err)
		}
	}
	return nil
}

// Close makes Receive return net.ErrClosed.
func (s *Socket) Close() error { return s.conn.Close() }

// Receive reads a packet.
func (s *Socket) Receive(b []byte) (int, Ingress, error) {
	n, cm, from, err := s.packets.ReadFrom(b)
	if err != nil {
		return 0, Ingress{}, err
	}
	in := Ingress{}
	if a, ok := from.(*net.UDPAddr); ok {
		at := a.AddrPort()
		in.From = netip.AddrPortFrom(at.Addr().WithZone(""), at.Port())
	}
	if cm == nil {
		return n, in, nil
	}
	i := s.interfaceOf(cm.IfIndex)
	in.Index, in.Interface, in.Addresses = cm.IfIndex, i.name, i.addresses
	if to, ok := netip.AddrFromSlice(cm.Dst); ok && !to.IsMulticast() {
		in.To = to
	}
	return n, in, nil
}

// Send sends a packet.
func (s *Socket) Send(b []byte, to netip.AddrPort, from netip.Addr, index int) error {
	at := &net.UDPAddr{IP: to.Addr().AsSlice(), Port: int(to.Port())}
	cm := &ipv6.ControlMessage{}
	if to.Addr().IsLinkLocalUnicast() {
		at.Zone, cm.IfIndex = strconv.Itoa(index), index
	}
	if from.Is6() {
		cm.Src = from.AsSlice()
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	if _, err := s.packets.WriteTo(b, cm, at); err != nil {
		return fmt.Errorf("cannot send %d bytes to %s: %w", len(b), to, err)
	}
	return nil
}

func (s *Socket) interfaceOf(index int) knownInterface {
	known, ok := s.interfaces[index]
	if ok && time.Since(known.at) < interfacesFor {
		return known
	}
	known = knownInterface{at: time.Now()}
	if i, err := net.InterfaceByIndex(index); err == nil {
		known.name, known.addresses = i.Name, addressesOf(i)
	}
	s.interfaces[index] = known
	return known
}

// addressesOf are an interface's addresses of IPv6, without those of the link alone.
func addressesOf(i *net.Interface) (out []netip.Addr) {
	as, err := i.Addrs()
	if err != nil {
		return nil
	}
	for _, a := range as {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is6() && !p.Addr().Is4In6() && !p.Addr().IsLinkLocalUnicast() {
			out = append(out, p.Addr())
		}
	}
	return out
}
