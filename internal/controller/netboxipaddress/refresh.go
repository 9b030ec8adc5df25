package netboxipaddress

import (
	"context"
	"errors"
	"sync"
	"time"

	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/netboxlink"
)

// refresherName is who tells that a NetBox's addresses can't be looked at together, and eventUnlisted the reason of that event.
const (
	refresherName                = "netbox-looks"
	eventUnlisted xpevent.Reason = "CannotListAddresses"
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
	// warn tells the owner of a provider config what he should know; nil doesn't.
	warn func(of config.Identity, message string)

	looks oneEach[*netbox.Client]
	// warned are those whose owner knows.
	warned sync.Map
}

// Start runs until ctx ends. Looks that others have begun end then, too.
func (r *refresher) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, r.refresh, r.tick())
	r.looks.wait()
	for _, p := range r.pools {
		p.Close()
	}
	return nil
}

// tick is between rounds. Most looks are made by whoever is the first to need one, at any time: what they showed is told a tenth of the while
// later, and asking for that costs no request, but where the last one failed: that's tried again.
func (r *refresher) tick() time.Duration {
	return max(r.every/10, min(r.every, time.Second))
}

// refresh begins to look at each NetBox, where that's due, and tells what looks showed. One that's still being looked at is left out: the next round is soon enough.
func (r *refresher) refresh(ctx context.Context) {
	for _, p := range r.pools {
		for key, c := range p.Used(r.poll + r.every) {
			r.looks.begin(c, func() bool {
				r.look(ctx, key, c)
				return false
			})
		}
	}
}

func (r *refresher) look(ctx context.Context, key string, c *netbox.Client) {
	changed, err := c.Refresh(ctx, r.every)
	if err != nil {
		r.log.Debug("Cannot look at the addresses of a NetBox", "config", c.Name(), "error", err) // Each resource that needs one says so by itself.
	}
	r.unfit(key, c, err)
	for _, ip := range changed {
		r.tell(ctx, ip.Marker(c.MarkerField()))
	}
}

// unfit tells once that looks at all addresses don't help with a NetBox, since no resource does: each is read by itself, and works.
func (r *refresher) unfit(key string, c *netbox.Client, err error) {
	if !netbox.Unfit(err) {
		if err == nil {
			r.warned.Delete(key)
		}
		return
	}
	if _, before := r.warned.Swap(key, true); before {
		return
	}
	r.log.Info("The addresses of a NetBox can't be looked at together", "config", c.Name(), "error", err)
	if p, ok := errors.AsType[*netbox.PanicError](err); ok {
		r.log.Info("The provider panicked over an answer of NetBox", "config", c.Name(), "stack", p.Stack)
	}
	if of, ok := netboxlink.IdentityOf(key, c); ok && r.warn != nil && !netbox.IsMarkerField(err) { // Its Ready says how that field is.
		r.warn(of, "each address is read by itself at each look, which is a request for each, since they can't be looked at together: "+err.Error())
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
