package specdir

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// burst is how long much work goes on until others get the processors, gasp for how long it waits then, and longest for how long at most where
	// they need all of them.
	burst   = 2 * time.Millisecond
	gasp    = time.Millisecond
	longest = 20 * time.Millisecond
)

// A breath is taken now and then by what goes through all machines. A bootd that has just started serves what an earlier life read, and reads a
// hall's specs meanwhile: where there's one processor, and ten thousand machines ask, it would answer a quarter of them.
type breath struct{ since time.Time }

func (b *breath) take() {
	now := time.Now()
	if b.since.IsZero() {
		b.since = now
	}
	if now.Sub(b.since) < burst {
		return
	}
	for began := now; ; {
		before, from := used(), time.Now()
		time.Sleep(gasp) // Go looks for packets only when nobody works, or each 10 ms.
		took := time.Since(from) * time.Duration(runtime.GOMAXPROCS(0))
		if used()-before < took/2 || time.Since(began) >= longest {
			break
		}
	}
	b.since = time.Now()
}

// used is the time of processors that this process has had.
func used() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
