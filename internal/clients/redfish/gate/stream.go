package gate

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// errNobody is why a stream isn't opened where nobody has logged in, or the BMC
// isn't known to answer.
var errNobody = &BusyError{why: "nobody has a session there with these settings"}

// errSessionGone ends a stream with the session that it was opened with.
var errSessionGone = redfish.Unreachablef("cannot listen to the BMC: its session was closed")

// Same says whether t and other are one BMC, talked to in one way: they share a session.
func (t Target) Same(other Target) bool {
	return t.Address == other.Address && fingerprint(t) == fingerprint(other)
}

// A Stream is a BMC's, for as long as the session is open that it was made with.
type Stream struct {
	*redfish.Stream

	life context.Context //nolint:containedctx // It's a signal, and not what is called with.
}

// Listen is redfish.Stream's. It ends with the session as well: that was closed,
// or other settings or a new password are used from now on.
func (s *Stream) Listen(ctx context.Context, opened func(), heard func(events int)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(s.life, func() { end(errSessionGone) })() //nolint:contextcheck // The session's life is another one.

	err := s.Stream.Listen(ctx, opened, heard)
	if s.life.Err() != nil && errors.Is(err, redfish.ErrStreamClosed) {
		return errSessionGone // The BMC heard of it first.
	}

	return err
}

// Stream makes what listens to the events of the target's BMC, by the session that
// others have opened with the same settings. It never logs in, nor has it a session
// closed or kept: however often it's called, no account is locked by it, and no
// table of sessions is filled. Without such a session, and where the BMC is left
// alone or may not answer, it sends nothing and returns an error that NeedsLook. Like
// the reading of an inventory it lets everybody else go first, and what takes long
// is a BusyError and says nothing about the BMC.
func (g *Gates) Stream(ctx context.Context, t Target) (*Stream, error) {
	gk, err := g.known(t.Address)
	if err != nil {
		return nil, err
	}
	if gk.suspect.Load() {
		return nil, errNobody
	}
	if err := gk.turns.enter(ctx, Inventory, g.queue); err != nil {
		return nil, err
	}
	defer gk.turns.leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := gk.refusal(t.Credential(), g.now()); err != nil {
		return nil, err
	}
	away := gk.breaker.suspect || gk.breaker.open(g.now()) != nil
	if away || gk.client == nil || gk.opened != gk.fingerprint(t) {
		return nil, errNobody
	}

	return gk.stream(ctx, g, t)
}

// stream asks where to listen. The caller has the turn.
func (g *gate) stream(ctx context.Context, of *Gates, t Target) (*Stream, error) {
	yield, now := context.WithCancel(ctx)
	defer now()
	g.turns.yields(now)
	p := &redfish.Patience{Yield: yield, Wanted: g.turns.wanted}
	s, err := g.client.Stream(redfish.WithPatience(ctx, p))
	switch {
	case redfish.IsUnreachable(err):
		return nil, &BusyError{why: errBusySlow.why, After: retryAfter(err)}
	case err != nil:
		g.result(ctx, of, t, err)

		return nil, err
	}
	g.breaker.result(nil, of.now(), 0)
	if g.listens.life == nil {
		g.listens.life, g.listens.end = context.WithCancel(context.Background()) //nolint:fatcontext // It's the session's, and there is none.
	}

	return &Stream{s, g.listens.life}, nil
}

// listens is what ends with a session: those who listen by it.
type listens struct {
	life context.Context //nolint:containedctx // It's a signal, and not what is called with.
	end  context.CancelFunc
}

// over ends them.
func (l *listens) over() {
	if l.end != nil {
		l.end()
	}
	*l = listens{}
}

// known is the gatekeeper of an address that was talked to.
func (g *Gates) known(address string) (*gate, error) {
	key, err := redfish.Endpoint(address)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	if gk := g.gates[key]; gk != nil {
		return gk, nil
	}

	return nil, errNobody
}

// fingerprint is what ensure opens a session of t's settings with.
func (g *gate) fingerprint(t Target) [sha256.Size]byte {
	if t.TLS.Verify == redfish.VerifyTrustOnFirstUse && len(t.TLS.Pins) == 0 && g.pin != "" {
		t.TLS.Pins = []string{g.pin}
	}

	return fingerprint(t)
}

// NeedsLook says whether a stream has ended with its session, or couldn't be opened
// without one, so that the next look at a host is to be waited for.
func NeedsLook(err error) bool {
	return errors.Is(err, errNobody) || errors.Is(err, errSessionGone)
}
