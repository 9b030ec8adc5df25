package netboxipaddress

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A refresher looks at each NetBox in use again and again, and wakes the resources whose records somebody changed: an edit is seen after
// that while, instead of at the resource's next poll.
type refresher struct {
	pools []*netbox.Pool
	// every so often, for connections that were used within poll.
	every, poll time.Duration
	cluster     string
	wake        chan<- event.GenericEvent
	log         logging.Logger

	// looks are under way, one for each connection in busy.
	looks sync.WaitGroup
	mu    sync.Mutex
	busy  map[*netbox.Client]bool
}

// Start runs until ctx ends.
func (r *refresher) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, r.refresh, r.every)
	r.looks.Wait()
	return nil
}

// refresh begins to look at each NetBox, and waits for none: one that doesn't answer mustn't make the others' edits be seen late. It's left
// out until its look has ended.
func (r *refresher) refresh(ctx context.Context) {
	for _, p := range r.pools {
		for _, c := range p.Used(r.poll + r.every) {
			if r.begin(c) {
				r.looks.Go(func() {
					defer r.end(c)
					r.look(ctx, c)
				})
			}
		}
	}
}

// begin says whether no look at a NetBox is under way; then one is.
func (r *refresher) begin(c *netbox.Client) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy == nil {
		r.busy = map[*netbox.Client]bool{}
	}
	busy := r.busy[c]
	r.busy[c] = true
	return !busy
}

func (r *refresher) end(c *netbox.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, c)
}

func (r *refresher) look(ctx context.Context, c *netbox.Client) {
	changed, err := c.Refresh(ctx, r.every)
	if err != nil {
		r.log.Debug("Cannot look at the addresses of a NetBox", "error", err) // Each resource that needs one says so by itself.
	}
	for _, ip := range changed {
		r.tell(ctx, ip.Marker(c.MarkerField()))
	}
}

// tell wakes the resource that a record belongs to.
func (r *refresher) tell(ctx context.Context, marker string) {
	of, ok := parseMarker(marker)
	if !ok || of.cluster != r.cluster {
		return
	}
	select {
	case r.wake <- wakeUp(types.NamespacedName{Namespace: of.namespace, Name: of.name}):
	case <-ctx.Done():
	}
}
