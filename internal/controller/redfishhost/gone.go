package redfishhost

import "github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"

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
