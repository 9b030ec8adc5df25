package redfishhost

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// Gone forgets what is remembered of a host that there isn't any more. Of one that
// was orphaned, or lost its finalizer, nobody hears in another way. A session that
// it leaves is given back once nobody uses it.
func (c *Connector) Gone(host *v1alpha1.RedfishHost) {
	uid := host.GetUID()
	c.streams.forget(uid)
	c.streams.bar(uid, false)
	c.inventories.bar(uid, false)
	c.inventories.forget(uid)
	c.tallies.forget(nameOfHost(host), uid)
	c.watch.forget(uid)
	c.postponed.note(uid, false)
	c.biosLooks.forget(uid)
	c.secureBootLooks.forget(uid)
	c.mediaLooks.forget(uid)
	c.rotationLooks.forget(uid)
	c.pushLooks.forget(uid)
	if c.pushes.forget(uid) {
		c.streams.hints.forget(uid) // No stream has it.
	}
	c.counted.forget(uid)
	c.distrust(host)
}

// distrust forgets the certificate that was trusted on first use at a host's BMC,
// where no other host names that. One that somebody else relies on mustn't go with the
// host of who may have had no right to it.
func (c *Connector) distrust(host *v1alpha1.RedfishHost) {
	if len(bmcIndexed(host)) == 0 {
		return
	}
	const soon = 5 * time.Second // It's from the cache.
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	others, err := c.others(ctx, bmcIndexed(host))
	if err != nil || slices.ContainsFunc(others, func(o v1alpha1.RedfishHost) bool { return o.GetUID() != host.GetUID() }) {
		return
	}
	c.Gates.Distrust(host.Spec.ForProvider.Address)
}

// Paused has nothing read and nobody listened to beside the looks for a host that is
// paused, until it isn't any more, though a look be under way. An inventory ends with
// the few requests that are; what was read of it counts for nothing, but for the
// addresses that a claim waited for. Its session is given back once nobody uses it.
func (c *Connector) Paused(host *v1alpha1.RedfishHost, is bool) {
	uid := host.GetUID()
	c.streams.bar(uid, is)
	c.inventories.bar(uid, is)
	if is {
		c.streams.forget(uid)
		c.inventories.halt(uid)
	}
}

// leave closes the session with the last host of its BMC: the host is gone.
// What isn't taken back is told.
func (e *external) leave(ctx context.Context, host *v1alpha1.RedfishHost) {
	e.tellLeft(host)
	e.connector.Gone(host) //nolint:contextcheck // The informer calls it, too, and has no context.
	others, err := e.others(ctx, bmcIndexed(host))
	if err == nil && slices.ContainsFunc(others, func(o v1alpha1.RedfishHost) bool { return o.GetUID() != host.GetUID() && !meta.WasDeleted(&o) }) {
		return
	}
	// A session that can't be closed ends by itself.
	_ = e.connector.Gates.Forget(ctx, host.Spec.ForProvider.Address)
}
