package bmc_test

import (
	"net/http"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestOverrideOfSomebodyElse: a boot for once that was used up isn't ours any more,
// and the one that somebody sets later is left alone.
func TestOverrideOfSomebodyElse(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	l.boot(*once(1), v1alpha1.PoweredOn)
	l.look30(6)
	if diff := cmp.Diff([]bmc.BootTarget{bmc.BootPxe}, l.m.Boots()); diff != "" {
		t.Fatalf("boots: -want, +got:\n%s", diff)
	}
	theirs := map[string]any{"Boot": map[string]string{"BootSourceOverrideTarget": "Hdd", "BootSourceOverrideEnabled": "Once"}}
	if status, body := ask(t, l.emu.BMC, http.MethodPatch, l.emu.SystemURI(l.emu.Systems()[0]), theirs, nil); status >= 300 {
		t.Fatalf("PATCH: %d, %v", status, body)
	}
	l.look30(4)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Boot = nil })
	h := l.look30(6)
	if b := h.Status.AtProvider.Boot; b.Target != "Hdd" || b.Enabled != "Once" || b.Via != nil {
		t.Errorf("somebody else's override: %+v", b)
	}
}

// TestDeletedWhileRefused: a reset that the BMC only ever refused doesn't keep a host.
func TestDeletedWhileRefused(t *testing.T) {
	l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{})
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "Reset", Status: http.StatusForbidden})
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Finalizers, h.Spec.ForProvider.ResetGeneration = []string{"test/keep"}, 1
	})
	_, _ = l.pass(10 * time.Minute)
	if err := l.kube.Delete(t.Context(), l.get()); err != nil {
		t.Fatal(err)
	}
	exists := true
	for range 10 {
		l.now = l.now.Add(30 * time.Second)
		o, _ := l.reconcile()
		exists = o.ResourceExists
	}
	if exists || !l.m.Powered() {
		t.Errorf("exists %v, powered %v", exists, l.m.Powered())
	}
}

// TestBusyResource: settings that can't be read now make no machine unreachable, and
// are read again soon.
func TestBusyResource(t *testing.T) {
	l := biosLab(t, false)
	l.emu.Inject(bmc.Fault{Method: http.MethodGet, PathContains: "Bios", Times: 8, Status: http.StatusServiceUnavailable})
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.BIOS, h.Spec.ForProvider.Power = declare("", `Mode="B"`), v1alpha1.PoweredOn
	})
	h := l.look30(2)
	if condition(h, v1alpha1.ConditionReachable)[0] != "True" || condition(h, v1alpha1.ConditionPowerApplied)[0] != "True" || l.bios() != [2]string{"False", "Refused"} {
		t.Errorf("conditions %v", h.Status.Conditions)
	}
	l.emu.Heal()
	l.look30(4)
	if l.bios() != [2]string{"False", "WaitingForReset"} {
		t.Errorf("BIOSApplied: %v", l.bios())
	}
}

// TestCutResource: a BMC that closes the connection whenever it's asked for one thing beside its machine is there all the same.
func TestCutResource(t *testing.T) {
	for name, path := range map[string]string{"Settings": "Bios", "Events": "EventService", "Subscriptions": "Subscriptions"} {
		t.Run(name, func(t *testing.T) {
			l := newPushLab(t, bmc.Subscriptions{})
			l.emu.Inject(bmc.Fault{Method: http.MethodGet, PathContains: path, Disconnect: true})
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.BIOS, h.Spec.ForProvider.Power = declare("", `Mode="B"`), v1alpha1.PoweredOn
			})
			for range 20 { // Each of which may be an error about what couldn't be read.
				_, _ = l.reconcile()
				l.now = l.now.Add(30 * time.Second)
			}
			h := l.get()
			if condition(h, v1alpha1.ConditionReachable)[0] != "True" || condition(h, xpv2.TypeReady)[0] != "True" || !l.m.Powered() {
				t.Errorf("powered %v, conditions %v", l.m.Powered(), h.Status.Conditions)
			}
			if path != "Bios" {
				l.poll("Unreachable")
			}
		})
	}
}

// TestResetAnsweredLate: a 503 that comes after the effect leaves no machine off.
func TestResetAnsweredLate(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			l := newClockLab(t, model, bmc.Behaviour{})
			_ = l.m.On(bmc.BootNormal)
			l.settle()
			l.emu.Inject(bmc.Fault{Method: http.MethodPost, PathContains: "Reset", Status: http.StatusServiceUnavailable, AfterEffect: true, Times: 1})
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
			h, err := l.pass(20 * time.Minute)
			if err != nil || !l.m.Powered() || h.Status.AtProvider.Boot.ResetGeneration != 1 {
				t.Errorf("powered %v, generation %d, %v; sent %v", l.m.Powered(), h.Status.AtProvider.Boot.ResetGeneration, err, l.sent())
			}
		})
	}
}
