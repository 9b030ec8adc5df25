package bmc_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// swapped are values that most machines have pairs of.
var swapped = map[any]any{
	"Enabled": "Disabled", "Disabled": "Enabled", "Enable": "Disable", "Disable": "Enable", true: false, false: true,
}

// TestTreesDeclareBIOS declares one attribute of every captured machine: it is
// staged and in force after a boot, or refused by a reason, without a write.
func TestTreesDeclareBIOS(t *testing.T) {
	applied := 0
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			t.Run(name+"/"+id, func(t *testing.T) {
				l := newTreeLab(t, dir, id, func(b *bmc.Behaviour) { b.Redirect = false })
				h, err := l.until(6, func(*v1alpha1.RedfishHost) bool { return false })
				if err != nil || h.Status.Phase != v1alpha1.HostAvailable {
					t.Logf("the host can't be registered: phase %q, %v", h.Status.Phase, err)

					return
				}
				var current map[string]any
				if uri := linkOf(resourceAt(t, l.emu.BMC, l.emu.SystemURI(id)), "Bios"); uri != "" {
					current = attributes(t, l.emu.BMC, uri)
				}
				var said [2]string
				for attribute, value := range candidates(current) {
					writes := len(l.emu.FullWrites())
					raw, _ := json.Marshal(value)
					l.edit(func(h *v1alpha1.RedfishHost) {
						h.Spec.ForProvider.BIOS = &v1alpha1.HostBIOS{Attributes: map[string]apiextv1.JSON{attribute: {Raw: raw}}}
					})
					h, _ := l.until(6, func(h *v1alpha1.RedfishHost) bool {
						return condition(h, v1alpha1.ConditionBIOSApplied)[1] == string(v1alpha1.ReasonWaitingForReset) && len(l.emu.FullWrites()) > writes
					})
					said = condition(h, v1alpha1.ConditionBIOSApplied)
					if said[1] == string(v1alpha1.ReasonWaitingForReset) {
						applied++
						inForce(l, id)

						return
					}
					if len(l.emu.FullWrites()) != writes && said[1] != string(v1alpha1.ReasonRefused) {
						t.Errorf("%q: %v, and yet something was written: %v", attribute, said, l.emu.FullWrites()[writes:])
					}
					if said[1] != string(v1alpha1.ReasonInvalid) {
						break
					}
				}
				t.Logf("BIOSApplied: %v", said)
				if said[0] != "False" {
					t.Errorf("BIOSApplied: got %v, want a refusal by a reason", said)
				}
			})
		}
	}
	if applied == 0 {
		t.Error("no machine took a BIOS setting")
	}
}

// inForce boots the machine and looks whether the host says so.
func inForce(l treeLab, id string) {
	l.t.Helper()
	if n := l.resetCount(); n != 0 {
		l.t.Errorf("%d resets for a change that waits for one", n)
	}
	m := l.rig.machines[id]
	_ = m.Off(false)
	_, _ = l.until(2, func(*v1alpha1.RedfishHost) bool { return false })
	_ = m.On(l.emu.NextBoot(id))
	h, err := l.until(8, func(h *v1alpha1.RedfishHost) bool { return condition(h, v1alpha1.ConditionBIOSApplied)[0] == "True" })
	if got := condition(h, v1alpha1.ConditionBIOSApplied); got[0] != "True" {
		l.t.Errorf("BIOSApplied after a boot: got %v, %q, %v", got, h.Status.GetCondition(v1alpha1.ConditionBIOSApplied).Message, err)
	}
}

// candidates are some attributes with another value each; one that isn't there
// where there are none.
func candidates(current map[string]any) func(func(string, any) bool) {
	const most = 12

	return func(yield func(string, any) bool) {
		n := 0
		for _, name := range slices.Sorted(maps.Keys(current)) {
			now := current[name]
			if _, isObject := now.(map[string]any); isObject {
				continue
			}
			value, ok := swapped[now]
			if !ok {
				continue
			}
			n++
			if n > most || !yield(name, value) {
				return
			}
		}
		if n == 0 {
			yield("BootMode", "Uefi")
		}
	}
}
