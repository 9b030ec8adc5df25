package bmc

import (
	"maps"
	"net/http"
	"time"
)

// logLimit bounds the request log; older requests are forgotten, counters are not.
const logLimit = 10_000

// Request is one line of the request log.
type Request struct {
	At     time.Time
	Method string
	Path   string
	// IfMatch is the header as sent; "" when it wasn't.
	IfMatch string
}

// Counters tell what was asked of a BMC since it was made.
type Counters struct {
	// Requests of any kind.
	Requests int
	// Writes are PATCHes and POSTs to anything but sessions.
	Writes int
	// Logins that succeeded; FailedLogins that didn't (sessions and basic).
	Logins, FailedLogins int
	// Logouts are sessions that their owner deleted.
	Logouts int
	// Unauthorized answers (401) of any kind.
	Unauthorized int
	// Patches that took effect.
	Patches int
	// Resets that were accepted, by their ResetType.
	Resets map[string]int
}

// Counters returns a copy of the counters.
func (b *BMC) Counters() Counters {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.counters
	c.Resets = maps.Clone(b.counters.Resets)

	return c
}

// Requests returns a copy of the request log, oldest first.
func (b *BMC) Requests() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()

	return append([]Request(nil), b.log...)
}

func (b *BMC) record(r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counters.Requests++
	write := r.Method == http.MethodPatch || r.Method == http.MethodPost
	if write && r.URL.Path != pathSessions {
		b.counters.Writes++
	}
	if len(b.log) >= logLimit {
		b.log = b.log[logLimit/2:]
	}
	b.log = append(b.log, Request{At: b.cfg.Now(), Method: r.Method, Path: r.URL.Path, IfMatch: r.Header.Get("If-Match")})
}

func (b *BMC) count(f func(*Counters)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.counters)
}
