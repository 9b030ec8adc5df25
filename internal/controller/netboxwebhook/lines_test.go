package netboxwebhook

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// TestHeld: what deliveries have us remember is bounded for all provider configs of a namespace together, whatever they say. Others have their own
// place, and of a provider config that is gone nothing stays.
func TestHeld(t *testing.T) {
	s := newStage(t)
	s.block = make(chan struct{}) // Nothing is looked at.
	l, now := s.lines, time.Unix(0, 0)
	l.now = func() time.Time { return now }
	of := func(namespace, uid string) config.NetBox {
		return config.NetBox{Identity: config.Identity{Ref: config.Ref{Namespace: namespace, Name: uid}, UID: types.UID(uid)}}
	}
	put := func(n config.NetBox, id int, updated, marker string) string {
		return l.put(t.Context(), n, s, netbox.Hook{Event: "updated", ID: int64(id), LastUpdated: updated, Markers: []string{marker, "same"}})
	}
	held := func(n config.NetBox) (waiting, taken, words int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.held(l.each[n.UID])
	}
	a, b, c := of("team-a", "a"), of("team-a", "b"), of("team-b", "c")
	put(a, 1, "0", "m") // It's the one that is being read.
	put(b, 1, "0", "m")
	s.eventually(t, "both wait for their reads", func() bool { _, _, words := held(a); return words == 0 })
	for i := range 10000 { // One record, told of again and again, each time with another marker.
		put(a, 2, fmt.Sprint(i), fmt.Sprintf("%0500d", i))
	}
	if _, _, words := held(b); words > mostWords {
		t.Errorf("%d bytes of markers wait", words)
	}
	for i := range mostWaiting + 10 {
		put([]config.NetBox{a, b}[i%2], 10+i, "1", "m")
	}
	waiting, taken, _ := held(a)
	if waiting != mostWaiting || taken > mostRemembered+1 {
		t.Errorf("%d wait, and %d are remembered", waiting, taken)
	}
	if got := put(b, 1<<20, "1", "m"); got != resultCrowded {
		t.Errorf("one more of the namespace is %s", got)
	}
	if got := put(c, 1<<20, "1", "m"); got != resultTaken {
		t.Errorf("one of another namespace is %s", got)
	}
	close(s.block)
	s.eventually(t, "all is looked at", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, at := range l.each {
			if at.working || at.words != 0 {
				return false
			}
		}
		return true
	})
	now = now.Add(idleLine)
	put(c, 2, "1", strings.Repeat("m", 10))
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.each) != 1 {
		t.Errorf("%d lines are kept", len(l.each))
	}
}

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
			release := s.hold()
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
			release()
			s.eventually(t, "they are looked at", looked(1))
			s.eventually(t, "and NetBox rests", func() bool {
				s.lines.mu.Lock()
				defer s.lines.mu.Unlock()
				return !s.lines.each["uid"].rests.IsZero()
			})
			release = s.hold() // So that they wait together, also on a slow machine.
			tell()
			release()
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

// TestManyRest: of many that wait none is taken while NetBox rests, also where they have become many since that was last asked.
func TestManyRest(t *testing.T) {
	s := newStage(t)
	l, now := s.lines, time.Unix(0, 0)
	l.now = func() time.Time { return now }
	at := &line{waiting: map[int64]netbox.Hook{}, rests: now.Add(leastRest)}
	wait := func(n int) {
		for len(at.order) < n {
			id := int64(len(at.order) + 1)
			at.order, at.waiting[id] = append(at.order, id), netbox.Hook{ID: id}
		}
	}
	for _, step := range []struct {
		reason          string
		waiting, taken  int
		pass            time.Duration
		together, rests bool
	}{
		{"a few are read one by one", many - 1, 1, 0, false, false},
		{"many rest", many, 0, 0, false, true},
		{"until that is over", many, many, leastRest, true, false},
		{"none are left", 0, 0, 0, false, false},
	} {
		wait(step.waiting)
		now = now.Add(step.pass)
		_, batch, together, rests := l.next(at)
		if len(batch) != step.taken || together != step.together || rests != step.rests {
			t.Errorf("%s: %d of %d, together %v, rests %v", step.reason, len(batch), step.waiting, together, rests)
		}
	}
}
