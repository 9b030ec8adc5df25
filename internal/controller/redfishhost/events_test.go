package redfishhost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// clock is what hints go by in tests: nothing happens but by advance.
type clock struct {
	now time.Time
	due []alarm
}

type alarm struct {
	at time.Time
	f  func()
}

func (c *clock) after(d time.Duration, f func()) { c.due = append(c.due, alarm{c.now.Add(d), f}) }

// advance lets time go by in small steps.
func (c *clock) advance(d time.Duration) {
	for end := c.now.Add(d); c.now.Before(end); c.now = c.now.Add(50 * time.Millisecond) {
		due := c.due
		c.due = nil
		for _, a := range due {
			if a.at.After(c.now) {
				c.due = append(c.due, a)

				continue
			}
			a.f()
		}
	}
}

// TestHints holds how often hosts are woken by what their BMCs tell.
func TestHints(t *testing.T) {
	cases := map[string]struct {
		reason string
		// each is what is told to so many hosts every so often, for how long.
		each  time.Duration
		hosts int
		long  time.Duration
		// least and most wakes of one host, and of all.
		least, most, all int
	}{
		"Once":       {reason: "One event wakes its host once.", hosts: 1, long: time.Minute, least: 1, most: 1, all: 1},
		"Flood":      {reason: "Many at once wake it once, and then as if there were a few.", each: 50 * time.Millisecond, hosts: 1, long: time.Minute, least: 3, most: 6, all: 6},
		"AllDay":     {reason: "Who is told of all the time is looked at twice as often as ever: a poll a minute, and this.", each: time.Second, hosts: 1, long: time.Hour, least: 58, most: 66, all: 66},
		"NowAndThen": {reason: "Who is told of now and then is woken each time.", each: 5 * time.Minute, hosts: 1, long: 29 * time.Minute, least: 6, most: 6, all: 6},
		"Hall":       {reason: "A hall that's switched on doesn't have all its hosts looked at together.", hosts: 500, long: 5 * time.Second, most: 1, all: 130},
		"AllOfThem":  {reason: "In the end all of them are, or the poll was there first.", hosts: 2000, long: 2 * time.Minute, most: 1, all: 1250},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, woken := &clock{now: t0}, map[types.UID]int{}
			h := newHints(eventPause, func(uid types.UID, _ types.NamespacedName) { woken[uid]++ })
			h.now, h.after = func() time.Time { return c.now }, c.after
			tell := func() {
				for i := range tc.hosts {
					h.note(types.UID(fmt.Sprint(i)), types.NamespacedName{})
				}
			}
			tell()
			for end := c.now.Add(tc.long); tc.each > 0 && c.now.Add(tc.each).Before(end); tell() {
				c.advance(tc.each)
			}
			c.advance(max(0, t0.Add(tc.long).Sub(c.now)))
			all := 0
			for i := range tc.hosts {
				n := woken[types.UID(fmt.Sprint(i))]
				if all += n; n < tc.least || n > tc.most {
					t.Fatalf("%s\nhost %d was woken %d times, want %d to %d", tc.reason, i, n, tc.least, tc.most)
				}
			}
			if all > tc.all {
				t.Errorf("%s\n%d wakes, want %d at most", tc.reason, all, tc.all)
			}
		})
	}
}

// TestHintsForget: a host that is gone isn't woken.
func TestHintsForget(t *testing.T) {
	c := &clock{now: t0}
	h := newHints(eventPause, func(types.UID, types.NamespacedName) { t.Error("woken") })
	h.now, h.after = func() time.Time { return c.now }, c.after
	h.note("a", types.NamespacedName{})
	h.forget("a")
	c.advance(time.Minute)
}

// TestBackOff holds for how long a BMC is left alone whose stream ended.
func TestBackOff(t *testing.T) {
	closed, flooded := redfish.ErrStreamClosed, redfish.ErrStreamFlooded
	cases := map[string]struct {
		reason string
		errs   []error
		lasted time.Duration
		want   time.Duration
	}{
		"First":    {reason: "It's opened again soon,", errs: []error{closed}, want: 5 * time.Second},
		"Third":    {reason: "ever more rarely,", errs: []error{closed, closed, closed}, want: 20 * time.Second},
		"Tenth":    {reason: "and at last each ten minutes.", errs: []error{closed, closed, closed, closed, closed, closed, closed, closed, closed, closed}, want: 10 * time.Minute},
		"Lasted":   {reason: "One that lasted was good.", errs: []error{closed, closed, closed}, lasted: 5 * time.Minute, want: 5 * time.Second},
		"Flooded":  {reason: "One that floods isn't followed for long.", errs: []error{flooded}, want: 10 * time.Minute},
		"Floods":   {reason: "Nor for an hour, if it goes on.", errs: []error{flooded, flooded, flooded, flooded, flooded}, want: time.Hour},
		"Refused":  {reason: "Nor is one that refuses us.", errs: []error{&redfish.Error{Kind: redfish.Forbidden, Status: http.StatusUnauthorized}}, want: 10 * time.Minute},
		"Cannot":   {reason: "Nor is one that can't.", errs: []error{&redfish.Error{Kind: redfish.Unsupported}}, want: 10 * time.Minute},
		"Panic":    {reason: "Nor is one that's more than we can cope with.", errs: []error{errEventPanic}, want: 10 * time.Minute},
		"Busy":     {reason: "So is one that has no time.", errs: []error{&gate.BusyError{}, &gate.BusyError{}}, want: 10 * time.Second},
		"Away":     {reason: "A BMC that is away is tried again.", errs: []error{&redfish.Error{Kind: redfish.Unreachable}}, want: 5 * time.Second},
		"ToldWhen": {reason: "It may say when.", errs: []error{&redfish.Error{Kind: redfish.Unreachable, RetryAfter: time.Minute}}, want: time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b backOff
			var got time.Duration
			for _, err := range tc.errs {
				got = b.after(err, tc.lasted, eventPause, 0.5)
			}
			if got != tc.want {
				t.Errorf("%s\ngot %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
	var b backOff
	if early, late := b.after(closed, 0, eventPause, 0), (&backOff{}).after(closed, 0, eventPause, 0.999); early >= late {
		t.Errorf("%s and %s: those that went together aren't all opened together", early, late)
	}
}

// fakeStreams is a Gatekeeper whose BMCs are listened to as a test says.
type fakeStreams struct {
	openGate

	mu sync.Mutex
	// asked are the addresses and versions of credentials that streams were opened with.
	asked  []string
	listen func(ctx context.Context, opened func(), heard func(int)) error
}

func (f *fakeStreams) Stream(_ context.Context, t gate.Target) (Listener, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, t.Address+" "+t.CredentialVersion)

	return listenFn(f.listen), nil
}

func (f *fakeStreams) opened() []string {
	f.mu.Lock()
	defer f.mu.Unlock()

	return append([]string(nil), f.asked...)
}

type listenFn func(ctx context.Context, opened func(), heard func(int)) error

func (f listenFn) Listen(ctx context.Context, opened func(), heard func(int)) error {
	return f(ctx, opened, heard)
}

// until waits for what is bound to come.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within half a minute: %s", what)
		}
	}
}

func hostAt(uid, address string) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: uid, UID: types.UID(uid)}}
	h.Spec.ForProvider.Address = address

	return h
}

func targetAt(address, version string) gate.Target {
	return gate.Target{Config: redfish.Config{Address: address}, CredentialVersion: version}
}

// TestOneStreamPerBMC: the hosts of one BMC share a connection, which is opened anew for other settings, and ended with the last host.
func TestOneStreamPerBMC(t *testing.T) {
	var mu sync.Mutex
	woken := map[types.UID]bool{}
	open := 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		open += n
	}
	isOpen := func(n int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()

			return open == n
		}
	}
	f := &fakeStreams{listen: func(ctx context.Context, opened func(), heard func(int)) error {
		count(1)
		defer count(-1)
		opened()
		heard(1)
		<-ctx.Done()

		return ctx.Err()
	}}
	l := newStreams(f, newTallies(), time.Millisecond, func(uid types.UID, _ types.NamespacedName) {
		mu.Lock()
		defer mu.Unlock()
		woken[uid] = true
	})
	defer l.stop()
	bmc := "10.0.0.1"
	l.refresh(hostAt("a", bmc), targetAt(bmc, "1"))
	l.refresh(hostAt("b", bmc), targetAt(bmc, "other"))
	until(t, "the first host's settings are used", isOpen(1))
	until(t, "both hosts are woken", func() bool {
		mu.Lock()
		defer mu.Unlock()

		return woken["a"] // b may have come too late for the first event.
	})
	for range 5 {
		l.refresh(hostAt("a", bmc), targetAt(bmc, "1"))
		l.refresh(hostAt("b", bmc), targetAt("https://10.0.0.1/", "other"))
	}
	if diff := cmp.Diff([]string{bmc + " 1"}, f.opened()); diff != "" {
		t.Errorf("one connection, whatever is looked at: -want, +got:\n%s", diff)
	}
	l.refresh(hostAt("a", bmc), targetAt(bmc, "2"))
	until(t, "it's opened with the new Secret", func() bool { return len(f.opened()) == 2 && isOpen(1)() })
	l.forget("a")
	l.refresh(hostAt("b", bmc), targetAt(bmc, "other"))
	until(t, "another host's settings are used", func() bool { return len(f.opened()) == 3 && isOpen(1)() })
	l.refresh(hostAt("b", "10.0.0.2"), targetAt("10.0.0.2", "other"))
	until(t, "its BMC is elsewhere by now", func() bool { return len(f.opened()) == 4 && isOpen(1)() })
	l.forget("b")
	until(t, "nobody is listened to", isOpen(0))
	if len(l.of)+len(l.at)+len(l.hints.of) != 0 {
		t.Errorf("left: %v, %v, %v", l.of, l.at, l.hints.of)
	}
}

// TestStreamsEnd: neither a panic nor a listener that ends at once is the end of anything, and the process's is the end of all.
func TestStreamsEnd(t *testing.T) {
	f := &fakeStreams{listen: func(context.Context, func(), func(int)) error { panic("boom") }}
	l := newStreams(f, newTallies(), time.Microsecond, func(types.UID, types.NamespacedName) {})
	l.refresh(hostAt("a", "10.0.0.1"), targetAt("10.0.0.1", "1"))
	until(t, "it's tried again", func() bool { return len(f.opened()) > 1 })
	if got := l.shown("a"); got == nil || got.Reason != "Failed" {
		t.Errorf("shown: %+v", got)
	}
	l.stop()
	until(t, "nothing is tried any more", func() bool {
		before := len(f.opened())
		time.Sleep(20 * time.Millisecond)

		return len(f.opened()) == before
	})
}

// TestShownEvents holds what the status says of a stream, and that it isn't written for nothing.
func TestShownEvents(t *testing.T) {
	now := time.Now()
	told := &v1alpha1.EventsObservation{Delivery: v1alpha1.DeliveryStream}
	cases := map[string]struct {
		reason string
		of     stream
		want   *v1alpha1.EventsObservation
	}{
		"Unknown": {reason: "What isn't known yet is shown as it was."},
		"Young":   {reason: "Nor is one that was opened just now.", of: stream{up: now}},
		"Steady":  {reason: "One that lasts is shown.", of: stream{up: now.Add(-time.Minute)}, want: told},
		"Lost":    {reason: "Also while it's opened anew.", of: stream{lost: now, why: redfish.ErrStreamClosed}, want: told},
		"Gone":    {reason: "But not for ever.", of: stream{lost: now.Add(-time.Hour), why: redfish.ErrStreamClosed}, want: pollFor(whyPoll(redfish.ErrStreamClosed))},
		"Cannot":  {reason: "A BMC that can't says so.", of: stream{why: &redfish.Error{Kind: redfish.Unsupported, Field: "EventService"}}, want: pollFor("NotOffered", "the BMC has no EventService")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newStreams(nil, newTallies(), 0, nil)
			defer l.stop()
			l.at["a"], l.of["bmc"] = "bmc", &stream{up: tc.of.up, lost: tc.of.lost, why: tc.of.why}
			if diff := cmp.Diff(tc.want, l.shown("a")); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDatedEvents: since when it's so changes with how changes are heard of, and not with why.
func TestDatedEvents(t *testing.T) {
	early, now := metav1.NewTime(t0.Add(-time.Hour)), metav1.NewTime(t0.Truncate(time.Second))
	polled := &v1alpha1.EventsObservation{Delivery: v1alpha1.DeliveryPoll, Since: &early, Reason: "Closed"}
	cases := map[string]struct {
		reason  string
		is, was *v1alpha1.EventsObservation
		want    *v1alpha1.EventsObservation
	}{
		"First":   {reason: "Something is said at once.", want: &v1alpha1.EventsObservation{Delivery: "Poll", Since: &now, Reason: "Connecting", Message: "the BMC is about to be listened to"}},
		"Restart": {reason: "A provider that has just started knows nothing yet.", was: polled, want: polled},
		"Other":   {reason: "Another reason, the same since.", is: pollFor("Silent", ""), was: polled, want: &v1alpha1.EventsObservation{Delivery: "Poll", Since: &early, Reason: "Silent"}},
		"Turned":  {reason: "Now it's heard.", is: &v1alpha1.EventsObservation{Delivery: "Stream"}, was: polled, want: &v1alpha1.EventsObservation{Delivery: "Stream", Since: &now}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, datedEvents(tc.is, tc.was, t0)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWhyPoll: each reason is one word and a sentence without anything that the BMC sent.
func TestWhyPoll(t *testing.T) {
	for want, err := range map[string]error{
		"Waiting": &gate.BusyError{}, "Closed": redfish.ErrStreamClosed, "Silent": redfish.ErrStreamSilent, "Flooded": redfish.ErrStreamFlooded,
		"Malformed": redfish.ErrStreamGarbage, "Failed": errors.New("boom"), "NotOffered": &redfish.Error{Kind: redfish.Unsupported, Field: "ServerSentEventUri"},
		"Disabled": &redfish.Error{Kind: redfish.Unsupported, Field: "ServiceEnabled"}, "NoSession": &redfish.Error{Kind: redfish.Unsupported, Field: "Session"},
		"Unreachable": &redfish.Error{Kind: redfish.Unreachable}, "Refused": &redfish.Error{Kind: redfish.Forbidden, Status: http.StatusUnauthorized},
	} {
		reason, message := whyPoll(err)
		if reason != want || message == "" || strings.Contains(message, "boom") {
			t.Errorf("whyPoll(%v): %q, %q; want %q", err, reason, message, want)
		}
	}
}
