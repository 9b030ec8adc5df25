// Package fastlane answers, in front of net/http, what machines ask for most, and most at one time: a plain GET of a script or of a whole file, all of it in
// one segment. Whatever is said in any other way goes to net/http, octet for octet, with the connection: what HTTP is, is decided there.
package fastlane

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a Listener. All are required.
type Options struct {
	// Handler answers, as it does behind net/http. It keeps nothing of a request, but for a context whose end it has asked for.
	Handler http.Handler
	// Takes says whether the path of a request is one for here.
	Takes func(path string) bool
	// First is how long a connection may be silent before its first request, and Idle between two.
	First, Idle time.Duration
	Logger      *slog.Logger
}

// A Listener gives net/http the connections whose next request isn't for here, and answers the others itself. As with net/http, one request of a
// connection is answered after the other.
type Listener struct {
	net.Listener

	o      Options
	over   chan accepted
	closed chan struct{}
	once   sync.Once
	// serving are the connections that are here.
	serving sync.WaitGroup
	clock   clock
	said    said
	works   sync.Pool

	mu   sync.Mutex
	here map[*lane]struct{}
	end  bool
}

// accepted is what an Accept came to.
type accepted struct {
	c   net.Conn
	err error
}

// Listen begins to accept.
func Listen(l net.Listener, o Options) *Listener {
	f := &Listener{Listener: l, o: o, over: make(chan accepted), closed: make(chan struct{}), here: map[*lane]struct{}{}, works: sync.Pool{New: newWork}}
	go f.accept()
	return f
}

// accept takes what comes until the listener is closed. An error is told, and waits until it's heard: who hears of too many open files waits before
// the next Accept.
func (f *Listener) accept() {
	for {
		c, err := f.Listener.Accept()
		if err != nil {
			if !f.hand(accepted{err: err}) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		v := &lane{of: f, c: c}
		if !f.enter(v) {
			_ = c.Close()
			continue
		}
		go v.serve()
	}
}

// hand gives net/http what it waits for in Accept; false: it doesn't any more.
func (f *Listener) hand(a accepted) bool {
	select {
	case f.over <- a:
		return true
	case <-f.closed:
		return false
	}
}

// Accept gives the next connection whose next request isn't for here.
func (f *Listener) Accept() (net.Conn, error) {
	select {
	case a := <-f.over:
		return a.c, a.err
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the listener, and the connections that are here and silent; requests that are being answered are answered.
func (f *Listener) Close() error {
	f.once.Do(func() { close(f.closed) })
	err := f.Listener.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end = true
	for v := range f.here {
		_ = v.c.SetReadDeadline(past())
	}
	return err //nolint:wrapcheck // The listener's own words.
}

// Shutdown waits until all that is answered here is answered. It's called after Close, and when ctx ends connections are cut off.
func (f *Listener) Shutdown(ctx context.Context) {
	done := make(chan struct{})
	go func() { defer close(done); f.serving.Wait() }()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for v := range f.here {
		_ = v.c.Close()
	}
}

func (f *Listener) enter(v *lane) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end {
		return false
	}
	f.here[v] = struct{}{}
	f.serving.Add(1)
	return true
}

func (f *Listener) leave(v *lane) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.here, v)
	f.serving.Done()
}

// ends says that the listener was closed.
func (f *Listener) ends() bool {
	select {
	case <-f.closed:
		return true
	default:
		return false
	}
}

// past is a deadline that has passed.
func past() time.Time { return time.Unix(1, 0) }

// clock is the Date of answers, written once a second.
type clock struct{ last atomic.Pointer[dated] }

type dated struct {
	second int64
	text   string
}

func (k *clock) date(now time.Time) string {
	if d := k.last.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &dated{now.Unix(), now.UTC().Format(http.TimeFormat)}
	k.last.Store(d)
	return d.text
}
