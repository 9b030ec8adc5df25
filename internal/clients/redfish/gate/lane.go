package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Lane says how long others let a call wait.
type Lane int

// The lanes. The zero value is a look.
const (
	// Look finds out how a machine is.
	Look Lane = iota
	// Act changes it: somebody waits for that.
	Act
	// Inventory takes many requests, for which nobody waits.
	Inventory
)

// lanes in the order in which they get their turn.
var lanes = [...]Lane{Act, Look, Inventory} //nolint:gochecknoglobals // A table.

// BusyError says that a BMC wasn't called, or that it was only read and didn't
// answer at once: nothing was done to it, and nothing is known of it that is
// new. The call is to be made again in a moment.
type BusyError struct {
	why string
	// After is how long the BMC asked to be left alone, 0 where it didn't.
	After time.Duration
}

// Error implements error.
func (e *BusyError) Error() string { return "the BMC is to be asked again in a moment: " + e.why }

// IsBusy says whether a call wasn't made, and nothing is known that is new.
func IsBusy(err error) bool {
	var busy *BusyError

	return errors.As(err, &busy)
}

// LeaveAlone is how long the BMC of a call that was Busy asked to be left alone, 0
// where it didn't.
func LeaveAlone(err error) time.Duration {
	var busy *BusyError
	if !errors.As(err, &busy) {
		return 0
	}

	return busy.After
}

// Why a call is Busy. The words don't change while nothing does.
var (
	errBusyQueue = &BusyError{why: "other calls to it take long"}
	errBusyProbe = &BusyError{why: "somebody is finding out already whether it answers again"}
	errBusySlow  = &BusyError{why: "it didn't answer at once"}
	errBusyYield = &BusyError{why: "somebody else waited for it"}
)

// turns is the queue of one BMC. Who has the turn may talk to it.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting [len(lanes)][]chan struct{}
	// yield has who has the turn hurry up; nil where that isn't to be hurried.
	yield func()
}

// yields has f called where somebody has waited long enough. The caller has the turn.
func (t *turns) yields(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.yield = f
}

// wanted says whether somebody waits for the turn who is in more of a hurry than
// an inventory.
func (t *turns) wanted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	return len(t.waiting[Act])+len(t.waiting[Look]) > 0
}

// hurry calls who has the turn, and isn't to be waited for.
func (t *turns) hurry() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.yield != nil {
		t.yield()
	}
}

// try takes the turn if nobody has it.
func (t *turns) try() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		return false
	}
	t.taken = true

	return true
}

// yieldOf is how much of its patience a call waits for a read of an inventory,
// until that is broken off.
func yieldOf(patience time.Duration) time.Duration { return patience * 2 / 5 }

// enter waits for the turn, for as long as patience; 0 is as long as ctx.
func (t *turns) enter(ctx context.Context, lane Lane, patience time.Duration) error {
	if t.try() {
		return nil
	}
	turn := t.line(lane)
	if turn == nil {
		return nil
	}
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	if patience > 0 && lane != Inventory {
		defer time.AfterFunc(yieldOf(patience), t.hurry).Stop()
	}
	var err error
	select {
	case <-turn:
		return nil
	case <-late:
		err = errBusyQueue
	case <-ctx.Done():
		err = fmt.Errorf("gave up waiting for another call to the same BMC: %w", ctx.Err())
	}
	if !t.withdraw(lane, turn) {
		t.leave() // It came just now.
	}

	return err
}

// line stands in line, and returns what is closed with the turn; nil: it's ours,
// since it became free meanwhile.
func (t *turns) line(lane Lane) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.taken {
		t.taken = true

		return nil
	}
	turn := make(chan struct{})
	t.waiting[lane] = append(t.waiting[lane], turn)

	return turn
}

// withdraw leaves the line; false: the turn was given already.
func (t *turns) withdraw(lane Lane, turn chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting[lane], turn)
	if i < 0 {
		return false
	}
	t.waiting[lane] = slices.Delete(t.waiting[lane], i, i+1)

	return true
}

// leave gives the turn to who waits longest in the most urgent lane.
func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.yield = nil
	for _, l := range lanes {
		if len(t.waiting[l]) == 0 {
			continue
		}
		turn := t.waiting[l][0]
		t.waiting[l] = slices.Delete(t.waiting[l], 0, 1)
		close(turn)

		return
	}
	t.taken = false
}

const (
	// suspects is how many BMCs that didn't answer last time may be asked at the
	// same time: of the workers that look at hosts (up to 50) the others are for
	// those that answer.
	suspects = 8
	// thorough is how many of them may take a whole RequestTimeout. The others
	// get as little time as a BMC that answers, so that one that is back among
	// hundreds that aren't is noticed soon.
	thorough = 4
)

// A bulkhead is what BMCs that don't answer have of a process.
type bulkhead struct{ slots, thorough chan struct{} }

func newBulkhead() bulkhead {
	return bulkhead{slots: make(chan struct{}, suspects), thorough: make(chan struct{}, thorough)}
}

// try takes a slot if one is free, and says whether it's one for a whole
// RequestTimeout. It never waits. leave gives it back.
func (b bulkhead) try() (whole bool, leave func(), ok bool) {
	select {
	case b.slots <- struct{}{}:
	default:
		return false, nil, false
	}
	select {
	case b.thorough <- struct{}{}:
		return true, func() { <-b.thorough; <-b.slots }, true
	default:
		return false, func() { <-b.slots }, true
	}
}
