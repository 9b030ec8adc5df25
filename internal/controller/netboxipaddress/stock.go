package netboxipaddress

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

const (
	// fullFirst and fullMost are between looks at a source that somebody waits for: often at first, and more rarely the longer it's
	// full. One look serves all who wait.
	fullFirst, fullMost = 2 * time.Second, 10 * time.Second
	// fullStale is how old the news that a source is full may be for a resource to believe them without a look of its own.
	fullStale = 15 * time.Second
	// takenLook is between looks at a source that addresses are taken from, and idleLook at one that nothing happens to.
	takenLook, idleLook = 30 * time.Second, 5 * time.Minute
	// promised is how long an address that was seen free is kept for the resource that was told so.
	promised = 10 * time.Second
)

// A stockKey is one prefix or range of the NetBox of one provider config.
type stockKey struct {
	config types.UID
	kind   netbox.ParentKind
	id     int64
}

// A stock is what is known of a source: how full it is, and who waits for it.
type stock struct {
	key    stockKey
	of     config.Identity
	netbox Sources
	parent netbox.Parent
	// known says that parent was read from NetBox, and not only heard of, and read when that was.
	known bool
	read  time.Time
	// warnBelow is the part of it, in percent, below which its owner is warned; low says that he was, or that it was so from the start.
	warnBelow int32
	low       bool

	usage netbox.Usage
	// looked is when usage was found; zero: never.
	looked time.Time
	// taken are the addresses that were taken since, and promises those kept for resources, until then.
	taken    int64
	promises map[types.UID]time.Time
	// next is when to look again, and looking that somebody does.
	next    time.Time
	looking bool
	// doubts count how often NetBox listed free addresses and had none to give, as 4.2 does of prefixes that are marked as utilized:
	// until then it isn't believed.
	doubts  int
	doubted time.Time
	// since is how long it has been full, and used when it was last of use.
	since, used time.Time
	waiting     []types.UID
	// fewest is how many sources that one waits for, of those who wait for it, who waits for the fewest.
	fewest int
	// edge is its next free address, where that is one that NetBox puts on no interface, and edged when it was.
	edge  netip.Prefix
	edged time.Time
}

// left is how many addresses are free and promised to nobody but a resource. ok is false where nobody knows.
func (s *stock) left(of types.UID, now time.Time) (n int64, ok bool) {
	if s.looked.IsZero() {
		return 0, false
	}
	n = s.usage.Free - s.taken
	for uid, until := range s.promises {
		switch {
		case now.After(until):
			delete(s.promises, uid)
		case uid != of:
			n--
		}
	}
	return max(0, n), true
}

// threshold is how many free addresses are too few: below the part that is asked for, and never none, as it's too late then. What has
// just one address can't be warned of.
func (s *stock) threshold() int64 {
	if s.warnBelow <= 0 || !s.usage.SizeKnown || s.usage.Size <= 1 || s.usage.AtLeast {
		return 0
	}
	part := s.usage.Size / 100 * int64(s.warnBelow)
	part += (s.usage.Size%100*int64(s.warnBelow) + 99) / 100
	return min(max(part, 1), s.usage.Size-1)
}

// warning is what the owner of a source is told that is about to be full.
func (s *stock) warning() string {
	state := "about to be full"
	if s.usage.Free == 0 {
		state = "full"
	}
	return fmt.Sprintf("%s is %s: %d of %d addresses are free, and warnBelow is %d%%; free some in NetBox, or add a source", s.parent, state, s.usage.Free, s.usage.Size, s.warnBelow)
}

// A waiter is a resource that waits until one of its sources has an address.
type waiter struct {
	name types.NamespacedName
	keys []stockKey
	// seen is when it last said that it waits: one that is gone says nothing.
	seen time.Time
}

// stocks are what is known of all sources in use.
type stocks struct {
	now func() time.Time

	mu      sync.Mutex
	all     map[stockKey]*stock
	waiters map[types.UID]waiter
	// hurry is told when something is to be looked at sooner than at the next tick.
	hurry chan struct{}
}

func newStocks(now func() time.Time) *stocks {
	return &stocks{now: now, all: map[stockKey]*stock{}, waiters: map[types.UID]waiter{}, hurry: make(chan struct{}, 1)}
}

// of returns the stock of a source that a resource uses, new where it wasn't known. The lock must be held.
func (s *stocks) of(e *external, p netbox.Parent, known bool) *stock {
	key := stockKey{e.of.UID, p.Kind, p.ID}
	now := s.now()
	k, ok := s.all[key]
	if !ok {
		s.makeRoom(key.config)
		k = &stock{key: key, parent: p, promises: map[types.UID]time.Time{}, next: now.Add(idleLook)}
		k.usage.Size, k.usage.SizeKnown = p.Size()
		s.all[key] = k
	}
	if known && !k.known { // Of what was only heard of, it isn't known whether it's a pool.
		k.usage.Size, k.usage.SizeKnown = p.Size()
	}
	if known {
		k.parent, k.known, k.read = p, true, now
	}
	k.of, k.netbox, k.warnBelow, k.used = e.of, e.netbox, e.warnBelow, now
	return k
}

// soon makes somebody look at a source at that time, at the latest.
func (s *stocks) soon(k *stock, at time.Time) {
	if at.Before(k.next) {
		k.next = at
	}
	if at.After(s.now()) {
		return
	}
	s.again()
}

// again has it asked at once which sources are to be looked at.
func (s *stocks) again() {
	select {
	case s.hurry <- struct{}{}:
	default:
	}
}

// heard notes that a source is in use by a resource that has its address.
func (s *stocks) heard(e *external, p netbox.Parent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(e, p, false)
}

// took notes that a resource was given an address of a source.
func (s *stocks) took(e *external, p netbox.Parent, uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(e, p, true)
	k.taken++
	k.edge = netip.Prefix{}
	k.doubts, k.doubted = 0, time.Time{}
	delete(k.promises, uid)
	now := s.now()
	left, ok := k.left(uid, now)
	if crosses := ok && !k.low && left <= k.threshold(); !ok || crosses {
		s.soon(k, now)
		return
	}
	s.soon(k, now.Add(takenLook))
}

// empty notes that a source had no address for a resource.
func (s *stocks) empty(e *external, p netbox.Parent, uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(e, p, true)
	now := s.now()
	switch left, ok := k.left(uid, now); {
	case !ok && k.taken == 0:
		k.low = true // Whoever filled it was told by then.
	case ok && left > 0 && now.Sub(k.looked) < fullMost:
		k.doubt(now)
	}
	k.usage.Free, k.usage.AtLeast, k.looked, k.taken = 0, false, now, 0
	delete(k.promises, uid)
	if k.since.IsZero() {
		k.since = now
	}
	s.soon(k, now.Add(max(fullFirst, time.Duration(s.full(k.key.config))*looksApart)))
}

// doubt notes that a source has nothing to give though it looked as if. Once or twice somebody was just faster.
func (s *stock) doubt(now time.Time) {
	s.doubts++
	if s.doubts > 2 {
		s.doubted = now.Add(min(takenLook<<(s.doubts-3), lookAnyway))
	}
}

// has says whether a source may have an address for a resource. As long as it was never full and nobody waits for it, that's for NetBox
// to say. Else it may where one was seen free that is promised to nobody, and then it's promised to this one: of a hundred who wait for
// one address only one asks.
func (s *stocks) has(e *external, p netbox.Parent, uid types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(e, p, true)
	now := s.now()
	left, ok := k.left(uid, now)
	switch {
	case !ok || k.usage.AtLeast || (k.since.IsZero() && len(k.waiting) == 0):
		return true
	case left == 0:
		return false
	}
	k.promises[uid] = now.Add(promised)
	return true
}

// forgo gives back what was promised to a resource that didn't come to take it.
func (s *stocks) forgo(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.all {
		delete(k.promises, uid)
	}
}

// stale says whether a full source is to be looked at by whoever asks, as nobody did for that long. Then the caller must end with learn
// or failed. One that somebody waits for has its turn.
func (s *stocks) stale(e *external, p netbox.Parent, after time.Duration) (stockKey, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(e, p, true)
	now := s.now()
	if k.looking || k.looked.IsZero() || now.Sub(k.looked) < fullStale {
		return k.key, false
	}
	if len(k.waiting) > 0 && now.Before(k.next) || len(k.waiting) == 0 && now.Sub(k.looked) < after {
		return k.key, false
	}
	if left, _ := k.left("", s.now()); left > 0 {
		return k.key, false
	}
	k.looking = true
	return k.key, true
}

// usageOf is what is known of a source now.
func (s *stocks) usageOf(e *external, p netbox.Parent) (u netbox.Usage, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(e, p, true)
	u = k.usage
	u.Free = max(0, u.Free-k.taken)
	return u, !k.looked.IsZero()
}
