package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// errNAK is a server's refusal: the machine starts its exchange again from DISCOVER.
var errNAK = errors.New("the DHCP server answered NAK")

const maxDatagram = 65535

// link is the relay's socket for one exchange: what the machine sends to all goes to every server, what comes back to the socket's port, and the
// machine takes, ends a question.
type link struct {
	servers []netip.AddrPort
	conn    *net.UDPConn
	timeout time.Duration
	tries   int
	ignored func(error) // told why a packet was dropped
}

func (m *Machine) dial(network string, at netip.Addr, servers []netip.AddrPort) (*link, error) {
	conn, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
	if err != nil {
		return nil, fmt.Errorf("cannot open the relay's port on %s: %w", at, err)
	}
	return &link{
		servers: servers, conn: conn, timeout: m.cfg.DHCPTimeout, tries: m.cfg.DHCPTries,
		ignored: func(err error) { m.note(StageDHCP, "ignored a packet: "+err.Error()) },
	}, nil
}

// ask sends data until take takes an answer, timeout × tries has passed, or ctx ends. what names it.
func (l *link) ask(ctx context.Context, data []byte, what string, take func(answer []byte, from netip.Addr) error) error {
	defer context.AfterFunc(ctx, func() { _ = l.conn.SetReadDeadline(time.Unix(1, 0)) })()
	for range l.tries {
		if err := l.broadcast(data); err != nil {
			return err
		}
		answered, err := l.receive(ctx, take)
		if err != nil || answered {
			return err
		}
	}
	return fmt.Errorf("no answer to %d × %s within %s each", l.tries, what, l.timeout)
}

// broadcast hands data to all servers. One that isn't there is as silent as on a real segment.
func (l *link) broadcast(data []byte) error {
	for _, s := range l.servers {
		_, err := l.conn.WriteToUDPAddrPort(data, s)
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("cannot send to DHCP server %s: %w", s, err)
		}
	}
	return nil
}

// receive waits for the first acceptable answer; false: none came in time.
func (l *link) receive(ctx context.Context, take func(answer []byte, from netip.Addr) error) (answered bool, err error) {
	deadline := time.Now().Add(l.timeout)
	buf := make([]byte, maxDatagram)
	for {
		if err := l.conn.SetReadDeadline(deadline); err != nil {
			return false, fmt.Errorf("cannot wait for a DHCP answer: %w", err)
		}
		if ctx.Err() != nil { // after SetReadDeadline: it may have overwritten the one that ctx set
			return false, ctx.Err()
		}
		n, from, err := l.conn.ReadFromUDPAddrPort(buf)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return false, nil // silence is an answer here, and the caller asks again.
		}
		if err != nil {
			continue // an ICMP error of a server that isn't there
		}
		err = take(buf[:n], from.Addr())
		if err == nil || errors.Is(err, errNAK) {
			return true, err
		}
		l.ignored(err)
	}
}

// ask4 asks by DHCPv4, and returns the answer that accept took.
func (m *Machine) ask4(ctx context.Context, l *link, p *dhcpv4.DHCPv4, accept func(*dhcpv4.DHCPv4) error) (got *dhcpv4.DHCPv4, err error) {
	err = l.ask(ctx, m.cfg.Relay.relayed(p), p.MessageType().String(), func(b []byte, _ netip.Addr) (err error) {
		if got, err = m.cfg.Relay.unrelayed(b, p); err != nil {
			return err
		}
		return accept(got)
	})
	return got, err
}

// lease gets an address as s, over IPv6 where the machine has that.
func (m *Machine) lease(ctx context.Context, s speaker) (Lease, error) {
	if m.cfg.Six.on() {
		return m.lease6(ctx, s)
	}
	return m.lease4(ctx, s)
}

// lease4 runs DISCOVER, OFFER, REQUEST, ACK as s and returns what the ACK says.
func (m *Machine) lease4(ctx context.Context, s speaker) (Lease, error) {
	l, err := m.dial("udp4", m.cfg.Relay.Address, m.cfg.Relay.Servers)
	if err != nil {
		return Lease{}, err
	}
	defer func() { _ = l.conn.Close() }()
	xid, err := dhcpv4.GenerateTransactionID()
	if err != nil {
		return Lease{}, fmt.Errorf("cannot make a transaction id: %w", err)
	}
	discover, err := m.cfg.discover(s, xid)
	if err != nil {
		return Lease{}, fmt.Errorf("cannot build a DISCOVER: %w", err)
	}
	offer, err := m.ask4(ctx, l, discover, func(p *dhcpv4.DHCPv4) error { return wanted(s, p) })
	if err != nil {
		return Lease{}, err
	}
	request, err := m.cfg.request(s, offer)
	if err != nil {
		return Lease{}, fmt.Errorf("cannot build a REQUEST: %w", err)
	}
	ack, err := m.ask4(ctx, l, request, func(p *dhcpv4.DHCPv4) error { return confirmed(p, offer) })
	if err != nil {
		return Lease{}, err
	}
	return lease(ack), nil
}

// confirmed says why p isn't the ACK of the server whose offer was taken; errNAK: it is its refusal.
func confirmed(p, offer *dhcpv4.DHCPv4) error {
	switch {
	case !p.ServerIdentifier().Equal(offer.ServerIdentifier()):
		return fmt.Errorf("%s answered a REQUEST that was for %s", addr(p.ServerIdentifier()), addr(offer.ServerIdentifier()))
	case p.MessageType() == dhcpv4.MessageTypeNak:
		return errNAK
	case p.MessageType() != dhcpv4.MessageTypeAck:
		return fmt.Errorf("a %s is not an ACK", p.MessageType())
	case !p.YourIPAddr.Equal(offer.YourIPAddr):
		return fmt.Errorf("the ACK gives %s, the OFFER gave %s", p.YourIPAddr, offer.YourIPAddr)
	}
	return nil
}
