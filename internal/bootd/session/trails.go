package session

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/numbered"
)

// A Machine is a number of one, by which what was seen of it is found without its name: a hall that boots asks for each of its machines, and their names
// are in no cache.
type Machine uint64

// seed of numbers. They're this process's alone.
var seed = maphash.MakeSeed() //nolint:gochecknoglobals // Nobody changes it.

// MachineOf an entry. That two have the same number is as good as never, and costs at worst a word too many and a wrong figure.
func MachineOf(n boot.Name) Machine { return Machine(maphash.Comparable(seed, n)) }

const (
	// maxTrails machines are remembered.
	maxTrails = 1 << 17
	// OneBoot is how long after its last stage a boot is taken for over.
	OneBoot = 24 * time.Hour
)

// Trails are what was seen of machines' boots lately: how far they are, and whether they begin again and again.
type Trails struct {
	mu    sync.Mutex
	since time.Time           // what moments are counted from
	of    numbered.Map[trail] // by Machine
}

// trail is what is known of one machine, all of it in one place: of ten thousand machines nothing is in a cache.
type trail struct {
	loop

	stage reached
}

// reached is the last stage of a boot, and when that was, counted from the first moment of Trails. Of none the number is 0.
type reached struct {
	number int8
	at     time.Duration
}

// NewTrails know nobody yet.
func NewTrails() *Trails { return &Trails{} }

// Reached notes where a machine's boot is, and says how long it took from the stage before; false: it's the first of a boot, or no later one than that.
func (l *Trails) Reached(m Machine, stage boot.Stage, at time.Time) (took time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, _ := l.was(m)
	x := was
	if stage == boot.StageScript || stage == boot.StageKernel { // Whoever's kernel runs had its script; a Raspberry Pi comes to none.
		x.found()
	}
	before, now := was.stage, reached{number(stage), at.Sub(l.first(at))}
	took = now.at - before.at
	fresh := before.number == 0 || stage == boot.StageDHCP || took < 0 || took > OneBoot
	if fresh || now.number > before.number {
		x.stage, ok = now, !fresh
	}
	l.keep(m, was, x)
	if !ok {
		return 0, false
	}
	return took, true
}

// number of a stage, in the order of a boot. A failure is where an install may end, as well as a success.
func number(s boot.Stage) int8 {
	if s == boot.StageFailed {
		s = boot.StageInstalled
	}
	return int8(1 + slices.Index([]boot.Stage{ //nolint:gosec // There are seven.
		boot.StageDHCP, boot.StageFirmware, boot.StageScript, boot.StageKernel, boot.StageInstalling, boot.StageInstalled, boot.StageBootedFromDisk,
	}, s))
}

// change changes what is known of a machine of which anything is.
func (l *Trails) change(m Machine, by func(x *trail)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was, known := l.was(m); known {
		x := was
		by(&x)
		l.keep(m, was, x)
	}
}

// keep remembers a machine of which there's something to remember, and something new.
func (l *Trails) keep(m Machine, was, x trail) {
	switch x {
	case was:
		return
	case trail{}:
		l.of.Delete(uint64(m))
		return
	}
	if l.of.Len() >= maxTrails && l.of.At(uint64(m)) == nil {
		l.of.Clear() // It costs at worst that a loop is said later, and a figure of each.
	}
	l.of.Set(uint64(m), x)
}

// was is what is known of a machine; false: nothing is.
func (l *Trails) was(m Machine) (x trail, known bool) {
	if was := l.of.At(uint64(m)); was != nil {
		return *was, true
	}
	return trail{}, false
}

// moment of a time.
func (l *Trails) moment(at time.Time) moment {
	return moment(1 + max(0, at.Sub(l.first(at))/time.Second)) //nolint:gosec // It's good for a century.
}

// first is what moments are counted from: the first of them.
func (l *Trails) first(at time.Time) time.Time {
	if l.since.IsZero() {
		l.since = at
	}
	return l.since
}
