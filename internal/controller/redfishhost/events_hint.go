package redfishhost

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// hintsASecond is how many hosts are woken in a second, of all BMCs together.
	hintsASecond = 20
	// settleParts of a unit are how long what is told at once may take to come.
	settleParts = 20
	// firstSpace, of two, of a unit is between the first wake and the second, and
	// lastSpace units between those of a host that is told of all the time: as long
	// as between two polls.
	firstSpaceParts, lastSpace = 2, 12
)

// hints wake hosts whose BMC tells that something has changed: soon, once for all
// that comes meanwhile, the more rarely the more often it's told, and not too many
// at once. One that would have to wait longer than for its next poll isn't woken.
// It is safe for concurrent use.
type hints struct {
	wake func(types.UID, types.NamespacedName)
	unit time.Duration
	all  *rate.Limiter
	now  func() time.Time
	// after calls f in a while; time.AfterFunc but in tests.
	after func(d time.Duration, f func())

	mu sync.Mutex
	of map[types.UID]*hint
}

// hint is one host's.
type hint struct {
	// waits says that it's about to be woken, and last when it was.
	waits bool
	last  time.Time
	// space to the wake before.
	space time.Duration
}

func newHints(unit time.Duration, wake func(types.UID, types.NamespacedName)) *hints {
	return &hints{
		wake: wake, unit: unit, all: rate.NewLimiter(hintsASecond, hintsASecond), now: time.Now,
		after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }, of: map[types.UID]*hint{},
	}
}

// note that a host was told of.
func (h *hints) note(host types.UID, name types.NamespacedName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.of[host]
	if t == nil {
		t = &hint{}
		h.of[host] = t
	}
	if t.waits {
		return
	}
	now := h.now()
	since := now.Sub(t.last)
	space := h.unit / firstSpaceParts
	if since < 4*t.space {
		space = min(2*t.space, lastSpace*h.unit)
	}
	slot := h.all.ReserveN(now, 1)
	wait := max(h.unit/settleParts, space-since, slot.DelayFrom(now))
	if wait > lastSpace*h.unit {
		slot.CancelAt(now)

		return
	}
	t.waits, t.space = true, space
	h.after(wait, func() { h.due(host, name, t) })
}

// due wakes a host, unless it's forgotten.
func (h *hints) due(host types.UID, name types.NamespacedName, t *hint) {
	h.mu.Lock()
	known := h.of[host] == t
	t.waits, t.last = false, h.now()
	h.mu.Unlock()
	if known {
		h.wake(host, name)
	}
}

func (h *hints) forget(host types.UID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, host)
}
