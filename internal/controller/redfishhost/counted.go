package redfishhost

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// counted are the hosts whose BMC was asked for all its Systems since the
// process started: one that couldn't show them all isn't asked at each look.
type counted struct {
	mu sync.Mutex
	of map[types.UID]bool
}

func newCounted() *counted { return &counted{of: map[types.UID]bool{}} }

func (c *counted) has(host types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.of[host]
}

func (c *counted) put(host types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[host] = true
}

func (c *counted) forget(host types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, host)
}
