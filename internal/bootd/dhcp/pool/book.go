package pool

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// Term is how long an address is lent.
	Term = boot.LentFor
	// Offered is how long an address that was offered waits for the machine's REQUEST.
	Offered = 30 * time.Second
	// Most leases are remembered.
	Most = 8192
)

// A Lease says who has an address, until when.
type Lease struct {
	Network boot.Name  `json:"network"`
	Address netip.Addr `json:"address"`
	MAC     boot.MAC   `json:"mac"`
	Until   time.Time  `json:"until"`
	// taken says that the machine asked for it; else it was offered alone.
	taken bool
}

// Taken says that the machine has the address, or had it: it wasn't offered alone.
func (l Lease) Taken() bool { return l.taken }

// A Book remembers who has which address, by network: two networks may use one address. It holds a bounded number of leases. It's for use
// by many.
type Book struct {
	mu     sync.Mutex
	most   int
	leases map[place]*list.Element
	last   map[machine]netip.Addr // the address that a machine had last
	// taken and offered hold *Lease, those that end first in front.
	taken, offered list.List
	changed        bool
	// news has something in it where a machine took an address, or gave one back, since somebody last looked.
	news chan struct{}
}

type place struct {
	network boot.Name
	address netip.Addr
}

type machine struct {
	network boot.Name
	mac     boot.MAC
}

// NewBook makes an empty one.
func NewBook(most int) *Book {
	return &Book{most: most, leases: map[place]*list.Element{}, last: map[machine]netip.Addr{}, news: make(chan struct{}, 1)}
}

// News has something in it once there's something to be written down.
func (b *Book) News() <-chan struct{} { return b.news }

// change notes that there's something to be written down. It's called with the lock.
func (b *Book) change() {
	b.changed = true
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// Last gives the address of a network that a machine has or had.
func (b *Book) Last(network boot.Name, mac boot.MAC) (netip.Addr, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, ok := b.last[machine{network, mac}]
	return a, ok
}

// Holder gives the lease of an address that counts now, or an offer that does.
func (b *Book) Holder(network boot.Name, a netip.Addr, now time.Time) (Lease, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.leases[place{network, a}]
	if !ok {
		return Lease{}, false
	}
	l := leaseOf(e)
	return *l, now.Before(l.Until)
}

// Offer keeps an address for a machine for a moment; false: it's another's, or nothing more can be remembered.
func (b *Book) Offer(network boot.Name, a netip.Addr, mac boot.MAC, now time.Time) bool {
	return b.note(Lease{Network: network, Address: a, MAC: mac, Until: now.Add(Offered)}, now)
}

// Take notes that a machine has an address from now on; false: as Offer.
func (b *Book) Take(network boot.Name, a netip.Addr, mac boot.MAC, now time.Time) bool {
	return b.note(Lease{Network: network, Address: a, MAC: mac, Until: now.Add(Term), taken: true}, now)
}

func (b *Book) note(l Lease, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := place{l.Network, l.Address}
	if e, ok := b.leases[at]; ok {
		old := leaseOf(e)
		if old.MAC != l.MAC && now.Before(old.Until) {
			return false
		}
		if old.MAC == l.MAC && old.taken && !l.taken && l.Until.Before(old.Until) {
			return true // An offer of what it has.
		}
		b.forget(e)
	}
	if b.leases[at] == nil && len(b.leases) >= b.most && !b.room(now) {
		return false
	}
	of := &b.offered
	if l.taken {
		of = &b.taken
		b.change()
	}
	b.leases[at], b.last[machine{l.Network, l.MAC}] = of.PushBack(&l), l.Address
	return true
}

// room forgets a lease that has ended, or else the offer that waits for longest: who floods a segment makes others ask twice, and takes no
// address from who has it.
func (b *Book) room(now time.Time) bool {
	if e := b.taken.Front(); e != nil && !now.Before(leaseOf(e).Until) {
		b.forget(e)
		return true
	}
	if e := b.offered.Front(); e != nil {
		b.forget(e)
		return true
	}
	return false
}

// Release takes an address back from the machine that has it; false: it has it not.
func (b *Book) Release(network boot.Name, a netip.Addr, mac boot.MAC) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.leases[place{network, a}]
	if !ok || leaseOf(e).MAC != mac {
		return false
	}
	b.forget(e)
	b.change()
	return true
}

// forget drops a lease. It's called with the lock.
func (b *Book) forget(e *list.Element) {
	l := leaseOf(e)
	delete(b.leases, place{l.Network, l.Address})
	if m := (machine{l.Network, l.MAC}); b.last[m] == l.Address {
		delete(b.last, m)
	}
	if l.taken {
		b.taken.Remove(e)
		return
	}
	b.offered.Remove(e)
}

// Taken gives the leases that count now, without offers, and says whether there's news since the last time that it was asked to.
func (b *Book) Taken(now time.Time) (all []Lease, news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.taken.Front(); e != nil; e = e.Next() {
		if l := leaseOf(e); now.Before(l.Until) {
			all = append(all, *l)
		}
	}
	news, b.changed = b.changed, false
	return all, news
}

// Unwritten says that what Taken gave last wasn't kept: it's news again.
func (b *Book) Unwritten() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = true
}

// Count of the leases that count now.
func (b *Book) Count(now time.Time) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.taken.Back(); e != nil && now.Before(leaseOf(e).Until); e = e.Prev() {
		n++
	}
	return n
}

// Restore takes over what an earlier life has written down. Each lease counts for a whole term from now on: the machine may have
// extended it meanwhile with another bootd.
func (b *Book) Restore(all []Lease, now time.Time) {
	for _, l := range all {
		if l.Address.Is4() && l.MAC != "" && now.Before(l.Until.Add(Term)) {
			b.Take(l.Network, l.Address, l.MAC, now)
		}
	}
}

func leaseOf(e *list.Element) *Lease {
	l, _ := e.Value.(*Lease)
	return l
}
