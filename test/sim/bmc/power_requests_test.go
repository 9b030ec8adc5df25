package bmc_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// mostRequests are those of one power transition, also of a reset, beyond the looks that are made anyway.
const mostRequests = 8

// transition is one change of a machine's power, and how its operating system takes it.
type transition struct {
	figure string
	change func(*v1alpha1.RedfishHost)
	// lags is how long the BMC doesn't show it, and deaf that the operating system doesn't shut down.
	lags time.Duration
	deaf bool
	on   bool
}

// transitions of a machine that is on, one after another.
func transitions() []transition {
	power := func(p v1alpha1.PowerState) func(*v1alpha1.RedfishHost) {
		return func(h *v1alpha1.RedfishHost) {
			h.Spec.ForProvider.Power, h.Spec.ForProvider.PowerOff = p, &v1alpha1.PowerOff{Grace: metav1.Duration{Duration: 30 * time.Second}, Then: "Force"}
		}
	}
	on := transition{figure: "on", change: power(v1alpha1.PoweredOn), on: true}

	return []transition{
		{figure: "off_asked", change: power(v1alpha1.PoweredOff)}, on,
		{figure: "off_waited", change: power(v1alpha1.PoweredOff), lags: 15 * time.Second}, on,
		{figure: "off_forced", change: power(v1alpha1.PoweredOff), deaf: true}, on,
		{figure: "reset", change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration++ }, on: true},
	}
}

// requestsFor counts what a transition takes beyond the looks of so many requests.
func requestsFor(t *testing.T, l *lab, tr transition, look int, step func()) int {
	t.Helper()
	l.emu.SetPowerLag(tr.lags)
	l.emu.IgnoreGraceful(tr.deaf)
	l.edit(tr.change)
	beyond := 0
	for range 7 { // In ten minutes an inventory has its turn, which isn't of the transition.
		step()
		before := l.emu.Counters().Requests
		if _, err := l.reconcile(); err != nil {
			t.Errorf("%s: %v", tr.figure, err)
		}
		beyond += max(0, l.emu.Counters().Requests-before-look)
	}
	l.emu.SetPowerLag(0)
	l.emu.IgnoreGraceful(false)
	if h := l.get(); l.m.Powered() != tr.on || condition(h, v1alpha1.ConditionPowerApplied)[0] != "True" {
		t.Errorf("%s: powered %v, conditions %v", tr.figure, l.m.Powered(), h.Status.Conditions)
	}

	return beyond
}

// TestTreesPowerRequests counts what switching the host of every tree costs, and of our own models: on, off (the operating system obeys at
// once, after a while, never), and a reset.
func TestTreesPowerRequests(t *testing.T) {
	most := map[string]int{}
	count := func(t *testing.T, name string, l *lab, step func()) {
		t.Helper()
		_, _ = l.reconcile()
		before := l.emu.Counters().Requests
		_, _ = l.reconcile()
		look := l.emu.Counters().Requests - before
		for _, tr := range transitions() {
			beyond := requestsFor(t, l, tr, look, step)
			if most[tr.figure] = max(most[tr.figure], beyond); beyond > mostRequests {
				t.Errorf("%s: %s: %d requests beyond looks of %d, want at most %d", name, tr.figure, beyond, look, mostRequests)
			}
		}
	}
	for _, model := range bmc.Models() {
		t.Run(string(model), func(t *testing.T) {
			l := clockLab(t, model, func(*bmc.Config) {})
			l.settle()
			_ = l.m.On(bmc.BootNormal)
			count(t, string(model), l, func() { l.now = l.now.Add(10 * time.Second) })
		})
	}
	t.Run("Trees", func(t *testing.T) {
		for name, dir := range captured(t) {
			for _, id := range systemsOf(t, dir) {
				l := newTreeLab(t, dir, id)
				if h, err := l.until(3, func(h *v1alpha1.RedfishHost) bool { return h.Status.Phase == v1alpha1.HostAvailable }); err != nil || h.Status.Phase != v1alpha1.HostAvailable {
					t.Logf("%s/%s: not registered: %v", name, id, err)

					continue
				}
				_ = l.m.On(bmc.BootNormal)
				count(t, name+"/"+id, l.lab, func() { l.now = l.now.Add(10 * time.Second); l.rig.now = l.rig.now.Add(10 * time.Second) })
			}
		}
	})
	for _, figure := range slices.Sorted(maps.Keys(most)) {
		t.Logf("figure redfish_power_requests_%s %d requests beyond polling", figure, most[figure])
	}
	if len(most) > 0 {
		t.Logf("figure redfish_power_requests %d requests beyond polling", slices.Max(slices.Collect(maps.Values(most))))
	}
}
