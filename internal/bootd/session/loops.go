package session

import (
	"hash/maphash"
	"math"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// loopReturns is how often a machine comes back within loopWindow before that's said; soonAfter is how long after it was sent to its
	// disk, or began before, that counts as coming back. A system that ran for longer was rebooted.
	loopReturns = 10
	loopWindow  = time.Hour
	soonAfter   = 5 * time.Minute
	// maxLoops machines are remembered.
	maxLoops = 1 << 16
)

// A Lead is what the boots of a machine come to that begins again and again.
type Lead uint8

// Values of Lead.
const (
	// LeadsNowhere: it comes to no script.
	LeadsNowhere Lead = iota
	// LeadsToDisk: it's sent to its disk.
	LeadsToDisk
	// LeadsToLive: it's given the system that it netboots each time.
	LeadsToLive
)

// Loops watches machines that begin to boot again and again. It only counts: nobody is told anything else for what it finds. Who is held, or
// installed, is none of them: that's a wait, or ends by itself.
type Loops struct {
	// seed of machines' numbers: a hall that boots asks for each of its machines, whose names are in no cache.
	seed maphash.Seed

	mu    sync.Mutex
	since time.Time // what moments are counted from
	of    map[uint64]loop
}

// A moment is in seconds since the first one of Loops, which is 1; 0: never. It's little memory, without pointers: a hall has many.
type moment uint32

func (m moment) since(earlier moment) time.Duration {
	return time.Duration(int64(m)-int64(earlier)) * time.Second
}

// loop is what is known of one machine.
type loop struct {
	// told is when its last script sent it to lead; never: its firmware has begun since.
	told moment
	// began is when its firmware last did; never: it has had a script since.
	began moment
	// back is how often it came back from there, lost how often it began anew without a script.
	back, lost tally
	lead       Lead
	// loaded says that it has its first stage since it began.
	loaded bool
}

// A Way is how firmware boots from the network: it may go through several each time, of which some lead nowhere.
type Way struct {
	// MAC of the NIC; "" where it isn't known.
	MAC      boot.MAC
	Firmware boot.Firmware
}

// tally is how often something happened by the way that it first did, and when that was said.
type tally struct {
	first, said moment
	times, way  uint16
}

// add counts one more, and says whether it's time to say so: at the tenth time, and once an hour from then on. By another way it's no more of them: firmware
// that has many went through them once.
func (t *tally) add(at moment, way uint16) (times int, say bool) {
	if t.times == 0 || at.since(t.first) > loopWindow {
		t.first, t.times, t.way = at, 0, way
	}
	if t.way != way {
		return int(t.times), false
	}
	t.times = min(t.times, math.MaxUint16-1) + 1
	if say = t.times >= loopReturns && (t.said == 0 || at.since(t.said) >= loopWindow); say {
		t.said = at
	}
	return int(t.times), say
}

// forget begins to count anew. What was said stays: it's said once an hour, however often it begins.
func (t *tally) forget() { t.first, t.times, t.way = 0, 0, 0 }

// NewLoops watches nobody yet.
func NewLoops() *Loops { return &Loops{seed: maphash.MakeSeed(), of: map[uint64]loop{}} }

// number of a machine. That two have the same one is as good as never, and costs at worst a word too many.
func (l *Loops) number(n boot.Name) uint64 { return maphash.Comparable(l.seed, n) }

// way is a number of one. That two of a machine have the same one is rare, and costs a word too early.
func (l *Loops) way(w Way) uint16 { return uint16(maphash.Comparable(l.seed, w)) } //nolint:gosec // Any part of it does.

// moment of a time.
func (l *Loops) moment(at time.Time) moment {
	if l.since.IsZero() {
		l.since = at
	}
	return moment(1 + max(0, at.Sub(l.since)/time.Second)) //nolint:gosec // It's good for a century.
}

// Told notes that a machine was sent to its disk, or given its live system.
func (l *Loops) Told(n boot.Name, lead Lead, at time.Time) {
	machine := l.number(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.of[machine].found()
	if x.lead != lead {
		x.back.forget()
	}
	x.told, x.lead = l.moment(at), lead
	l.keep(machine, x)
}

// Asked notes that a machine asked for its script, whatever it was told.
func (l *Loops) Asked(n boot.Name) {
	machine := l.number(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	if x, known := l.of[machine]; known {
		l.keep(machine, x.found())
	}
}

// ran is a machine of which nothing is left but when it was last said: it comes up.
func (x loop) ran() loop {
	return loop{back: tally{said: x.back.said}, lost: tally{said: x.lost.said}}
}

// found is a machine that has come to its script.
func (x loop) found() loop {
	x.began, x.loaded = 0, false
	x.lost.forget()
	return x
}

// Loaded notes that a machine has its first stage of this bootd.
func (l *Loops) Loaded(n boot.Name) {
	machine := l.number(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	if x, known := l.of[machine]; known {
		x.loaded = true
		l.of[machine] = x
	}
}

// Began takes note of a machine's firmware that begins to boot from the network by a way. It gives what its last boot came to where that was a moment ago, how often
// it did so within an hour, and whether it's time to say so. asksUs says that its script can be no other bootd's, and is asked
// where that decides: otherwise a boot without one counts where it had its first stage of us.
func (l *Loops) Began(n boot.Name, by Way, asksUs func() bool, at time.Time) (lead Lead, times int, say bool) {
	machine := l.number(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	x, now := l.of[machine], l.moment(at)
	switch {
	case x.told != 0 && now.since(x.told) > soonAfter:
		x = x.ran()
	case x.told != 0:
		lead = x.lead
		times, say = x.back.add(now, l.way(by))
	case x.began == 0:
	case now.since(x.began) > soonAfter: // Whatever it did meanwhile.
		x.lost.forget()
	case x.loaded || asksUs():
		times, say = x.lost.add(now, l.way(by))
	}
	x.told, x.began, x.loaded = 0, now, false // Firmware may begin more than once a boot.
	l.keep(machine, x)
	return lead, times, say
}

// keep remembers a machine of which there's something to remember.
func (l *Loops) keep(machine uint64, x loop) {
	if x == (loop{}) {
		delete(l.of, machine)
		return
	}
	if len(l.of) >= maxLoops {
		if _, known := l.of[machine]; !known {
			clear(l.of) // It costs at worst that a loop is said later.
		}
	}
	l.of[machine] = x
}

// Runs notes that a machine's system was seen: it boots.
func (l *Loops) Runs(n boot.Name) {
	machine := l.number(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	if x, known := l.of[machine]; known {
		l.keep(machine, x.ran())
	}
}
