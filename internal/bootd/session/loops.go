package session

import (
	"hash/maphash"
	"math"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// loopReturns is how often a machine comes back within loopWindow before that's said; soonAfter is how long after it was sent to its
	// disk, or began before, that counts as coming back. A system that ran for longer was rebooted.
	loopReturns = 10
	loopWindow  = time.Hour
	soonAfter   = 5 * time.Minute
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

// A moment is in seconds since the first one of Trails, which is 1; 0: never. It's little memory, without pointers: a hall has many.
type moment uint32

func (m moment) since(earlier moment) time.Duration {
	return time.Duration(int64(m)-int64(earlier)) * time.Second
}

// loop is whether a machine begins to boot again and again. It only counts: nobody is told anything else for what it finds. Who is held, or installed, is
// none of those: that's a wait, or ends by itself.
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

// number of a way. That two of a machine have the same one is rare, and costs a word too early.
func (w Way) number() uint16 { return uint16(maphash.Comparable(seed, w)) } //nolint:gosec // Any part of it does.

// Told notes that a machine was sent to its disk, or given its live system.
func (l *Trails) Told(m Machine, lead Lead, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, _ := l.was(m)
	x := was
	x.found()
	if x.lead != lead {
		x.back.forget()
	}
	x.told, x.lead = l.moment(at), lead
	l.keep(m, was, x)
}

// Asked notes that a machine asked for its script, whatever it was told.
func (l *Trails) Asked(m Machine) {
	l.change(m, func(x *trail) { x.found() })
}

// ran is a machine of which nothing is left but when it was last said: it comes up.
func (x *loop) ran() {
	*x = loop{back: tally{said: x.back.said}, lost: tally{said: x.lost.said}}
}

// found is a machine that has come to its script.
func (x *loop) found() {
	x.began, x.loaded = 0, false
	x.lost.forget()
}

// Loaded notes that a machine has its first stage of this bootd.
func (l *Trails) Loaded(m Machine) {
	l.change(m, func(x *trail) { x.loaded = true })
}

// Began takes note of a machine's firmware that begins to boot from the network by a way. It gives what its last boot came to where that was a moment ago, how often
// it did so within an hour, and whether it's time to say so. asksUs says that its script can be no other bootd's, and is asked
// where that decides: otherwise a boot without one counts where it had its first stage of us.
func (l *Trails) Began(m Machine, by Way, asksUs func() bool, at time.Time) (lead Lead, times int, say bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, _ := l.was(m)
	now := l.moment(at)
	x := was
	switch {
	case x.told != 0 && now.since(x.told) > soonAfter:
		x.ran()
	case x.told != 0:
		lead = x.lead
		times, say = x.back.add(now, by.number())
	case x.began == 0:
	case now.since(x.began) > soonAfter: // Whatever it did meanwhile.
		x.lost.forget()
	case x.loaded || asksUs():
		times, say = x.lost.add(now, by.number())
	}
	x.told, x.began, x.loaded = 0, now, false // Firmware may begin more than once a boot.
	l.keep(m, was, x)
	return lead, times, say
}

// Runs notes that a machine's system was seen: it boots.
func (l *Trails) Runs(m Machine) {
	l.change(m, func(x *trail) { x.ran() })
}
