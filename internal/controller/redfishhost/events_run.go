package redfishhost

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// Times, in units of eventPause.
const (
	// spreadUnits is over how long the first connections are spread: after a start
	// all hosts are looked at together.
	spreadUnits = 2
	// softMost is the longest rest of a BMC that ended its stream or couldn't be
	// reached: it doubles from one unit, to ten minutes.
	softMost = 120
	// hardFirst and hardMost bound the rest of one that can't, won't, or sends what
	// nobody can follow: ten minutes to an hour.
	hardFirst, hardMost = 120, 720
	// lastingUnits is how long a stream has been good for that the next rest is the
	// shortest again: five minutes.
	lastingUnits = 60
	// restJitter is the part of a rest by which it's more or less.
	restJitter = 0.2
)

// run listens until ctx ends, again and again, ever more rarely where that's no use.
func (l *streams) run(ctx context.Context, s *stream) {
	var b backOff
	pause(ctx, time.Duration(l.random()*spreadUnits*float64(l.unit)))
	for ctx.Err() == nil {
		began := time.Now()
		err := l.listen(ctx, s)
		if ctx.Err() != nil {
			return
		}
		l.ended(s, err)
		if gate.NeedsLook(err) {
			s.waitForLook(ctx)

			continue
		}
		pause(ctx, b.after(err, time.Since(began), l.unit, l.random()))
	}
}

// waitForLook waits for the next good look at a host: that has a session opened.
func (s *stream) waitForLook(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.looked:
	}
}

// errEventPanic ends the stream of a BMC that sends what the provider can't cope with.
var errEventPanic = errors.New("the provider panicked over the events")

// listen opens a stream and follows it to its end, which is the error. A panic is
// the end of this stream alone: nothing else recovers one here.
func (l *streams) listen(ctx context.Context, s *stream) (err error) {
	defer func() {
		if r := recover(); r != nil {
			l.log.Info("The provider panicked over the events of a BMC", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = errEventPanic
		}
	}()
	if err := l.opens.Wait(ctx); err != nil {
		return err
	}
	ctx, ok := l.counting(ctx, s)
	if !ok {
		return context.Canceled
	}
	from, err := l.from.Stream(ctx, s.target)
	if err != nil {
		return err
	}

	return from.Listen(ctx, func() { l.opened(s) }, func(events int) { l.heard(s, events) })
}

// counting returns a context whose requests count as the owner's; false: that is
// gone.
func (l *streams) counting(ctx context.Context, s *stream) (context.Context, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.owner == "" {
		return ctx, false
	}

	return l.tallies.counting(ctx, s.hosts[s.owner], s.owner), true
}

func (l *streams) opened(s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.up = time.Now()
}

// heard has all hosts of a BMC looked at: which one is meant is the event's word,
// and nobody's business.
func (l *streams) heard(s *stream, events int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.heard += events
	for host, name := range s.hosts {
		l.hints.note(host, name)
	}
}

// ended notes why a stream did.
func (l *streams) ended(s *stream, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case hopeless(err):
		s.lost = time.Time{}
	case !s.up.IsZero() && now.Sub(s.up) >= steadyUnits*l.unit:
		s.lost = now
	}
	s.up, s.why = time.Time{}, err
}

// hopeless says whether trying again soon is of no use: the BMC answered, and can't,
// won't, or sends what nobody can follow.
func hopeless(err error) bool {
	return !gate.IsBusy(err) && !redfish.IsUnreachable(err) && !errors.Is(err, redfish.ErrStreamClosed) && !errors.Is(err, redfish.ErrStreamSilent)
}

// backOff counts what was tried in vain, softly and hopelessly.
type backOff struct{ soft, hard int }

// after is how long to rest behind a stream that lasted so long. random, in [0, 1),
// moves it.
func (b *backOff) after(err error, lasted, unit time.Duration, random float64) time.Duration {
	if lasted >= lastingUnits*unit {
		*b = backOff{}
	}
	var rest time.Duration
	switch {
	case hopeless(err):
		rest = time.Duration(doubled(hardFirst, b.hard, hardMost)) * unit
		b.hard++
	default:
		rest = time.Duration(doubled(1, b.soft, softMost)) * unit
		b.soft++
	}
	rest += time.Duration((2*random - 1) * restJitter * float64(rest))

	return max(rest, leftAlone(err))
}

// doubled is first, so many times, but no more than most.
func doubled(first, times, most int) int { return min(first<<min(times, 16), most) }

// leftAlone is how long a BMC asked to be left alone, 0 where it didn't.
func leftAlone(err error) time.Duration {
	if e := new(redfish.Error); errors.As(err, &e) {
		return e.RetryAfter
	}

	return gate.LeaveAlone(err)
}
