package heap

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// A program that answers tens of thousands of requests a second, or makes a thousand addresses at once, makes as much garbage in a second as all that it keeps, and to look through what it keeps
// again and again for that costs a fifth of its time. So where memory is made fast, for as long as it is, more of it waits to be collected: no more than a few
// dozen megabytes, and an eighth of what its container may have. Afterwards all is as before, and what isn't needed is given back.

const (
	// lookEvery is how often it's looked at how much memory was made.
	lookEvery = 250 * time.Millisecond
	// fast is how many bytes a second that is, fastFor how many looks in a row begin it, and slowFor how many end it.
	fast    = 32 << 20
	fastFor = 4
	slowFor = 20
	// spareBytes may wait to be collected then, and mostPercent of what is kept, at most.
	spareBytes  = 64 << 20
	mostPercent = 400
	// share of a container's memory that may.
	share = 8
	// Every so many looks in which little was made, what waits is given back, too: where nothing happens it would lie there for minutes.
	idleFor = int(15 * time.Second / lookEvery)
	// little is how much that may be, and some how little isn't worth it.
	little = 32 << 20
	some   = 1 << 20
)

// Pace goes on until ctx ends, of a heap that Spare keeps to so many percent in calm. Where GOGC says what is to wait, it does nothing.
func Pace(ctx context.Context, calm int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	p := pace{spare: spareOf(memoryMax()), calm: calm, percent: calm}
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		metrics.Read(samples)
		was := p.percent
		p.look(samples[0].Value.Uint64(), samples[1].Value.Uint64())
		if p.percent != was {
			debug.SetGCPercent(p.percent)
		}
		if p.percent == calm && (was != calm || p.idle()) {
			debug.FreeOSMemory()
		}
	}
}

// A pace is by how many percent the heap grows until it's collected, by what was seen of it.
type pace struct {
	spare         uint64
	calm, percent int
	// made is what was made until the last look, and quick and slow how many looks in a row saw much, or little, of it.
	made        uint64
	quick, slow int
	// before is what was made until idle last counted, and looks how many looks ago that was.
	before uint64
	looks  int
}

// idle is asked after each look, and says that what waits is to be given back since little happens.
func (p *pace) idle() bool {
	p.looks++
	if p.looks < idleFor {
		return false
	}
	p.looks = 0
	made := p.made - p.before
	if made < some {
		return false // It adds up.
	}
	p.before = p.made
	return made < little
}

// look takes in how many bytes were made so far, and how many of them the last collection found in use.
func (p *pace) look(made, kept uint64) {
	much := p.made != 0 && made-p.made >= uint64(fast*lookEvery/time.Second)
	p.made = made
	if much {
		p.quick, p.slow = p.quick+1, 0
	} else {
		p.quick, p.slow = 0, p.slow+1
	}
	switch {
	case p.slow >= slowFor:
		p.percent = p.calm
	case p.quick >= fastFor:
		// What is kept differs a little each time: to set it anew stops the program for a moment.
		if n := p.allowed(kept); p.percent == p.calm || 4*max(n-p.percent, p.percent-n) > p.percent {
			p.percent = n
		}
	}
}

// allowed is how many percent of what is kept may wait.
func (p *pace) allowed(kept uint64) int {
	if kept == 0 {
		return p.calm
	}
	return int(min(max(p.spare*100/kept, uint64(p.calm)), mostPercent)) //nolint:gosec // It's bounded.
}

// spareOf is how many bytes may wait, of a program that may have so many.
func spareOf(most uint64) uint64 { return min(spareBytes, most/share) }

// memoryMax is how much memory the container may have (cgroup v2), or else what GOMEMLIMIT says.
func memoryMax() uint64 {
	limit := uint64(max(debug.SetMemoryLimit(-1), 0))
	b, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return limit
	}
	if n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil {
		return min(limit, n)
	}
	return limit // "max"
}
