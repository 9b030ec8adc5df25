// Package netbox emulates, in memory, the endpoints of NetBox that the provider uses, as recorded NetBoxes behave.
package netbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a Server.
type Options struct {
	// Version to be: 4.2.9, 4.4.10, 4.6.8 (the default) or 4.7.0-beta1, or any other in between.
	Version string
	// Now gives the times of records; time.Now if nil.
	Now func() time.Time
	// Latency is what each request takes, and Hold the part of it that one which makes an address holds NetBox's one lock for.
	Latency, Hold time.Duration
	// Terse has it describe its endpoints without what a token may write there, to whomever: as one behind a proxy that trims, or of a
	// version that nobody has recorded.
	Terse bool
}

// A Server is one NetBox. It is an http.Handler, safe for concurrent use; Start serves it on loopback.
type Server struct {
	traits     traits
	now        func() time.Time
	allocation sync.Mutex
	// terse is Options.Terse.
	terse bool
	// dates says that answers have the date of the server's clock, and not of this machine's.
	dates atomic.Bool

	mu sync.Mutex // guards everything below: NetBox, too, allocates under one lock
	// latency of a request, and hold, which is the part of it under allocation.
	latency, hold time.Duration
	state         state
	requests      []Request
	faults        []*Fault
	met           map[FaultKind]int
	lag           lagging

	listener net.Listener
	http     *http.Server
	done     chan struct{}
}

// A Request is one entry of the request log.
type Request struct {
	At                  time.Time
	Method, Path, Query string
	// Body as it came, at most 64 KiB.
	Body string
	// Status answered; 0 where a fault gave no answer.
	Status int
	// Token is the name of the token, or "" where none was accepted.
	Token string
	// Fault that took part, or "".
	Fault FaultKind
}

// Writes says whether the request could change anything.
func (r Request) Writes() bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// New returns an empty NetBox without tokens.
func New(o Options) *Server {
	if o.Version == "" {
		o.Version = "4.6.8"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{traits: traitsOf(o.Version), now: o.Now, latency: o.Latency, hold: o.Hold, terse: o.Terse, state: newState(), met: map[FaultKind]int{}}
}

// Start serves on addr ("" means 127.0.0.1 and a free port) until Close. After that it may start again, with all it had.
func (s *Server) Start(addr string) error {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return fmt.Errorf("cannot start the NetBox emulator on %q: %w", addr, err)
	}
	s.listener, s.done = l, make(chan struct{})
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l)
	}()
	return nil
}

// URL of a started server, ending in a slash.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" }

// Close ends a started server and all its connections at once, hung ones too.
func (s *Server) Close() error {
	if s.http == nil {
		return nil
	}
	err := s.http.Close()
	<-s.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ServeHTTP answers one request, or, by a fault, doesn't.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	f := s.takeFault(r, body)
	if f.before(r.Context()) {
		s.log(r, body, 0, f.Kind)
		hangUp(w)
		return
	}
	res := f.answer(s.traits)
	if res == nil {
		release := s.takeTime(r)
		res = s.handle(r, body, f)
		release()
	}
	f.spoil(res)
	status := res.status
	if f.after(r.Context()) {
		status = 0
	}
	s.log(r, body, status, f.Kind)
	if status == 0 {
		hangUp(w)
		return
	}
	if s.dates.Load() {
		s.mu.Lock()
		w.Header().Set("Date", s.now().UTC().Format(http.TimeFormat))
		s.mu.Unlock()
	}
	res.write(w, r, s.traits)
}

// SetClock sets the server's clock forward by so much, or back, as records have it and, where it dates them, answers: else what stands in front of it
// does, by this machine's clock.
func (s *Server) SetClock(by time.Duration, dates bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now
	s.now = func() time.Time { return now().Add(by) }
	s.dates.Store(dates)
}

// Slow makes requests take as long as Options.Latency and Hold say, from now on.
func (s *Server) Slow(latency, hold time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency, s.hold = latency, hold
}

// takeTime takes the time of a request, and the lock of one that makes an address, until release.
func (s *Server) takeTime(r *http.Request) (release func()) {
	s.mu.Lock()
	latency, hold := s.latency, s.hold
	s.mu.Unlock()
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/available-ips/") && !strings.HasSuffix(r.URL.Path, "/ip-addresses/") {
		time.Sleep(latency)
		return func() {}
	}
	time.Sleep(latency - hold)
	s.allocation.Lock()
	time.Sleep(hold)
	return s.allocation.Unlock
}

// handle routes under the lock, so that each request is one transaction.
func (s *Server) handle(r *http.Request, body []byte, f *Fault) *response {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, ok := strings.CutPrefix(r.URL.Path, "/api/")
	if !ok {
		return htmlPage(http.StatusNotFound)
	}
	if !strings.HasSuffix(path, "/") {
		return s.noSlash(r)
	}
	c := &exchange{
		s: s, r: r, body: bytes.TrimSpace(body), parts: strings.Split(strings.Trim(path, "/"), "/"),
		base: "http://" + r.Host, fault: f,
	}
	defer s.at(r)()
	return c.route()
}

// noSlash: before 4.5.9 everything is redirected, which loses a POST; later only reads are (723, 724).
func (s *Server) noSlash(r *http.Request) *response {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && s.traits.atLeast(4, 5, 9) {
		return htmlPage(http.StatusNotFound)
	}
	res := htmlPage(http.StatusMovedPermanently)
	res.header.Set("Location", r.URL.Path+"/")
	res.noVersion = true
	return res
}

func (s *Server) log(r *http.Request, body []byte, status int, fault FaultKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, _ := s.state.token(r.Header.Get("Authorization"), s.traits)
	s.requests = append(s.requests, Request{
		At: s.now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Body: string(body[:min(len(body), 64<<10)]), Status: status, Token: t.Name, Fault: fault,
	})
}

// hangUp closes the connection without a byte of answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // a recorder in a test, or HTTP/2: abort as far as possible
	}
	_ = conn.Close()
}
