package config

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	// quickFor is how long a NetBox may take before it's called slow.
	quickFor = 3 * time.Second
	// So many looks are under way at once at NetBoxes that aren't called slow, and at those that are; and of one owner, which is a namespace, or
	// the operators together.
	quickAtOnce, quickOfOne = 32, 16
	slowAtOnce, slowOfOne   = 128, 32
)

// probes are the looks at NetBoxes that are under way, or wait for their turn. No reconcile waits for one: a NetBox that accepts connections and
// answers nothing takes as long as a look may, and some seventy of them would have all workers. Who is slow moves on to a lane of
// its own after a moment, or is broken off where that's full, and waits there: how many there are of them makes nobody else late. Safe for
// concurrent use.
type probes struct {
	// after has something done after a while.
	after func(d time.Duration, do func())

	mu sync.Mutex
	// all that are under way or wait, by their config.
	all         map[types.UID]*probe
	quick, slow lane
	// running are the looks whose end isn't told yet.
	running sync.WaitGroup
}

// A probe is one look at the NetBox of a config.
type probe struct {
	of types.UID
	// owner is who the config belongs to, and version what of it is looked at: of another one the look is begun anew.
	owner, version string
	// look until the context ends, and tell what was found, which must wait for nobody. What was broken off found nothing, and goes on later.
	look func(ctx context.Context) Finding
	tell func(f Finding, broken bool)

	// own makes the context of a look: of whoever asked for it, and of nobody's who asked for another one before.
	own func() (context.Context, context.CancelFunc)
	// in is the lane in which it's under way; nil: it isn't counted in any.
	in   *lane
	stop context.CancelFunc
	// broken says that it's to be made again in the slow lane, and forgotten that nobody wants to know.
	broken, forgotten bool
}

func newProbes() *probes {
	return &probes{
		after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }, all: map[types.UID]*probe{},
		quick: newLane(quickAtOnce, quickOfOne), slow: newLane(slowAtOnce, slowOfOne),
	}
}

// begin a look, unless there is one of the same version already. slow says that this NetBox didn't answer the last one.
func (s *probes) begin(ctx context.Context, p *probe, slow bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was, there := s.all[p.of]; there {
		if was.version == p.version {
			return
		}
		s.drop(was)
	}
	p.own = func() (context.Context, context.CancelFunc) { return context.WithCancel(context.WithoutCancel(ctx)) }
	s.all[p.of] = p
	l := &s.quick
	if slow {
		l = &s.slow
	}
	l.add(p)
	s.next(l) //nolint:contextcheck // Each has the context of whoever asked for it.
}

// forget the look at the NetBox of a config that is gone.
func (s *probes) forget(of types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, there := s.all[of]; there {
		s.drop(p)
	}
}

func (s *probes) drop(p *probe) {
	delete(s.all, p.of)
	p.forgotten = true
	if p.stop != nil {
		p.stop()
	}
}

// next begins those of a lane whose turn it is. They outlive whoever asked.
func (s *probes) next(l *lane) {
	for p := l.take(); p != nil; p = l.take() {
		var own context.Context
		own, p.stop = p.own()
		p.in = l
		s.running.Go(func() { s.carryOut(own, p) })
		if l == &s.quick {
			s.after(quickFor, func() { s.late(own, p) })
		}
	}
}

// carryOut makes a look.
func (s *probes) carryOut(ctx context.Context, p *probe) {
	f := p.survive(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.stop()
	broken := p.broken && f.Reason != ""
	l := p.in
	if l != nil {
		l.leave(p)
	}
	p.in, p.broken = nil, false
	if !p.forgotten {
		p.tell(f, broken) // Before anybody can begin another one.
	}
	switch {
	case p.forgotten:
	case broken:
		s.slow.add(p)
		s.next(&s.slow) //nolint:contextcheck // The same.
	default:
		delete(s.all, p.of)
	}
	if l != nil {
		s.next(l) //nolint:contextcheck // The same.
	}
}

// survive makes a look that ends nobody else's: whatever a NetBox sends, the provider goes on.
func (p *probe) survive(ctx context.Context) (f Finding) {
	defer func() {
		if r := recover(); r != nil {
			log.FromContext(ctx).Info("The provider panicked over a look at a NetBox", "config", string(p.of), "namespace", p.owner, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			f = Finding{Reason: v1alpha1.ReasonInvalid, Message: "the provider panicked over what the NetBox sent: report it, with the stack in its log"}
		}
	}()
	return p.look(ctx)
}

// late has a look that takes long make room for others.
func (s *probes) late(ctx context.Context, p *probe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.in != &s.quick || ctx.Err() != nil {
		return
	}
	s.quick.leave(p)
	if p.in = nil; s.slow.free(p.owner) {
		s.slow.enter(p)
	} else {
		p.broken = true
		p.stop()
	}
	s.next(&s.quick) //nolint:contextcheck // Each has the context of whoever asked for it.
}

// wait for those that are under way, and those that follow them.
func (s *probes) wait() { s.running.Wait() }

// A lane lets so many looks be under way at once, and so many of one owner. Owners take turns.
type lane struct {
	most, ofOne int
	n           int
	of          map[string]int
	order       []string
	lines       map[string][]*probe
}

func newLane(most, ofOne int) lane {
	return lane{most: most, ofOne: ofOne, of: map[string]int{}, lines: map[string][]*probe{}}
}

// add one to those that wait.
func (l *lane) add(p *probe) {
	if len(l.lines[p.owner]) == 0 {
		l.order = append(l.order, p.owner)
	}
	l.lines[p.owner] = append(l.lines[p.owner], p)
}

// take the next one that may be under way, too; nil: none may.
func (l *lane) take() *probe {
	for owner, line := range l.lines {
		l.lines[owner] = slices.DeleteFunc(line, func(p *probe) bool { return p.forgotten })
		if len(l.lines[owner]) == 0 {
			delete(l.lines, owner)
			l.order = slices.DeleteFunc(l.order, func(o string) bool { return o == owner })
		}
	}
	i := slices.IndexFunc(l.order, l.free)
	if i < 0 {
		return nil
	}
	owner := l.order[i]
	l.order = slices.Delete(l.order, i, i+1)
	p := l.lines[owner][0]
	if l.lines[owner] = l.lines[owner][1:]; len(l.lines[owner]) == 0 {
		delete(l.lines, owner)
	} else {
		l.order = append(l.order, owner)
	}
	l.enter(p)
	return p
}

// free says whether one more of an owner may be under way.
func (l *lane) free(owner string) bool { return l.n < l.most && l.of[owner] < l.ofOne }

func (l *lane) enter(p *probe) {
	l.n++
	l.of[p.owner]++
	p.in = l
}

func (l *lane) leave(p *probe) {
	l.n--
	l.of[p.owner]--
	if l.of[p.owner] == 0 {
		delete(l.of, p.owner)
	}
}
