package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// Reasons of a hold that boot.Decide doesn't know of.
const (
	ReasonToken  = "InvalidToken"
	ReasonAPI    = "APIUnavailable"
	ReasonDisk   = "StateNotWritten"
	ReasonBusy   = "TooManyAtOnce"
	ReasonGone   = "ClientGone"
	ReasonScript = "ScriptInvalid"
	ReasonPace   = "AsksTooOften"
	ReasonHeld   = "InstallsHeld"
	ReasonPort   = "NotSeenBehindItsPort"
	// ReasonConfirm is InstallsHeld until a person has said that it's the machine which is meant.
	ReasonConfirm = "NeedsConfirmation"
)

// ErrChanged says that the plan which a boot began with isn't known any more: nothing of another one is given to it.
var ErrChanged = errors.New("the plan of the install was changed since it began")

// ErrHeld says that nothing may be installed on a machine now; later it may.
var ErrHeld = session.ErrHeld

// errAsks is ErrHeld where a person has to say that it's the machine which is meant.
var errAsks = fmt.Errorf("%w; see what bootd explain says of it", ErrHeld)

// errUnread is ErrHeld where the specs were changed since the machine was found, or couldn't be read once more in time.
var errUnread = fmt.Errorf("%w; or its specs changed just now, or couldn't be read once more before the grant is used", ErrHeld)

// held comes before a grant is opened or used, and before a kernel goes out that destroys. Nothing is written then: once nothing stands in
// the way, the same boot goes on.
func (g *Gate) held(c Caller) error {
	switch {
	case c.Live() || !c.unasked() && !g.o.Held(c.Plan):
		return nil
	case g.asks(c):
		return errAsks
	}
	return ErrHeld
}

// free is held, asked of the specs as they are now: what follows can't be taken back. It's asked before, too, lest the folder be read for a machine that's
// held in any case.
func (g *Gate) free(ctx context.Context, c Caller) error {
	if err := g.held(c); err != nil {
		return err
	}
	if g.o.Reread == nil {
		return nil
	}
	switch ok := g.o.Reread(ctx, c.Plan); {
	case !ok && errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err() // The machine has gone.
	case !ok:
		return errUnread
	}
	return g.held(c)
}

// asks says whether a person is asked about a machine.
func (g *Gate) asks(c Caller) bool { return g.o.Asks != nil && g.o.Asks(c.Plan) }

// unasked says that a machine has a grant that nobody has used, and its plan asks for no install, by what is served: an earlier life may have known that
// of an entry, and the source not yet.
func (c Caller) unasked() bool {
	s := c.Session
	return c.Plan.InstallGeneration == 0 && s != nil && s.Grant != nil && !s.Consumed.Covers(s.Grant)
}

// looped writes down that a machine has begun once more than its grant serves scripts, by the boot of that nonce: the one before it has ended, and begins nothing
// any more by a token that was seen. A machine that repeats its last request hasn't.
func (g *Gate) looped(ctx context.Context, c Caller, nonce string) {
	s, x := c.Session, c.Claims.Exchange(g.o.Now())
	switch {
	case len(s.Opened) > boot.MaxOpens, s.Began(nonce), boot.Outdated(*s, nonce, x, g.o.Now()):
		return
	case !c.Plan.Port.Marked(c.Claims.Nonce), g.held(c) != nil, g.paced(c) != nil: // It would have begun nothing before, either.
		return
	}
	t := boot.Claims{Kind: boot.TokenBoot, Entry: c.Claims.Entry, GrantID: s.Grant.ID, Nonce: nonce}
	if err := g.o.Sessions.Open(ctx, c.Plan, t, x); err != nil && !Final(err) {
		g.o.Logger.Warn("a machine has begun once more than its grant serves scripts, and that can't be written down: until it is, the boot before may still begin its install", "entry", c.Plan.Entry.String(), "error", err.Error())
	}
}

// Deliver comes before the first byte of a kernel that destroys by itself: it's given to the boot alone that used the grant.
func (g *Gate) Deliver(ctx context.Context, c Caller) error {
	if err := g.paced(c); err != nil {
		return err
	}
	if err := g.free(ctx, c); err != nil {
		return err
	}
	return g.o.Sessions.Deliver(ctx, c.Plan, c.Claims)
}

// Admit lets a boot at what only it may have: its image and its data. It gives the plan that was granted, by which these are chosen.
// For an install the first to come uses its grant, unless this boot has done so already; without commit, as for a HEAD, it never does.
// ErrChanged where that plan isn't known.
func (g *Gate) Admit(ctx context.Context, c Caller, commit bool) (*boot.Plan, error) {
	if !c.Live() && !c.Owns() && commit {
		if err := g.consume(ctx, c); err != nil {
			return nil, err
		}
	}
	p := g.granted.plan(c.Claims.Entry, c.Plan, c.planDigest())
	if p == nil {
		return nil, ErrChanged
	}
	return p, nil
}

// Data comes before what a machine is given beside its image: whether the boot may still have it is asked anew each time, since the
// watch may not have heard of a revocation yet, nor of what the boot has told another bootd.
func (g *Gate) Data(ctx context.Context, c Caller) error {
	if err := g.paced(c); err != nil {
		return err
	}
	switch {
	case c.Live():
		return nil
	case !c.Plan.AsksLater(): // Also of a boot that has just used its grant here, as far as this bootd knows.
		return g.o.Sessions.Unended(ctx, c.Plan, c.Claims)
	case c.Owns():
		return g.o.Sessions.Check(ctx, c.Plan, c.Claims)
	}
	return nil
}

// Begin consumes the grant, unless the same boot did. A boot that has reported its install doesn't begin a second one.
func (g *Gate) Begin(ctx context.Context, c Caller) error {
	if g.Ended(c) {
		return boot.ErrConsumed
	}
	switch {
	case c.Live():
		return nil
	case c.Owns():
		return c.heard()
	}
	return g.consume(ctx, c)
}

// Unused says that a boot's grant is there to be used, as far as this bootd knows, and that nothing stands in its way.
func (g *Gate) Unused(c Caller) bool {
	s := c.Session
	return !c.Live() && s != nil && s.Grant != nil && s.Grant.ID == c.Claims.GrantID && !s.Consumed.Covers(s.Grant) && g.held(c) == nil
}

func (g *Gate) consume(ctx context.Context, c Caller) error {
	if err := g.paced(c); err != nil {
		return err
	}
	if err := g.free(ctx, c); err != nil {
		return err
	}
	return g.o.Sessions.Consume(ctx, c.Plan, c.Claims)
}

// Progress says whether a boot's word counts.
func (g *Gate) Progress(ctx context.Context, c Caller) error {
	switch {
	case c.Live():
		return nil
	case c.Owns():
		return c.heard()
	}
	if err := g.paced(c); err != nil {
		return err
	}
	return g.o.Sessions.Check(ctx, c.Plan, c.Claims)
}

// End records how an install ended, by its own word. stands says whether that word does: a failure after a success doesn't.
func (g *Gate) End(ctx context.Context, c Caller, installed bool, message string) (stands bool, err error) {
	if err := g.paced(c); err != nil {
		return false, err
	}
	stands, err = g.o.Sessions.Report(ctx, c.Plan, c.Claims, installed, message)
	if err != nil {
		return false, err
	}
	g.reading.ends(c.Claims.Entry) // Before the watch has heard of it.
	if installed {
		g.over.ends(c.Claims)
	}
	return stands, nil
}

// Booted records that the installed system runs, by its own word.
func (g *Gate) Booted(ctx context.Context, c Caller, message string) error {
	if err := g.paced(c); err != nil {
		return err
	}
	return g.o.Sessions.Booted(ctx, c.Plan, c.Claims, message)
}

// Final says whether an error is a refusal, which no retry changes.
func Final(err error) bool {
	for _, x := range []error{
		boot.ErrRevoked, boot.ErrNoGrant, boot.ErrExpired, boot.ErrSuperseded, boot.ErrConsumed, boot.ErrBootLoop, session.ErrNotFound,
	} {
		if errors.Is(err, x) {
			return true
		}
	}
	return false
}

// reason is the word for a refusal to open or consume.
func reason(err error) string {
	for _, x := range []struct {
		err    error
		reason string
	}{
		{boot.ErrRevoked, boot.DecidedRevoked},
		{boot.ErrNoGrant, boot.DecidedStale},
		{boot.ErrExpired, boot.DecidedExpired},
		{boot.ErrSuperseded, boot.DecidedSuperseded},
		{boot.ErrConsumed, boot.DecidedConsumed},
		{boot.ErrBootLoop, boot.DecidedBootLoop},
		{session.ErrNotFound, boot.DecidedNoSession},
		{context.Canceled, ReasonGone},
		{session.ErrBusy, ReasonBusy},
		{ErrPace, ReasonPace},
		{errAsks, ReasonConfirm},
		{ErrHeld, ReasonHeld},
	} {
		if errors.Is(err, x.err) {
			return x.reason
		}
	}
	if _, path := errors.AsType[*fs.PathError](err); path {
		return ReasonDisk
	}
	if _, link := errors.AsType[*os.LinkError](err); link { // That's a rename's.
		return ReasonDisk
	}
	return ReasonAPI
}
