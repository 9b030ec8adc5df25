package netbox

import (
	"sync"
	"time"
)

// memoTTL is how long a prefix or range that was found is believed to be so. A POST to one that isn't any more fails, or is taken back.
const memoTTL = time.Minute

// A memo remembers for a while what was found. Failures are never remembered: what is made in NetBox is there at once.
type memo[K comparable, V any] struct {
	now func() time.Time

	mu    sync.Mutex
	known map[K]V
	until time.Time
}

func newMemo[K comparable, V any](now func() time.Time) *memo[K, V] {
	return &memo[K, V]{now: now, known: map[K]V{}}
}

// of returns what is known of k, or finds it.
func (m *memo[K, V]) of(k K, find func() (V, error)) (V, error) {
	m.mu.Lock()
	v, ok := m.known[k]
	ok = ok && m.now().Before(m.until)
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := find()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.now().Before(m.until) {
		m.known, m.until = map[K]V{}, m.now().Add(memoTTL)
	}
	m.known[k] = v
	return v, nil
}

// forget all of it.
func (m *memo[K, V]) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until = time.Time{}
}
