package advertisement

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/mdlayher/ndp"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

const (
	sendTimeout = time.Second
	// linksFor is how long the addresses of an interface are believed.
	linksFor = 5 * time.Second
)

// A Conn moves solicitations and their answers. Close makes Receive return net.ErrClosed.
type Conn interface {
	// Receive waits for a solicitation with a checksum that's right. It must not be called by two at once.
	Receive(b []byte) (n int, in Ingress, err error)
	// Send puts an answer onto a link, from its own address for the link. Several may call it at once.
	Send(b []byte, to netip.Addr, l links.Link) error
	Close() error
}

// A Socket is a Conn over one socket for all interfaces. It gets what the system has checked the checksum of, and takes nothing from anybody.
type Socket struct {
	*links.Groups

	conn    net.PacketConn
	packets *ipv6.PacketConn
	known   map[int]knownLink // used by Receive alone
}

type knownLink struct {
	links.Link

	at time.Time
}

// Listen opens a Socket. It takes CAP_NET_RAW.
func Listen(ctx context.Context) (*Socket, error) {
	c, err := new(net.ListenConfig).ListenPacket(ctx, "ip6:ipv6-icmp", "::")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return nil, errors.New("to hear them takes the right CAP_NET_RAW, which bootd doesn't have")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot hear router solicitations: %w", err)
	}
	p := ipv6.NewPacketConn(c)
	filter := &ipv6.ICMPFilter{}
	filter.SetAll(true)
	filter.Accept(ipv6.ICMPTypeRouterSolicitation)
	err = errors.Join(
		p.SetICMPFilter(filter),
		p.SetControlMessage(ipv6.FlagInterface|ipv6.FlagHopLimit, true),
		p.SetHopLimit(ndp.HopLimit), p.SetMulticastHopLimit(ndp.HopLimit),
		p.SetMulticastLoopback(false), // This host has its routers from others.
	)
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("cannot hear router solicitations: %w", err)
	}
	return &Socket{Groups: links.NewGroups("router solicitations", p, Group()), conn: c, packets: p, known: map[int]knownLink{}}, nil
}

// Close makes Receive return net.ErrClosed.
func (s *Socket) Close() error { return s.conn.Close() }

// Receive reads a solicitation.
func (s *Socket) Receive(b []byte) (int, Ingress, error) {
	n, cm, from, err := s.packets.ReadFrom(b)
	if err != nil {
		return 0, Ingress{}, err
	}
	in := Ingress{}
	if a, ok := from.(*net.IPAddr); ok {
		at, _ := netip.AddrFromSlice(a.IP)
		in.From = at.WithZone("")
	}
	if cm != nil {
		in.HopLimit, in.Link = cm.HopLimit, s.linkOf(cm.IfIndex)
	}
	return n, in, nil
}

// Send sends an answer.
func (s *Socket) Send(b []byte, to netip.Addr, l links.Link) error {
	at := &net.IPAddr{IP: to.AsSlice(), Zone: strconv.Itoa(l.Index)}
	_ = s.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	if _, err := s.packets.WriteTo(b, &ipv6.ControlMessage{Src: l.Local.AsSlice(), IfIndex: l.Index, HopLimit: ndp.HopLimit}, at); err != nil {
		return fmt.Errorf("cannot send %d bytes to %s: %w", len(b), to, err)
	}
	return nil
}

func (s *Socket) linkOf(index int) links.Link {
	known, ok := s.known[index]
	if ok && time.Since(known.at) < linksFor {
		return known.Link
	}
	known = knownLink{at: time.Now()}
	if i, err := net.InterfaceByIndex(index); err == nil {
		known.Link = links.Of(i)
	}
	s.known[index] = known
	return known.Link
}
