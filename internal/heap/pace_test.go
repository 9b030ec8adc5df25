package heap

import (
	"math"
	"testing"
)

func TestPace(t *testing.T) {
	const (
		much = 10 << 20 // in a look
		low  = 1 << 20
		kept = 40 << 20
	)
	type looks struct {
		n    int
		made uint64
		kept uint64
	}
	cases := map[string]struct {
		reason string
		spare  uint64
		looks  []looks
		want   int
	}{
		"Calm":      {"memory is spared", spareBytes, []looks{{100, low, kept}}, OfBootd},
		"Moment":    {"a start, or a state that is made anew, is no load", spareBytes, []looks{{3, low, kept}, {fastFor - 1, much, kept}}, OfBootd},
		"Load":      {"64 MiB beside 40 that are kept", spareBytes, []looks{{3, low, kept}, {fastFor, much, kept}}, 160},
		"Pauses":    {"a load that pauses goes on", spareBytes, []looks{{3, low, kept}, {fastFor, much, kept}, {slowFor - 1, low, kept}}, 160},
		"Over":      {"what isn't needed is given back", spareBytes, []looks{{3, low, kept}, {fastFor, much, kept}, {slowFor, low, kept}}, OfBootd},
		"Large":     {"what keeps much has as much to wait as ever", spareBytes, []looks{{3, low, 1 << 30}, {fastFor, much, 1 << 30}}, OfBootd},
		"Small":     {"what keeps little doesn't let a multiple of it wait", spareBytes, []looks{{3, low, 4 << 20}, {fastFor, much, 4 << 20}}, mostPercent},
		"Container": {"an eighth of 128 MiB is less than half of what is kept", spareOf(128 << 20), []looks{{3, low, kept}, {fastFor, much, kept}}, OfBootd},
		"Steady":    {"what is kept differs a little each time, and nothing is set anew", spareBytes, []looks{{3, low, kept}, {fastFor, much, kept}, {9, much, kept + kept/8}}, 160},
		"Grows":     {"what is kept grows", spareBytes, []looks{{3, low, kept}, {fastFor, much, kept}, {9, much, 2 * kept}}, 80},
		"Unknown":   {"nothing was collected yet", spareBytes, []looks{{3, low, 0}, {fastFor, much, 0}}, OfBootd},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, made := pace{spare: tc.spare, calm: OfBootd, percent: OfBootd}, uint64(5<<30)
			for _, l := range tc.looks {
				for range l.n {
					made += l.made
					p.look(made, l.kept)
				}
			}
			if p.percent != tc.want {
				t.Errorf("%s: %d %%, want %d", tc.reason, p.percent, tc.want)
			}
		})
	}
}

func TestIdle(t *testing.T) {
	cases := map[string]struct {
		reason string
		look   uint64
		want   int
	}{
		"Nothing": {"nothing waits, and to look for it has its price", 0, 0},
		"Little":  {"what a quiet bootd makes lies there until its heap has grown by half", 2 * some / uint64(idleFor), 3},
		"Busy":    {"what makes much collects by itself", 2 * little / uint64(idleFor), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, n, made := pace{before: 5 << 30}, 0, uint64(5<<30)
			for range 3 * idleFor {
				made += tc.look
				p.made = made
				if p.idle() {
					n++
				}
			}
			if n != tc.want {
				t.Errorf("%s: given back %d times in three quarters of a minute, want %d", tc.reason, n, tc.want)
			}
		})
	}
}

func TestSpareOf(t *testing.T) {
	for most, want := range map[uint64]uint64{math.MaxInt64: spareBytes, 512 << 20: 64 << 20, 256 << 20: 32 << 20} {
		if got := spareOf(most); got != want {
			t.Errorf("of %d bytes %d may wait, want %d", most, got, want)
		}
	}
	if memoryMax() == 0 {
		t.Error("a container without memory")
	}
}
