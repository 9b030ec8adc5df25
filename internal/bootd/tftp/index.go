package tftp

import (
	"net/netip"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// leastMTU is what everybody has to take (RFC 791).
	leastMTU = 576
	// indexFor is how long an index is good at least: where plans change all the time, it isn't made anew for each transfer.
	indexFor = time.Second
)

// index finds machines by their addresses, in a state that may hold a hundred thousand of them.
type index struct {
	mu      sync.Mutex
	state   *boot.State
	made    time.Time
	present addresses
}

// addresses are the machines of one state.
type addresses struct {
	plans map[netip.Addr]boot.Ref
	// mtu is the least of the machines' networks, and at most ours.
	mtu int
}

// at gives the machine that has an address; nil: there's none, or there are two, in segments that don't know each other, and
// neither is meant.
func (a addresses) at(client netip.Addr) *boot.Plan { return a.plans[client].Plan() }

// of gives the machines of a state.
func (x *index) of(s *boot.State, ours int, now time.Time) addresses {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.present.plans == nil || x.state == nil && s != nil || x.state != s && now.Sub(x.made) >= indexFor {
		x.state, x.made, x.present = s, now, addressesOf(s, ours)
	}
	return x.present
}

func addressesOf(s *boot.State, ours int) addresses {
	a := addresses{plans: map[netip.Addr]boot.Ref{}, mtu: ours}
	if s == nil {
		return a
	}
	given := map[boot.Name]bool{}
	for _, g := range s.Segments {
		given[g.Name] = g.GivesAddresses()
	}
	for r := range s.Refs() {
		p := r.Plan()
		if m := p.Network.MTU; m >= leastMTU && m < a.mtu {
			a.mtu = m
		}
		if gives, known := given[p.Network.Name]; known && !gives {
			continue // Another server gives addresses there, and may give these to anybody.
		}
		for at := range p.Network.Addresses() {
			if _, taken := a.plans[at.Addr()]; taken {
				a.plans[at.Addr()] = boot.Ref{}
				continue
			}
			a.plans[at.Addr()] = r
		}
	}
	return a
}
