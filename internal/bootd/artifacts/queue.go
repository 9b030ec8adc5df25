package artifacts

import (
	"sync"
	"time"
)

// A queue bounds the downloads that run at once, in all and from each server: slow ones of one server leave room for others.
type queue struct {
	all     chan struct{}
	perHost int
	// turn is how long a place among all is kept at most; 0: for as long as it takes. Who takes longer goes on without one: sixteen downloads
	// from servers that hardly give anything, of whatever names, keep nobody waiting for hours.
	turn time.Duration

	mu   sync.Mutex
	busy map[string]*host
}

// host is one server.
type host struct {
	slots chan struct{}
	users int
}

func newQueue(all, perHost int, turn time.Duration) *queue {
	return &queue{all: make(chan struct{}, all), perHost: perHost, turn: turn, busy: map[string]*host{}}
}

// place waits until a download may begin. What no machine waits for has few places, and of its own: a slow server that somebody's profile
// names keeps no machine waiting. Once a machine asks for it, it's one of the others. leave gives the place back. False once over is closed.
func (c *Cache) place(f *flight, name string, over <-chan struct{}) (leave func(), ok bool) {
	if leave, ok := c.ahead.enter(name, f.hurry, over); ok {
		return leave, true
	}
	return c.soon.enter(name, nil, over)
}

// enter waits for a place at a server, and then among all. False where hurry or over is closed, or is while it waits; a nil one never is.
func (q *queue) enter(name string, hurry, over <-chan struct{}) (leave func(), ok bool) {
	select {
	case <-hurry:
		return nil, false
	case <-over:
		return nil, false
	default:
	}
	h := q.join(name)
	if !wait(h.slots, hurry, over) {
		q.quit(name, h)
		return nil, false
	}
	if !wait(q.all, hurry, over) {
		<-h.slots
		q.quit(name, h)
		return nil, false
	}
	goes := sync.OnceFunc(func() { <-q.all })
	stop := func() bool { return true }
	if q.turn > 0 {
		stop = time.AfterFunc(q.turn, goes).Stop
	}
	return func() {
		stop()
		goes()
		<-h.slots
		q.quit(name, h)
	}, true
}

func wait(slots chan struct{}, hurry, over <-chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-hurry:
		return false
	case <-over:
		return false
	}
}

func (q *queue) join(name string) *host {
	q.mu.Lock()
	defer q.mu.Unlock()
	h := q.busy[name]
	if h == nil {
		h = &host{slots: make(chan struct{}, q.perHost)}
		q.busy[name] = h
	}
	h.users++
	return h
}

func (q *queue) quit(name string, h *host) {
	q.mu.Lock()
	defer q.mu.Unlock()
	h.users--
	if h.users == 0 {
		delete(q.busy, name)
	}
}
