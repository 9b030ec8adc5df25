package kubesource

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// maxSkew is how far this host's clock may be from the API server's. A grant is good for a day, and whether it has expired is known by a clock alone: one that is
// behind would have an install begin that everybody else refuses, and one that is ahead none at all.
//
// One that is off is right again when it's so by rightAgain: the header says whole seconds, and a clock drifts by one a day.
const (
	maxSkew    = 5 * time.Minute
	rightAgain = 10 * time.Second
)

// maxRetryAfter is how many seconds the API may have itself not asked, however long it says.
const maxRetryAfter = 2

// A told is what time the API server said it was, and when that was heard.
type told struct{ server, heard time.Time }

// timeKeeper notes what time the API server's answers say it is (the header Date, RFC 9110 §6.6.1).
type timeKeeper struct {
	http.RoundTripper

	last *atomic.Pointer[told]
}

// RoundTrip asks.
func (k timeKeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := k.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // It's passed on as it is.
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		k.last.Store(&told{at, time.Now()})
	}
	// Whatever stands before the API may say "in five minutes" while that is restarted, and client-go waits for as long, in the midst of a list or a
	// watch: a bootd that sees no sessions so long keeps all those of its networks from installing. The API server itself says half a minute where it
	// has too much to do; what bootd asks it then is bounded by its own limit, and by pauses between lists that grow.
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > maxRetryAfter {
		resp.Header.Set("Retry-After", strconv.Itoa(maxRetryAfter))
	}
	return resp, nil
}

// WrappedRoundTripper is for who looks for the transport itself (k8s.io/apimachinery/pkg/util/net).
func (k timeKeeper) WrappedRoundTripper() http.RoundTripper { return k.RoundTripper }

// Clock says what time it is for the API server, by its last answer; false: it hasn't said.
func (c *Client) Clock() (time.Time, bool) {
	t := c.told.Load()
	if t == nil {
		return time.Time{}, false
	}
	return t.server.Add(time.Since(t.heard)), true // By the monotonic clock, which nobody sets.
}

// skew is how far this host's clock is ahead of the API server's; negative: it's behind; 0: that isn't known, or doesn't matter.
func (s *Source) skew() time.Duration {
	c, ok := s.o.Kube.(interface{ Clock() (time.Time, bool) })
	if !ok {
		return 0
	}
	at, ok := c.Clock()
	if !ok {
		return 0
	}
	limit := maxSkew
	if s.off.Load() {
		limit -= rightAgain
	}
	d := s.o.Now().Sub(at)
	off := d > limit || d < -limit
	s.off.Store(off)
	if !off {
		return 0
	}
	return d
}

// Skewed says that this host's clock isn't the API server's, so that nothing is installed by it.
func (s *Source) Skewed() bool { return s.skew() != 0 }

// A clockWatch says when this host's clock isn't the API server's, every ten minutes, and when it is again.
type clockWatch struct {
	log  *slog.Logger
	now  func() time.Time
	said time.Time
}

func (c *clockWatch) after(skew time.Duration) {
	switch {
	case skew == 0 && !c.said.IsZero():
		c.log.Info("the clock of this host is the API server's again")
		c.said = time.Time{}
	case skew != 0 && due(c.said, c.now()):
		c.log.Error("nothing is installed by this bootd", "problem", skewed(skew))
		c.said = c.now()
	}
}

// clockOf is how the message of a BootServer begins whose clock is wrong. By that the others know that no boot is to be left to it.
const clockOf = "the clock of this bootd's host"

// skewed says what to do about a skew; "" where there's none.
func skewed(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d > 0:
		return fmt.Sprintf(clockOf+" is %s ahead of the API server's, and nothing is installed by it; set it, by NTP, or the API server's where all bootds say so", d.Round(time.Second))
	}
	return fmt.Sprintf(clockOf+" is %s behind the API server's, and nothing is installed by it; set it, by NTP, or the API server's where all bootds say so", (-d).Round(time.Second))
}
