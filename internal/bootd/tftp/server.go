// Package tftp serves the first stages of a network boot by TFTP (RFC 1350, 2347, 2348, 2349), read-only and from memory.
package tftp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/pin/tftp/v3"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Sightings are told where machines are. Seen must not block.
type Sightings interface {
	Seen(plan *boot.Plan, stage boot.Stage, at time.Time)
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
	// Busy: this client, or all together, have too many transfers.
	Busy Outcome = "Busy"
)

// Config of a Server. Files is required.
type Config struct {
	Files Files
	// State finds the machine behind an address; nil: sights aren't passed on.
	State func() *boot.State
	// Sightings are told of whole transfers; nil: nobody is.
	Sightings Sightings
	// Observe is told of every request; nil: nobody is.
	Observe func(Outcome)
	// PerClient and Total bound the transfers at one time; the zero values are 4 and 256.
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
	defaultTotal     = 256
	defaultMTU       = 1500
	defaultTimeout   = time.Second
	retries          = 5
	// headers of IPv4, UDP and a DATA packet. (The library forgets the last of them.)
	headers   = 20 + 8 + 4
	maxLogged = 64
)

var (
	errNotFound = errors.New("file not found")
	errBusy     = errors.New("too many transfers, try again")
	errStopping = errors.New("the server is stopping")
)

// A Server serves the same files on each of its connections.
type Server struct {
	cfg    Config
	limits *limits
}

// New makes a server.
func New(cfg Config) *Server {
	cfg.PerClient = orElse(cfg.PerClient, defaultPerClient)
	cfg.Total = orElse(cfg.Total, defaultTotal)
	cfg.MTU = orElse(cfg.MTU, defaultMTU)
	cfg.Timeout = orElse(cfg.Timeout, defaultTimeout)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Server{cfg: cfg, limits: newLimits(cfg.PerClient, cfg.Total)}
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
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for name, err := range s.cfg.Files.Problems {
		s.cfg.Log.Warn("boot file is a stand-in", "file", name, "error", err.Error())
	}
	srv := tftp.NewServer(func(name string, rf io.ReaderFrom) error { return s.read(ctx, name, rf) }, nil)
	srv.SetBlockSize(pathMTU(s.state(), s.cfg.MTU) - headers)
	srv.SetTimeout(s.cfg.Timeout)
	srv.SetRetries(retries)
	srv.SetBackoff(func(int) time.Duration { return 0 }) // The timeout is pause enough.
	if s.cfg.SinglePort {
		srv.EnableSinglePort()
	} else {
		go s.follow(ctx, srv)
	}
	defer context.AfterFunc(ctx, srv.Shutdown)()
	for {
		panicked, err := serve(srv, conn)
		if ctx.Err() != nil {
			return nil
		}
		if !panicked {
			return fmt.Errorf("cannot serve TFTP on %s: %w", conn.LocalAddr(), orElse(err, net.ErrClosed))
		}
		s.cfg.Log.Error("serving TFTP goes on after a panic", "error", err.Error())
	}
}

// follow keeps blocks as small as the narrowest path needs. The library takes one size for all; the few machines that could
// take more lose next to nothing. (In single-port mode the size of the start stays: the library reads it without its lock.)
func (s *Server) follow(ctx context.Context, srv *tftp.Server) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			srv.SetBlockSize(pathMTU(s.state(), s.cfg.MTU) - headers)
		}
	}
}

func (s *Server) state() *boot.State {
	if s.cfg.State == nil {
		return nil
	}
	return s.cfg.State()
}

// pathMTU is the least MTU of the machines' networks, and at most ours. Less than 576 nobody has to take (RFC 791).
func pathMTU(s *boot.State, ours int) int {
	const least = 576
	if s == nil {
		return ours
	}
	for _, p := range s.Plans() {
		if m := p.Network.MTU; m >= least && m < ours {
			ours = m
		}
	}
	return ours
}

// serve survives the library's panic in single-port mode, where it may send a late packet to a transfer that it has just
// closed.
func serve(srv *tftp.Server, conn *net.UDPConn) (panicked bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			panicked, err = true, fmt.Errorf("panic: %v", r)
		}
	}()
	return false, srv.Serve(conn)
}

// read answers one request. An error goes to the client as it is.
func (s *Server) read(ctx context.Context, name string, rf io.ReaderFrom) error {
	client := clientOf(rf)
	file, ok := s.cfg.Files.Find(name)
	if !ok {
		s.done(NotFound, client, name, nil)
		return errNotFound
	}
	release, ok := s.limits.acquire(client)
	if !ok {
		s.done(Busy, client, file.Name, nil)
		return errBusy
	}
	defer release()
	if t, ok := rf.(tftp.OutgoingTransfer); ok {
		t.SetSize(int64(len(file.Data)))
	}
	_, err := rf.ReadFrom(stoppable{ctx, file.reader()})
	if err != nil {
		s.done(Aborted, client, file.Name, err)
		return err
	}
	s.done(Sent, client, file.Name, nil)
	s.saw(client)
	return nil
}

func clientOf(rf io.ReaderFrom) netip.Addr {
	t, ok := rf.(tftp.OutgoingTransfer)
	if !ok {
		return netip.Addr{}
	}
	remote := t.RemoteAddr()
	return remote.AddrPort().Addr().Unmap()
}

// saw says that a machine has its first stage.
func (s *Server) saw(client netip.Addr) {
	if s.cfg.Sightings == nil {
		return
	}
	if plan, ok := planAt(s.state(), client); ok {
		s.cfg.Sightings.Seen(plan, boot.StageFirmware, s.cfg.Now())
	}
}

// planAt finds the machine that has an address. Of two, in segments that don't know each other, neither is meant.
func planAt(s *boot.State, a netip.Addr) (*boot.Plan, bool) {
	if s == nil {
		return nil, false
	}
	var found *boot.Plan
	for _, p := range s.Plans() {
		if p.Network.Address.Addr() != a {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = p
	}
	return found, found != nil
}

// done counts and logs a request. A name that isn't ours is a stranger's: quoted and cut.
func (s *Server) done(o Outcome, client netip.Addr, name string, err error) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(o)
	}
	write := s.cfg.Log.Debug
	if o == Sent || o == Busy {
		write = s.cfg.Log.Info
	}
	args := []any{"outcome", string(o), "client", client.String(), "file", strconv.QuoteToASCII(name[:min(len(name), maxLogged)])}
	if err != nil {
		args = append(args, "error", err.Error())
	}
	write("TFTP", args...)
}

// stoppable is a reader that ends with its server.
type stoppable struct {
	ctx context.Context //nolint:containedctx // It adapts a context to a library that has none.
	r   io.Reader
}

func (s stoppable) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, errStopping
	}
	return s.r.Read(b)
}
