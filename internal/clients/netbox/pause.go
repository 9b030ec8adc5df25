package netbox

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// shortPause is what a 429 asks for that doesn't say how long, and the longest that a call is held for. What would have to wait
	// longer fails at once instead, with nothing sent: its caller has other things to do.
	shortPause = 2 * time.Second
	// longPause is the longest that anybody can have us pause for.
	longPause = 5 * time.Minute
	// holdLook is between looks at the clock of who is held.
	holdLook = 50 * time.Millisecond
)

// A pause is what NetBox, or what stands in front of it, asked the whole connection for.
type pause struct {
	now func() time.Time

	mu    sync.Mutex
	until time.Time
}

// note takes over what an answer asks for: 429 always does, 503 where it says how long.
func (p *pause) note(status int, h http.Header) {
	asked := retryAfter(h, p.now())
	switch {
	case status == http.StatusTooManyRequests:
		asked = max(asked, shortPause)
	case status != http.StatusServiceUnavailable || asked <= 0:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.now().Add(min(asked, longPause)); until.After(p.until) {
		p.until = until
	}
}

// retryAfter reads both forms of the header: seconds, and a date, which is compared with the answer's own one where it has any, since
// the other clock needn't be ours. 0 where it says nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	until, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if there, err := http.ParseTime(h.Get("Date")); err == nil {
		now = there
	}
	return max(until.Sub(now), 0)
}

// left is how long nothing is to be sent, and whether that's beyond a time.
func (p *pause) left(most time.Time) (left time.Duration, late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until.Sub(p.now()), p.until.After(most)
}

// hold waits for the end of a short pause, and fails at once where it would have to wait longer: also when another answer makes the
// pause so long meanwhile. It goes by the pause's clock.
func (p *pause) hold(ctx context.Context, k call) error {
	most := p.now().Add(shortPause)
	for {
		left, late := p.left(most)
		if left <= 0 {
			return nil
		}
		failed := k.failed(KindUnreachable, "it asked for a pause, or what stands in front of it did; nothing was sent", nil)
		if late {
			return failed
		}
		t := time.NewTimer(min(left, holdLook))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			failed.Err = ctx.Err()
			return failed
		}
	}
}
