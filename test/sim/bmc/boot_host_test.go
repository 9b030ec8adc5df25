package bmc_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// bootLab is a host of a machine that can be told what to boot in all ways that
// change leaves it, and is off.
func bootLab(t *testing.T, change func(boot map[string]any)) (*lab, *rig) {
	t.Helper()
	r := serveTree(t, bootable(t, change))
	l := newLabOf(t, r.Server, r.machines["1"])
	_ = l.m.Off(false)
	l.settle()

	return l, r
}

// look30 lets a provider look so often, every half minute, whatever comes of it.
func (l *lab) look30(n int) *v1alpha1.RedfishHost {
	l.t.Helper()
	for range n {
		l.now = l.now.Add(30 * time.Second)
		_, _ = l.reconcile()
	}

	return l.get()
}

func (l *lab) boot(b v1alpha1.HostBoot, power v1alpha1.PowerState) {
	l.t.Helper()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = &b, power })
}

func onceFrom(target v1alpha1.BootTarget, generation int64) *v1alpha1.BootOnce {
	return &v1alpha1.BootOnce{Target: target, Generation: generation}
}

// noOverride is a machine whose order is the only way.
func noOverride(boot map[string]any) {
	without("BootSourceOverrideTarget", "BootSourceOverrideEnabled", "BootSourceOverrideTarget@Redfish.AllowableValues", "BootNext")(boot)
}

// TestOnceByOrder: a machine without an override boots once by its order, which is
// put back some time after that boot, and not before.
func TestOnceByOrder(t *testing.T) {
	l, r := bootLab(t, noOverride)
	was := r.BootOrder("1")
	booted := len(l.m.Boots())
	l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.PoweredOn)
	h := l.look30(4)
	via := h.Status.AtProvider.Boot.Via
	if got := l.m.Boots()[booted:]; !slices.Equal(got, []bmc.BootTarget{bmc.BootPxe}) || via == nil || via.Rung != "BootOrder" || via.Why == "" {
		t.Fatalf("boots %v, via %+v, conditions %v; written %v", got, via, h.Status.Conditions, r.FullWrites())
	}
	if got := condition(h, v1alpha1.ConditionBootApplied); got != [2]string{"True", "Applied"} {
		t.Errorf("BootApplied: %v", got)
	}
	if got := r.BootOrder("1"); got[0] != optionPxe || len(got) != len(was) {
		t.Errorf("the order while the machine starts: %v", got)
	}
	l.look30(10)
	if got := r.BootOrder("1"); got[0] != optionPxe {
		t.Errorf("five minutes after the boot the firmware may not have read it, and it is %v", got)
	}
	h = l.look30(40)
	if diff := cmp.Diff(was, r.BootOrder("1")); diff != "" || h.Status.AtProvider.Boot.Via != nil {
		t.Errorf("via %+v; order: -want, +got:\n%s", h.Status.AtProvider.Boot.Via, diff)
	}
	if n := len(r.FullWrites()); n != 3 {
		t.Errorf("%d writes, want an order, a start and an order: %v", n, r.FullWrites())
	}
}

// TestOnceByOrderIsDeleted: a host that is deleted before its boot leaves the
// order as it was.
func TestOnceByOrderIsDeleted(t *testing.T) {
	l, r := bootLab(t, noOverride)
	was := r.BootOrder("1")
	l.edit(func(h *v1alpha1.RedfishHost) { h.Finalizers = []string{"finalizer.managedresource.crossplane.io"} })
	l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.Unmanaged)
	l.look30(3)
	if r.BootOrder("1")[0] != optionPxe {
		t.Fatalf("order %v, conditions %v", r.BootOrder("1"), l.get().Status.Conditions)
	}
	if err := l.kube.Delete(t.Context(), l.get()); err != nil {
		t.Fatal(err)
	}
	exists := true
	for range 5 {
		o, err := l.reconcile()
		if err != nil {
			t.Fatal(err)
		}
		exists = o.ResourceExists
		if !exists {
			break
		}
	}
	if diff := cmp.Diff(was, r.BootOrder("1")); diff != "" || exists {
		t.Errorf("still there %v; order: -want, +got:\n%s", exists, diff)
	}
}

// TestDeclaredOrderIsNoFallback: a declared order isn't changed for a boot.
func TestDeclaredOrderIsNoFallback(t *testing.T) {
	l, r := bootLab(t, noOverride)
	l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1), Order: []string{"Hdd", optionOther}}, v1alpha1.PoweredOn)
	h := l.look30(10)
	if got := condition(h, v1alpha1.ConditionBootApplied); got != [2]string{"False", "NotSupported"} {
		t.Errorf("BootApplied: %v", got)
	}
	if diff := cmp.Diff([]string{optionDisk, optionOther, optionPxe, optionHTTP}, r.BootOrder("1")); diff != "" || l.m.Powered() {
		t.Errorf("powered %v; order: -want, +got:\n%s", l.m.Powered(), diff)
	}
}

// TestLastingSource: it stays, comes back after a boot for once, and is cleared
// with target None and Disabled where it's taken out.
func TestLastingSource(t *testing.T) {
	l, r := bootLab(t, nil)
	shows := func() [2]string {
		target, enabled := r.Override("1")

		return [2]string{target, enabled}
	}
	lasting := v1alpha1.HostBoot{Persistent: &v1alpha1.BootSource{Target: v1alpha1.BootTargetHdd}}
	l.boot(lasting, v1alpha1.Unmanaged)
	h := l.look30(3)
	if shows() != [2]string{"Hdd", "Continuous"} || condition(h, v1alpha1.ConditionBootApplied) != [2]string{"True", "Applied"} || len(r.FullWrites()) != 1 {
		t.Fatalf("shows %v, conditions %v, written %v", shows(), h.Status.Conditions, r.FullWrites())
	}
	both := lasting
	both.Once = onceFrom(v1alpha1.BootTargetPxe, 1)
	l.boot(both, v1alpha1.PoweredOn)
	h = l.look30(4)
	if boots := l.m.Boots(); boots[len(boots)-1] != bmc.BootPxe || shows() != [2]string{"Hdd", "Continuous"} {
		t.Errorf("boots %v, then %v, conditions %v; written %v", boots, shows(), h.Status.Conditions, r.FullWrites())
	}
	l.boot(v1alpha1.HostBoot{Once: both.Once}, v1alpha1.PoweredOn)
	l.look30(3)
	if shows() != [2]string{"None", "Disabled"} {
		t.Errorf("taken out, it shows %v; written %v", shows(), r.FullWrites())
	}
	l.boot(lasting, v1alpha1.PoweredOn)
	l.look30(3)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Finalizers = []string{"finalizer.managedresource.crossplane.io"} })
	if err := l.kube.Delete(t.Context(), l.get()); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, err := l.reconcile(); err != nil {
			t.Fatal(err)
		}
	}
	if shows() != [2]string{"None", "Disabled"} {
		t.Errorf("deleted, it leaves %v; written %v", shows(), r.FullWrites())
	}
}

// TestForeignRestIsNotCleared: some machines rest at a lasting override.
func TestForeignRestIsNotCleared(t *testing.T) {
	l, r := bootLab(t, func(boot map[string]any) {
		boot["BootSourceOverrideTarget"], boot["BootSourceOverrideEnabled"] = "Hdd", "Continuous"
	})
	l.boot(v1alpha1.HostBoot{Persistent: &v1alpha1.BootSource{Target: v1alpha1.BootTargetHdd}}, v1alpha1.Unmanaged)
	l.look30(3)
	l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged)
	l.look30(3)
	if len(r.FullWrites()) != 0 {
		t.Errorf("written %v", r.FullWrites())
	}
}

// TestBootIsRefused: what a machine doesn't have is told with what it has, nothing
// is written, the machine isn't started, and it's no error that is tried again.
func TestBootIsRefused(t *testing.T) {
	cases := map[string]struct {
		boot v1alpha1.HostBoot
		want []string
	}{
		"Target": {v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetCd, 1)}, []string{"boot from Cd (boot.once)", "it offers Pxe, Hdd, UefiHttp", "choose one of them"}},
		"Option": {v1alpha1.HostBoot{Once: &v1alpha1.BootOnce{Target: v1alpha1.BootTargetBootOption, BootOption: "Boot0009", Generation: 1}}, []string{`boot option "Boot0009"`, "Boot0001 (Disk)"}},
		"Order":  {v1alpha1.HostBoot{Order: []string{"Usb"}}, []string{"boot order Usb (boot.order)", "Boot0001 (Disk)"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, r := bootLab(t, nil)
			l.boot(tc.boot, v1alpha1.Unmanaged)
			for range 5 {
				l.now = l.now.Add(time.Minute)
				if _, err := l.reconcile(); err != nil {
					t.Fatalf("reconcile: %v", err)
				}
			}
			requests := l.emu.Counters().Requests
			h := l.look30(4)
			c := h.Status.GetCondition(v1alpha1.ConditionBootApplied)
			for _, w := range tc.want {
				if !strings.Contains(c.Message, w) {
					t.Errorf("message %q: want %q in it", c.Message, w)
				}
			}
			if n := l.emu.Counters().Requests - requests; c.Reason != v1alpha1.ReasonNotSupported || len(r.FullWrites()) != 0 || n > 4 {
				t.Errorf("reason %q, written %v, %d requests for four more looks", c.Reason, r.FullWrites(), n)
			}
			l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 2)}, v1alpha1.PoweredOn)
			h = l.look30(3)
			if boots := l.m.Boots(); boots[len(boots)-1] != bmc.BootPxe || condition(h, v1alpha1.ConditionBootApplied)[0] != "True" {
				t.Errorf("what it has is done: boots %v, %v", boots, h.Status.Conditions)
			}
		})
	}
}

// TestBootWithoutEffect: a BMC that accepts and does nothing is told three times,
// not for ever, and again when somebody asks.
func TestBootWithoutEffect(t *testing.T) {
	l, r := bootLab(t, without("BootOrder", "BootNext"))
	r.Inject(bmc.Fault{Method: http.MethodPatch, WithoutEffect: true})
	l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.PoweredOn)
	h := l.look30(1)
	if got := condition(h, v1alpha1.ConditionBootApplied); got != [2]string{"False", "NoEffect"} {
		t.Errorf("BootApplied after the first: %v", got)
	}
	h = l.look30(6 * 60 * 2)
	c := h.Status.GetCondition(v1alpha1.ConditionBootApplied)
	if n := len(r.FullWrites()); n != 3 || c.Reason != v1alpha1.ReasonGaveUp || !strings.Contains(c.Message, "Boot.BootSourceOverrideTarget") || l.m.Powered() {
		t.Errorf("hours later: %d writes, powered %v, %s: %s", n, l.m.Powered(), c.Reason, c.Message)
	}
	r.Heal()
	l.look30(2)
	if n := len(r.FullWrites()); n != 3 {
		t.Errorf("%d writes: it isn't tried unasked", n)
	}
	l.edit(func(h *v1alpha1.RedfishHost) {
		meta.AddAnnotations(h, map[string]string{meta.AnnotationKeyReconcileRequestedAt: "1"})
	})
	h = l.look30(3)
	if boots := l.m.Boots(); boots[len(boots)-1] != bmc.BootPxe || condition(h, v1alpha1.ConditionBootApplied)[0] != "True" {
		t.Errorf("boots %v, %v", boots, h.Status.Conditions)
	}
}

// TestContestedOrder: a declared order that is changed back is set again, and not
// for ever.
func TestContestedOrder(t *testing.T) {
	l, r := bootLab(t, nil)
	l.boot(v1alpha1.HostBoot{Order: []string{"Pxe"}}, v1alpha1.Unmanaged)
	c := connect(t, settings(r.Server))
	var h *v1alpha1.RedfishHost
	for range 8 {
		h = l.look30(2)
		if _, err := c.SetBootOrder(t.Context(), system(t, c), []string{optionHTTP}); err != nil {
			t.Fatal(err)
		}
	}
	if got := condition(h, v1alpha1.ConditionBootApplied); got != [2]string{"False", "Conflict"} {
		t.Errorf("BootApplied: %v; written %v", got, r.FullWrites())
	}
	l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged)
	writes := len(r.FullWrites())
	if h = l.look30(3); len(r.FullWrites()) != writes || condition(h, v1alpha1.ConditionBootApplied)[0] != "Unknown" {
		t.Errorf("nothing declared: %v, %v", h.Status.Conditions, r.FullWrites()[writes:])
	}
}

// TestBootCrash kills the provider before and after each call about a boot source:
// in the end all is as without, and nothing of it is on the machine twice.
func TestBootCrash(t *testing.T) {
	acts := map[string]struct {
		change func(map[string]any)
		boot   v1alpha1.HostBoot
		power  v1alpha1.PowerState
	}{
		"Order":   {nil, v1alpha1.HostBoot{Order: []string{"Pxe", "Hdd"}}, v1alpha1.Unmanaged},
		"Lasting": {nil, v1alpha1.HostBoot{Persistent: &v1alpha1.BootSource{Target: v1alpha1.BootTargetHdd}}, v1alpha1.Unmanaged},
		"Once":    {nil, v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetUefiHTTP, 1)}, v1alpha1.PoweredOn},
		"ByOrder": {noOverride, v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.PoweredOn},
		"ByOEM":   {nil, v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.PoweredOn},
		"All": {nil, v1alpha1.HostBoot{
			Once: onceFrom(v1alpha1.BootTargetPxe, 1), Persistent: &v1alpha1.BootSource{Target: v1alpha1.BootTargetHdd}, Order: []string{optionOther},
		}, v1alpha1.PoweredOn},
	}
	type end struct {
		Order  []string
		Shows  [2]string
		Boots  []bmc.BootTarget
		Resets map[string]int
	}
	for name, tc := range acts {
		run := func(t *testing.T, crashAt string, nth int) (end, int) {
			t.Helper()
			l, r := bootLab(t, tc.change)
			if name == "ByOEM" {
				l, r = oemLab(t, owns()["iDRAC"])
			}
			booted, seen := len(l.m.Boots()), 0
			l.boot(tc.boot, tc.power)
			l.failpoint = func(at string) {
				if at != crashAt {
					return
				}
				seen++
				if seen == nth {
					panic(crash{at})
				}
			}
			l.dies(func() { l.look30(60) })
			if seen >= nth {
				l.failpoint = nil
				l.start()
				l.look30(60)
			}
			target, enabled := r.Override("1")

			return end{r.BootOrder("1"), [2]string{target, enabled}, l.m.Boots()[booted:], l.resets()}, seen
		}
		want, calls := run(t, redfishhost.FailpointBeforeCall, 99)
		for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
			for nth := 1; nth <= calls; nth++ {
				t.Run(name+"/"+point+"/"+strconv.Itoa(nth), func(t *testing.T) {
					got, _ := run(t, point, nth)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("-without a crash, +with:\n%s", diff)
					}
					survived(t, "the provider is killed around a call about a boot source")
				})
			}
		}
	}
}

// dies does what may end in a crash.
func (l *lab) dies(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
		}
	}()
	f()
}
