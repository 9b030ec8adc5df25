package redfishhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// readers are BMCs that let nobody through until they're opened.
type readers struct {
	open chan struct{}
	err  error
	walk func() (bool, error)

	mu    sync.Mutex
	in    map[string]int
	turns int
	most  int
	twice bool
	// as are the versions of the credentials that turns were with.
	as []string
}

func newReaders() *readers { return &readers{open: make(chan struct{}), in: map[string]int{}} }

func (r *readers) Do(ctx context.Context, t gate.Target, f func(context.Context, BMC) error) error {
	r.mu.Lock()
	r.in[t.Address]++
	r.turns++
	r.as = append(r.as, t.CredentialVersion)
	r.most = max(r.most, len(r.in))
	r.twice = r.twice || r.in[t.Address] > 1
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.in[t.Address]--
		if r.in[t.Address] == 0 {
			delete(r.in, t.Address)
		}
	}()
	<-r.open
	if r.err != nil {
		return r.err
	}

	return f(ctx, walker{walk: r.walk})
}

func (r *readers) Forget(context.Context, string) error { return nil }

func (r *readers) Distrust(string) {}

// walker is a BMC that is only walked.
type walker struct {
	BMC

	walk func() (bool, error)
}

func (w walker) Walk(context.Context, *redfish.Walk, int) (bool, error) {
	if w.walk == nil {
		return true, nil
	}

	return w.walk()
}

// shelf is a rack of hosts whose inventories are read.
type shelf struct {
	*inventories

	gates *readers
	now   time.Time
	mu    sync.Mutex
	woken map[string]int
}

func newShelf() *shelf {
	s := &shelf{gates: newReaders(), now: t0, woken: map[string]int{}}
	s.inventories = newInventories(s.gates, func() time.Time { return s.now }, func(n types.NamespacedName) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.woken[n.Name]++
	})

	return s
}

// look has a host looked at, and returns it.
func (s *shelf) look(name, address string, change ...func(*v1alpha1.RedfishHost)) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: name, UID: types.UID(name)}}
	for _, f := range change {
		f(h)
	}
	s.refresh(h, systemOf(name), gate.Target{Config: redfish.Config{Address: address}}, time.Hour, false)

	return h
}

func systemOf(name string) redfish.System {
	return redfish.System{Identity: redfish.Identity{Serial: name}, Power: redfish.PowerOn, Health: "OK"}
}

func claimed(h *v1alpha1.RedfishHost) { h.Spec.ClaimRef = &v1alpha1.ClaimReference{Name: "web-1"} }

func (s *shelf) line() []string {
	s.inventories.mu.Lock()
	defer s.inventories.mu.Unlock()
	var out []string
	for _, j := range s.waiting {
		out = append(out, string(j.host))
	}

	return out
}

// TestReadersAtOnce: so many at once, one for each BMC, and each host is woken once.
func TestReadersAtOnce(t *testing.T) {
	s := newShelf()
	const hosts = 40
	for range 3 { // Whoever is in line already isn't put there again.
		for i := range hosts {
			s.look(fmt.Sprintf("h%d", i), fmt.Sprintf("10.0.0.%d", i/2+1))
		}
	}
	if n := len(s.line()); n != hosts-readersAtOnce {
		t.Errorf("%d in line, want %d", n, hosts-readersAtOnce)
	}
	close(s.gates.open)
	if n := s.settle(); n != hosts || len(s.woken) != hosts || s.gates.most > readersAtOnce || s.gates.twice {
		t.Errorf("%d read, %d woken, %d at once, twice at one BMC %v; want %d, all, at most %d, never", n, len(s.woken), s.gates.most, s.gates.twice, hosts, readersAtOnce)
	}
	for name, n := range s.woken {
		if n != 1 || !s.known(types.UID(name), systemOf(name)).read {
			t.Errorf("%s: woken %d times, read %v", name, n, s.known(types.UID(name), systemOf(name)).read)
		}
	}
}

// TestWhoComesFirst: a host that a claim waits for overtakes those that nobody has, in its own order.
func TestWhoComesFirst(t *testing.T) {
	s := newShelf()
	s.look("busy", "10.0.0.1")
	for _, name := range []string{"a", "b", "c"} {
		s.look(name, "10.0.0.1")
	}
	s.look("d", "10.0.0.1", claimed)
	s.look("c", "10.0.0.1", claimed)
	s.look("c", "10.0.0.1", claimed)
	if diff := cmp.Diff([]string{"d", "c", "a", "b"}, s.line()); diff != "" {
		t.Errorf("in line: -want, +got:\n%s", diff)
	}
	s.forget("a")
	s.forget("busy")
	close(s.gates.open)
	if n := s.settle(); n != 4 || s.known("busy", systemOf("busy")).read || s.woken["busy"] != 0 || s.known("a", systemOf("a")).read {
		t.Errorf("%d jobs, woken %v; nothing is kept of a host that is gone", n, s.woken)
	}
	if s.known("d", systemOf("another")).read {
		t.Error("an inventory of another machine")
	}
}

// TestActsComeFirst: what was read once isn't read again while something is done to the machine.
func TestActsComeFirst(t *testing.T) {
	s := newShelf()
	close(s.gates.open)
	h := s.look("a", "10.0.0.1")
	s.settle()
	s.now = s.now.Add(2 * time.Hour)
	target := gate.Target{Config: redfish.Config{Address: "10.0.0.1"}}
	s.refresh(h, systemOf("a"), target, time.Hour, true)
	if n := s.settle(); n != 1 {
		t.Errorf("read %d times during an act, want once before", n)
	}
	s.refresh(h, systemOf("a"), target, time.Hour, false)
	if n := s.settle(); n != 2 {
		t.Errorf("read %d times after it, want twice", n)
	}
}

func TestDue(t *testing.T) {
	read := inventoryOf{read: true, at: t0, power: redfish.PowerOn, health: "OK", Inventory: redfish.Inventory{MACs: []redfish.MAC{{Address: "x"}}}}
	with := func(change func(*inventoryOf)) inventoryOf {
		d := read
		change(&d)

		return d
	}
	cases := map[string]struct {
		reason string
		d      inventoryOf
		after  time.Duration
		want   bool
	}{
		"Never":      {reason: "It isn't known.", want: true},
		"Fresh":      {reason: "It's believed.", d: read, after: time.Hour - 1},
		"Old":        {reason: "For so long.", d: read, after: time.Hour, want: true},
		"Sick":       {reason: "Who is to blame for another health?", d: with(func(d *inventoryOf) { d.health = "" }), after: calm, want: true},
		"Started":    {reason: "A machine that has started shows more, in a while.", d: with(func(d *inventoryOf) { d.power = redfish.PowerOff }), after: doubtful, want: true},
		"Starts":     {reason: "Not at once.", d: with(func(d *inventoryOf) { d.power = redfish.PowerOff }), after: doubtful - 1},
		"Refused":    {reason: "What was refused may be shown in a while.", d: with(func(d *inventoryOf) { d.Refused = []string{"drives"} }), after: doubtful, want: true},
		"Nothing":    {reason: "A machine without addresses is looked at more often.", d: with(func(d *inventoryOf) { d.MACs = nil }), after: doubtful, want: true},
		"Failed":     {reason: "A BMC that couldn't be read is left alone.", d: inventoryOf{tried: t0}, after: calm - 1},
		"FailedOnce": {reason: "For a minute.", d: inventoryOf{tried: t0}, after: calm, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.d.due(systemOf("a"), t0.Add(tc.after), time.Hour); got != tc.want {
				t.Errorf("\n%s\ndue(...): got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestReadingFails: what fails is tried again by a later look, and ends.
func TestReadingFails(t *testing.T) {
	away := &redfish.Error{Kind: redfish.Unreachable}
	cases := map[string]struct {
		reason string
		err    error
		walk   func() (bool, error)
		turns  int
	}{
		"LeftAlone": {reason: "The breaker is open: nobody was asked, and nobody is again.", err: away, turns: 1},
		"Refused":   {reason: "A wrong password.", walk: func() (bool, error) { return false, &redfish.Error{Kind: redfish.Unauthorized} }, turns: 1},
		"Panics":    {reason: "The provider can't cope with what it's sent: no other host is the worse for it.", walk: func() (bool, error) { panic("index out of range") }, turns: 1},
		"Unknown":   {reason: "The process ends.", err: errors.New("boom"), turns: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			s.gates.err, s.gates.walk = tc.err, tc.walk
			close(s.gates.open)
			for range 2 {
				s.look("a", "10.0.0.1")
				s.settle()
			}
			if s.gates.turns != tc.turns || s.known("a", systemOf("a")).read || len(s.woken) != 0 {
				t.Errorf("\n%s\n%d turns, want %d; woken %v", tc.reason, s.gates.turns, tc.turns, s.woken)
			}
			s.now = s.now.Add(calm)
			s.look("a", "10.0.0.1")
			s.settle()
			if s.gates.turns != 2*tc.turns {
				t.Errorf("\n%s\n%d turns a minute later, want %d", tc.reason, s.gates.turns, 2*tc.turns)
			}
		})
	}
}

// TestReadersPanic: readers that panic take nobody's place, give no address away, and are told of; the other hosts are read.
func TestReadersPanic(t *testing.T) {
	s := newShelf()
	told := &stacks{}
	s.log = told
	s.gates.walk = func() (bool, error) { panic("index out of range") }
	close(s.gates.open)
	for i := range 2 * readersAtOnce {
		s.look(fmt.Sprintf("bad%d", i), fmt.Sprintf("10.0.0.%d", i+1), claimed)
	}
	s.settle()
	s.gates.walk = nil
	s.look("good", "10.0.1.1")
	s.look("behind", "10.0.0.1")
	if n := s.settle(); n != 2*readersAtOnce+2 || !s.known("good", systemOf("good")).read || !s.known("behind", systemOf("behind")).read {
		t.Errorf("%d jobs; want those after the panics read", n)
	}
	if s.known("bad0", systemOf("bad0")).read || s.woken["bad0"] != 0 {
		t.Error("something is known of a machine whose reader panicked")
	}
	if n, stack := told.of("infra/bad0"); n != 1 || !strings.Contains(stack, "inventories).read") {
		t.Errorf("told %d times, with stack %q; want once, and where it was", n, stack)
	}
}

// stacks is a log of panics.
type stacks struct {
	logging.Logger

	mu   sync.Mutex
	said [][]any
}

func (l *stacks) Info(_ string, pairs ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, pairs)
}

// of is how often a host was told of, and the stack of the last time.
func (l *stacks) of(host string) (n int, stack string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, pairs := range l.said {
		if slices.Contains(pairs, any(host)) {
			n, stack = n+1, fmt.Sprint(pairs[len(pairs)-1])
		}
	}

	return n, stack
}

// TestUnseenIsForgotten: of hosts that nobody looks at any more, such as orphaned ones, nothing is kept.
func TestUnseenIsForgotten(t *testing.T) {
	s := newShelf()
	close(s.gates.open)
	s.look("a", "10.0.0.1")
	s.settle()
	s.now = s.now.Add(unseenFor + 1)
	s.look("b", "10.0.0.2")
	s.settle()
	if s.known("a", systemOf("a")).read || !s.known("b", systemOf("b")).read {
		t.Error("want what was read of b alone")
	}
}

// TestWaker: a host is woken by its name, and nobody waits where there are too many.
func TestWaker(t *testing.T) {
	to := make(chan event.GenericEvent, 1)
	wake := waker(to)
	for _, name := range []string{"a", "b"} {
		wake(types.NamespacedName{Namespace: "infra", Name: name})
	}
	if e := <-to; e.Object.GetName() != "a" || e.Object.GetNamespace() != "infra" || len(to) != 0 {
		t.Errorf("got %v, and %d more", e.Object, len(to))
	}
}
