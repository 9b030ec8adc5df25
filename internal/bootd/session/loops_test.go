package session

import (
	"strconv"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestLoops: a machine that's sent to its disk and comes back is counted, and said at the tenth time.
func TestLoops(t *testing.T) {
	cases := map[string]struct {
		reason string
		every  time.Duration // from one boot to the next
		boots  int
		told   bool
		runs   int // A system is seen after that boot.
		says   int
	}{
		"Nine":    {reason: "a few times is nothing", every: time.Minute, boots: 9, told: true, runs: -1},
		"Ten":     {reason: "ten times is a loop", every: time.Minute, boots: 10, told: true, runs: -1, says: 1},
		"Hours":   {reason: "it's said once an hour", every: 2 * time.Minute, boots: 90, told: true, runs: -1, says: 3},
		"Slow":    {reason: "a system ran in between", every: 10 * time.Minute, boots: 50, told: true, runs: -1},
		"Runs":    {reason: "a system was seen", every: time.Minute, boots: 15, told: true, runs: 7},
		"NotTold": {reason: "it wasn't sent to its disk", every: time.Minute, boots: 50, runs: -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, now, says := NewLoops(), time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), 0
			for i := range tc.boots {
				if tc.told {
					l.Told(web, now)
				}
				now = now.Add(tc.every)
				if i == tc.runs {
					l.Runs(web)
				}
				if n, say := l.Began(web, now); say {
					says++
					if n < loopReturns {
						t.Errorf("%d times", n)
					}
				}
				if _, say := l.Began(web, now); say {
					t.Error("one boot is counted twice")
				}
			}
			if says != tc.says {
				t.Errorf("%s: said %d times, want %d", tc.reason, says, tc.says)
			}
			if tc.says > 0 {
				t.Logf("\n| bootd: a machine boots in a loop | %d | %d |", tc.says, says)
			}
		})
	}
}

// TestLoopsAreBounded: whatever comes by, so many are remembered.
func TestLoopsAreBounded(t *testing.T) {
	l := NewLoops()
	for i := range maxLoops + 9 {
		l.Told(boot.Name{Name: strconv.Itoa(i)}, time.Unix(1, 0))
	}
	if len(l.of) > maxLoops {
		t.Error(len(l.of))
	}
}
