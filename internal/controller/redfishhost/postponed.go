package redfishhost

import (
	"slices"
	"sync"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// postponed are the hosts whose BMC had no time for the last look: they are looked
// at again soon, and not at the next poll. It is safe for concurrent use.
type postponed struct {
	mu    sync.Mutex
	hosts map[types.UID]bool
}

func newPostponed() *postponed { return &postponed{hosts: map[types.UID]bool{}} }

// note says of a host whether it's one of them, and returns that.
func (p *postponed) note(host types.UID, is bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if is {
		p.hosts[host] = true
	} else {
		delete(p.hosts, host)
	}

	return is
}

// has says whether a host is one of them.
func (p *postponed) has(host types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.hosts[host]
}

// observedAgain is when a host that is only observed is looked at again, whose BMC
// had no time.
const observedAgain = 5 * time.Second

// postpone notes whether a host's look was postponed, and returns that.
func (c *Connector) postpone(host *v1alpha1.RedfishHost, is bool) bool {
	if is {
		c.soonAgain(host)
	}

	return c.postponed.note(host.GetUID(), is)
}

// soonAgain has a host looked at again whose look was postponed. Of all others that's
// by Pending, but what is only observed is looked at by its poll alone.
func (c *Connector) soonAgain(host *v1alpha1.RedfishHost) {
	if c.Wake == nil || !slices.Equal(host.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve}) {
		return
	}
	name := nameOfHost(host)
	time.AfterFunc(observedAgain, func() { c.Wake(name) })
}
