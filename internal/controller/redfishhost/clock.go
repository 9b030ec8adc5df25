package redfishhost

import (
	"maps"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// lookGap is the most that one look adds to a stopwatch. A host that wasn't
// looked at for longer was paused, or its BMC or this provider was away: nobody
// knows what the machine did meanwhile, and its time doesn't run out unseen.
const lookGap = time.Minute

// A stopwatch tells how long the hosts' acts have been on their way, by this
// process's steady clock: a wall clock that jumps, a pause and a restart can
// make a deadline later, and never sooner. It is safe for concurrent use.
type stopwatch struct {
	// elapsed reads a clock that never jumps.
	elapsed func() time.Duration

	mu   sync.Mutex
	laps map[types.UID]*running
}

// running is the lap of the one act that a host has.
type running struct {
	action action
	began  int64 // the act's own time, in ns: which of several like it
	ours   bool
	total  time.Duration
	looked time.Duration
	// task is how the BMC's task for it is, and ended the total when it had ended.
	task  redfish.Progress
	ended time.Duration
}

// A lap is what is known of how long an act has been on its way.
type lap struct {
	// age is how long this process has been looking at it, at most.
	age time.Duration
	// ours says that this process began it. Of other acts (before a restart, of
	// a restored backup) only their date tells how old they really are.
	ours bool
	// task is what the BMC told of its task for it, and ended the age at which
	// that was over.
	task  redfish.Progress
	ended time.Duration
}

// quiet is how long the effect has been due: what a BMC does later is due when it
// says that it's over.
func (l lap) quiet() time.Duration { return l.age - l.ended }

// newStopwatch makes a stopwatch; nil reads the process's own clock.
func newStopwatch(elapsed func() time.Duration) *stopwatch {
	if elapsed == nil {
		start := time.Now()
		elapsed = func() time.Duration { return time.Since(start) }
	}

	return &stopwatch{elapsed: elapsed, laps: map[types.UID]*running{}}
}

// start begins the lap of an act that is about to be carried out.
func (s *stopwatch) start(host types.UID, a act) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.laps[host] = &running{action: a.Action, began: a.Time.UnixNano(), ours: true, looked: s.elapsed()}
}

// look reads the lap of an act, and begins it where it isn't known yet.
func (s *stopwatch) look(host types.UID, a act) lap {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.elapsed()
	r := s.laps[host]
	if r == nil || r.action != a.Action || r.began != a.Time.UnixNano() {
		r = &running{action: a.Action, began: a.Time.UnixNano(), looked: now}
		s.laps[host] = r
	}
	r.total += min(now-r.looked, lookGap)
	r.looked = now

	return lap{age: r.total, ours: r.ours, task: r.task, ended: r.ended}
}

// told takes down how the task of an act is that was looked at.
func (s *stopwatch) told(host types.UID, a act, p redfish.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.laps[host]
	if r == nil || r.action != a.Action || r.began != a.Time.UnixNano() || r.task.Over() {
		return
	}
	if r.task = p; p.Over() {
		r.ended = r.total
	}
}

// forget drops the lap of a host that is gone, and what else was told of it.
func (s *stopwatch) forget(host types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.laps, host)
	maps.DeleteFunc(s.laps, func(of types.UID, _ *running) bool { return strings.HasPrefix(string(of), string(host)+"/") })
}
