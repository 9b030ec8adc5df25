package bmc_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// lastingLab is a host of a BMC that keeps an override for every boot, and rests at
// the disk, as emulators of virtual machines do.
func lastingLab(t *testing.T, row func(*bmc.Behaviour)) (*lab, *rig) {
	t.Helper()
	r := serveTree(t, bootable(t, func(boot map[string]any) {
		boot["BootSourceOverrideTarget"], boot["BootSourceOverrideEnabled"] = "Hdd", "Continuous"
		noBootOrder(boot)
	}), func(b *bmc.Behaviour) {
		b.Lasts = true
		if row != nil {
			row(b)
		}
	})
	l := newLabOf(t, r.Server, r.machines["1"])
	_ = l.m.Off(false)
	l.settle()

	return l, r
}

func (r *rig) override() [2]string {
	target, enabled := r.Override("1")

	return [2]string{target, enabled}
}

// TestBootKept: a BMC that keeps an override for one boot for all of them boots that
// once all the same, and rests as before afterwards.
func TestBootKept(t *testing.T) {
	l, r := lastingLab(t, nil)
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = once(1), v1alpha1.PoweredOn
	})
	h := l.settle()
	via := h.Status.AtProvider.Boot.Via
	if diff := cmp.Diff([]bmc.BootTarget{bmc.BootPxe}, l.m.Boots()[1:]); diff != "" || condition(h, v1alpha1.ConditionBootApplied)[0] != "True" {
		t.Fatalf("boots: -want, +got:\n%s\n%v", diff, h.Status.Conditions)
	}
	if via == nil || via.Rung != string(redfish.RungSystem) || via.Why == "" {
		t.Errorf("via %+v, want the System, and why", via)
	}
	l.later(9 * time.Minute)
	if r.override() != [2]string{"Pxe", "Continuous"} {
		t.Errorf("soon after the boot: %v", r.override())
	}
	l.later(3 * time.Minute)
	if r.override() != [2]string{"Hdd", "Continuous"} || hasMoved(l.get()) {
		t.Errorf("later: %v, want what was there before", r.override())
	}
	if got := r.NextBoot("1"); got != bmc.BootHdd {
		t.Errorf("boots %q next", got)
	}
}

// TestBootKeptAround: whatever becomes of such a boot, the BMC rests as before, or as
// is declared.
func TestBootKeptAround(t *testing.T) {
	disk := v1alpha1.HostBoot{Persistent: &v1alpha1.BootSource{Target: v1alpha1.BootTargetHdd}}
	cd := v1alpha1.HostBoot{Persistent: &v1alpha1.BootSource{Target: v1alpha1.BootTargetUefiHTTP}}
	both := cd
	both.Once = onceFrom(v1alpha1.BootTargetPxe, 1)
	cases := map[string]struct {
		reason string
		boot   v1alpha1.HostBoot
		row    func(*bmc.Behaviour)
		first  [2]string
		then   func(*lab)
		want   [2]string
	}{
		"TakenOut": {reason: "Not wanted any more, before the machine boots.", boot: v1alpha1.HostBoot{Once: once(1).Once}, first: [2]string{"Pxe", "Continuous"}, then: func(l *lab) { l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged) }, want: [2]string{"Hdd", "Continuous"}},
		"Deleted":  {reason: "The host goes.", boot: v1alpha1.HostBoot{Once: once(1).Once}, first: [2]string{"Pxe", "Continuous"}, then: (*lab).deleted, want: [2]string{"Hdd", "Continuous"}},
		"Declared": {reason: "What is declared for every boot waits for the one, and is there again afterwards.", boot: both, first: [2]string{"Pxe", "Continuous"}, then: func(l *lab) { l.boot(both, v1alpha1.PoweredOn); l.later(12 * time.Minute) }, want: [2]string{"UefiHttp", "Continuous"}},
		"Another": {reason: "Another boot for once is no reason to take ours for what was there.", boot: v1alpha1.HostBoot{Once: once(1).Once}, first: [2]string{"Pxe", "Continuous"}, then: func(l *lab) {
			l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetUefiHTTP, 2)}, v1alpha1.Unmanaged)
			l.look30(4)
			l.boot(disk, v1alpha1.Unmanaged)
		}, want: [2]string{"Hdd", "Continuous"}},
		"Renamed": {reason: "One that the BMC makes something else of as well is taken back, and not tried as if it were ours.", boot: v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetUefiHTTP, 1)}, row: func(b *bmc.Behaviour) { b.StoredAs = map[string]string{"UefiHttp": "Cd"} }, first: [2]string{"Hdd", "Continuous"}, then: func(l *lab) { l.later(10 * time.Minute) }, want: [2]string{"Hdd", "Continuous"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, r := lastingLab(t, tc.row)
			l.boot(tc.boot, v1alpha1.Unmanaged)
			l.look30(3)
			if r.override() != tc.first {
				t.Fatalf("\n%s\nfirst: %v, want %v", tc.reason, r.override(), tc.first)
			}
			tc.then(l)
			l.look30(6)
			if r.override() != tc.want {
				t.Errorf("\n%s\n%v, want %v; written %v", tc.reason, r.override(), tc.want, r.FullWrites())
			}
		})
	}
}

// TestBootKeptURI: such a BMC loads what it's told from a URI as well, and one that has
// somebody else's keeps that.
func TestBootKeptURI(t *testing.T) {
	l, r := lastingLab(t, nil)
	from := *onceFrom(v1alpha1.BootTargetUefiHTTP, 1)
	from.URI = "http://10.0.0.1/boot.efi"
	l.boot(v1alpha1.HostBoot{Once: &from}, v1alpha1.PoweredOn)
	l.look30(6)
	if diff := cmp.Diff([]bmc.BootTarget{bmc.BootUefiHTTP}, l.m.Boots()[1:]); diff != "" || condition(l.get(), v1alpha1.ConditionBootApplied)[0] != "True" {
		t.Errorf("boots: -want, +got:\n%s\n%v", diff, l.get().Status.Conditions)
	}
	l.later(12 * time.Minute)
	if r.override() != [2]string{"Hdd", "Continuous"} || hasMoved(l.get()) {
		t.Errorf("later: %v, want what was there before", r.override())
	}

	other := "http://10.0.0.2/theirs.efi"
	l.emu.Change(uriSystem, func(body map[string]any) { body["Boot"].(map[string]any)["HttpBootUri"] = other })
	from.Generation = 2
	l.boot(v1alpha1.HostBoot{Once: &from}, v1alpha1.Unmanaged)
	l.look30(60)
	_, body := ask(t, l.emu.BMC, http.MethodGet, uriSystem, nil, nil)
	if uri := body["Boot"].(map[string]any)["HttpBootUri"]; uri != other || r.override() != [2]string{"Hdd", "Continuous"} || condition(l.get(), v1alpha1.ConditionBootApplied)[0] != "False" {
		t.Errorf("with theirs: %v, %v, %v", r.override(), uri, condition(l.get(), v1alpha1.ConditionBootApplied))
	}
}

// TestBootKeptUnheard: the provider is killed between such a write and the look at it,
// and something else happens before it's back. What was there before comes back.
func TestBootKeptUnheard(t *testing.T) {
	cases := map[string]struct {
		reason string
		then   func(*lab)
	}{
		"Boots":    {reason: "Somebody switches the machine on.", then: func(l *lab) { _ = l.m.On(bmc.BootPxe) }},
		"TakenOut": {reason: "It isn't wanted any more.", then: func(l *lab) { l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged) }},
		"GoesOff": {reason: "The machine, which is on by now, is to be off.", then: func(l *lab) {
			_ = l.m.On(bmc.BootPxe)
			l.boot(v1alpha1.HostBoot{}, v1alpha1.PoweredOff)
		}},
		"Again": {reason: "Nothing: it's found out.", then: func(*lab) {}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, r := lastingLab(t, nil)
			l.failpoint = func(point string) {
				if point == redfishhost.FailpointBeforeCall {
					l.emu.Inject(bmc.Fault{Method: http.MethodPatch, AfterEffect: true, Disconnect: true, Times: 1})
				}
			}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Boot = once(1) })
			_, _ = l.reconcile()
			if r.override() != [2]string{"Pxe", "Continuous"} {
				t.Fatalf("\n%s\nfirst: %v", tc.reason, r.override())
			}
			l.failpoint = nil
			l.emu.Heal()
			tc.then(l)
			l.start()
			l.later(15 * time.Minute)
			if name == "Again" {
				l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged)
				l.later(time.Minute)
			}
			if r.override() != [2]string{"Hdd", "Continuous"} {
				t.Errorf("\n%s\n%v, want what was there before; written %v", tc.reason, r.override(), r.FullWrites())
			}
		})
	}
}

// TestBootKeptKilled: the provider is killed around each call.
func TestBootKeptKilled(t *testing.T) {
	for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
		for n := 1; n <= 4; n++ {
			t.Run(fmt.Sprintf("%s/%d", point, n), func(t *testing.T) {
				l, r := lastingLab(t, nil)
				left := n
				l.failpoint = func(name string) {
					if name == point {
						left--
						if left == 0 {
							panic(point)
						}
					}
				}
				l.edit(func(h *v1alpha1.RedfishHost) {
					h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = once(1), v1alpha1.PoweredOn
				})
				for range 40 {
					func() {
						defer func() {
							if recover() != nil {
								l.start()
							}
						}()
						l.look30(1)
					}()
				}
				if diff := cmp.Diff([]bmc.BootTarget{bmc.BootPxe}, l.m.Boots()[1:]); diff != "" {
					t.Errorf("boots: -want, +got:\n%s", diff)
				}
				if r.override() != [2]string{"Hdd", "Continuous"} {
					t.Errorf("in the end %v", r.override())
				}
			})
		}
	}
}
