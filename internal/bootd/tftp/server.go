// Package tftp serves the first stages of a network boot by TFTP (RFC 1350, 2347, 2348, 2349, 7440), read-only and from memory.
package tftp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Sightings are told where machines are. Seen must not block.
type Sightings interface {
	Seen(plan *boot.Plan, mac boot.MAC, stage boot.Stage, fw boot.Firmware, at time.Time)
}

// An Outcome of one request: for metrics.
type Outcome string

// Values of Outcome.
const (
	// Sent: the whole file arrived.
	Sent Outcome = "Sent"
	// Aborted: the client broke it off, or went silent. UEFI does so on purpose once it knows the size.
	Aborted Outcome = "Aborted"
	// NotFound: no such file.
	NotFound Outcome = "NotFound"
	// Busy: this client, or all together, have too many transfers. It hears nothing, and asks again.
	Busy Outcome = "Busy"
	// Later: a machine's own file can't be had now. It hears nothing, and asks again.
	Later Outcome = "Later"
	// Refused is what isn't a request for a file: a write, or what can't be read.
	Refused Outcome = "Refused"
)

// Config of a Server. Files is required.
type Config struct {
	Files Files
	// Own gives the files that are a machine's alone; nil: there are none.
	Own Own
	// State finds the machine behind an address; nil: sights aren't passed on.
	State func() *boot.State
	// Sightings are told of whole transfers; nil: nobody is.
	Sightings Sightings
	// Observe is told of every request; nil: nobody is.
	Observe func(Outcome)
	// Sent is told of each file that arrived: how long it is, and how long it took. nil: nobody is.
	Sent func(bytes int, took time.Duration)
	// Ended is told of the end of each transfer of a machine's own file, but for what's asked for again and again: it asks for the next in a moment. nil: nobody is.
	Ended func()
	// Trace is told of requests and of what refuses them or agrees on options; nil: nobody is. A packet is good until it returns. It's
	// called between two packets.
	Trace func(plan *boot.Plan, p Packet)
	// PerClient and Total bound the transfers at one time; the zero values are 4 and 1024, or fewer where few files may be open. A
	// client's share counts once half of all places are taken: a rack may well boot through one address of a NAT.
	PerClient, Total int
	// MTU of our own links, in bytes; 0 means 1500. Blocks make no longer packets, nor longer ones than the networks of the
	// machines take.
	MTU int
	// SinglePort answers from the port that was asked, for NAT and shared addresses.
	SinglePort bool
	// Timeout of one block before it's sent again; 0 means 1 s.
	Timeout time.Duration
	// Log gets a line a transfer; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

const (
	defaultPerClient = 4
	defaultTotal     = 1024
	defaultMTU       = 1500
	defaultTimeout   = time.Second
	// headers of IPv4, UDP and a DATA packet; that of IPv6 is longer.
	headers   = 20 + 8 + headerSize
	longer    = 20
	maxLogged = 64
)

// headersOf a packet to a client.
func headersOf(client netip.Addr) int {
	if client.Is6() {
		return headers + longer
	}
	return headers
}

var (
	errBusy     = errors.New("too many transfers")
	errStopping = errors.New("the server is stopping")
	errSilent   = errors.New("the client doesn't answer")
	errPanic    = errors.New("a packet of it caused a panic")
	errSlow     = errors.New("the client takes too little")
	errAnew     = errors.New("the client asks anew")
)

// A Server serves the same files on each of its connections.
type Server struct {
	cfg    Config
	limits *limits
	where  index
	busy   atomic.Int64 // the second in which the log last said that all places are taken

	mu    sync.Mutex
	ascii map[string][]byte // files in netascii, by name, made when somebody asks for one
}

// New makes a server.
func New(cfg Config) *Server {
	cfg.PerClient = orElse(cfg.PerClient, defaultPerClient)
	cfg.Total = orElse(cfg.Total, places())
	cfg.MTU = orElse(cfg.MTU, defaultMTU)
	cfg.Timeout = orElse(cfg.Timeout, defaultTimeout)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Server{cfg: cfg, limits: newLimits(cfg.PerClient, cfg.Total), ascii: map[string][]byte{}}
}

// places is how many transfers may run, each by a socket of its own, where nobody says it: a quarter of the files that may be open
// at most.
func places() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return defaultTotal
	}
	return int(min(max(limit.Cur/4, 1), defaultTotal)) //nolint:gosec // At most defaultTotal.
}

func orElse[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Serve answers requests until the context ends; transfers that run then are broken off. It closes the connection.
func (s *Server) Serve(ctx context.Context, conn *net.UDPConn) error {
	for name, err := range s.cfg.Files.Problems {
		s.cfg.Log.Warn("boot file is a stand-in", "file", name, "error", err.Error())
	}
	address := conn.LocalAddr()
	l, err := newLoop(s, conn)
	_ = conn.Close() // The loop has it by another descriptor.
	if err == nil {
		err = l.run(ctx)
	}
	if err != nil {
		return fmt.Errorf("cannot serve TFTP on %s: %w", address, err)
	}
	return nil
}

// asASCII is a file in netascii. There are few files, so that they're kept.
func (s *Server) asASCII(f File) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.ascii[f.Name]
	if !ok {
		b = ascii(f.Data)
		s.ascii[f.Name] = b
	}
	return b
}

func (s *Server) state() *boot.State {
	if s.cfg.State == nil {
		return nil
	}
	return s.cfg.State()
}

// saw says that a machine has its first stage.
func (s *Server) saw(client netip.Addr) {
	if s.cfg.Sightings == nil {
		return
	}
	if plan := s.where.of(s.state(), s.cfg.MTU, s.cfg.Now()).at(client); plan != nil {
		s.cfg.Sightings.Seen(plan, "", boot.StageFirmware, boot.Firmware{}, s.cfg.Now())
	}
}

// mtu is what the path to a client takes: its own network, or where it isn't known the narrowest of all.
func (s *Server) mtu(client netip.Addr) int {
	x := s.where.of(s.state(), s.cfg.MTU, s.cfg.Now())
	if plan := x.at(client); plan != nil && plan.Network.MTU >= leastMTU {
		return min(plan.Network.MTU, s.cfg.MTU)
	}
	return x.mtu
}

// saysBusy is true once a second: anybody may ask thousands of times.
func (s *Server) saysBusy() bool {
	now := s.cfg.Now().Unix()
	return s.busy.Swap(now) != now
}

// done counts and logs a request. A name that isn't ours is a stranger's: quoted and cut.
func (s *Server) done(o Outcome, client netip.Addr, name string, err error) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(o)
	}
	write := s.cfg.Log.Debug
	if o == Sent || o == Busy && s.saysBusy() {
		write = s.cfg.Log.Info
	}
	name = last(name)
	args := []any{"outcome", string(o), "client", client.String(), "file", strconv.QuoteToASCII(name[:min(len(name), maxLogged)])}
	if err != nil {
		args = append(args, "error", err.Error())
	}
	write("TFTP", args...)
}
