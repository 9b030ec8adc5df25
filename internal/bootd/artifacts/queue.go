package artifacts

import "sync"

// A queue bounds the downloads that run at once, in all and from each server: slow ones of one server leave room for others.
type queue struct {
	all     chan struct{}
	perHost int

	mu   sync.Mutex
	busy map[string]*host
}

// host is one server.
type host struct {
	slots chan struct{}
	users int
}

func newQueue(all, perHost int) *queue {
	return &queue{all: make(chan struct{}, all), perHost: perHost, busy: map[string]*host{}}
}

// place waits until a download may begin. What no machine waits for has few places, and of its own: a slow server that somebody's profile
// names keeps no machine waiting. Once a machine asks for it, it's one of the others. leave gives the place back.
func (c *Cache) place(f *flight, name string) (leave func()) {
	if leave, ok := c.ahead.enter(name, f.hurry); ok {
		return leave
	}
	leave, _ = c.soon.enter(name, nil)
	return leave
}

// enter waits for a place at a server, and then among all. False where hurry is closed, or is while it waits; a nil one never is.
func (q *queue) enter(name string, hurry <-chan struct{}) (leave func(), ok bool) {
	select {
	case <-hurry:
		return nil, false
	default:
	}
	h := q.join(name)
	if !wait(h.slots, hurry) {
		q.quit(name, h)
		return nil, false
	}
	if !wait(q.all, hurry) {
		<-h.slots
		q.quit(name, h)
		return nil, false
	}
	return func() {
		<-q.all
		<-h.slots
		q.quit(name, h)
	}, true
}

func wait(slots chan struct{}, hurry <-chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-hurry:
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
