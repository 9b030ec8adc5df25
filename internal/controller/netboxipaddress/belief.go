package netboxipaddress

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// beliefEach is how much longer what was found is believed for each resource of which the same was: two requests each are ten a second in all.
const beliefEach = 200 * time.Millisecond

// belief is how long it's believed of a resource that its record stays lost, moved or refused, where of says of how many it is. Whoever isn't
// ready is looked at every few seconds, whatever the poll interval: what is found then must outlast some looks. What the look at all addresses
// shows, or a person changes, ends it at once.
func (c *Connector) belief(of int) time.Duration {
	if c.MaxAge == 0 {
		return 0
	}
	return max(c.MaxAge, longestAge, time.Duration(of)*beliefEach)
}

// patience is how long it's believed that what a resource waits for isn't there, where of says how many wait so: a few of them are looked at
// each time, as somebody may be about to make it.
func (c *Connector) patience(of int) time.Duration {
	if c.MaxAge == 0 {
		return 0
	}
	return time.Duration(of) * beliefEach
}

// doubt has a resource's record looked at live, or looked for, as NetBox told of a change of it. What NetBox refused to write isn't asked
// for again for that.
func (c *Connector) doubt(uid types.UID) {
	c.losses.forget(uid)
	c.standings.forget(uid)
	c.absences.forget(uid)
	c.verdicts.forget(uid)
	c.disputes.forget(uid)
}
