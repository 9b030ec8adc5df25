package netboxipaddress

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
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

// origins remembers, per resource, the prefix that its address was just taken from, until status says so: Create can't.
type origins struct {
	mu   sync.Mutex
	last map[types.UID]netbox.Prefix
}

func newOrigins() *origins { return &origins{last: map[types.UID]netbox.Prefix{}} }

func (o *origins) put(uid types.UID, p netbox.Prefix) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last[uid] = p
}

func (o *origins) get(uid types.UID) (netbox.Prefix, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, ok := o.last[uid]
	return p, ok
}

func (o *origins) forget(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.last, uid)
}
