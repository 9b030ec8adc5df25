package bmc

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
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
	// Lockouts are how often so many logins failed that the account was locked.
	Lockouts int
	// Logouts are sessions that their owner deleted.
	Logouts int
	// Unauthorized answers (401) of any kind.
	Unauthorized int
	// Patches that took effect.
	Patches int
	// Resets that were accepted, by their ResetType.
	Resets map[string]int
	// BMCResets are those of the BMC itself.
	BMCResets int
	// Streams of events that were opened.
	Streams int
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
	if write && !b.isSessions(r.URL.Path) {
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

// Write is one request that asked for a change, whatever became of it.
type Write struct {
	At     time.Time
	Method string
	Path   string
	// Body as it was sent, up to the limit for bodies; "" of an account's.
	Body string
	// Status of the answer; 0 where none was sent.
	Status int
}

// FullWrites lists every PATCH, POST, PUT and DELETE but logins and logouts
// since the BMC was made, oldest first: what a proof that nothing was written
// reads. None is ever forgotten.
func (b *BMC) FullWrites() []Write {
	b.mu.Lock()
	defer b.mu.Unlock()

	return slices.Clone(b.writes)
}

// observe keeps a write for FullWrites as soon as it is done, or broken off.
func (b *BMC) observe(w http.ResponseWriter, r *http.Request) (watched http.ResponseWriter, done func()) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || b.isLogin(r) {
		return w, func() {}
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		// Too long: the handler finds JSON that has no end.
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), brokenOff{err}))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.writes)
	if b.isAccount(r.URL.Path) {
		body = nil // Nobody reads a password here.
	}
	b.writes = append(b.writes, Write{At: b.cfg.Now(), Method: r.Method, Path: r.URL.Path, Body: string(body)})
	watching := &watchedWriter{ResponseWriter: w}

	return watching, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.writes[n].Status = watching.status
		if done := watching.status; done != 0 && done < http.StatusMultipleChoices {
			b.tell(r.URL.Path)
		}
	}
}

// isLogin says whether a request only opens or ends a session.
func (b *BMC) isLogin(r *http.Request) bool {
	if r.Method == http.MethodDelete {
		return strings.HasPrefix(treeKey(r.URL.Path), treeKey(b.sessions)+"/")
	}

	return r.Method == http.MethodPost && b.isSessions(r.URL.Path)
}

// watchedWriter remembers the status.
type watchedWriter struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *watchedWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController through.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// brokenOff is a reader that has only an error.
type brokenOff struct{ err error }

// Read implements io.Reader.
func (r brokenOff) Read([]byte) (int, error) { return 0, r.err }
