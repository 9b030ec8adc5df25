package netboxipaddress

import (
	"context"
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
	// doubt ends what is believed of a resource; nil does nothing.
	doubt func(types.UID)

	looks oneEach[*netbox.Client]
}

// Start runs until ctx ends.
func (r *refresher) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, r.refresh, r.every)
	r.looks.wait()
	return nil
}

// refresh begins to look at each NetBox. One that's still being looked at is left out: the next round is soon enough.
func (r *refresher) refresh(ctx context.Context) {
	for _, p := range r.pools {
		for _, c := range p.Used(r.poll + r.every) {
			r.looks.begin(c, func() bool {
				r.look(ctx, c)
				return false
			})
		}
	}
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
	if r.doubt != nil {
		r.doubt(types.UID(of.uid))
	}
	select {
	case r.wake <- wakeUp(types.NamespacedName{Namespace: of.namespace, Name: of.name}):
	case <-ctx.Done():
	}
}
