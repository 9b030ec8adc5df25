package gate

import (
	"context"
	"errors"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// besides calls f in the lane of inventories. One of hundreds of resources may take
// all its time with a BMC that is well, and so says nothing about the BMC: that is
// asked by the next look, and meanwhile it isn't suspect for it. What is read goes
// on later where somebody waits for the BMC: between two resources at once, and in
// the middle of one when that was waited for long enough. A suspect has no
// inventory read. The caller has the turn.
func (g *gate) besides(ctx context.Context, of *Gates, t Target, f func(context.Context, *redfish.Client) error) error {
	if g.breaker.suspect {
		return errBusySlow
	}
	yield, now := context.WithCancel(ctx)
	defer now()
	g.turns.yields(now)
	p := &redfish.Patience{Yield: yield, Wanted: g.turns.wanted}
	in := redfish.WithPatience(ctx, p)
	client, err := g.ensure(in, of.connect, t)
	if err == nil {
		err = f(in, client)
	}
	g.sweepAfter(of.idle)
	switch {
	case !redfish.IsUnreachable(err):
		g.result(ctx, of, t, err)

		return err
	case p.Yielded:
		return errBusyYield
	case client == nil && retryAfter(err) == 0:
		return err // Not even a session: it's no resource's fault, and none is asked for.
	default:
		return &BusyError{why: errBusySlow.why, After: retryAfter(err)}
	}
}

// retryAfter is how long a BMC asked to be left alone.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*redfish.Error](err); ok {
		return e.RetryAfter
	}

	return 0
}
