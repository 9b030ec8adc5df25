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

func TestSmallSettings(t *testing.T) {
	tag := "DC1-R7"
	cases := map[string]struct {
		reason  string
		model   bmc.Model
		fault   *bmc.Fault
		change  func(p *v1alpha1.RedfishHostParameters)
		want    [2]string
		patches int
		shown   [2]string // indicator, asset tag
	}{
		"Both": {
			reason: "A light and a tag, one write each.", model: bmc.ModelInline,
			change: func(p *v1alpha1.RedfishHostParameters) { p.Indicator, p.AssetTag = "Blinking", &tag },
			want:   [2]string{"True", "Applied"}, patches: 2, shown: [2]string{"Blinking", tag},
		},
		"OnOff": {
			reason: "A machine that knows only on and off is found by any light.", model: bmc.ModelOpen,
			change: func(p *v1alpha1.RedfishHostParameters) { p.Indicator = "Lit" },
			want:   [2]string{"True", "Applied"}, patches: 1, shown: [2]string{"Blinking", ""},
		},
		"None": {
			reason: "No light: nothing is written.", model: bmc.ModelNode,
			change: func(p *v1alpha1.RedfishHostParameters) { p.Indicator, p.AssetTag = "Lit", &tag },
			want:   [2]string{"False", "NotSupported"},
		},
		"AsItIs": {
			reason: "Nothing to do.", model: bmc.ModelInline,
			change: func(p *v1alpha1.RedfishHostParameters) { p.Indicator = "Off" },
			want:   [2]string{"True", "Applied"}, shown: [2]string{"Off", ""},
		},
		"Refused": {
			reason: "A BMC that refuses is asked three times, and power goes on.", model: bmc.ModelInline,
			fault:  &bmc.Fault{Method: http.MethodPatch, Times: 100, Status: http.StatusForbidden},
			change: func(p *v1alpha1.RedfishHostParameters) { p.Indicator, p.Power = "Lit", v1alpha1.PoweredOn },
			want:   [2]string{"False", "NoEffect"}, shown: [2]string{"Off", ""},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, tc.model)
			l.settle()
			if tc.fault != nil {
				l.emu.Inject(*tc.fault)
			}
			l.edit(func(h *v1alpha1.RedfishHost) { tc.change(&h.Spec.ForProvider) })
			for range 30 {
				l.now = l.now.Add(30 * time.Second)
				_, _ = l.reconcile()
			}
			h := l.get()
			if diff := cmp.Diff(tc.want, condition(h, v1alpha1.ConditionSettingsApplied)); diff != "" {
				t.Errorf("\n%s\nSettingsApplied: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.shown, [2]string{h.Status.AtProvider.Indicator, h.Status.AtProvider.AssetTag}); diff != "" {
				t.Errorf("\n%s\nindicator and tag: -want, +got:\n%s", tc.reason, diff)
			}
			asked := 0
			for _, r := range l.emu.Requests() {
				if r.Method == http.MethodPatch {
					asked++
				}
			}
			if tc.fault != nil {
				tc.patches = 3
				if !l.m.Powered() {
					t.Errorf("\n%s\nthe machine isn't on", tc.reason)
				}
			}
			if asked != tc.patches {
				t.Errorf("\n%s\n%d PATCHes, want %d", tc.reason, asked, tc.patches)
			}
		})
	}
}

func TestSecureBoot(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.SecureBoot = "Enabled" })
	h := l.later(2 * time.Minute)
	if diff := cmp.Diff([2]string{"False", "WaitingForReset"}, condition(h, v1alpha1.ConditionSettingsApplied)); diff != "" {
		t.Errorf("SettingsApplied: -want, +got:\n%s", diff)
	}
	if len(l.resets()) != 0 {
		t.Errorf("the machine was reset for it: %v", l.resets())
	}
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
	h = l.later(15 * time.Minute)
	if diff := cmp.Diff([2]string{"True", "Applied"}, condition(h, v1alpha1.ConditionSettingsApplied)); diff != "" {
		t.Errorf("SettingsApplied after a reset: -want, +got:\n%s", diff)
	}
	if h.Status.AtProvider.SecureBoot != "Enabled" {
		t.Errorf("secureBoot: got %q", h.Status.AtProvider.SecureBoot)
	}
}

// newTimedLab is one whose BMC goes by the lab's clock.
func newTimedLab(t *testing.T, model bmc.Model) *lab {
	t.Helper()
	var l *lab
	start := time.Now()
	emu, m := emulator(t, model, func(c *bmc.Config) {
		c.Now = func() time.Time {
			if l == nil {
				return start
			}

			return l.now
		}
	})
	l = newLabOf(t, emu, m)
	l.now = start

	return l
}

// TestBMCReset restarts the BMC once for a generation, wherever the provider is
// killed, and never while something else is on its way.
func TestBMCReset(t *testing.T) {
	for _, point := range []string{"", redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
		t.Run("killed "+point, func(t *testing.T) {
			l := newTimedLab(t, bmc.ModelInline)
			l.settle()
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.BMCResetGeneration = 1 })
			l.failpoint = func(at string) {
				if at == point {
					panic(crash{at})
				}
			}
			l.untilCrash()
			l.failpoint = nil
			l.start()
			for range 40 {
				l.now = l.now.Add(30 * time.Second)
				_, _ = l.reconcile()
			}
			if n := l.emu.Counters().BMCResets; n > 1 || n == 0 && point != redfishhost.FailpointBeforeCall {
				t.Errorf("the BMC was restarted %d times", n)
			}
			h := l.get()
			if h.Status.AtProvider.BMCResetGeneration != 1 || condition(h, v1alpha1.ConditionReachable)[0] != "True" {
				t.Errorf("status: generation %d, Reachable %v", h.Status.AtProvider.BMCResetGeneration, condition(h, v1alpha1.ConditionReachable))
			}
			if point != "" {
				survived(t, "the provider is killed around a restart of the BMC")
			}
		})
	}
}
