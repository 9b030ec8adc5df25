package netboxipaddress

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A failure is why something failed, and with which settings: with others, it's tried again at once.
type failure struct {
	err      error
	at       time.Time
	settings string
	// of is the provider config.
	of types.UID
}

// failures remember one for each resource. NetBox isn't asked at every look for what has just failed.
type failures struct{ *notes[failure] }

func newFailures() *failures {
	return &failures{newCounted(func(f failure) types.UID { return f.of })}
}

// get returns the failure that still holds for these settings.
func (f *failures) get(uid types.UID, settings string) (failure, bool) {
	v, ok := f.notes.get(uid)
	return v, ok && v.settings == settings
}

const (
	// noteFor is how long a note is kept, at least: much longer than any is of use. A resource that goes without a last look leaves its own.
	noteFor = 24 * time.Hour
	// countedFor is how long one is kept by whose number it's chosen how often NetBox is asked: longer than what 50,000 of them make of that, and
	// of those that nobody looks at any more no longer than needs be.
	countedFor = 3 * time.Hour
	// noteSweep is between looks for those that are older.
	noteSweep = time.Hour
	// tellingFor is how long it's known what was told: longer than the copy of a resource that is read may be behind, and short enough for
	// those that are gone by then.
	tellingFor = 10 * time.Minute
)

// notes remember something of each resource for a while: keep, at least.
type notes[V any] struct {
	keep time.Duration
	// of is the provider config of a note; nil: they aren't counted.
	of func(V) types.UID

	mu     sync.Mutex
	last   map[types.UID]remembered[V]
	counts map[types.UID]int
	swept  time.Time
}

// remembered is a note, and when it was made.
type remembered[V any] struct {
	value V
	at    time.Time
}

func newNotes[V any]() *notes[V] { return newNotesFor[V](noteFor) }

func newNotesFor[V any](keep time.Duration) *notes[V] {
	return &notes[V]{keep: keep, last: map[types.UID]remembered[V]{}, counts: map[types.UID]int{}, swept: time.Now()}
}

// newCounted are notes that are counted by their provider config.
func newCounted[V any](of func(V) types.UID) *notes[V] {
	n := newNotesFor[V](countedFor)
	n.of = of
	return n
}

func (n *notes[V]) put(uid types.UID, v V) { n.putAt(uid, v, time.Now()) }

func (n *notes[V]) putAt(uid types.UID, v V, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(uid)
	n.last[uid] = remembered[V]{v, now}
	n.tally(v, 1)
	if now.Sub(n.swept) <= min(noteSweep, n.keep) {
		return
	}
	n.swept = now
	for uid, o := range n.last {
		if now.Sub(o.at) > n.keep {
			n.drop(uid)
		}
	}
}

func (n *notes[V]) drop(uid types.UID) {
	if o, ok := n.last[uid]; ok {
		delete(n.last, uid)
		n.tally(o.value, -1)
	}
}

func (n *notes[V]) tally(v V, by int) {
	if n.of == nil {
		return
	}
	of := n.of(v)
	if n.counts[of] += by; n.counts[of] == 0 {
		delete(n.counts, of)
	}
}

func (n *notes[V]) get(uid types.UID) (V, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, ok := n.last[uid]
	return v.value, ok
}

// count is how many there are of a provider config.
func (n *notes[V]) count(of types.UID) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[of]
}

func (n *notes[V]) forget(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(uid)
}
