package bmc_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestButtonIsPressedOnce: a machine that has but a power button is switched on
// by it, and not off again while its BMC still tells that it is off.
func TestButtonIsPressedOnce(t *testing.T) {
	acts := map[string]struct {
		reason string
		on     bool
		change func(*v1alpha1.RedfishHost)
		resets map[string]int
	}{
		"On":    {reason: "Once, however long it takes.", change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn }, resets: map[string]int{"PushPowerButton": 1}},
		"Reset": {reason: "And once after a reset's end.", on: true, change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 }, resets: map[string]int{"ForceOff": 1, "PushPowerButton": 1}},
	}
	button := made(t, nil).With(uriSystem, func(body map[string]any) {
		delete(body, "@Redfish.Settings")
		body["Actions"] = map[string]any{"#ComputerSystem.Reset": map[string]any{
			"target": uriReset, "ResetType@Redfish.AllowableValues": []any{"ForceOff", "PushPowerButton"},
		}}
	})
	for name, tc := range acts {
		for lags, lag := range map[string]time.Duration{"": 0, "Lags": 80 * time.Second} {
			t.Run(name+lags, func(t *testing.T) {
				r := serveTree(t, button, func(b *bmc.Behaviour) { b.Lag, b.Redundant = lag, 409 })
				if !tc.on {
					_ = r.machines["1"].Off(false)
				}
				l := treeLab{newLabOf(t, r.Server, r.machines["1"]), r}
				if h, err := l.until(3, func(h *v1alpha1.RedfishHost) bool { return h.Status.Phase == v1alpha1.HostAvailable }); err != nil || h.Status.Phase != v1alpha1.HostAvailable {
					t.Fatalf("phase %q, %v", h.Status.Phase, err)
				}
				l.edit(tc.change)
				for range 20 {
					l.now, r.now = l.now.Add(30*time.Second), r.now.Add(30*time.Second)
					_, _ = l.reconcile()
				}
				if diff := cmp.Diff(tc.resets, l.resets()); diff != "" || !l.m.Powered() {
					t.Errorf("\n%s\npowered %v; resets: -want, +got:\n%s", tc.reason, l.m.Powered(), diff)
				}
			})
		}
	}
}
