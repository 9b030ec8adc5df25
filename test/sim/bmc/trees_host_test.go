package bmc_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// treeLab is a controller and a captured tree whose clocks go together.
type treeLab struct {
	*lab

	rig *rig
}

func newTreeLab(t *testing.T, dir, id string, otherwise ...func(*bmc.Behaviour)) treeLab {
	t.Helper()
	tree := load(t, dir)
	r := serveTree(t, tree, otherwise...)
	l := treeLab{newLabOf(t, r.Server, r.machines[id]), r}
	if len(r.Systems()) > 1 {
		l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.System = &v1alpha1.SystemSelector{ID: id} })
	}

	return l
}

// until looks every half minute, at most so often, until the host is as wanted
// or nothing is left to do, and returns the last error.
func (l treeLab) until(looks int, done func(*v1alpha1.RedfishHost) bool) (*v1alpha1.RedfishHost, error) {
	l.t.Helper()
	var err error
	for range looks {
		l.now = l.now.Add(30 * time.Second)
		l.rig.later()
		if _, err = l.reconcile(); err == nil && done(l.get()) {
			break
		}
	}

	return l.get(), err
}

// systemsOf lists the Systems of a tree that a client can find.
func systemsOf(t *testing.T, dir string) []string {
	t.Helper()
	tree := load(t, dir)

	return bmc.New(bmc.Config{Tree: tree}).Systems()
}

// TestTreesRegister registers the host of every tree, as an import does: it is
// read and nothing is written, its status is small, and stays as it is.
func TestTreesRegister(t *testing.T) {
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			t.Run(name+"/"+id, func(t *testing.T) {
				l := newTreeLab(t, dir, id)
				h, err := l.until(5, func(*v1alpha1.RedfishHost) bool { return false })
				if err != nil {
					t.Fatalf("reconcile: %v", err)
				}
				reachable := condition(h, v1alpha1.ConditionReachable)
				if h.Status.Phase != v1alpha1.HostAvailable && reachable[0] != "False" && condition(h, xpv2.TypeReady)[0] != "False" {
					t.Errorf("phase %q without a condition that says why: %v", h.Status.Phase, h.Status.Conditions)
				}
				t.Logf("phase %q, Ready %v, Reachable %v", h.Status.Phase, condition(h, xpv2.TypeReady), reachable)
				changes, requests := l.changes, l.emu.Counters().Requests
				const looks = 10
				again, _ := l.until(looks, func(*v1alpha1.RedfishHost) bool { return false })
				if diff := cmp.Diff(h.Status, again.Status); diff != "" || l.changes != changes {
					t.Errorf("%d changes of an unchanged machine's host: -before, +after:\n%s", l.changes-changes, diff)
				}
				each := 2
				if strings.HasPrefix(meta.GetExternalName(again), "/") {
					each = 3 // A machine without a name: its chassis and its BMC tell which one it is.
				}
				if n := l.emu.Counters().Requests - requests; n > each*looks {
					all := l.emu.Requests()
					t.Errorf("%d requests for %d looks at an unchanged machine, want at most %d each; the last are %v", n, looks, each, all[len(all)-4:])
				}
				if b, err := json.Marshal(again.Status); err != nil || len(b) > 32<<10 {
					t.Errorf("status has %d bytes (%v), want at most 32 KiB", len(b), err)
				}
				if w := l.emu.FullWrites(); len(w) != 0 {
					t.Errorf("registering wrote %v", w)
				}
			})
		}
	}
}

// manners are ways in which a BMC is slower than its captured tree tells.
func manners() map[string]func(*bmc.Behaviour) {
	return map[string]func(*bmc.Behaviour){
		"":     func(*bmc.Behaviour) {},
		"Slow": func(b *bmc.Behaviour) { b.Async, b.TaskTakes = bmc.AsyncTask, 90*time.Second },
		"Jobs": func(b *bmc.Behaviour) { b.Async, b.TaskTakes = bmc.AsyncJob, 90*time.Second },
		"Soon": func(b *bmc.Behaviour) { b.TooSoon = 90 * time.Second },
		"Mute": func(b *bmc.Behaviour) { b.Async, b.TaskTakes = bmc.AsyncBare, 90*time.Second },
		"Lags": func(b *bmc.Behaviour) { b.Lag = 90 * time.Second },
	}
}

// TestTreesReset resets the host of every tree: one boot more than before, and
// the machine is on in the end.
func TestTreesReset(t *testing.T) {
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			for how, otherwise := range manners() {
				t.Run(name+"/"+id+how, func(t *testing.T) {
					l := newTreeLab(t, dir, id, otherwise)
					h, err := l.until(3, func(h *v1alpha1.RedfishHost) bool { return h.Status.Phase == v1alpha1.HostAvailable })
					if err != nil || h.Status.Phase != v1alpha1.HostAvailable {
						return
					}
					booted := len(l.m.Boots())
					l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
					h, err = l.until(20, func(*v1alpha1.RedfishHost) bool { return false })
					if n := len(l.m.Boots()) - booted; n != 1 || !l.m.Powered() || err != nil || h.Status.AtProvider.Boot.ResetGeneration != 1 {
						t.Errorf("%d boots, powered %v, generation %d, last error %v; want 1, true, 1, none; resets %v, written %v",
							n, l.m.Powered(), h.Status.AtProvider.Boot.ResetGeneration, err, l.resets(), l.emu.FullWrites())
					}
					if follows := how == "Slow" || how == "Jobs"; follows && len(l.emu.FullWrites()) != 2 {
						t.Errorf("a BMC that tells how far it is was told %v, want two orders", l.emu.FullWrites())
					}
				})
			}
		}
	}
}

// TestTreesBoot powers the host of every tree off, and on with a boot from the
// network where the machine can be told to: what it can't is said, once tried.
// BMCs that are slow to act, or to tell, are told no more than quick ones.
func TestTreesBoot(t *testing.T) {
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			for how, otherwise := range manners() {
				t.Run(name+"/"+id+how, func(t *testing.T) { bootTree(t, newTreeLab(t, dir, id, otherwise), id) })
			}
		}
	}
}

func bootTree(t *testing.T, l treeLab, id string) {
	t.Helper()
	h, err := l.until(3, func(h *v1alpha1.RedfishHost) bool { return h.Status.Phase == v1alpha1.HostAvailable })
	if err != nil || h.Status.Phase != v1alpha1.HostAvailable {
		t.Logf("not registered: phase %q, Ready %v, %v", h.Status.Phase, condition(h, xpv2.TypeReady), err)

		return
	}
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
	h, err = l.until(30, func(h *v1alpha1.RedfishHost) bool { return h.Status.AtProvider.Power == v1alpha1.PoweredOff })
	if err != nil || l.m.Powered() {
		t.Errorf("power off: powered %v, status %q, %v; written %v", l.m.Powered(), h.Status.AtProvider.Power, err, l.emu.FullWrites())
	}
	booted := len(l.m.Boots())
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.Power, h.Spec.ForProvider.Boot = v1alpha1.PoweredOn, once(1)
	})
	h, err = l.until(10, func(h *v1alpha1.RedfishHost) bool { return h.Status.AtProvider.Power == v1alpha1.PoweredOn })
	boots, via, applied := l.m.Boots()[booted:], h.Status.AtProvider.Boot.Via, h.Status.GetCondition(v1alpha1.ConditionBootApplied)
	order := append(l.emu.BootOrder(id), "")
	switch {
	case slices.Equal(boots, []bmc.BootTarget{bmc.BootPxe}):
	case len(boots) == 1 && via != nil && via.Rung == string(redfish.RungOrder) && l.emu.BootOf(id, order[0]) == bmc.BootPxe:
		t.Logf("booted by its order, %v: %s", order, via.Why)
	case len(boots) == 0 && (err != nil || applied.Status == "False"):
		t.Logf("not booted: %v, %s: %s", err, applied.Reason, applied.Message)
	default:
		t.Errorf("boots: got %v, last error %v; want one from the network, or none and a word why; written %v", boots, err, l.emu.FullWrites())
	}
	// Only what does no harm twice is sent again to a BMC that doesn't show it.
	const again = 3
	sent := map[string]int{}
	for _, w := range l.emu.FullWrites() {
		sent[w.Body]++
	}
	for body, n := range sent {
		harmless := body == `{"ResetType":"On"}` || body == `{"ResetType":"ForceOff"}`
		if n > 1 && (n > again || !harmless) {
			t.Errorf("%d times %s: %v", n, body, l.emu.FullWrites())
		}
	}
	if len(sent) > 3 {
		t.Errorf("more than an end, an override and a start: %v", sent)
	}
}
