package bmc_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// patches are the PATCHes that the BMC took.
func (l *lab) patches() int { return l.emu.Counters().Patches }

// TestSecureBootAtBoot: one that a BMC shows after the boot alone is written once,
// whatever else is written meanwhile.
func TestSecureBootAtBoot(t *testing.T) {
	l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{SecureBootAtBoot: true})
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.SecureBoot = "Enabled" })
	l.later(10 * time.Minute)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Indicator = "Lit" })
	h := l.later(30 * time.Minute)
	if n := l.patches(); n != 2 || condition(h, v1alpha1.ConditionSettingsApplied) != [2]string{"False", "WaitingForReset"} {
		t.Errorf("%d writes, want one of Secure Boot and one of a light; %v", n, h.Status.Conditions)
	}
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
	h = l.later(30 * time.Minute)
	if n := l.patches(); n != 2 || condition(h, v1alpha1.ConditionSettingsApplied) != [2]string{"True", "Applied"} {
		t.Errorf("after the reset: %d writes, %v", n, h.Status.Conditions)
	}
}

// TestImageThatTakesLong: an image that comes when nothing waits for it any more is
// taken out, and no other one is put beside it.
func TestImageThatTakesLong(t *testing.T) {
	cases := map[string]struct {
		reason string
		then   func(l *lab)
		out    int // ejected
		image  string
	}{
		"Off":     {reason: "The machine is powered off in the middle: it comes all the same.", then: func(l *lab) { l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff }) }, image: "https://images.example.org/rescue.iso"},
		"Changed": {reason: "Another one is wanted: it waits.", then: func(l *lab) { l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.VirtualMedia = cd(tools) }) }, out: 1, image: tools},
		"Out":     {reason: "None is wanted.", then: func(l *lab) { l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.VirtualMedia = nil }) }, out: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{MediaTakes: 3 * time.Minute})
			l.settle()
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.VirtualMedia = cd(rescue) })
			_, _ = l.reconcile()
			tc.then(l)
			h, image := l.looks(30), ""
			for _, m := range h.Status.AtProvider.VirtualMedia {
				if m.Slot == "CD1" {
					image = m.Image
				}
			}
			if n := l.posts()[1]; n != tc.out || image != tc.image {
				t.Errorf("\n%s\nin the drive %q, want %q; ejected %d times, want %d", tc.reason, image, tc.image, n, tc.out)
			}
		})
	}
}

// TestDeletedWhileAnImageComes: it's ejected when it's there, and the host goes.
func TestDeletedWhileAnImageComes(t *testing.T) {
	l := newClockLab(t, bmc.ModelInline, bmc.Behaviour{MediaTakes: 3 * time.Minute})
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Finalizers, h.Spec.ForProvider.VirtualMedia = []string{"test/keep"}, cd(rescue)
	})
	_, _ = l.reconcile()
	if err := l.kube.Delete(t.Context(), l.get()); err != nil {
		t.Fatal(err)
	}
	exists := true
	for range 30 {
		l.now = l.now.Add(30 * time.Second)
		o, _ := l.reconcile()
		exists = o.ResourceExists
	}
	if diff := cmp.Diff([2]int{1, 1}, l.posts()); diff != "" || exists {
		t.Errorf("exists %v; inserted and ejected: -want, +got:\n%s", exists, diff)
	}
}
