package redfishhost

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// Gone forgets what is remembered of a host that there isn't any more. Of one that
// was orphaned, or lost its finalizer, nobody hears in another way. A session that
// it leaves is given back once nobody uses it.
func (c *Connector) Gone(host *v1alpha1.RedfishHost) {
	uid := host.GetUID()
	c.streams.forget(uid)
	c.inventories.forget(uid)
	c.tallies.forget(nameOfHost(host), uid)
	c.watch.forget(uid)
	c.postponed.note(uid, false)
	c.biosLooks.forget(uid)
	c.secureBootLooks.forget(uid)
	c.mediaLooks.forget(uid)
	c.rotationLooks.forget(uid)
	c.counted.forget(uid)
}

// leave closes the session with the last host of its BMC: the host is gone.
func (e *external) leave(ctx context.Context, host *v1alpha1.RedfishHost) {
	e.connector.Gone(host)
	others, err := e.others(ctx, bmcIndexed(host))
	if err == nil && slices.ContainsFunc(others, func(o v1alpha1.RedfishHost) bool { return o.GetUID() != host.GetUID() && !meta.WasDeleted(&o) }) {
		return
	}
	// A session that can't be closed ends by itself.
	_ = e.connector.Gates.Forget(ctx, host.Spec.ForProvider.Address)
}
