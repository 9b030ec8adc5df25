package bmc_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishevents"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// pushLab is a lab whose BMC is to send its events to a receiver, which goes on while the controller is killed.
type pushLab struct {
	*lab

	connector atomic.Pointer[redfishhost.Connector]
	url       string
}

func newPushLab(t *testing.T, does bmc.Subscriptions) *pushLab {
	t.Helper()
	emu, m := emulator(t, bmc.ModelInline, func(c *bmc.Config) { c.Behaviour = &bmc.Behaviour{Subscriptions: does} })

	return pushLabOf(newLabOf(t, emu, m))
}

func pushLabOf(of *lab) *pushLab {
	l := &pushLab{lab: of}
	srv := httptest.NewServer(redfishevents.New(redfishevents.Options{
		Path: redfishhost.PathEvents, Leads: func() bool { return true }, Log: logging.NewNopLogger(),
		Known: func(id, secret string) bool { return l.connector.Load().Known(id, secret) },
		Sent:  func(id, secret string) bool { return l.connector.Load().Sent(id, secret) },
	}).Handler())
	l.t.Cleanup(srv.Close)
	l.url, l.takes = srv.URL, true
	l.deliver(v1alpha1.DeliveryPush)
	l.restart()

	return l
}

// deliver changes the provider config.
func (l *pushLab) deliver(how string) {
	l.tune = func(c *v1alpha1.RedfishConfig) {
		c.Events = &v1alpha1.RedfishEvents{Delivery: how}
		if how == v1alpha1.DeliveryPush {
			c.Events.ReceiverURL = l.url
		}
	}
}

// restart starts a new controller.
func (l *pushLab) restart() {
	l.start()
	l.connector.Store(l.lab.connector)
	l.t.Cleanup(l.lab.connector.Stop)
}

// ours are the subscribers that are ours, which have to be so many.
func (l *pushLab) ours(want int) []string {
	l.t.Helper()
	out := slices.DeleteFunc(l.emu.Subscribers(), func(to string) bool { return !strings.HasPrefix(to, l.url) })
	if len(out) != want {
		l.t.Errorf("%d subscriptions of ours, want %d: %v", len(out), want, l.emu.FullWrites())
	}

	return out
}

// wakes proves that an event has the host looked at, and what is told of it.
func (l *pushLab) wakes() {
	l.t.Helper()
	before := l.woken.Load()
	l.emu.Tell("/redfish/v1/Systems/1")
	until(l.t, "the host is woken", func() bool { return l.woken.Load() > before })
	if e := l.settle().Status.AtProvider.Events; e == nil || e.Delivery != "Push" || e.Reason != "" {
		l.t.Errorf("events: %+v", e)
	}
}

// poll is why the host's BMC is only asked.
func (l *pushLab) poll(reason string) {
	l.t.Helper()
	if e := l.get().Status.AtProvider.Events; e == nil || e.Delivery != "Poll" || e.Reason != reason || e.Message == "" {
		l.t.Errorf("events: %+v, want reason %q", e, reason)
	}
}

// TestPush: a BMC gets one subscription, wakes its host by it, and nobody finds its secret but there.
func TestPush(t *testing.T) {
	l := newPushLab(t, bmc.Subscriptions{})
	l.emu.SubscribeOther("http://127.0.0.1:1/theirs")
	l.settle()
	to := l.ours(1)[0]
	l.wakes()
	l.later(30 * time.Minute)
	if got := l.ours(1); got[0] != to || l.emu.Counters().Writes != 1 {
		t.Errorf("subscribed anew: %v, %d writes", got, l.emu.Counters().Writes)
	}
	h := l.get()
	secret := to[strings.LastIndex(to, "/")+1:]
	if all := fmt.Sprintf("%+v %+v %q", h.Status, h.Annotations, l.events); len(secret) < 32 || strings.Contains(all, secret) {
		t.Errorf("the secret %q is in %s", secret, all)
	}
	for range 200 {
		l.emu.Tell("/redfish/v1/Systems/1")
	}
	time.Sleep(5 * eventPause)
	if n := l.woken.Load(); n > 20 {
		t.Errorf("woken %d times", n)
	}
	l.restart() // What it sends is known again after the first look.
	l.settle()
	l.wakes()
	l.ours(1)
}

// TestEventWithinASecond: from a BMC's event to the look that comes of it it's less than a second, by either way. A machine that is busy with
// other tests is slow: it's so once of a few times.
func TestEventWithinASecond(t *testing.T) {
	const tries, pause = 6, 5 * time.Second // The provider's own.
	ways := map[string]func(t *testing.T) (l *lab, woken *atomic.Int64){
		"Stream": func(t *testing.T) (*lab, *atomic.Int64) {
			t.Helper()
			l := newLab(t, bmc.ModelInline)
			woken := l.listen(pause, "")
			l.heard("Stream", "")

			return l, woken
		},
		"Push": func(t *testing.T) (*lab, *atomic.Int64) {
			t.Helper()
			l := newPushLab(t, bmc.Subscriptions{})
			l.pause = pause
			l.restart()
			l.settle()
			l.ours(1)

			return l.lab, &l.woken
		},
	}
	for name, ready := range ways {
		t.Run(name, func(t *testing.T) {
			best := time.Hour
			for n := 0; n < tries && best >= time.Second; n++ {
				l, woken := ready(t)
				before, began := woken.Load(), time.Now()
				l.emu.Tell("/redfish/v1/Systems/1")
				until(t, "the host is woken", func() bool { return woken.Load() > before })
				best = min(best, time.Since(began))
			}
			if best >= time.Second {
				t.Errorf("at best it took %s", best)
			}
		})
	}
}

// sent is how an event is answered.
func sent(t *testing.T, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()

	return r.StatusCode
}

// TestPushIsForged: who doesn't know the secret has nothing looked at.
func TestPushIsForged(t *testing.T) {
	l := newPushLab(t, bmc.Subscriptions{})
	l.settle()
	to := l.ours(1)[0]
	time.Sleep(20 * eventPause) // Its own subscription is an event.
	before := l.woken.Load()
	for _, url := range []string{to + "0", to[:len(to)-1], strings.TrimSuffix(to, to[strings.LastIndex(to, "/")+1:]) + strings.Repeat("0", 32), l.url + "/redfish/events/x/y", l.url + "/redfish/events//"} {
		if status := sent(t, url); status != http.StatusNotFound {
			t.Errorf("POST %s: %d", url, status)
		}
	}
	time.Sleep(5 * eventPause)
	if n := l.woken.Load(); n != before {
		t.Errorf("woken %d times", n-before)
	}
}

// TestPushCrash: whatever kills the provider, one subscription is left, and one that is known.
func TestPushCrash(t *testing.T) {
	for _, at := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall, "recorded"} {
		for name, does := range map[string]bmc.Subscriptions{"Named": {}, "Unnamed": {Unnamed: true}} {
			t.Run(at+"/"+name, func(t *testing.T) {
				l := newPushLab(t, does)
				l.emu.SubscribeOther("http://127.0.0.1:1/theirs")
				l.failpoint = func(point string) {
					if point == at {
						panic(crash{point})
					}
				}
				l.untilCrash()
				l.failpoint = nil
				l.restart()
				l.settle()
				l.later(5 * time.Minute)
				l.wakes()
				l.ours(1)
				survived(t, "the provider is killed around a subscription to events")

				l.failpoint = func(point string) {
					if point == at {
						panic(crash{point})
					}
				}
				l.deliver(v1alpha1.DeliveryPoll)
				l.untilCrash()
				l.failpoint = nil
				l.restart()
				l.settle()
				l.later(5 * time.Minute)
				l.ours(0)
				if h := l.get(); len(l.emu.Subscribers()) != 1 || h.Status.AtProvider.Events != nil || strings.Contains(h.Annotations[v1alpha1.AnnotationJournal], `"push"`) {
					t.Errorf("left: %v, %+v, %s", l.emu.Subscribers(), h.Status.AtProvider.Events, h.Annotations)
				}
			})
		}
	}
}

// TestPushAnswerIsLost: a POST that was carried out and not answered isn't repeated.
func TestPushAnswerIsLost(t *testing.T) {
	for name, f := range map[string]bmc.Fault{
		"Disconnect": {AfterEffect: true, Disconnect: true},
		"Error500":   {AfterEffect: true, Status: http.StatusInternalServerError},
		"Unheard":    {Disconnect: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newPushLab(t, bmc.Subscriptions{})
			f.Method, f.PathContains, f.Times = http.MethodPost, "Subscriptions", 1
			l.emu.Inject(f)
			for range 3 {
				_, _ = l.reconcile()
			}
			l.later(5 * time.Minute)
			l.wakes()
			l.ours(1)
		})
	}
}

// TestPushIsRefused: a BMC that takes no subscription is asked as ever, says once why, and isn't asked again and again.
func TestPushIsRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		does   bmc.Subscriptions
		edit   func(map[string]any)
		said   string
		// most subscriptions that are asked for in two hours.
		most int
	}{
		"Full":     {reason: "Its table is full.", does: bmc.Subscriptions{Most: 1}, said: "Full", most: 9},
		"Busy":     {reason: "The same by 503.", does: bmc.Subscriptions{Most: 1, Full: http.StatusServiceUnavailable}, said: "Full", most: 9},
		"Disabled": {reason: "It's off.", edit: func(o map[string]any) { o["ServiceEnabled"] = false }, said: "Disabled"},
		"None":     {reason: "It takes none.", edit: func(o map[string]any) { delete(o, "Subscriptions") }, said: "NotOffered"},
		"Hides":    {reason: "It takes them, and doesn't show whose they are.", does: bmc.Subscriptions{Hides: true}, said: "NoEffect", most: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newPushLab(t, tc.does)
			if tc.does.Most > 0 {
				l.emu.SubscribeOther("http://127.0.0.1:1/theirs")
			}
			if tc.edit != nil {
				l.emu.Change("/redfish/v1/EventService", tc.edit)
			}
			l.later(2 * time.Hour)
			l.poll(tc.said)
			if n := l.emu.Counters().Writes; n > tc.most {
				t.Errorf("%s\n%d writes, want %d at most", tc.reason, n, tc.most)
			}
			if c := condition(l.get(), v1alpha1.ConditionReachable)[0]; c != "True" || condition(l.get(), xpv2.TypeReady)[0] != "True" {
				t.Errorf("%s\nconditions: %v", tc.reason, l.get().Status.Conditions)
			}
			told := slices.DeleteFunc(slices.Clone(l.events), func(e string) bool { return !strings.Contains(e, "is asked as ever") })
			if len(told) != 1 {
				t.Errorf("%s\nevents: %q", tc.reason, l.events)
			}
		})
	}
}

// TestPushIsMadeAgain: a subscription that is lost comes again, to where the config says; a stranger's is left alone.
func TestPushIsMadeAgain(t *testing.T) {
	l := newPushLab(t, bmc.Subscriptions{Forgets: true})
	l.settle()
	first := l.ours(1)[0]
	l.emu.RebootBMC(0)
	l.later(15 * time.Minute)
	second := l.ours(1)[0]
	if first == second {
		t.Error("the secret is an old one")
	}
	l.wakes()
	l.emu.SubscribeOther("http://127.0.0.1:1/theirs")
	l.url += "/"
	l.deliver(v1alpha1.DeliveryPush)
	l.later(time.Minute)
	if third := l.ours(1)[0]; third == second || strings.Contains(third, "//redfish") || len(l.emu.Subscribers()) != 2 {
		t.Errorf("subscribers: %v", l.emu.Subscribers())
	}
	for range 30 { // One that is lost again and again is made ever more rarely.
		l.emu.RebootBMC(0)
		l.later(4 * time.Minute)
	}
	if n := l.emu.Counters().Writes; n > 20 {
		t.Errorf("%d writes", n)
	}
}

// TestPushIsObserved: nothing is written to the BMC of a host that is only looked at, or paused, nor where nobody takes events.
func TestPushIsObserved(t *testing.T) {
	l := newPushLab(t, bmc.Subscriptions{})
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	})
	look := l.runtimeOf()
	for range 5 {
		l.now = l.now.Add(30 * time.Minute)
		look()
	}
	l.poll("Observed")
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
		h.Annotations["crossplane.io/paused"] = "true"
	})
	look()
	l.edit(func(h *v1alpha1.RedfishHost) { delete(h.Annotations, "crossplane.io/paused") })
	l.takes = false
	l.restart()
	l.later(time.Hour)
	l.poll("NoReceiver")
	if w := l.emu.FullWrites(); len(w) != 0 {
		t.Errorf("written: %v", w)
	}
}

// TestPushEndsWithItsHost: a host that is deleted leaves no subscription, unless its BMC is away, refuses, or doesn't tell of them.
func TestPushEndsWithItsHost(t *testing.T) {
	for name, fault := range map[string]*bmc.Fault{
		"Good":       nil,
		"Keeps":      {Method: http.MethodDelete, PathContains: "Subscriptions", WithoutEffect: true, Times: 1000},
		"Refuses":    {Method: http.MethodDelete, PathContains: "Subscriptions", Status: http.StatusForbidden, Times: 1000},
		"Unreadable": {Method: http.MethodGet, PathContains: "Subscriptions", Status: http.StatusInternalServerError, Times: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			l := newPushLab(t, bmc.Subscriptions{})
			l.emu.SubscribeOther("http://127.0.0.1:1/theirs")
			l.edit(func(h *v1alpha1.RedfishHost) { h.Finalizers = []string{"test/keeps"} })
			l.settle()
			to := l.ours(1)[0]
			if err := l.kube.Delete(t.Context(), l.get()); err != nil {
				t.Fatal(err)
			}
			left, gone := 0, false
			if fault != nil {
				l.emu.Inject(*fault)
				left = 1
			}
			for range 20 {
				l.now = l.now.Add(30 * time.Second)
				if o, _ := l.reconcile(); !o.ResourceExists {
					gone = true
					break
				}
			}
			l.ours(left)
			told := slices.ContainsFunc(l.events, func(e string) bool { return strings.Contains(e, "a subscription to its events") })
			if !gone || told != (left == 1) || len(l.emu.Subscribers()) != 1+left {
				t.Errorf("gone %v, events %q, subscribers %v", gone, l.events, l.emu.Subscribers())
			}
			if status := sent(t, to); status != http.StatusNotFound {
				t.Errorf("what is sent for a host that is gone: %d", status)
			}
		})
	}
}
