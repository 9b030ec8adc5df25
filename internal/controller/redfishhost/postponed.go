package redfishhost

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
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
