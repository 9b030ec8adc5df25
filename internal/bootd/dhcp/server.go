package dhcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Sightings are told where machines are. Seen must not block: it's called between two packets.
type Sightings interface {
	Seen(plan *boot.Plan, stage boot.Stage, at time.Time)
}

// SightingsFn is a Sightings.
type SightingsFn func(plan *boot.Plan, stage boot.Stage, at time.Time)

// Seen calls the function.
func (f SightingsFn) Seen(plan *boot.Plan, stage boot.Stage, at time.Time) { f(plan, stage, at) }

// A Conn moves DHCP packets. Close makes Receive return net.ErrClosed.
type Conn interface {
	// Receive waits for a packet and says where it came in.
	Receive(b []byte) (int, Ingress, error)
	// Send puts a packet where the answer says; in is where its request came in.
	Send(b []byte, a Answer, in Ingress) error
	Close() error
}

// Config of a Server. State and Keys are required.
type Config struct {
	// State gives what is known now; nil: nothing yet, and everybody gets silence.
	State func() *boot.State
	// Keys that tokens are made with, the current one first.
	Keys func() [][]byte
	// Sightings are told of acknowledged exchanges; nil: nobody is.
	Sightings Sightings
	// Declined is told of a machine that declined its address, since another answers for it; nil: nobody is.
	Declined func(plan *boot.Plan, at time.Time)
	// Observe is told of every packet: why it was answered as it was. nil: nobody is.
	Observe func(Client, Reason)
	// Advertise is the address that machines are told; invalid: the one that they asked.
	Advertise netip.Addr
	// HTTPPort of scripts and files.
	HTTPPort uint16
	Files    Files
	// Workers answer at once, and Queue packets wait for them; the zero values are 4 and 512.
	Workers, Queue int
	// Log gets a line an acknowledged exchange, and one a packet at debug level; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

const (
	defaultWorkers = 4
	defaultQueue   = 512
	maxPacket      = 4096
)

// A Server answers what comes in on its connections.
type Server struct {
	cfg    Config
	sights *sights
}

// New makes a server.
func New(cfg Config) *Server {
	if cfg.Workers <= 0 {
		cfg.Workers = defaultWorkers
	}
	if cfg.Queue <= 0 {
		cfg.Queue = defaultQueue
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Server{cfg: cfg, sights: newSights()}
}

type packet struct {
	data []byte
	in   Ingress
}

// Serve answers requests until the context ends or the connection fails. It closes the connection. Several may run at once,
// on connections of their own.
func (s *Server) Serve(ctx context.Context, c Conn) error {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	queue := make(chan packet, s.cfg.Queue)
	var workers sync.WaitGroup
	for range s.cfg.Workers {
		workers.Go(func() {
			for p := range queue {
				s.handle(c, p)
			}
		})
	}
	defer workers.Wait()
	defer close(queue)
	buf := make([]byte, maxPacket)
	for {
		n, in, err := c.Receive(buf)
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			_ = c.Close()
			return fmt.Errorf("cannot receive DHCP requests: %w", err)
		}
		s.push(queue, packet{slices.Clone(buf[:n]), in})
	}
}

// push never waits: in a storm the oldest request goes, whose machine has most likely asked again already.
func (s *Server) push(queue chan packet, p packet) {
	for {
		select {
		case queue <- p:
			return
		default:
		}
		select {
		case <-queue:
			s.observe("", Dropped)
		default:
		}
	}
}

// handle answers one packet.
func (s *Server) handle(c Conn, p packet) {
	defer func() {
		if r := recover(); r != nil { // One hostile packet must not end the boots of a rack.
			s.cfg.Log.Error("a DHCP packet caused a panic", "from", p.in.From, "panic", fmt.Sprint(r))
		}
	}()
	req, err := Decode(p.data)
	if err != nil {
		s.observe("", SilentMalformed)
		s.cfg.Log.Debug("ignored a malformed DHCP packet", "from", p.in.From)
		return
	}
	v := s.view()
	a := Respond(v, req, p.in)
	s.observe(a.Facts.Client, a.Reason)
	if a.Reason == Declined && s.cfg.Declined != nil {
		s.cfg.Declined(a.Plan, v.Now)
	}
	if a.Packet != nil {
		s.saw(a, req.TransactionID, v.Now)
		err = c.Send(a.Packet.ToBytes(), a, p.in)
	}
	s.log(a, p.in, err)
}

func (s *Server) view() View {
	v := View{
		Now: s.cfg.Now(), Advertise: s.cfg.Advertise, HTTPPort: s.cfg.HTTPPort, Files: s.cfg.Files,
		State: s.cfg.State(), Keys: s.cfg.Keys(),
	}
	return v
}

func (s *Server) observe(c Client, r Reason) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(c, r)
	}
}

// saw passes a sight on, once per boot, and before the answer is sent: so it's known before anything that the machine does
// with the answer.
func (s *Server) saw(a Answer, xid dhcpv4.TransactionID, now time.Time) {
	if a.Stage != "" && s.cfg.Sightings != nil && s.sights.first(a, xid, now) {
		s.cfg.Sightings.Seen(a.Plan, a.Stage, now)
	}
}

// log writes what was done. Nothing that a client wrote into its packet but its MAC gets here: some hold uninitialised
// memory.
func (s *Server) log(a Answer, in Ingress, err error) {
	write := s.cfg.Log.Debug
	switch {
	case err != nil || a.Reason == Declined: // Another has the machine's address.
		write = s.cfg.Log.Warn
	case a.Reason == Acknowledged || a.Reason == Refused:
		write = s.cfg.Log.Info
	}
	args := []any{
		"reason", string(a.Reason), "type", a.Facts.Type.String(), "mac", string(a.Facts.MAC),
		"client", string(a.Facts.Client), "from", in.From.String(), "interface", in.Interface,
	}
	if a.Plan != nil {
		args = append(args, "entry", a.Plan.Entry.String(), "address", a.Plan.Network.Address.String(), "to", a.To.String())
	}
	if a.Plan != nil && a.Facts.contradicts(a.Plan.UUID) {
		args = append(args, "uuid", "differs from the host's") // The NIC may have moved to another machine.
	}
	if err != nil {
		args = append(args, "error", err.Error())
	}
	write("DHCP", args...)
}

// Decode reads a packet. One whose options lack their end mark, as some firmware sends, is read as if it had one.
func Decode(b []byte) (*dhcpv4.DHCPv4, error) {
	p, err := dhcpv4.FromBytes(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		p, err = dhcpv4.FromBytes(append(slices.Clone(b), dhcpv4.OptionEnd.Code()))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read a DHCP packet of %d bytes: %w", len(b), err)
	}
	return p, nil
}
