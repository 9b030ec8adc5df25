package netboxipaddress

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A failure is why the last Create failed, and with which settings: with others, it's tried again at once.
type failure struct {
	err      error
	at       time.Time
	settings string
}

// failures remembers, per resource, why its last Create failed. The managed reconciler drops what Create writes to status; Observe
// shows it instead. And NetBox isn't asked to write again at every look for what it has just refused.
type failures struct{ *notes[failure] }

func newFailures() *failures { return &failures{newNotes[failure]()} }

// get returns the failure that still holds for these settings.
func (f *failures) get(uid types.UID, settings string) (failure, bool) {
	v, ok := f.notes.get(uid)
	return v, ok && v.settings == settings
}

const (
	// noteFor is how long a note is kept, at least: much longer than any is of use. A resource that goes without a last look leaves its own.
	noteFor = 24 * time.Hour
	// noteSweep is between looks for those that are older.
	noteSweep = time.Hour
	// tellingFor is how long it's known what was told: longer than the copy of a resource that is read may be behind, and short enough for
	// those that are gone by then.
	tellingFor = 10 * time.Minute
)

// notes remember something of each resource for a while: keep, at least.
type notes[V any] struct {
	keep  time.Duration
	mu    sync.Mutex
	last  map[types.UID]remembered[V]
	swept time.Time
}

// remembered is a note, and when it was made.
type remembered[V any] struct {
	value V
	at    time.Time
}

func newNotes[V any]() *notes[V] { return newNotesFor[V](noteFor) }

func newNotesFor[V any](keep time.Duration) *notes[V] {
	return &notes[V]{keep: keep, last: map[types.UID]remembered[V]{}, swept: time.Now()}
}

func (n *notes[V]) put(uid types.UID, v V) { n.putAt(uid, v, time.Now()) }

func (n *notes[V]) putAt(uid types.UID, v V, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last[uid] = remembered[V]{v, now}
	if now.Sub(n.swept) > min(noteSweep, n.keep) {
		n.swept = now
		maps.DeleteFunc(n.last, func(_ types.UID, o remembered[V]) bool { return now.Sub(o.at) > n.keep })
	}
}

func (n *notes[V]) get(uid types.UID) (V, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, ok := n.last[uid]
	return v.value, ok
}

func (n *notes[V]) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.last)
}

func (n *notes[V]) forget(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.last, uid)
}
