// Package gate is the one door to a machine's disk. Whatever way a machine comes by (iPXE's script, a grub.cfg, the files of a
// Raspberry Pi), what it's told is decided here, and here alone a grant is opened, used and delivered on: test/imports holds that
// nobody else calls the session's Open, Consume, OpenAndConsume and Deliver. Whoever renders an install without having asked is a bug.
package gate

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Sessions are the records of what really happened; in production a session.Manager.
type Sessions interface {
	Logged(entryUID, hostUID string) []boot.Consumption
	Open(ctx context.Context, p *boot.Plan, t boot.Claims, x boot.Exchange) error
	Consume(ctx context.Context, p *boot.Plan, t boot.Claims) error
	OpenAndConsume(ctx context.Context, p *boot.Plan, t boot.Claims, x boot.Exchange) error
	// Deliver records that a kernel which destroys by itself is about to be given.
	Deliver(ctx context.Context, p *boot.Plan, t boot.Claims) error
	Check(ctx context.Context, p *boot.Plan, t boot.Claims) error
	// Unended is Check, and refuses a boot that has reported its install.
	Unended(ctx context.Context, p *boot.Plan, t boot.Claims) error
	// Report gives whether what it's told stands: a failure after a success doesn't.
	Report(ctx context.Context, p *boot.Plan, t boot.Claims, installed bool, message string) (stands bool, err error)
	Booted(ctx context.Context, p *boot.Plan, t boot.Claims, message string) error
	// NewBoot says whether the machine's firmware was seen to start again since.
	NewBoot(n boot.Name, since time.Time) bool
}

// Artifacts are the files that a boot needs; in production an artifacts.Cache.
type Artifacts interface {
	// Await returns nil when a file is there, its digest checked.
	Await(ctx context.Context, a boot.Artifact) error
	// DigestOf is that of what machines are given for a file that's there, which for an image that is unpacked is another than its own.
	DigestOf(a boot.Artifact) string
}

// Options of a Gate. All are required, but Skewed, Reread and Asks.
type Options struct {
	// State gives what is known now; nil: nothing yet.
	State func() *boot.State
	// Keys of tokens, the current one first.
	Keys func() [][]byte
	// Synced says whether a plan's session was compared with the logs of all live bootds.
	Synced func(*boot.Plan) bool
	// Skewed says that this host's clock isn't that of who makes grants; nil: nobody else's clock counts.
	Skewed func() bool
	// Held says that nothing may be installed by a plan now, though its grant stands: its specs are in doubt, or another server answers
	// its machine. A boot that has its script already waits.
	Held func(*boot.Plan) bool
	// Reread waits until what is served is what the specs say now, and says whether the plan of a machine that is about to use a grant is still that one;
	// nil: it isn't asked, as where the API says so when it's used.
	Reread func(context.Context, *boot.Plan) bool
	// Asks says whether that's so until a person has said that the machine is the one that is meant; nil: nobody is asked.
	Asks      func(*boot.Plan) bool
	Sessions  Sessions
	Artifacts Artifacts
	Now       func() time.Time
	Logger    *slog.Logger
}

// A Gate decides what machines may have. All listeners of a bootd share one.
type Gate struct {
	o       Options
	granted granted
	memos   memos
	pace    paces
	reading reading
	over    over
	lately  lately
	// unwritten says that what had to be written down of an install last couldn't be.
	unwritten atomic.Bool
}

// Unwritten says that what had to be written down of an install couldn't be when a machine last asked. It's for people: the next one's question tries again.
func (g *Gate) Unwritten() bool { return g.unwritten.Load() }

// New makes a gate.
func New(o Options) *Gate {
	return &Gate{
		o: o, granted: granted{plans: map[boot.EntryKey]*boot.Plan{}}, memos: memos{now: map[boot.EntryKey]*Memo{}}, pace: paces{of: map[boot.EntryKey]*rate.Limiter{}},
		reading: reading{of: map[boot.EntryKey]reader{}}, over: over{of: map[boot.EntryKey]string{}}, lately: lately{at: map[load]time.Time{}},
	}
}

// A Caller is a machine with a token of its boot.
type Caller struct {
	Claims boot.Claims
	// Plan of the machine. It must not be changed.
	Plan *boot.Plan
	// Session as it was last seen; nil where none was.
	Session *boot.Session
	// Memo of the plan.
	Memo *Memo

	// at is when the token was read; zero: that isn't known.
	at time.Time
}

// Caller reads a token. Who has none that's good is told no word why.
func (g *Gate) Caller(token string, kind boot.TokenKind) (Caller, bool) {
	st := g.o.State()
	if st == nil {
		return Caller{}, false
	}
	now := g.o.Now()
	t, err := boot.Verify(g.o.Keys(), token, now)
	if err != nil || t.Kind != kind {
		return Caller{}, false
	}
	p, ok := st.Noted(t.Entry)
	if !ok {
		return Caller{}, false
	}
	c := Caller{Claims: t, Plan: p.Plan, Memo: g.memos.beside(t.Entry, p), at: now}
	if x, ok := st.Sessions[p.EntryUID]; ok {
		session := x // Whoever has none takes no memory for it.
		c.Session = &session
	}
	return c, true
}

// MAC is the machine's first one, by which people know it in logs: which of its NICs asks isn't in a token. "" where it has none.
func (c Caller) MAC() boot.MAC {
	if len(c.Plan.MACs) == 0 {
		return ""
	}
	return c.Plan.MACs[0]
}

// GrantID of the grant that the session held when it was last seen; "" where it held none.
func (c Caller) GrantID() string {
	if c.Session == nil || c.Session.Grant == nil {
		return ""
	}
	return c.Session.Grant.ID
}

// Fits says whether a boot token is of the present plan or grant, and may fetch what destroys nothing by
// itself: kernels and initrds. Whether it may go further is the session's to say.
func (c Caller) Fits() bool {
	if c.Session != nil && c.Session.Revocation != "" {
		return false
	}
	if c.Plan.Mode == boot.ModeLive {
		return c.Memo.live != "" && c.Claims.GrantID == c.Memo.live
	}
	s := c.Session
	if s == nil || c.Claims.GrantID == "" {
		return false
	}
	return s.Grant != nil && s.Grant.ID == c.Claims.GrantID || s.Consumed != nil && s.Consumed.GrantID == c.Claims.GrantID
}

// Owns says whether this boot used the grant, by what the watch has delivered. That a consumption isn't
// in it yet says nothing: then the session must be asked.
func (c Caller) Owns() bool { return c.Session != nil && boot.Owns(*c.Session, c.Claims) == nil }

// heard says whether a boot that owns its session's used grant is still the machine's.
func (c Caller) heard() error { return boot.Heard(*c.Session, c.Claims) }

// Late says that a boot used its grant, and that one of a newer grant has begun since: its machine isn't that boot any more.
func (c Caller) Late() bool { return c.Owns() && c.heard() != nil }

// ended says whether this boot has reported its install, by what the watch has delivered.
func (c Caller) ended() bool {
	return c.Owns() && c.Session.Installed != nil && c.Session.Installed.GrantID == c.Claims.GrantID
}

// Live says whether the machine netboots each time: then no session is asked.
func (c Caller) Live() bool { return c.Plan.Mode == boot.ModeLive }

// planDigest is that of the plan which was granted to this boot.
func (c Caller) planDigest() string {
	switch s := c.Session; {
	case c.Live():
		return c.Plan.Digest() // Its token is of the present plan.
	case s.Consumed != nil && s.Consumed.GrantID == c.Claims.GrantID:
		return s.Consumed.PlanDigest
	case s.Grant != nil:
		return s.Grant.PlanDigest
	}
	return ""
}
