package bmc_test

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// imported is a host that is only looked at, whatever it asks for.
func imported(h *v1alpha1.RedfishHost) {
	h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	h.Spec.ForProvider.Power, h.Spec.ForProvider.ResetGeneration, h.Spec.ForProvider.Boot = v1alpha1.PoweredOff, 4, once(9)
}

// lookOnly has a host looked at for a while, with a restart of the provider, and proves that nothing was written.
func lookOnly(t *testing.T, l *lab) {
	t.Helper()
	_ = l.m.On(bmc.BootNormal)
	l.edit(imported)
	for range 2 {
		reconcileOnce := l.runtimeOf()
		for range 3 {
			l.now = l.now.Add(30 * time.Minute)
			reconcileOnce()
		}
		l.start()
	}
	if w := l.emu.FullWrites(); len(w) != 0 || !l.m.Powered() {
		t.Errorf("a host that is only looked at: powered %v, written %v", l.m.Powered(), w)
	}
	h := l.get()
	if condition(h, v1alpha1.ConditionReachable)[0] == "True" && (meta.GetExternalName(h) == "" || h.GetAnnotations()[v1alpha1.AnnotationIdentity] == "") {
		t.Errorf("nothing of it is recorded: %v", h.GetAnnotations())
	}
	if h.GetAnnotations()[v1alpha1.AnnotationJournal] != "" {
		t.Errorf("it has a journal: %v", h.GetAnnotations())
	}
}

// TestImportWritesNothing proves it by the emulator's write log, over its models and all recorded trees.
func TestImportWritesNothing(t *testing.T) {
	for _, model := range bmc.Models() {
		t.Run(string(model), func(t *testing.T) { lookOnly(t, newLab(t, model)) })
	}
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			t.Run(name+"/"+id, func(t *testing.T) { lookOnly(t, newTreeLab(t, dir, id).lab) })
		}
	}
}

// TestImportIsReadAgain: the inventory of a host that is only looked at is read anew when it's old, as another's is; whatever it asks for.
func TestImportIsReadAgain(t *testing.T) {
	reimport := func(h *v1alpha1.RedfishHost) {
		imported(h)
		h.Spec.ForProvider.CredentialsSecretRef = &v1alpha1.LocalReference{Name: ownSecret.Name}
		rotation(7)(h)
	}
	for name, managedBefore := range map[string]bool{"Imported": false, "Observed": true} {
		t.Run(name, func(t *testing.T) {
			l := newRotationLab(t, bmc.Passwords{}, nil)
			if managedBefore {
				l.settle()
			}
			l.edit(reimport)
			reconcileOnce := l.runtimeOf()
			look := func() string {
				for range 3 {
					reconcileOnce()
				}

				return l.get().Status.AtProvider.BMC.Firmware
			}
			before := look()
			l.emu.Change("/redfish/v1/Managers/BMC", func(b map[string]any) { b["FirmwareVersion"] = "99.1" })
			l.now = l.now.Add(2 * time.Hour)
			if after := look(); after != "99.1" {
				t.Errorf("after two hours: firmware %q of the BMC, before %q; want 99.1", after, before)
			}
			if w := l.emu.FullWrites(); len(w) != 0 {
				t.Errorf("written: %v", w)
			}
		})
	}
}

// TestPausedMidOff: a host that is paused while its machine shuts down isn't touched, and goes on where it was: with the grace that is left, and no second asking.
func TestPausedMidOff(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.emu.IgnoreGraceful(true)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
	reconcileOnce := l.runtimeOf()
	reconcileOnce()
	pause := func(value string) {
		l.edit(func(h *v1alpha1.RedfishHost) {
			meta.AddAnnotations(h, map[string]string{meta.AnnotationKeyReconciliationPaused: value})
		})
	}
	pause("true")
	requests := l.emu.Counters().Requests
	for range 5 {
		l.now = l.now.Add(time.Hour)
		reconcileOnce()
	}
	if n := l.emu.Counters().Requests - requests; n != 0 {
		t.Errorf("%d requests for a host that is paused", n)
	}
	pause("false")
	reconcileOnce()
	if diff := cmp.Diff(map[string]int{"GracefulShutdown": 1}, l.resets()); diff != "" || !l.m.Powered() {
		t.Errorf("once it's no longer paused: powered %v; resets: -want, +got:\n%s", l.m.Powered(), diff)
	}
	l.later(6 * time.Minute)
	if diff := cmp.Diff(map[string]int{"GracefulShutdown": 1, "ForceOff": 1}, l.resets()); diff != "" || l.m.Powered() {
		t.Errorf("at the end of its grace: powered %v; resets: -want, +got:\n%s", l.m.Powered(), diff)
	}
}

// TestCertificateChangesMidOff: a machine's power isn't cut through a BMC that suddenly shows another certificate; once a person trusts that one, the act goes on.
func TestCertificateChangesMidOff(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.emu.IgnoreGraceful(true)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
	l.settle()
	if err := l.emu.Renew(); err != nil {
		t.Fatal(err)
	}
	requests := l.emu.Counters().Requests
	h := l.later(10 * time.Minute)
	if n := l.emu.Counters().Requests - requests; n != 0 || condition(h, v1alpha1.ConditionReachable) != [2]string{"False", "UntrustedCertificate"} {
		t.Errorf("%d requests to a BMC that isn't trusted, %v", n, h.Status.Conditions)
	}
	l.pins = []string{l.emu.CertificateSHA256()}
	l.later(6 * time.Minute)
	if diff := cmp.Diff(map[string]int{"GracefulShutdown": 1, "ForceOff": 1}, l.resets()); diff != "" || l.m.Powered() {
		t.Errorf("once it's trusted: powered %v; resets: -want, +got:\n%s", l.m.Powered(), diff)
	}
	survived(t, "another certificate, all of a sudden, in the middle of a shutdown")
}
