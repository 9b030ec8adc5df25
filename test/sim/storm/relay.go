package storm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

const (
	// socketBuffer holds the answers that have come and not been looked at.
	socketBuffer = 8 << 20
	// longest answer: that of an Ethernet frame.
	longest = 1500
	// tries of a DISCOVER or REQUEST, each with twice the patience of the one before (iPXE: DHCP_MIN_TIMEOUT is a second, DHCP_MAX_TIMEOUT ten).
	tries         = 5
	firstPatience = time.Second
)

// errSilent says that nobody answered.
var errSilent = errors.New("no DHCP answer")

// A Relay is the one that all machines are behind: it hands what they say to every server, and asks for the answers at its own port
// (RFC 8357), since it has no right to 67.
type Relay struct {
	conn    *net.UDPConn
	address netip.Addr
	link    netip.Addr
	servers []netip.AddrPort
	// nowhere is what kernels are loaded to that nobody compares.
	nowhere []byte

	mu      sync.Mutex
	waiting map[[4]byte]chan []byte
}

// NewRelay listens on an address of this host. Link is an address of the machines' segment. Close ends it.
func NewRelay(address, link netip.Addr, servers ...netip.AddrPort) (*Relay, error) {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
	if err != nil {
		return nil, fmt.Errorf("cannot open the relay's port: %w", err)
	}
	_ = conn.SetReadBuffer(socketBuffer)                                                                                                      // As much as the system gives.
	r := &Relay{conn: conn, address: address, link: link, servers: servers, nowhere: make([]byte, 1<<20), waiting: map[[4]byte]chan []byte{}} //nolint:mnd // As much as one call takes.
	go r.receive()
	return r, nil
}

// Close ends the relay.
func (r *Relay) Close() { _ = r.conn.Close() }

// receive hands each answer to the machine that asked.
func (r *Relay) receive() {
	b := make([]byte, longest)
	for {
		n, err := r.conn.Read(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		const header = 8 // Up to the xid's end.
		if err != nil || n < header {
			continue // An ICMP error of a server that isn't there.
		}
		r.mu.Lock()
		to := r.waiting[[4]byte(b[4:8])]
		r.mu.Unlock()
		select {
		case to <- append([]byte(nil), b[:n]...):
		default: // Nobody waits any more, or has enough answers.
		}
	}
}

// Shout sends a message of a machine and waits for nothing.
func (r *Relay) Shout(message []byte) {
	for _, s := range r.servers {
		_, _ = r.conn.WriteToUDPAddrPort(message, s) // A server that isn't there is silent, as on a segment.
	}
}

// Message begins a message of a machine behind this relay; options and End follow.
func (r *Relay) Message(t wire.Type, xid [4]byte, mac [6]byte) []byte {
	b := wire.Ask(t, xid, mac, r.address)
	link := r.link.As4()
	const linkSelection, sourcePort = 5, 19 // RFC 3527, RFC 8357.
	return wire.AppendOption(b, wire.OptionRelayAgent, append([]byte{sourcePort, 0, linkSelection, byte(len(link))}, link[:]...)...)
}

// ask sends a message until an answer of a type has come, as often and as patiently as firmware does.
func (r *Relay) ask(ctx context.Context, xid [4]byte, message []byte, want wire.Type) (wire.Message, error) {
	const answers = 4
	come := make(chan []byte, answers)
	r.mu.Lock()
	r.waiting[xid] = come
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.waiting, xid)
		r.mu.Unlock()
	}()
	patience := firstPatience
	for range tries {
		r.Shout(message)
		t := time.NewTimer(patience)
		for waits := true; waits; {
			select {
			case b := <-come:
				var m wire.Message
				if m.Read(b) == nil && m.Type() == want {
					t.Stop()
					return m, nil
				}
			case <-t.C:
				waits = false
			case <-ctx.Done():
				t.Stop()
				return wire.Message{}, ctx.Err()
			}
		}
		patience *= 2
	}
	return wire.Message{}, errSilent
}
