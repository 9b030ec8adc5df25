package bmc_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// errand is something that a running machine is told, what writes it, and what
// must have come of it.
type errand struct {
	method, path string
	change       func(p *v1alpha1.RedfishHostParameters)
	applied      xpv2.ConditionType
	// once says that the machine is reset for it, one time.
	once bool
	boot bmc.BootTarget
}

func errands() map[string]errand {
	tag := "DC1-R7"

	return map[string]errand{
		"boot override": {http.MethodPatch, "/Systems/1", func(p *v1alpha1.RedfishHostParameters) {
			p.Boot, p.ResetGeneration = once(1), 1
		}, v1alpha1.ConditionBootApplied, true, bmc.BootPxe},
		"BIOS setting": {http.MethodPatch, "/Bios/", func(p *v1alpha1.RedfishHostParameters) {
			p.BIOS, p.Maintenance = declare(v1alpha1.BIOSApplyMaintenance, `ProcHyperThreading="Disabled"`), &v1alpha1.HostMaintenance{Reason: "BIOS"}
		}, v1alpha1.ConditionBIOSApplied, true, bmc.BootNormal},
		"image":     {http.MethodPost, "InsertMedia", func(p *v1alpha1.RedfishHostParameters) { p.VirtualMedia = cd(rescue) }, v1alpha1.ConditionMediaInserted, false, ""},
		"asset tag": {http.MethodPatch, "/Systems/1", func(p *v1alpha1.RedfishHostParameters) { p.AssetTag = &tag }, v1alpha1.ConditionSettingsApplied, false, ""},
	}
}

// TestErrandsThroughTrouble: whatever happens to the write of an errand, it's done
// in the end, and the machine isn't reset more often than without.
func TestErrandsThroughTrouble(t *testing.T) {
	faults := map[string]struct {
		words   string
		fault   bmc.Fault
		reboots bool
	}{
		"Cut":       {"the connection is cut", bmc.Fault{Times: 1, Disconnect: true}, false},
		"CutAfter":  {"the connection is cut after the effect", bmc.Fault{Times: 1, Disconnect: true, AfterEffect: true}, false},
		"Storm":     {"503s", bmc.Fault{Times: 2, Status: http.StatusServiceUnavailable}, false},
		"StormAsks": {"503s that ask to be left alone", bmc.Fault{Times: 2, Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}}}, false},
		"Reboots":   {"the BMC restarts", bmc.Fault{}, true},
	}
	for what, e := range errands() {
		for name, tc := range faults {
			t.Run(what+"/"+name, func(t *testing.T) {
				l := clockLab(t, bmc.ModelInline, func(*bmc.Config) {})
				l.settle()
				if tc.fault.Times > 0 {
					tc.fault.Method, tc.fault.PathContains = e.method, e.path
					l.emu.Inject(tc.fault)
				}
				l.edit(func(h *v1alpha1.RedfishHost) { e.change(&h.Spec.ForProvider) })
				_, _ = l.pass(time.Second)
				if tc.reboots {
					l.emu.RebootBMC(45 * time.Second)
				}
				h, err := l.pass(20 * time.Minute)
				for range 2 { // The gatekeeper's own clock goes by for a BMC that asks to be left alone.
					if tc.fault.Header != nil {
						time.Sleep(1100 * time.Millisecond)
						h, err = l.pass(10 * time.Minute)
					}
				}
				if got := condition(h, e.applied); got != [2]string{"True", "Applied"} || err != nil {
					t.Errorf("%s: %v, %q, last error %v; written %v", e.applied, got, h.Status.GetCondition(e.applied).Message, err, len(l.emu.FullWrites()))
				}
				resets, boots := map[string]int{}, []bmc.BootTarget{bmc.BootNormal}
				if e.once {
					resets, boots = map[string]int{"ForceOff": 1, "On": 1}, append(boots, e.boot)
				}
				if diff := cmp.Diff(resets, l.resets()); diff != "" || !slices.Equal(boots, l.m.Boots()) {
					t.Errorf("boots %v, want %v; resets: -want, +got:\n%s", l.m.Boots(), boots, diff)
				}
				survived(t, "in the middle of writing a boot override, a BIOS setting, an image or an asset tag: "+tc.words)
			})
		}
	}
}

// TestAccountIsLocked: an account that others have locked is met by the right
// password once, over restarts too, and again when the Secret changes.
func TestAccountIsLocked(t *testing.T) {
	emu, m := emulator(t, bmc.ModelInline, func(c *bmc.Config) { c.LockoutAfter = 1 })
	thief := settings(emu)
	thief.Password += "-wrong"
	if _, err := redfish.Connect(t.Context(), thief); !redfish.IsUnauthorized(err) {
		t.Fatalf("Connect with a wrong password: %v", err)
	}
	locked := emu.Counters().FailedLogins
	l := newLabOf(t, emu, m)
	for range 3 {
		l.settle()
		l.start()
	}
	emu.Unlock()
	if h := l.settle(); condition(h, v1alpha1.ConditionReachable) != [2]string{"False", "Unauthorized"} {
		t.Errorf("Reachable: %v", condition(h, v1alpha1.ConditionReachable))
	}
	if n := emu.Counters().FailedLogins - locked; n != 1 {
		t.Errorf("%d logins to a locked account, want 1", n)
	}
	l.version = "2"
	if h := l.settle(); h.Status.Phase != v1alpha1.HostAvailable {
		t.Errorf("once it's unlocked and the Secret is another: phase %q, %v", h.Status.Phase, h.Status.Conditions)
	}
	survived(t, "the account is locked by others")
}

// TestOtherMachineMidOff: where another machine is behind the address all of a
// sudden, its power isn't cut for the one that was asked to shut down.
func TestOtherMachineMidOff(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.emu.IgnoreGraceful(true)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
	l.settle()
	l.emu.Replace("1", "OTHER")
	h := l.later(20 * time.Minute)
	if diff := cmp.Diff(map[string]int{"GracefulShutdown": 1}, l.resets()); diff != "" || condition(h, xpv2.TypeReady) != [2]string{"False", "IdentityChanged"} {
		t.Errorf("Ready %v; resets: -want, +got:\n%s", condition(h, xpv2.TypeReady), diff)
	}
	l.emu.Change(l.emu.SystemURI("1"), func(body map[string]any) { body["SerialNumber"], body["UUID"] = serial, uuid })
	l.later(20 * time.Minute)
	if diff := cmp.Diff(map[string]int{"GracefulShutdown": 1, "ForceOff": 1}, l.resets()); diff != "" || l.m.Powered() {
		t.Errorf("once it's back: powered %v; resets: -want, +got:\n%s", l.m.Powered(), diff)
	}
	survived(t, "another machine is behind the address, in the middle of a shutdown")
}
