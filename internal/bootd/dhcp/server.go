package dhcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
)

// Sightings are told where machines are. Seen must not block: it's called between two packets.
type Sightings interface {
	// Seen is told of a stage, and of the NIC's MAC and what the machine's firmware is, where they're known. The plan is good until it returns.
	Seen(plan *boot.Plan, mac boot.MAC, stage boot.Stage, fw boot.Firmware, at time.Time)
}

// SightingsFn is a Sightings.
type SightingsFn func(plan *boot.Plan, mac boot.MAC, stage boot.Stage, fw boot.Firmware, at time.Time)

// Seen calls the function.
func (f SightingsFn) Seen(plan *boot.Plan, mac boot.MAC, stage boot.Stage, fw boot.Firmware, at time.Time) {
	f(plan, mac, stage, fw, at)
}

// A Packet is one that came in.
type Packet struct {
	// Data is as long as the packet; its capacity is what may be read into.
	Data []byte
	In   Ingress
}

// An Outgoing packet, and what became of it.
type Outgoing struct {
	Data []byte
	To   netip.AddrPort
	// From is our address that it's sent from; invalid: whichever.
	From netip.Addr
	// Index of the interface that it leaves by; 0: the one that the routes say.
	Index int
	// Hardware is that of a machine which has no address yet: the packet goes there in a frame of its own, or by broadcast where that
	// can't be. Zero: it goes as any other.
	Hardware [6]byte
	// Err is set by Send.
	Err error
}

// A Conn moves DHCP packets, many at once. Close makes Receive return net.ErrClosed.
type Conn interface {
	// Receive reads packets into ps and says how many. Where none is there it waits for one, or gives 0 if it's not to wait.
	Receive(ps []Packet, wait bool) (int, error)
	// Send puts packets onto the wire, and notes for each that can't be sent why not.
	Send(out []Outgoing)
	Close() error
}

// Config of a Server. State and Keys are required. A plan that Own or Trace is told of is good until it returns.
type Config struct {
	// State gives what is known now; nil: nothing yet, and everybody gets silence.
	State func() *boot.State
	// Keys that tokens are made with, the current one first.
	Keys func() [][]byte
	// Sightings are told of acknowledged exchanges; nil: nobody is.
	Sightings Sightings
	// Sights are those that DHCPv6 has, too; nil: its own.
	Sights *Sights
	// Declined is told of a machine that declined the address that it was just given, since another answers for it; nil: nobody
	// is.
	Declined func(plan *boot.Plan, mac boot.MAC, address netip.Addr, at time.Time)
	// Own says whether an address that a plan has is this server's, whose machine the plan's isn't; nil: none is.
	Own func(p *boot.Plan, address netip.Addr) bool
	// OtherServer is told of a machine of ours that takes the offer of another server, by its option 54; nil: nobody is.
	OtherServer func(plan *boot.Plan, server netip.Addr)
	// StandIns take note of the names that relays have us answer under; nil: nobody does.
	StandIns *StandIns
	// Pi is told of each Raspberry Pi that's about to be told to boot; it must not block. nil: nobody is.
	Pi func(Pi)
	// Skewed says that this host's clock isn't that of who makes grants; nil: it is.
	Skewed func() bool
	// Foreign says why a segment that refuses foreign servers doesn't begin; "": it does. Began is told of each segment on whose link a machine
	// takes its address from us, or another bootd, Named of each server that a request on a segment names, whoever sent it. nil: nobody asks, nobody is told.
	// Peer says that a server certainly is another bootd, or meant to give machines their addresses.
	Foreign func(network boot.Name) Reason
	Peer    func(server netip.Addr) bool
	Began   func(network boot.Name)
	Named   func(server netip.Addr, in Ingress)
	// Lending is what machines are lent that nobody knows; the zero value: nothing.
	Lending Lending
	// Holders are View's; nil: nobody is known by a switch port alone.
	Holders *Holders
	// Misplaced is told in a sentence of a machine that isn't behind the port that its entry names, or of another one that is; nil: nobody is.
	Misplaced func(plan *boot.Plan, says string, at time.Time)
	// Observe is told of every packet: its type by a word of ours ("": it wasn't read), who sent it, and why it was answered as it was. nil: nobody is.
	Observe func(kind string, c Client, r Reason)
	// Limit bounds how often somebody is answered; nil: nothing does.
	Limit *limit.Limiter
	// Trace is told of every request that was looked at, and of its answer, which are good until it returns. nil: nobody is. It's
	// called between two packets.
	Trace func(request []byte, in Ingress, a Answer, at time.Time)
	// Advertise is the address that machines are told; invalid: the one that they asked.
	Advertise netip.Addr
	// HTTPPort of scripts and files; 0 where HTTP isn't served.
	HTTPPort uint16
	Secure   Secure
	Files    Files
	// Frames says that machines without an address are answered at their hardware address, as far as they don't want a broadcast.
	Frames bool
	// Proxy says whether segments of mode Proxy may be answered now: whether the port of proxyDHCP is heard too. nil: they may not.
	Proxy func() bool
	// ProxyAlone says that nothing else than that port is heard.
	ProxyAlone bool
	// Queue is how many packets wait at most; of more the oldest are dropped. 0 means 4096: what is answered within
	// a fraction of the second that firmware waits, where ten thousand machines ask at once.
	Queue int
	// Log gets a line an acknowledged exchange, though at most some hundred a second, and one a packet at debug level; nil
	// discards them.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

const (
	defaultQueue = 4096
	// short is how long we wait where the system is short of memory: machines ask again.
	short = 10 * time.Millisecond
	// turn is how long packets are answered until others on the same processor get theirs.
	turn = time.Millisecond
)

// A Server answers what comes in on its connections.
type Server struct {
	cfg Config
	// declinedNow is held, made once.
	declinedNow func(network boot.Name, address netip.Addr, now time.Time) bool

	sights *Sights
	lines  *lines
	taken  *quarantine // of planned addresses
	spoilt *quarantine // of lent ones
}

// New makes a server.
func New(cfg Config) *Server {
	if cfg.Queue <= 0 {
		cfg.Queue = defaultQueue
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sights == nil {
		cfg.Sights = NewSights()
	}
	s := &Server{cfg: cfg, sights: cfg.Sights, lines: newLines(cfg.Log), taken: newQuarantine(maxQuarantine), spoilt: newQuarantine(maxLentQuarantine)}
	s.declinedNow = s.held
	return s
}

// Serve answers requests until the context ends or the connection fails. It closes the connection. Several may run at once,
// on connections of their own. Packets are answered in one place, one after another: an answer takes microseconds, and handing
// it to somebody else would take as long.
func (s *Server) Serve(ctx context.Context, c Conn) error {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	w := newWork(s, c)
	for yielded := time.Now(); ; {
		waiting, err := w.receive()
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		case errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENOMEM):
			time.Sleep(short) // Whatever was read before is answered.
		case err != nil:
			_ = c.Close()
			return fmt.Errorf("cannot receive DHCP requests: %w", err)
		}
		w.answer(ctx, waiting)
		if time.Since(yielded) >= turn { // The runtime sees by itself only after 10 ms that others wait.
			runtime.Gosched()
			yielded = time.Now()
		}
	}
}

func (s *Server) view() View {
	v := View{
		Now: s.cfg.Now(), Advertise: s.cfg.Advertise, HTTPPort: s.cfg.HTTPPort, Secure: s.cfg.Secure, Files: s.cfg.Files,
		State: s.cfg.State(), Keys: s.cfg.Keys(), Declined: s.declinedNow,
	}
	v.Own = s.cfg.Own
	v.Foreign, v.Frames, v.Lending, v.Holders, v.Skewed = s.cfg.Foreign, s.cfg.Frames, s.cfg.Lending, s.cfg.Holders, s.cfg.Skewed
	if s.cfg.Proxy != nil {
		v.Proxy, v.ProxyAlone = s.cfg.Proxy(), s.cfg.ProxyAlone
	}
	return v
}

// held says whether an address was declined, be it a planned or a lent one.
func (s *Server) held(network boot.Name, address netip.Addr, now time.Time) bool {
	return s.taken.holds(network, address, now) || s.spoilt.holds(network, address, now)
}

func (s *Server) quarantineOf(a *Answer) *quarantine {
	if a.Plan == nil {
		return s.spoilt
	}
	return s.taken
}

func (s *Server) observe(kind string, c Client, r Reason) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(kind, c, r)
	}
}

// saw passes a sight on, once per boot, and before the answer is sent: so it's known before anything that the machine does
// with the answer. It says whether it's the first one.
func (s *Server) saw(a Answer, xid [4]byte, now time.Time) bool {
	if a.Stage == "" || s.cfg.Sightings == nil || !s.sights.first(a.Plan.EntryUID, sight{client: a.Facts.Client, stage: a.Stage, xid: xid, at: now}) {
		return false
	}
	s.cfg.Sightings.Seen(a.Plan, a.Facts.MAC, a.Stage, a.Facts.Firmware, now)
	return true
}
