package session

import (
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// loopReturns is how often a machine comes back within loopWindow before that's said; soonAfter is how long after it was sent to its
	// disk that counts as coming back. A system that ran for longer was rebooted.
	loopReturns = 10
	loopWindow  = time.Hour
	soonAfter   = 5 * time.Minute
	// maxLoops machines are remembered.
	maxLoops = 1 << 16
)

// Loops watches machines that are sent to their disks. It only counts: nobody is told anything else for what it finds.
type Loops struct {
	mu sync.Mutex
	of map[boot.Name]loop
}

// loop is what is known of one machine: when it was last sent to its disk, when it first came back, how often since, and when that was said.
type loop struct {
	told, first, said time.Time
	returns           int
}

// NewLoops watches nobody yet.
func NewLoops() *Loops { return &Loops{of: map[boot.Name]loop{}} }

// Told notes that a machine was sent to its disk.
func (l *Loops) Told(n boot.Name, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, known := l.of[n]
	if !known && len(l.of) >= maxLoops {
		clear(l.of) // It costs at worst that a loop is said later.
	}
	x.told = at
	l.of[n] = x
}

// Began takes note of a machine's firmware that begins to boot from the network. It gives how often that followed on being sent to the disk
// within an hour, and whether it's time to say so: at the tenth time, and once an hour from then on.
func (l *Loops) Began(n boot.Name, at time.Time) (returns int, say bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, known := l.of[n]
	switch {
	case !known || x.told.IsZero(): // Firmware may begin more than once a boot.
		return x.returns, false
	case at.Sub(x.told) > soonAfter:
		delete(l.of, n)
		return 0, false
	}
	if x.returns == 0 || at.Sub(x.first) > loopWindow {
		x.first, x.returns = at, 0
	}
	x.returns++
	x.told = time.Time{}
	if say = x.returns >= loopReturns && (x.said.IsZero() || at.Sub(x.said) >= loopWindow); say {
		x.said = at
	}
	l.of[n] = x
	return x.returns, say
}

// Runs notes that a machine's system was seen: it boots its disk.
func (l *Loops) Runs(n boot.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, n)
}
