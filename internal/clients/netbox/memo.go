package netbox

import (
	"sync"
	"time"
)

const (
	// memoTTL is how long a prefix or range that was found is believed to be so. A POST to one that isn't any more fails, or is taken back.
	memoTTL = time.Minute
	// matchTTL is how long it's believed that no other ones match a filter.
	matchTTL = 15 * time.Second
	// missTTL is how long it's believed that there is none: what is made in NetBox is there as good as at once, and a thousand who ask for
	// what isn't there ask together.
	missTTL = 2 * time.Second
)

// mostKnown findings are remembered at most: of more, any one is forgotten for the next.
const mostKnown = 1000

// A memo remembers for a while what was found, and for a moment what wasn't, as far as there's room for it. That NetBox couldn't tell is never
// remembered.
type memo[K comparable, V any] struct {
	now  func() time.Time
	room *lodger
	// weigh is about what a finding takes in memory, in bytes.
	weigh func(K, V) int64

	mu    sync.Mutex
	known map[K]finding[V]
	// weight of what is known.
	weight int64
	// closed has nothing remembered any more.
	closed bool
	// swept is when what is too old was last thrown away.
	swept time.Time
}

// A finding is what was found, or that it wasn't there, and until when that's believed.
type finding[V any] struct {
	value V
	err   error
	until time.Time
	// weight is in bytes.
	weight int64
}

func newMemo[K comparable, V any](now func() time.Time, room *lodger, weigh func(K, V) int64) *memo[K, V] {
	return &memo[K, V]{now: now, room: room, weigh: weigh, known: map[K]finding[V]{}}
}

// of returns what is known of k, or finds it and believes that for so long.
func (m *memo[K, V]) of(k K, ttl time.Duration, find func() (V, error)) (V, error) {
	m.mu.Lock()
	f, ok := m.known[k]
	ok = ok && m.now().Before(f.until)
	m.mu.Unlock()
	if ok {
		return f.value, f.err
	}
	v, err := find()
	switch {
	case IsNotFound(err) || IsAmbiguous(err):
		ttl = missTTL
	case err != nil:
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep()
	m.keep(k, finding[V]{v, err, m.now().Add(ttl), m.weigh(k, v)})
	return v, err
}

// keep a finding, instead of what was found before.
func (m *memo[K, V]) keep(k K, f finding[V]) {
	m.drop(k)
	for other := range m.known {
		if len(m.known) < mostKnown {
			break
		}
		m.drop(other)
	}
	if m.closed || !m.room.swap(m.weight, m.weight+f.weight) {
		return
	}
	m.known[k] = f
	m.weight += f.weight
}

// drop what was found.
func (m *memo[K, V]) drop(k K) {
	f, ok := m.known[k]
	if !ok {
		return
	}
	delete(m.known, k)
	m.room.swap(m.weight, m.weight-f.weight)
	m.weight -= f.weight
}

// sweep keeps what was asked for once from staying for ever.
func (m *memo[K, V]) sweep() {
	now := m.now()
	if now.Sub(m.swept) < memoTTL {
		return
	}
	m.swept = now
	for k, f := range m.known {
		if !now.Before(f.until) {
			m.drop(k)
		}
	}
}

// forget all of it.
func (m *memo[K, V]) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.empty()
}

// close forgets all of it, and has nothing remembered any more.
func (m *memo[K, V]) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.empty()
}

func (m *memo[K, V]) empty() {
	clear(m.known)
	m.room.swap(m.weight, 0)
	m.weight = 0
}
