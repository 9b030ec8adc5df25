package bmc_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestResetThroughTrouble: whatever happens in the middle of a reset, it's one, and the machine is on in the end.
func TestResetThroughTrouble(t *testing.T) {
	post := func(f bmc.Fault) func(*lab) {
		f.Method, f.PathContains = http.MethodPost, "Reset"

		return func(l *lab) { l.emu.Inject(f) }
	}
	cases := map[string]struct {
		reason  string
		fault   string     // as the table of faults names it
		happens func(*lab) // before the off
		between func(*lab) // after it
		// knows is whether only a BMC that tells the last reset can know.
		knows  bool
		resets map[string]int
	}{
		"Storm":      {reason: "503s before anything is done.", fault: "503s", happens: post(bmc.Fault{Status: http.StatusServiceUnavailable, Times: 2}), resets: map[string]int{"ForceOff": 1, "On": 1}},
		"StormAfter": {reason: "And before the second half.", fault: "503s", happens: post(bmc.Fault{Status: http.StatusServiceUnavailable, After: 1, Times: 2}), resets: map[string]int{"ForceOff": 1, "On": 1}},
		"Cut":        {reason: "The connection is cut before the effect.", fault: "the connection is cut", happens: post(bmc.Fault{Disconnect: true, Times: 1}), resets: map[string]int{"ForceOff": 1, "On": 1}},
		"CutAfter":   {reason: "And after it, both times.", fault: "the connection is cut after the effect", happens: post(bmc.Fault{Disconnect: true, AfterEffect: true, Times: 2}), resets: map[string]int{"ForceOff": 1, "On": 1}},
		"Refused":    {reason: "The BMC refuses the second half for a while.", fault: "refusals", happens: post(bmc.Fault{Status: http.StatusBadRequest, After: 1, Times: 3}), resets: map[string]int{"ForceOff": 1, "On": 1}},
		"Vanishes":   {reason: "An accepted off that wasn't one.", fault: "an order is accepted and not carried out", happens: post(bmc.Fault{WithoutEffect: true, Times: 1}), resets: map[string]int{"ForceOff": 1, "On": 1}},
		"BMCReboots": {reason: "The BMC restarts between the two.", fault: "the BMC restarts", between: func(l *lab) { l.emu.RebootBMC(45 * time.Second) }, resets: map[string]int{"ForceOff": 1, "On": 1}},
		"Sessions":   {reason: "Its sessions end.", fault: "all sessions end", between: func(l *lab) { l.emu.ExpireSessions() }, resets: map[string]int{"ForceOff": 1, "On": 1}},
		"SwitchedOn": {reason: "Somebody is quicker.", fault: "somebody else switches the machine on", between: func(l *lab) { _ = l.m.On(bmc.BootNormal) }, knows: true, resets: map[string]int{"ForceOff": 1}},
	}
	for name, tc := range cases {
		for modelName, model := range models() {
			if tc.knows && model != bmc.ModelInline {
				continue
			}
			t.Run(name+"/"+modelName, func(t *testing.T) {
				l := newClockLab(t, model, bmc.Behaviour{Redundant: http.StatusConflict})
				l.settle()
				if tc.happens != nil {
					tc.happens(l)
				}
				l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
				_, _ = l.pass(time.Second)
				if tc.between != nil {
					tc.between(l)
				}
				h, err := l.pass(20 * time.Minute)
				if diff := cmp.Diff(tc.resets, l.resets()); diff != "" || err != nil || !l.m.Powered() || len(l.m.Boots()) != 2 || h.Status.AtProvider.Boot.ResetGeneration != 1 {
					t.Errorf("\n%s\npowered %v, boots %v, generation %d, last error %v; resets: -want, +got:\n%s",
						tc.reason, l.m.Powered(), l.m.Boots(), h.Status.AtProvider.Boot.ResetGeneration, err, diff)
				}
				survived(t, "in the middle of a reset: "+tc.fault)
			})
		}
	}
}

// TestStuckState: a BMC that acts and shows nothing of it leaves no machine off, whatever becomes of the order that ends it.
func TestStuckState(t *testing.T) {
	faults := map[string]bmc.Fault{
		"Well": {}, "Busy": {Status: http.StatusServiceUnavailable}, "Denied": {Status: http.StatusForbidden}, "Cut": {Disconnect: true}, "CutAfter": {Disconnect: true, AfterEffect: true},
	}
	for name, f := range faults {
		for modelName, model := range models() {
			t.Run(name+"/"+modelName, func(t *testing.T) {
				l := newClockLab(t, model, bmc.Behaviour{})
				l.settle()
				l.emu.StickPower()
				if name != "Well" {
					f.Method, f.PathContains, f.Times = http.MethodPost, "Reset", 1
					f.After = map[bmc.Model]int{bmc.ModelInline: 1, bmc.ModelActionInfo: 3}[model] // Until On.
					l.emu.Inject(f)
				}
				l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
				h, err := l.pass(time.Hour)
				if !l.m.Powered() || len(l.m.Boots()) != 2 || err != nil || h.Status.AtProvider.Boot.ResetGeneration != 1 || l.sent()["ForceOff"] > 3 {
					t.Errorf("powered %v, boots %v, generation %d, last error %v, sent %v", l.m.Powered(), l.m.Boots(), h.Status.AtProvider.Boot.ResetGeneration, err, l.sent())
				}
				survived(t, "PowerState never changes, and the machine does")
			})
		}
	}
}

// TestKilledBlind kills the provider around the On that ends a reset of a machine whose BMC calls it on all the time.
func TestKilledBlind(t *testing.T) {
	for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
		for name, model := range models() {
			t.Run(point+"/"+name, func(t *testing.T) {
				l := newClockLab(t, model, bmc.Behaviour{})
				l.settle()
				l.emu.StickPower()
				l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
				left := map[bmc.Model]int{bmc.ModelInline: 2, bmc.ModelActionInfo: 4}[model] // Offs, and On.
				l.failpoint = func(at string) {
					if at != point {
						return
					}
					left--
					if left == 0 {
						panic(crash{at})
					}
				}
				for left > 0 {
					l.now = l.now.Add(30 * time.Second)
					l.untilCrash()
				}
				l.failpoint = nil
				l.start()
				h := l.later(20 * time.Minute)
				if !l.m.Powered() || len(l.m.Boots()) != 2 || h.Status.AtProvider.Boot.ResetGeneration != 1 {
					t.Errorf("powered %v, boots %v, generation %d, sent %v", l.m.Powered(), l.m.Boots(), h.Status.AtProvider.Boot.ResetGeneration, l.sent())
				}
				survived(t, "the provider is killed while PowerState never changes")
			})
		}
	}
}
