package dhcp6

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/net/ipv6"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
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
	groups     *links.Groups
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
	return &Socket{conn: c, packets: p, interfaces: map[int]knownInterface{}, groups: links.NewGroups("DHCPv6 requests", p, groups()...)}, nil
}

// groups that DHCPv6 servers are asked at: by clients and relays on the link, and by relays of the site (RFC 8415 §7.1).
func groups() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("ff02::1:2"), netip.MustParseAddr("ff05::1:3")}
}

// Group is where clients ask (All_DHCP_Relay_Agents_and_Servers, RFC 8415 §7.1).
func Group() netip.Addr { return groups()[0] }

// Join hears the servers' groups on the interfaces that are wanted, by their names and addresses of IPv6, and leaves them on all others, as
// links.Groups does.
func (s *Socket) Join(wanted func(name string, addresses []netip.Addr) bool) (names []string, err error) {
	return s.groups.Join(func(l links.Link) bool { return wanted(l.Name, six(l.Addresses)) }) //nolint:wrapcheck // It says what failed.
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
		known.name, known.addresses = i.Name, six(links.Of(i).Addresses)
	}
	s.interfaces[index] = known
	return known
}

// six are an interface's addresses of IPv6, without those of the link alone.
func six(all []netip.Addr) (out []netip.Addr) {
	for _, a := range all {
		if a.Is6() {
			out = append(out, a)
		}
	}
	return out
}
