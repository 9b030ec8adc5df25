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

// link is the relay's socket for one exchange: what the machine broadcasts goes to every server, what comes back to the
// socket's port and passes Relay.unrelayed goes to the machine.
type link struct {
	relay   Relay
	conn    *net.UDPConn
	timeout time.Duration
	tries   int
	ignored func(error) // told why a packet was dropped
}

func (m *Machine) dial() (*link, error) {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(m.cfg.Relay.Address, 0)))
	if err != nil {
		return nil, fmt.Errorf("cannot open the relay's port on %s: %w", m.cfg.Relay.Address, err)
	}
	return &link{
		relay: m.cfg.Relay, conn: conn, timeout: m.cfg.DHCPTimeout, tries: m.cfg.DHCPTries,
		ignored: func(err error) { m.note(StageDHCP, "ignored a packet: "+err.Error()) },
	}, nil
}

// ask sends p until accept takes an answer, timeout × tries has passed, or ctx ends.
func (l *link) ask(ctx context.Context, p *dhcpv4.DHCPv4, accept func(*dhcpv4.DHCPv4) error) (*dhcpv4.DHCPv4, error) {
	defer context.AfterFunc(ctx, func() { _ = l.conn.SetReadDeadline(time.Unix(1, 0)) })()
	data := l.relay.relayed(p)
	for range l.tries {
		if err := l.broadcast(data); err != nil {
			return nil, err
		}
		got, err := l.receive(ctx, p, accept)
		if err != nil || got != nil {
			return got, err
		}
	}
	return nil, fmt.Errorf("no answer to %d × %s within %s each", l.tries, p.MessageType(), l.timeout)
}

// broadcast hands data to all servers. One that isn't there is as silent as on a real segment.
func (l *link) broadcast(data []byte) error {
	for _, s := range l.relay.Servers {
		_, err := l.conn.WriteToUDPAddrPort(data, s)
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("cannot send to DHCP server %s: %w", s, err)
		}
	}
	return nil
}

// receive returns the first acceptable answer; nil and no error: none came in time.
func (l *link) receive(ctx context.Context, sent *dhcpv4.DHCPv4, accept func(*dhcpv4.DHCPv4) error) (*dhcpv4.DHCPv4, error) {
	deadline := time.Now().Add(l.timeout)
	buf := make([]byte, maxDatagram)
	for {
		if err := l.conn.SetReadDeadline(deadline); err != nil {
			return nil, fmt.Errorf("cannot wait for a DHCP answer: %w", err)
		}
		if ctx.Err() != nil { // after SetReadDeadline: it may have overwritten the one that ctx set
			return nil, ctx.Err()
		}
		n, _, err := l.conn.ReadFromUDPAddrPort(buf)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, nil //nolint:nilnil // silence is an answer here, and the caller asks again.
		}
		if err != nil {
			continue // an ICMP error of a server that isn't there
		}
		got, err := l.relay.unrelayed(buf[:n], sent)
		if err == nil {
			err = accept(got)
		}
		if err == nil || errors.Is(err, errNAK) {
			return got, err
		}
		l.ignored(err)
	}
}

// lease runs DISCOVER, OFFER, REQUEST, ACK as s and returns what the ACK says.
func (m *Machine) lease(ctx context.Context, s speaker) (Lease, error) {
	l, err := m.dial()
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
	offer, err := l.ask(ctx, discover, func(p *dhcpv4.DHCPv4) error { return wanted(s, p) })
	if err != nil {
		return Lease{}, err
	}
	request, err := m.cfg.request(s, offer)
	if err != nil {
		return Lease{}, fmt.Errorf("cannot build a REQUEST: %w", err)
	}
	ack, err := l.ask(ctx, request, func(p *dhcpv4.DHCPv4) error { return confirmed(p, offer) })
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
