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
