package lab

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// A budget is time that may pass while something is waited for. What a virtual machine's host takes of its processors doesn't count:
// in a minute of which it was given three seconds nothing happens that takes ten.
type budget struct {
	left  time.Duration
	at    time.Time
	ticks ticks
}

// mostStretch is how many times its budget a wait may take, at worst.
const mostStretch = 6

func newBudget(left time.Duration) *budget {
	return &budget{left: left, at: time.Now(), ticks: readTicks()}
}

// spend takes off what has passed since the last time, and says whether anything is left.
func (b *budget) spend() bool {
	at, now := time.Now(), readTicks()
	b.left -= earned(at.Sub(b.at), b.ticks, now)
	b.at, b.ticks = at, now
	return b.left > 0
}

// earned is how much of a time counts, by the processors' ticks before and after it.
func earned(passed time.Duration, before, after ticks) time.Duration {
	all, stolen := after.all-before.all, after.stolen-before.stolen
	if all <= 0 || stolen <= 0 {
		return passed
	}
	given := float64(all-stolen) / float64(all)
	return time.Duration(float64(passed) * max(given, 1./mostStretch))
}

// ticks of all processors since the machine's start, and those of them that its host took.
type ticks struct{ all, stolen int64 }

// readTicks reads them; none where the system doesn't say.
func readTicks() ticks {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}
	}
	return parseTicks(string(b))
}

// parseTicks reads the first line of /proc/stat (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal, and two that the
// first ones hold already.
func parseTicks(stat string) ticks {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return ticks{}
	}
	t := ticks{}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return ticks{}
		}
		t.all += n
		if i == 7 {
			t.stolen = n
		}
	}
	return t
}
