package wiring

import (
	"slices"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const testPoll = time.Minute

func testHost(version string, conditions ...xpv2.Condition) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "h", UID: "uid-h", ResourceVersion: version}}
	h.SetConditions(conditions...)
	return h
}

func TestInterval(t *testing.T) {
	// A turn is one look at the resource, and whether it ended with an Update.
	type turn struct {
		host    *v1alpha1.RedfishHost
		stepped bool
		pending bool
	}
	ready := func(version string) *v1alpha1.RedfishHost { return testHost(version, xpv2.Available()) }
	waiting := func(version string) *v1alpha1.RedfishHost { return testHost(version, xpv2.Unavailable()) }
	observed := waiting("1")
	observed.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	ms := time.Millisecond
	cases := map[string]struct {
		reason string
		poll   time.Duration
		turns  []turn
		want   []time.Duration
	}{
		"Ready": {
			reason: "What is as it should be is looked at after its poll interval.",
			turns:  []turn{{host: ready("1")}, {host: ready("1")}},
			want:   []time.Duration{testPoll, testPoll},
		},
		"NotReady": {
			reason: "What is on its way is looked at soon, and less and less soon while nothing changes.",
			turns:  repeat(turn{host: waiting("1")}, 9),
			want:   append(backOff(5), 7594*ms, 11391*ms, 15000*ms, 15000*ms),
		},
		"PendingLong": {
			reason: "A step that is pending is never left alone for long.",
			turns:  repeat(turn{host: waiting("1"), pending: true}, 7),
			want:   append(backOff(4), 5000*ms, 5000*ms, 5000*ms),
		},
		"Changed": {
			reason: "A change starts over.",
			turns:  []turn{{host: waiting("1")}, {host: waiting("1")}, {host: waiting("2")}, {host: waiting("2")}},
			want:   []time.Duration{1000 * ms, 1500 * ms, 1000 * ms, 1500 * ms},
		},
		"Stepped": {
			reason: "After an Update the managed reconciler would wait a whole poll interval, even if the resource is ready.",
			turns:  []turn{{host: ready("1"), stepped: true}, {host: ready("1")}},
			want:   []time.Duration{1000 * ms, testPoll},
		},
		"SteppedOften": {
			reason: "One step a look, and each look soon.",
			turns:  []turn{{host: waiting("1"), stepped: true}, {host: waiting("1"), stepped: true}, {host: waiting("1")}},
			want:   []time.Duration{1000 * ms, 1000 * ms, 1500 * ms},
		},
		"Pending": {
			reason: "A kind may say that a ready resource still waits for something.",
			turns:  []turn{{host: ready("1"), pending: true}, {host: ready("1")}},
			want:   []time.Duration{1000 * ms, testPoll},
		},
		"ShortPoll": {
			reason: "Soon is never later than the poll interval.",
			poll:   500 * ms,
			turns:  []turn{{host: waiting("1")}, {host: ready("1")}},
			want:   []time.Duration{500 * ms, 500 * ms},
		},
		"ObservedOnly": {
			reason: "What we may only observe isn't made ready by us: it's no use to hurry.",
			turns:  []turn{{host: observed}},
			want:   []time.Duration{testPoll},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPace(Options{Options: xpcontroller.DefaultOptions()}.ForController().RateLimiter)
			poll := tc.poll
			if poll == 0 {
				poll = testPoll
			}
			var got []time.Duration
			for _, turn := range tc.turns {
				if turn.stepped {
					p.step(turn.host.UID)
				}
				got = append(got, p.interval(turn.host, turn.pending, poll).Round(ms))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nintervals: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// backOff is how the first looks at a resource that isn't ready are apart.
func backOff(n int) []time.Duration {
	ms := time.Millisecond
	return []time.Duration{1000 * ms, 1500 * ms, 2250 * ms, 3375 * ms, 5063 * ms}[:n:n]
}

func repeat[T any](x T, n int) []T { return slices.Repeat([]T{x}, n) }

func TestPaceForgets(t *testing.T) {
	p := newPace(Options{Options: xpcontroller.DefaultOptions()}.ForController().RateLimiter)
	p.interval(testHost("1"), false, testPoll)
	p.interval(testHost("1", xpv2.Available()), false, testPoll)
	if len(p.looks) != 0 {
		t.Errorf("a resource that is ready is still remembered: %v", p.looks)
	}
	p.interval(testHost("1"), false, testPoll)
	p.forget("uid-h")
	if len(p.looks) != 0 {
		t.Errorf("a resource that is being deleted is still remembered: %v", p.looks)
	}
}

func TestSpread(t *testing.T) {
	cases := map[string]struct {
		random float64
		want   time.Duration
	}{
		"Least":  {random: 0, want: 54 * time.Second},
		"Middle": {random: 0.5, want: time.Minute},
		"Most":   {random: 1, want: 66 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := spread(time.Minute, tc.random); got != tc.want {
				t.Errorf("spread(1m, %v) = %s: want %s, a tenth to either side", tc.random, got, tc.want)
			}
		})
	}
}

func TestHook(t *testing.T) {
	asked := false
	h := hook(newPace(Options{Options: xpcontroller.DefaultOptions()}.ForController().RateLimiter), func(*v1alpha1.RedfishHost) bool { asked = true; return true })
	got := h(testHost("1", xpv2.Available()), testPoll)
	if !asked || got < 900*time.Millisecond || got > 1100*time.Millisecond {
		t.Errorf("hook(...) = %s, asked %v: want about a second for a resource that its kind calls pending", got, asked)
	}
}
