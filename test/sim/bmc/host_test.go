package bmc_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func TestRegisteringChangesNothing(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, model)
			_ = l.m.On(bmc.BootNormal)
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.ResetGeneration = 7
				h.Spec.ForProvider.Boot = once(3)
				h.Spec.ForProvider.MACs = []string{"52-54-00-00-00-09", "52:54:00:00:00:01"}
			})
			h := l.settle()
			if c := l.emu.Counters(); c.Writes != 0 {
				t.Errorf("registering a host wrote %d times to its BMC", c.Writes)
			}
			if got := meta.GetExternalName(h); got != serial {
				t.Errorf("external name: got %q, want %q", got, serial)
			}
			if h.Status.Phase != v1alpha1.HostAvailable || condition(h, xpv2.TypeReady)[0] != "True" || condition(h, v1alpha1.ConditionReachable)[0] != "True" {
				t.Errorf("phase %q, conditions %v", h.Status.Phase, h.Status.Conditions)
			}
			macs := []string{}
			for _, m := range h.Status.AtProvider.MACs {
				macs = append(macs, m.Address)
			}
			if diff := cmp.Diff([]string{"52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:09"}, macs); diff != "" {
				t.Errorf("MACs: -want, +got:\n%s", diff)
			}
			if b := h.Status.AtProvider.Boot; b.OnceGeneration != 3 || b.ResetGeneration != 7 {
				t.Errorf("what was asked for at registration counts as done: got %v", b)
			}
			if _, has := cleanedOf(h); has {
				t.Error("a host that was never claimed has a condition Cleaned")
			}
		})
	}
}

func cleanedOf(h *v1alpha1.RedfishHost) (xpv2.Condition, bool) {
	c := h.Status.GetCondition(v1alpha1.ConditionCleaned)

	return c, c.Reason != ""
}

func TestStatusIsNotRewritten(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	before := l.settle().Status
	l.now = l.now.Add(time.Hour) // The inventory is read again, too.
	if diff := cmp.Diff(before, l.settle().Status); diff != "" {
		t.Errorf("a look at an unchanged machine changed the status: -before, +after:\n%s", diff)
	}
	b, err := json.Marshal(l.get().Status)
	if err != nil || len(b) > 32<<10 {
		t.Errorf("status has %d bytes (%v), want at most 32 KiB", len(b), err)
	}
}

func TestBootAndRelease(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, model)
			l.settle()
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"}
				h.Spec.ForProvider.Boot = once(1)
				h.Spec.ForProvider.Power = v1alpha1.PoweredOn
			})
			h := l.settle()
			if diff := cmp.Diff([]bmc.BootTarget{bmc.BootPxe}, l.m.Boots()); diff != "" {
				t.Errorf("boots: -want, +got:\n%s", diff)
			}
			if h.Status.Phase != v1alpha1.HostReserved || h.Status.AtProvider.Power != v1alpha1.PoweredOn || h.Status.AtProvider.PoweredOnAt == nil || h.Status.AtProvider.Boot.OnceGeneration != 1 {
				t.Errorf("after boot: phase %q, atProvider %+v", h.Status.Phase, h.Status.AtProvider)
			}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
			h = l.settle()
			if l.m.Powered() || h.Status.AtProvider.Power != v1alpha1.PoweredOff {
				t.Errorf("after power off: powered %v, status %q", l.m.Powered(), h.Status.AtProvider.Power)
			}
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ClaimRef, h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = nil, nil, v1alpha1.Unmanaged
			})
			h = l.settle()
			if h.Status.Phase != v1alpha1.HostAvailable || condition(h, v1alpha1.ConditionCleaned) != [2]string{"False", "NoCleaning"} {
				t.Errorf("after release: phase %q, Cleaned %v", h.Status.Phase, condition(h, v1alpha1.ConditionCleaned))
			}
			if diff := cmp.Diff(map[string]int{"On": 1, "GracefulShutdown": 1}, l.resets()); diff != "" {
				t.Errorf("resets: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestResetGeneration(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
	for range 3 {
		l.settle()
		l.start()
	}
	if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 1}, l.resets()); diff != "" {
		t.Errorf("one raised generation is one reset: -want, +got:\n%s", diff)
	}
}

func TestGraceThenForce(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.emu.IgnoreGraceful(true)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
	h := l.settle()
	if !redfishhost.PollSoon(h) || !l.m.Powered() {
		t.Errorf("while the OS has its grace: PollSoon %v, powered %v", redfishhost.PollSoon(h), l.m.Powered())
	}
	l.later(5*time.Minute - time.Second)
	if !l.m.Powered() {
		t.Error("powered off before the grace was over")
	}
	h = l.later(time.Second)
	if diff := cmp.Diff(map[string]int{"GracefulShutdown": 1, "ForceOff": 1}, l.resets()); diff != "" || redfishhost.PollSoon(h) {
		t.Errorf("PollSoon %v; resets: -want, +got:\n%s", redfishhost.PollSoon(h), diff)
	}
}

func TestPowerStateLags(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	l.emu.SetPowerLag(time.Hour)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
	for range 5 {
		l.settle()
	}
	if diff := cmp.Diff(map[string]int{"On": 1}, l.resets()); diff != "" {
		t.Errorf("a state that lags isn't a reason to act again: -want, +got:\n%s", diff)
	}
}
