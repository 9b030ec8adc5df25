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

// crash is what a failpoint does to the provider.
type crash struct{ at string }

// TestCrash kills the provider at each point around each call, and starts it
// again: nothing is done twice, nothing is forgotten.
func TestCrash(t *testing.T) {
	acts := map[string]struct {
		on     bool
		deaf   bool // the operating system, to being asked
		change func(*v1alpha1.RedfishHost)
		resets map[string]int
		boots  int
		patch  int
	}{
		"Boot": {change: func(h *v1alpha1.RedfishHost) {
			h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = once(1), v1alpha1.PoweredOn
		}, resets: map[string]int{"On": 1}, boots: 1, patch: 1},
		"Reset": {on: true, change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 }, resets: map[string]int{"ForceOff": 1, "On": 1}, boots: 2},
		"Force": {on: true, change: func(h *v1alpha1.RedfishHost) {
			h.Spec.ForProvider.Power, h.Spec.ForProvider.PowerOff = v1alpha1.PoweredOff, &v1alpha1.PowerOff{Then: "Force"}
		}, resets: map[string]int{"ForceOff": 1}, boots: 1},
		"Deaf": {on: true, deaf: true, change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff }, resets: map[string]int{"GracefulShutdown": 1, "ForceOff": 1}, boots: 1},
		"Off":  {on: true, change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff }, resets: map[string]int{"GracefulShutdown": 1}, boots: 1},
	}
	for name, tc := range acts {
		for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
			for _, nth := range []int{1, 2} {
				for modelName, model := range models() {
					t.Run(strings.Join([]string{name, point, strconv.Itoa(nth), modelName}, "/"), func(t *testing.T) {
						l := newLab(t, model)
						if tc.on {
							_ = l.m.On(bmc.BootNormal)
						}
						l.settle()
						l.emu.IgnoreGraceful(tc.deaf)
						l.edit(tc.change)
						seen := 0
						l.failpoint = func(at string) {
							if at == point {
								seen++
								if seen == nth {
									panic(crash{at})
								}
							}
						}
						l.untilCrash()
						if tc.deaf {
							l.now = l.now.Add(5 * time.Minute)
							l.untilCrash()
						}
						l.failpoint = nil
						l.start()
						l.settle()
						l.later(10 * time.Minute)
						got := l.resets()
						if n := got["GracefulShutdown"]; n > 0 {
							got["GracefulShutdown"] = 1 // Asking twice for a shutdown does no harm; not asking does.
						}
						if diff := cmp.Diff(tc.resets, got); diff != "" {
							t.Errorf("resets: -want, +got:\n%s", diff)
						}
						if len(l.m.Boots()) != tc.boots || l.emu.Counters().Patches != tc.patch {
							t.Errorf("boots %v, %d PATCHes; want %d, %d", l.m.Boots(), l.emu.Counters().Patches, tc.boots, tc.patch)
						}
						if seen >= nth {
							survived(t, "the provider is killed around a call of power, boot or reset")
						}
					})
				}
			}
		}
	}
}

// untilCrash reconciles until the failpoint strikes, or nothing is left to do.
func (l *lab) untilCrash() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
		}
	}()
	l.settle()
}

func TestAnswerIsLost(t *testing.T) {
	for name, f := range map[string]bmc.Fault{
		"Disconnect": {Method: http.MethodPost, PathContains: "Reset", Times: 1, AfterEffect: true, Disconnect: true},
		"Error500":   {Method: http.MethodPost, PathContains: "Reset", Times: 1, AfterEffect: true, Status: http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			_ = l.m.On(bmc.BootNormal)
			l.settle()
			l.emu.Inject(f)
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
			if _, err := l.reconcile(); err == nil {
				t.Error("a lost answer: want an error")
			}
			l.settle()
			l.later(10 * time.Minute)
			if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 1}, l.resets()); diff != "" {
				t.Errorf("resets: -want, +got:\n%s", diff)
			}
			survived(t, "the answer to a reset is lost, which was carried out")
		})
	}
}
