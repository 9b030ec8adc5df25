package advertisement

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

const (
	// answerWithin is how long an answer waits at most, by chance, so that those of several don't meet, and betweenAll how long there's none
	// to all after one (MAX_RA_DELAY_TIME and MIN_DELAY_BETWEEN_RAS, RFC 4861 §10).
	answerWithin = 500 * time.Millisecond
	betweenAll   = 3 * time.Second
	// maxWaiting answers to one machine each wait at once. Who asks beyond them asks again.
	maxWaiting = 1024
	// maxPacket is the longest solicitation that's read whole: links of IPv6 may carry no longer one that's in one piece.
	maxPacket = 2048
)

// Rates at which single machines are answered: one asks three times in twelve seconds and then seldom, and a hall that's powered on is some
// hundreds at once.
func Rates() limit.Rates {
	return limit.Rates{Stranger: limit.Rate{PerSecond: 1, Burst: 6}, Strangers: limit.Rate{PerSecond: 500, Burst: 1000}} //nolint:mnd // As said.
}

// Config of a Server. View is required.
type Config struct {
	// View is what is known now.
	View func() View
	// Hears says whether an interface is listened on; nil: all are.
	Hears func(name string) bool
	// Observe is told of every solicitation: why it was answered as it was. nil: nobody is.
	Observe func(dhcp.Reason)
	// Limit bounds how often machines are answered, beside what is sent to all; nil: nothing does.
	Limit *limit.Limiter
	// Log gets a line a solicitation at debug level, and one where an answer can't be sent; nil discards them.
	Log *slog.Logger
}

// A Server answers what comes in on its connection.
type Server struct {
	cfg     Config
	waiting chan struct{}

	mu    sync.Mutex
	links map[int]*toAll // by index
}

// toAll is how it stands with what is sent to all on a link.
type toAll struct {
	coming bool
	last   time.Time
}

// New makes a server.
func New(cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, waiting: make(chan struct{}, maxWaiting), links: map[int]*toAll{}}
}

// Serve answers solicitations until the context ends or the connection fails. It closes the connection.
func (s *Server) Serve(ctx context.Context, c Conn) error {
	err := links.Serve(ctx, c, "router solicitations", maxPacket, s.cfg.Log, func(b []byte, in Ingress) { s.one(ctx, c, b, in) })
	return err //nolint:wrapcheck // It says what failed.
}

// one decides about a solicitation, and has it answered in a moment.
func (s *Server) one(ctx context.Context, c Conn, b []byte, in Ingress) {
	if s.cfg.Hears != nil && !s.cfg.Hears(in.Link.Name) {
		return
	}
	a := Respond(s.cfg.View(), b, in)
	if a.Packet != nil {
		a.Reason = s.later(ctx, c, a.To, in)
	}
	if s.cfg.Observe != nil {
		s.cfg.Observe(a.Reason)
	}
	s.cfg.Log.Debug("router solicitation", "reason", string(a.Reason), "from", in.From.String(), "interface", in.Link.Name)
}

// later sends an answer in a moment, with what is known by then, and says what became of it.
func (s *Server) later(ctx context.Context, c Conn, to netip.Addr, in Ingress) dhcp.Reason {
	delay := rand.N(answerWithin) //nolint:gosec // So that answers don't meet.
	if to == everybody() {
		return s.all(ctx, c, delay, in)
	}
	switch s.cfg.Limit.Stranger(boot.MAC(in.From.String()), netip.Addr{}, time.Now()) {
	case limit.PerMAC:
		return dhcp.LimitedStranger
	case limit.PerRelay, limit.InTotal:
		return dhcp.LimitedStrangers
	case limit.Within:
	}
	select {
	case s.waiting <- struct{}{}:
	default:
		return dhcp.Dropped
	}
	time.AfterFunc(delay, func() {
		defer func() { <-s.waiting }()
		s.send(ctx, c, to, in)
	})
	return Advertised
}

// all sends one answer for everybody who asked for one until then.
func (s *Server) all(ctx context.Context, c Conn, delay time.Duration, in Ingress) dhcp.Reason {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.links[in.Link.Index]
	switch {
	case l == nil:
		l = &toAll{}
		s.links[in.Link.Index] = l
	case l.coming:
		return Coming
	default:
		delay += max(0, betweenAll-time.Since(l.last))
	}
	l.coming = true
	time.AfterFunc(delay, func() {
		s.mu.Lock()
		l.coming, l.last = false, time.Now()
		s.mu.Unlock()
		s.send(ctx, c, everybody(), in)
	})
	return Advertised
}

func (s *Server) send(ctx context.Context, c Conn, to netip.Addr, in Ingress) {
	a := answer(s.cfg.View(), in.Link, to)
	if a.Packet == nil || ctx.Err() != nil {
		return
	}
	if err := c.Send(a.Packet, to, in.Link); err != nil && ctx.Err() == nil {
		s.cfg.Log.Warn("a router solicitation can't be answered", "to", to.String(), "interface", in.Link.Name, "error", err.Error())
	}
}
