package netboxipaddress

import (
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
type failures struct {
	mu   sync.Mutex
	last map[types.UID]failure
}

func newFailures() *failures { return &failures{last: map[types.UID]failure{}} }

func (f *failures) put(uid types.UID, v failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last[uid] = v
}

func (f *failures) forget(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.last, uid)
}

// get returns the failure that still holds for these settings.
func (f *failures) get(uid types.UID, settings string) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.last[uid]
	return v, ok && v.settings == settings
}

// notes remember something of each resource for a while.
type notes[V any] struct {
	mu   sync.Mutex
	last map[types.UID]V
}

func newNotes[V any]() *notes[V] { return &notes[V]{last: map[types.UID]V{}} }

func (n *notes[V]) put(uid types.UID, v V) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last[uid] = v
}

func (n *notes[V]) get(uid types.UID) (V, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, ok := n.last[uid]
	return v, ok
}

func (n *notes[V]) forget(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.last, uid)
}
