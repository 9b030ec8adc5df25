package dhcp6

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

// Config of a Server. State and Keys are required.
type Config struct {
	// State gives what is known now; nil: nothing yet, and everybody gets silence.
	State func() *boot.State
	// Keys that tokens are made with, the current one first.
	Keys func() [][]byte
	// Hears says whether an interface is listened on; nil: all are.
	Hears func(name string) bool
	// Sightings are told of exchanges that give an address; nil: nobody is.
	Sightings dhcp.Sightings
	// Sights are DHCPv4's, where that's served, too; nil: it isn't.
	Sights *dhcp.Sights
	// Declined is told of a machine that declined the address that it was just given; nil: nobody is.
	Declined func(plan *boot.Plan, mac boot.MAC, address netip.Addr, at time.Time)
	// Own says whether an address that a plan has is this server's, whose machine the plan's isn't; nil: none is.
	Own func(p *boot.Plan, address netip.Addr) bool
	// OtherServer is told of a machine of ours that takes the offer of another server, by its DUID; nil: nobody is.
	OtherServer func(plan *boot.Plan, id []byte)
	// Observe is told of every packet: its type by a word of ours ("": it can't be read), who sent it, and why it was answered as it was. nil: nobody is.
	Observe func(kind string, c dhcp.Client, r dhcp.Reason)
	// Limit bounds how often somebody is answered; nil: nothing does.
	Limit *limit.Limiter
	// Delay is how long an offer to a machine waits for those of other bootds, and Leave says that it's another one's to make. nil: never.
	Delay func(boot.MAC) time.Duration
	Leave func(boot.MAC) bool
	// Learnt are the DUIDs of machines; nil: none is learnt.
	Learnt *Learnt
	// Trace is told of every request that was looked at, and of its answer, which are good until it returns. nil: nobody is.
	Trace func(request []byte, in Ingress, a Answer, at time.Time)
	// Advertise is the address of IPv6 that machines are told; any other: the one on their segment.
	Advertise netip.Addr
	// HTTPPort of scripts and files, 0 where HTTP isn't served over IPv6, and whether TFTP is now.
	HTTPPort uint16
	TFTP     func() bool
	Secure   dhcp.Secure
	Files    dhcp.Files
	// Log gets a line an exchange that gives an address, though at most some hundred a second, and one a packet at debug level; nil
	// discards them.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

const (
	// linesPerSecond is how many exchanges are written down, as in DHCPv4.
	linesPerSecond = 500
	// maxLater offers wait for their turn. Of more each goes out at once.
	maxLater = 1024
)

// A Server answers what comes in on its connection.
type Server struct {
	cfg    Config
	memory dhcp.Memory
	lines  *rate.Limiter
	later  chan struct{}
}

// New makes a server.
func New(cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Server{cfg: cfg, memory: dhcp.NewMemory(cfg.Sights), lines: rate.NewLimiter(linesPerSecond, linesPerSecond), later: make(chan struct{}, maxLater)}
}

// Serve answers requests until the context ends or the connection fails. It closes the connection.
func (s *Server) Serve(ctx context.Context, c Conn) error {
	out, m := make([]byte, 0, maxPacket), &wire.Message{}
	err := links.Serve(ctx, c, "DHCPv6 requests", maxPacket, s.cfg.Log, func(b []byte, from Ingress) { s.one(ctx, c, m, b, from, out) })
	return err //nolint:wrapcheck // It says what failed.
}

// one decides about a packet, and answers it.
func (s *Server) one(ctx context.Context, c Conn, m *wire.Message, b []byte, in Ingress, buf []byte) {
	if s.cfg.Hears != nil && !s.cfg.Hears(in.Interface) {
		return
	}
	if err := m.Read(b); err != nil {
		s.observe("", "", dhcp.SilentMalformed)
		s.cfg.Log.Debug("ignored a malformed DHCPv6 packet", "from", in.From, "error", err.Error())
		return
	}
	a := s.handle(m, in, buf)
	if a.Packet == nil {
		s.write(ctx, a, in, nil)
		return
	}
	if d, stays := s.turn(a); stays {
		if d > 0 && s.holds(ctx, c, a, in, d) {
			return
		}
		s.write(ctx, a, in, c.Send(a.Packet, a.To, a.From, in.Index))
	}
}

// turn says how long an answer waits for those of other bootds; false: it's another one's to make.
func (s *Server) turn(a Answer) (time.Duration, bool) {
	switch {
	case !a.Offers:
		return 0, true
	case s.cfg.Leave != nil && s.cfg.Leave(a.MAC):
		return 0, false
	case s.cfg.Delay == nil:
		return 0, true
	}
	return s.cfg.Delay(a.MAC), true
}

// holds sends an answer later; false: too many wait already.
func (s *Server) holds(ctx context.Context, c Conn, a Answer, in Ingress, d time.Duration) bool {
	select {
	case s.later <- struct{}{}:
	default:
		return false
	}
	a.Packet = slices.Clone(a.Packet) // What it lies in is the next answer's.
	ctx = context.WithoutCancel(ctx)
	a.Facts = Facts{Type: a.Facts.Type, Client: a.Facts.Client}
	time.AfterFunc(d, func() {
		defer func() { <-s.later }()
		s.write(ctx, a, in, c.Send(a.Packet, a.To, a.From, in.Index))
	})
	return true
}

// View is what answers rest on now, for who wants to know what they would be.
func (s *Server) View() View {
	v := View{
		Now: s.cfg.Now(), Advertise: s.cfg.Advertise, HTTPPort: s.cfg.HTTPPort, Secure: s.cfg.Secure, Files: s.cfg.Files, State: s.cfg.State(), Keys: s.cfg.Keys(), Declined: s.memory.Declined, Own: s.cfg.Own,
	}
	if s.cfg.Learnt != nil {
		v.Learnt = s.cfg.Learnt.MAC
	}
	if s.cfg.TFTP != nil {
		v.TFTP = s.cfg.TFTP()
	}
	return v
}

// handle answers one packet, and passes on what it's a sign of before the answer can be sent.
func (s *Server) handle(m *wire.Message, in Ingress, buf []byte) Answer {
	v := s.View()
	a := Respond(v, m, in, buf)
	s.limit(&a, in, v.Now)
	s.note(&a, m, v.Now)
	s.observe(kindOf(a.Facts.Type), a.Facts.Client, a.Reason)
	if a.Stage != "" && s.cfg.Sightings != nil && s.memory.First(a.event(), v.Now) {
		s.cfg.Sightings.Seen(a.Plan, a.MAC, a.Stage, a.Facts.Firmware, v.Now)
	}
	if s.cfg.Trace != nil && !tooMany(a.Reason) {
		s.cfg.Trace(m.Raw(), in, a, v.Now)
	}
	return a
}

// prefixAlone says that a request is about a prefix and no address.
func prefixAlone(m *wire.Message) bool {
	return m.Options.Has(wire.OptionIAPD) && !m.Options.Has(wire.OptionIANA) && !m.Options.Has(wire.OptionIATA)
}

// note remembers what was given, what was declined, and who said to be whom. A prefix that a router gives installs nothing.
func (s *Server) note(a *Answer, m *wire.Message, now time.Time) {
	if a.Plan == nil || tooMany(a.Reason) || a.Reason == dhcp.LimitedMachine {
		return
	}
	other := a.Reason == dhcp.SilentOtherServer
	switch {
	case a.Reason == dhcp.Acknowledged, other && a.Facts.Type == wire.Request:
		s.memory.Gave(a.event(), now)
	case a.Reason == dhcp.Declined, other && a.Facts.Type == wire.Decline:
		believed := s.memory.Declines(a.event(), now)
		switch {
		case a.Reason == dhcp.Declined && !believed:
			a.Packet, a.Reason = nil, dhcp.SilentUnasked
		case a.Reason == dhcp.Declined && s.cfg.Declined != nil:
			s.cfg.Declined(a.Plan, a.MAC, a.address().Addr(), now)
		}
	}
	if other && a.Facts.Type == wire.Request && s.cfg.OtherServer != nil && !prefixAlone(m) {
		s.cfg.OtherServer(a.Plan, a.Facts.Server)
	}
	if s.cfg.Learnt != nil && a.Packet != nil && a.Facts.Link != "" {
		s.cfg.Learnt.Learn(a.Facts.ID, a.Facts.Link, a.Plan)
	}
}

// limit keeps an answer back where its machine gets too many, and stops looking at strangers where there are too many of them.
func (s *Server) limit(a *Answer, in Ingress, now time.Time) {
	if s.cfg.Limit == nil {
		return
	}
	if a.Plan != nil {
		if a.Packet != nil && s.cfg.Limit.Machine(a.MAC, now) != limit.Within {
			a.Packet, a.Reason, a.Stage = nil, dhcp.LimitedMachine, ""
		}
		return
	}
	who, relay := a.MAC, netip.Addr{}
	if who == "" {
		who = boot.MAC(a.Facts.ID)
	}
	if in.To.IsValid() {
		relay = in.From.Addr()
	}
	switch s.cfg.Limit.Stranger(who, relay, now) {
	case limit.Within:
	case limit.PerMAC:
		a.Reason = dhcp.LimitedStranger
	case limit.PerRelay:
		a.Reason = dhcp.LimitedRelay
	case limit.InTotal:
		a.Reason = dhcp.LimitedStrangers
	}
}

// tooMany says that a stranger's request wasn't looked at, since there are too many.
func tooMany(r dhcp.Reason) bool {
	return r == dhcp.LimitedStranger || r == dhcp.LimitedRelay || r == dhcp.LimitedStrangers
}

func (s *Server) observe(kind string, c dhcp.Client, r dhcp.Reason) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(kind, c, r)
	}
}

// kindOf is a message's type for metrics, of which there must be few: whatever has no name is one.
func kindOf(t wire.Type) string {
	if word := t.String(); !strings.HasPrefix(word, "TYPE") {
		return word
	}
	return "UNKNOWN"
}

// write writes what was done. Nothing that a client wrote into its packet but its MAC gets here.
func (s *Server) write(ctx context.Context, a Answer, in Ingress, err error) {
	level := slog.LevelDebug
	switch {
	case err != nil || a.Reason == dhcp.Declined || a.Reason == dhcp.SilentOwn:
		level = slog.LevelWarn
	case a.Reason == dhcp.Acknowledged || a.Reason == dhcp.Refused:
		level = slog.LevelInfo
	}
	if !s.cfg.Log.Enabled(ctx, level) || !s.lines.Allow() {
		return
	}
	args := []any{
		"reason", string(a.Reason), "type", a.Facts.Type.String(), "mac", string(a.MAC),
		"client", string(a.Facts.Client), "from", in.From.String(), "interface", in.Interface,
	}
	if a.Plan != nil {
		args = append(args, "entry", a.Plan.Entry.String(), "address", a.address().String())
	}
	if a.To.IsValid() { // Silence goes to nobody.
		args = append(args, "to", a.To.String())
	}
	if err != nil {
		args = append(args, "error", err.Error())
	}
	s.cfg.Log.Log(ctx, level, "DHCPv6", args...)
}
