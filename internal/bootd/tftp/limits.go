package tftp

import (
	"net/netip"
	"sync"
)

// limits bounds transfers, per client and in total, so that no machine keeps a rack from booting. A client's share counts from
// when half of all places are taken.
type limits struct {
	perClient, total int

	mu      sync.Mutex
	running int
	clients map[netip.Addr]int
}

func newLimits(perClient, total int) *limits {
	return &limits{perClient: perClient, total: total, clients: map[netip.Addr]int{}}
}

// acquire takes a place for a client's transfer; false: there's none.
func (l *limits) acquire(client netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running >= l.total || 2*l.running >= l.total && l.clients[client] >= l.perClient {
		return false
	}
	l.running++
	l.clients[client]++
	return true
}

// release gives a place back.
func (l *limits) release(client netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	l.clients[client]--
	if l.clients[client] == 0 {
		delete(l.clients, client)
	}
}
