package bmc_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// newClockLab makes a lab whose BMC goes by the lab's clock, and has manners of
// its own. Its machine is on.
func newClockLab(t *testing.T, model bmc.Model, row bmc.Behaviour) *lab {
	t.Helper()

	return clockLab(t, model, func(c *bmc.Config) { c.Behaviour = &row })
}

// clockLab does so with a BMC that has its model's manners, as far as they
// aren't changed.
func clockLab(t *testing.T, model bmc.Model, change func(*bmc.Config)) *lab {
	t.Helper()
	var l *lab
	emu, m := emulator(t, model, func(c *bmc.Config) {
		change(c)
		c.Now = func() time.Time {
			if l == nil {
				return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			}

			return l.now
		}
	})
	l = newLabOf(t, emu, m)
	_ = l.m.On(bmc.BootNormal)

	return l
}

// pass lets time go by like later, whatever comes of it, and returns the last error.
func (l *lab) pass(d time.Duration) (*v1alpha1.RedfishHost, error) {
	l.t.Helper()
	const look = 30 * time.Second
	var err error
	for ; d > 0; d -= look {
		l.now = l.now.Add(min(d, look))
		_, err = l.reconcile()
	}

	return l.get(), err
}

// sent counts the power actions that were sent, by their ResetType.
func (l *lab) sent() map[string]int {
	out := map[string]int{}
	for _, w := range l.emu.FullWrites() {
		if _, kind, ok := strings.Cut(w.Body, `{"ResetType":"`); ok {
			out[strings.TrimSuffix(kind, `"}`)]++
		}
	}

	return out
}

// TestTasksAreFollowed: a BMC that takes three minutes for everything, and says how far it has come, is told everything once.
func TestTasksAreFollowed(t *testing.T) {
	cases := map[string]struct {
		reason  string
		async   bmc.Async
		happens func(*lab) // a minute after the off was promised
		sent    map[string]int
	}{
		"Task":        {reason: "A Task resource.", async: bmc.AsyncTask, sent: map[string]int{"ForceOff": 1, "On": 1}},
		"Monitor":     {reason: "A monitor beside it, which isn't looked at.", async: bmc.AsyncMonitor, sent: map[string]int{"ForceOff": 1, "On": 1}},
		"MonitorOnly": {reason: "A monitor, which is gone once it has told the end.", async: bmc.AsyncMonitorOnly, sent: map[string]int{"ForceOff": 1, "On": 1}},
		"Job":         {reason: "A job.", async: bmc.AsyncJob, sent: map[string]int{"ForceOff": 1, "On": 1}},
		"Lost":        {reason: "Its end is seen all the same.", async: bmc.AsyncTask, happens: func(l *lab) { l.emu.LoseTasks() }, sent: map[string]int{"ForceOff": 1, "On": 1}},
		"JobLost":     {reason: "The same.", async: bmc.AsyncJob, happens: func(l *lab) { l.emu.LoseTasks() }, sent: map[string]int{"ForceOff": 1, "On": 1}},
		"Restart":     {reason: "Of the provider: the journal knows the task.", async: bmc.AsyncTask, happens: func(l *lab) { l.start() }, sent: map[string]int{"ForceOff": 1, "On": 1}},
		"BMCReboots":  {reason: "And forgets what it promised: it's told again, late.", async: bmc.AsyncTask, happens: func(l *lab) { l.emu.RebootBMC(45 * time.Second) }, sent: map[string]int{"ForceOff": 2, "On": 1}},
	}
	for name, tc := range cases {
		for modelName, model := range models() {
			t.Run(name+"/"+modelName, func(t *testing.T) {
				l := newClockLab(t, model, bmc.Behaviour{Async: tc.async, TaskTakes: 3 * time.Minute})
				l.settle()
				l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
				h := l.later(time.Minute)
				if p := h.Status.AtProvider.Pending; p == nil || p.Action != "ResetOff" || p.Task == "" || p.Attempts != 1 || !redfishhost.PollSoon(h) {
					t.Errorf("\n%s\npending: %+v, PollSoon %v", tc.reason, p, redfishhost.PollSoon(h))
				}
				if tc.happens != nil {
					tc.happens(l)
				}
				h, err := l.pass(20 * time.Minute)
				if err != nil || h.Status.AtProvider.Pending != nil || h.Status.AtProvider.Boot.ResetGeneration != 1 || redfishhost.PollSoon(h) {
					t.Errorf("\n%s\nin the end: %v, generation %d, pending %+v", tc.reason, err, h.Status.AtProvider.Boot.ResetGeneration, h.Status.AtProvider.Pending)
				}
				if diff := cmp.Diff(tc.sent, l.sent()); diff != "" || len(l.m.Boots()) != 2 || !l.m.Powered() {
					t.Errorf("\n%s\nboots %v, powered %v; sent: -want, +got:\n%s", tc.reason, l.m.Boots(), l.m.Powered(), diff)
				}
				if tc.happens != nil {
					survived(t, map[bool]string{true: "a task is lost", false: "provider or BMC restart in the middle of a task"}[strings.HasSuffix(name, "Lost")])
				}
			})
		}
	}
}

// TestTaskFails: what a BMC promised and then can't do is told again.
func TestTaskFails(t *testing.T) {
	l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{Async: bmc.AsyncTask, TaskTakes: 10 * time.Second, TooSoon: 50 * time.Second})
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
	h := l.later(5 * time.Minute)
	if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 2}, l.sent()); diff != "" || !l.m.Powered() || h.Status.AtProvider.Boot.ResetGeneration != 1 {
		t.Errorf("powered %v, generation %d; sent: -want, +got:\n%s", l.m.Powered(), h.Status.AtProvider.Boot.ResetGeneration, diff)
	}
}

// TestTooSoon: a BMC that takes an order later is asked again, that is no trouble and no attempt, and no machine is left off by it.
func TestTooSoon(t *testing.T) {
	const later = "iLO.2.23.InvalidOperationForSystemState"
	l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{TooSoon: 3 * time.Minute, Redundant: http.StatusBadRequest, Says: map[string]string{"ResourceInUse": later, "NoOperation": later}})
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
	h := l.later(2 * time.Minute)
	c := h.Status.GetCondition(v1alpha1.ConditionPowerApplied)
	p := h.Status.AtProvider.Pending
	if c.Reason != v1alpha1.ReasonWaitingForReset || !strings.Contains(c.Message, later) || p == nil || p.Message != later || p.Attempts != 0 {
		t.Errorf("PowerApplied %v, pending %+v; want it to be waited for", c, p)
	}
	h = l.later(3 * time.Minute)
	if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 1}, l.resets()); diff != "" || !l.m.Powered() || h.Status.AtProvider.Boot.ResetGeneration != 1 {
		t.Errorf("powered %v, generation %d; resets: -want, +got:\n%s", l.m.Powered(), h.Status.AtProvider.Boot.ResetGeneration, diff)
	}
	if c := h.Status.GetCondition(v1alpha1.ConditionPowerApplied); c.Reason != "" {
		t.Errorf("after the reset of a machine whose power isn't ours: %v", c)
	}
}

// TestRefusedPower: a BMC that refuses is told less and less often, whoever waits sees why, and what heals it helps.
func TestRefusedPower(t *testing.T) {
	for name, status := range map[string]int{"Forbidden": http.StatusForbidden, "BadRequest": http.StatusBadRequest, "Conflict": http.StatusConflict} {
		t.Run(name, func(t *testing.T) {
			l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{})
			l.settle()
			l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "Reset", Status: status})
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.Power, h.Spec.ForProvider.PowerOff = v1alpha1.PoweredOff, &v1alpha1.PowerOff{Then: "Force"}
			})
			h, err := l.pass(time.Hour)
			c := h.Status.GetCondition(v1alpha1.ConditionPowerApplied)
			if err == nil || !strings.Contains(err.Error(), "refuses power off") || c.Reason != v1alpha1.ReasonRefused || redfishhost.PollSoon(h) {
				t.Errorf("PollSoon %v, PowerApplied %v, last error %v", redfishhost.PollSoon(h), c, err)
			}
			if n := len(l.emu.FullWrites()); n < 5 || n > 16 {
				t.Errorf("it was told %d times in an hour", n)
			}
			before := l.changes
			if _, _ = l.pass(4 * time.Minute); l.changes > before+5 {
				t.Errorf("%d changes in four minutes of a host whose BMC refuses", l.changes-before)
			}
			l.emu.Heal()
			if h, err = l.pass(6 * time.Minute); l.m.Powered() || err != nil || h.Status.GetCondition(v1alpha1.ConditionPowerApplied).Reason != v1alpha1.ReasonApplied {
				t.Errorf("a BMC that is well: powered %v, %v", l.m.Powered(), err)
			}
		})
	}
}

// TestOffAfterRefusedReset: a reset that the BMC refuses doesn't stand in the way of an orderly end.
func TestOffAfterRefusedReset(t *testing.T) {
	l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{})
	l.settle()
	l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "Reset", Status: http.StatusBadRequest, Times: 1})
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
	if _, err := l.pass(time.Second); err == nil {
		t.Error("a reset that is refused: want an error")
	}
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
	h := l.later(time.Minute)
	if diff := cmp.Diff(map[string]int{"GracefulShutdown": 1}, l.resets()); diff != "" || l.m.Powered() || h.Status.AtProvider.Boot.ResetGeneration != 1 {
		t.Errorf("powered %v, generation %d; resets: -want, +got:\n%s", l.m.Powered(), h.Status.AtProvider.Boot.ResetGeneration, diff)
	}
}

// TestCrashWithTasks kills the provider around each call to a BMC that does everything later: the task is lost with it, and nothing is done twice.
func TestCrashWithTasks(t *testing.T) {
	for _, async := range []bmc.Async{bmc.AsyncTask, bmc.AsyncMonitorOnly, bmc.AsyncJob, bmc.AsyncBare} {
		for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
			for _, nth := range []int{1, 2} {
				t.Run(strings.Join([]string{string(async), point, strconv.Itoa(nth)}, "/"), func(t *testing.T) {
					l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{Async: async, TaskTakes: 10 * time.Second, Redundant: http.StatusConflict})
					l.settle()
					l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
					left := nth
					l.failpoint = func(at string) {
						if at == point {
							left--
							if left == 0 {
								panic(crash{at})
							}
						}
					}
					for range 4 {
						l.now = l.now.Add(15 * time.Second)
						l.untilCrash()
					}
					l.failpoint = nil
					l.start()
					h, err := l.pass(10 * time.Minute)
					if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 1}, l.resets()); diff != "" || err != nil || !l.m.Powered() || h.Status.AtProvider.Boot.ResetGeneration != 1 {
						t.Errorf("powered %v, generation %d, last error %v; resets: -want, +got:\n%s", l.m.Powered(), h.Status.AtProvider.Boot.ResetGeneration, err, diff)
					}
					survived(t, "the provider is killed around a call that becomes a task, and loses it")
				})
			}
		}
	}
}
