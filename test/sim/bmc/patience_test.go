package bmc_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestGraceIgnoresTheWallClock: a clock that jumps, and a pause, cut no power.
func TestGraceIgnoresTheWallClock(t *testing.T) {
	for name, happens := range map[string]func(*lab){
		"Forward":  func(l *lab) { l.jump = 24 * time.Hour },
		"Backward": func(l *lab) { l.jump = -24 * time.Hour },
		"Paused":   func(l *lab) { l.now = l.now.Add(2 * time.Hour) },
		"Restart":  func(l *lab) { l.now = l.now.Add(2 * time.Hour); l.start() },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			_ = l.m.On(bmc.BootNormal)
			l.settle()
			l.emu.IgnoreGraceful(true)
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
			l.later(time.Minute)
			happens(l)
			l.later(2 * time.Minute)
			if !l.m.Powered() {
				t.Error("the power was cut before the grace was over")
			}
			l.later(5 * time.Minute)
			if l.m.Powered() {
				t.Error("the grace never ends")
			}
			survived(t, "the clock jumps, or the host is paused, in the middle of a shutdown")
		})
	}
}

// TestResetOverAJump: a reset goes on where the clock jumps in its middle, and is one.
func TestResetOverAJump(t *testing.T) {
	for name, jump := range map[string]time.Duration{"Forward": 24 * time.Hour, "Backward": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelActionInfo)
			_ = l.m.On(bmc.BootNormal)
			l.settle()
			l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "Reset", Times: 1, WithoutEffect: true})
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
			l.settle()
			l.jump = jump
			h := l.later(2 * time.Minute)
			if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 1}, l.resets()); diff != "" || h.Status.AtProvider.Boot.ResetGeneration != 1 {
				t.Errorf("reset generation %d; resets: -want, +got:\n%s", h.Status.AtProvider.Boot.ResetGeneration, diff)
			}
			survived(t, "the clock jumps in the middle of a reset")
		})
	}
}

// TestGivenUpTellsTheLog: the event that tells of an act which was given up ends with the newest lines of the BMC's log.
func TestGivenUpTellsTheLog(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	l.emu.Change(l.emu.SystemURI(l.emu.Systems()[0]), func(body map[string]any) {
		body["LogServices"] = map[string]any{"@odata.id": "/redfish/v1/Logs"}
	})
	for _, of := range [][2]string{
		{"Logs/SEL/Entries", `{"Members":[{"Created":"2026-08-01T10:00:00Z","Severity":"Critical","Message":"Power supply 2 failed"}]}`},
		{"Logs/SEL", `{"Entries":{"@odata.id":"/redfish/v1/Logs/SEL/Entries"}}`},
		{"Logs", `{"Members":[{"@odata.id":"/redfish/v1/Logs/SEL"}]}`},
	} {
		l.emu.Inject(bmc.Fault{Method: http.MethodGet, PathContains: of[0], Status: http.StatusOK, Body: of[1]})
	}
	l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "Reset", WithoutEffect: true})
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
	l.later(time.Hour)
	told := slices.DeleteFunc(slices.Clone(l.events), func(e string) bool {
		return !strings.Contains(e, "the BMC's log ends with: ") || !strings.Contains(e, "Power supply 2 failed")
	})
	if len(told) != 1 {
		t.Errorf("want one event that ends with the log, got %q", l.events)
	}
}

// TestStuckPower: a BMC that accepts and does nothing is asked a few times, and then left alone until a person changes something.
func TestStuckPower(t *testing.T) {
	cases := map[string]struct {
		on     bool
		change func(*v1alpha1.RedfishHost)
		writes int64
		says   string
	}{
		"Off": {true, func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff }, 4, `accepts power off and doesn't carry it out: after 3 attempts its power state is "PoweredOn"`},
		"On":  {false, func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn }, 3, "accepts power on and doesn't"},
		// Three times off, and on once so that it isn't left off.
		"Reset": {true, func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 }, 4, "accepts a reset and doesn't"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			if tc.on {
				_ = l.m.On(bmc.BootNormal)
			}
			before := l.settle()
			was := l.emu.Counters().Writes
			l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "Reset", WithoutEffect: true})
			l.edit(func(h *v1alpha1.RedfishHost) { tc.change(h); h.Generation = 2 })
			h := l.later(time.Hour)
			if got := int64(l.emu.Counters().Writes - was); got != tc.writes {
				t.Errorf("%d writes in an hour, want %d", got, tc.writes)
			}
			c := h.Status.GetCondition(v1alpha1.ConditionPowerApplied)
			if c.Reason != v1alpha1.ReasonGaveUp || !strings.Contains(c.Message, tc.says) || redfishhost.PollSoon(h) {
				t.Errorf("PollSoon %v, PowerApplied %v; want GaveUp and %q", redfishhost.PollSoon(h), c, tc.says)
			}
			if before.Status.GetCondition(v1alpha1.ConditionPowerApplied).Reason != "" {
				t.Error("a host whose power is Unmanaged has a condition PowerApplied")
			}
			l.emu.Heal()
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration++; h.Generation = 3 })
			h = l.later(10 * time.Minute)
			if c := h.Status.GetCondition(v1alpha1.ConditionPowerApplied); c.Reason == v1alpha1.ReasonGaveUp {
				t.Errorf("the BMC is well and the spec was changed: %v", c)
			}
			survived(t, "PowerState never changes, nor does the machine")
		})
	}
}
