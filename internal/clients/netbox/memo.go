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

// A memo remembers for a while what was found, and for a moment what wasn't. That NetBox couldn't tell is never remembered.
type memo[K comparable, V any] struct {
	now func() time.Time

	mu    sync.Mutex
	known map[K]finding[V]
	// swept is when what is too old was last thrown away.
	swept time.Time
}

// A finding is what was found, or that it wasn't there, and until when that's believed.
type finding[V any] struct {
	value V
	err   error
	until time.Time
}

func newMemo[K comparable, V any](now func() time.Time) *memo[K, V] {
	return &memo[K, V]{now: now, known: map[K]finding[V]{}}
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
	m.known[k] = finding[V]{v, err, m.now().Add(ttl)}
	return v, err
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
			delete(m.known, k)
		}
	}
}

// forget all of it.
func (m *memo[K, V]) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.known)
}
