package netboxwebhook

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestRests: looks at all records together leave NetBox alone for as long as the last one took, however many more records are told of. What
// they take is nobody's fault who waits.
func TestRests(t *testing.T) {
	cases := map[string]struct {
		reason string
		// takes is how long a look does, and rests how long there's none after it.
		takes, rests time.Duration
	}{
		"Fast":    {"a short rest at least", 0, leastRest},
		"Slow":    {"as long as it took", 10 * time.Second, 10 * time.Second},
		"Slowest": {"but not for ever", 10 * time.Minute, mostRest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			var mu sync.Mutex
			now := time.Unix(0, 0)
			pass := func(d time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				now = now.Add(d)
			}
			s.lines.now = func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				return now
			}
			s.looking = func() { pass(tc.takes) }
			s.block = make(chan struct{})
			h := s.Handler(t.Context())
			told := 0
			tell := func() {
				for range 2 * many {
					told++
					b := body("updated", told, "1", fmt.Sprint(told))
					deliver(h, "/netbox/webhook/netbox", b, sign(b))
				}
			}
			looked := func(n int) func() bool {
				return func() bool { return s.looks == n }
			}
			tell() // The first is read by itself, for which the others wait.
			close(s.block)
			s.eventually(t, "they are looked at", looked(1))
			s.eventually(t, "and NetBox rests", func() bool {
				s.lines.mu.Lock()
				defer s.lines.mu.Unlock()
				return !s.lines.each["uid"].rests.IsZero()
			})
			tell()
			pass(tc.rests - time.Millisecond)
			time.Sleep(5 * pollMany)
			s.mu.Lock()
			if s.looks != 1 {
				t.Errorf("%s: %d looks before the rest was over", tc.reason, s.looks)
			}
			s.mu.Unlock()
			pass(time.Millisecond)
			s.eventually(t, tc.reason, looked(2))
		})
	}
}
