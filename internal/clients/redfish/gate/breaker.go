package gate

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

const (
	// patience is how many calls in a row may find no answer before the breaker opens.
	patience = 3
	// firstRest and lastRest bound how long a BMC that doesn't answer is left
	// alone, and jitter is the part of it by which that is more or less: those
	// that went together aren't all asked together.
	firstRest = 2 * time.Second
	lastRest  = 2 * time.Minute
	jitter    = 0.2
	// benefit is how long a BMC that had little time to answer, and didn't, isn't
	// told to be away for want of a slot to ask it again: it may be slow, or we.
	benefit = 30 * time.Second
)

// breaker spares a BMC that doesn't answer, and the workers that would wait for
// it: after a few failures in a row, calls get the last error for a while. Then
// one call finds out whether it answers again, and who comes meanwhile doesn't
// wait for that. A BMC that says how long it wants to be left alone is, from the
// first time on.
type breaker struct {
	// suspect says that the BMC didn't answer when it was asked last, or several
	// times said that it can't. One that wasn't asked yet isn't.
	suspect  bool
	failures int
	last     error
	until    time.Time
	// doubted is since when that isn't sure.
	doubted time.Time
}

// open returns the last error while the BMC is left alone.
func (b *breaker) open(now time.Time) error {
	if now.Before(b.until) {
		return b.last
	}

	return nil
}

// hurried takes note of a BMC that had little time to answer, and didn't. That
// is no failure yet: it's asked again with more time, if there's a slot.
func (b *breaker) hurried(err error, now time.Time) { b.suspect, b.last, b.doubted = true, err, now }

// unasked is what is said of a suspect that can't be asked now, for want of a slot.
func (b *breaker) unasked(now time.Time) error {
	if b.failures == 0 && now.Sub(b.doubted) < benefit {
		return errBusySlow
	}

	return b.last
}

// result takes note of how a call went. random, in [0, 1), moves the rest.
func (b *breaker) result(err error, now time.Time, random float64) {
	if !redfish.IsUnreachable(err) {
		*b = breaker{}

		return
	}
	b.failures++
	b.last = err
	e, _ := errors.AsType[*redfish.Error](err)
	if e != nil && e.RetryAfter > 0 {
		b.until = now.Add(e.RetryAfter)

		return
	}
	b.suspect = b.suspect || e == nil || e.Status == 0 || b.failures >= patience
	if b.failures < patience {
		return
	}
	rest := lastRest
	if doublings := b.failures - patience; doublings < 6 {
		rest = firstRest << doublings
	}
	b.until = now.Add(rest + time.Duration((2*random-1)*jitter*float64(rest)))
}

// anyRandom is a random number that is no secret.
func anyRandom() float64 { return rand.Float64() } //nolint:gosec // It only spreads calls.
