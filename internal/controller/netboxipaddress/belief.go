package netboxipaddress

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// each is how much longer what was found is believed for each resource of which the same was: two requests each are ten a second in all.
const each = 200 * time.Millisecond

// belief is how long it's believed of a resource that its record stays lost or moved, where of says of how many it is. Whoever isn't ready
// is looked at every few seconds, whatever the poll interval: what is found then must outlast some looks. What the look at all addresses
// shows, or a person changes, ends it at once.
func (c *Connector) belief(of int) time.Duration {
	if c.MaxAge == 0 {
		return 0
	}
	return max(c.MaxAge, longestAge, time.Duration(of)*each)
}

// doubt has a resource's record looked at live, or looked for, as NetBox told of a change of it.
func (c *Connector) doubt(uid types.UID) {
	c.held.forget(uid)
	c.stays.forget(uid)
	c.absences.forget(uid)
}
