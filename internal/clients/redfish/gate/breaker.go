package gate

import (
	"errors"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

const (
	// patience is how many calls in a row may find no answer before the breaker opens.
	patience = 3
	// firstRest and lastRest bound how long a BMC that doesn't answer is left alone.
	firstRest = 2 * time.Second
	lastRest  = 16 * time.Second
)

// breaker spares a BMC that doesn't answer, and the workers that would wait for
// it: after a few failures in a row, calls get the last error for a while. A
// BMC that says how long it wants to be left alone is, from the first one on.
type breaker struct {
	failures int
	last     error
	until    time.Time
}

// open returns the last error while the BMC is left alone.
func (b *breaker) open(now time.Time) error {
	if now.Before(b.until) {
		return b.last
	}

	return nil
}

// result takes note of how a call went.
func (b *breaker) result(err error, now time.Time) {
	if !redfish.IsUnreachable(err) {
		*b = breaker{}

		return
	}
	b.failures++
	b.last = err
	var e *redfish.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		b.until = now.Add(e.RetryAfter)

		return
	}
	if b.failures < patience {
		return
	}
	rest := lastRest
	if doublings := b.failures - patience; doublings < 3 {
		rest = firstRest << doublings
	}
	b.until = now.Add(rest)
}
