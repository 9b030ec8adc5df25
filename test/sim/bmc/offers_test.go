package bmc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// offering is a controller and a machine that is on, whose BMC offers some
// ResetTypes only.
func offering(t *testing.T, types ...any) treeLab {
	t.Helper()
	tree := made(t, nil).With(uriSystem, func(body map[string]any) {
		delete(body, "@Redfish.Settings")
		body["Actions"] = map[string]any{"#ComputerSystem.Reset": map[string]any{
			"target": uriReset, "ResetType@Redfish.AllowableValues": types,
		}}
	})
	r := serveTree(t, tree, func(b *bmc.Behaviour) { b.ResetTypes = nil })
	l := treeLab{newLabOf(t, r.Server, r.machines["1"]), r}
	if h, err := l.until(3, func(h *v1alpha1.RedfishHost) bool { return h.Status.Phase == v1alpha1.HostAvailable }); err != nil || h.Status.Phase != v1alpha1.HostAvailable {
		t.Fatalf("phase %q, %v", h.Status.Phase, err)
	}

	return l
}

// TestImpossiblePower: what a BMC can't do is said with what it can, nothing is written, and it isn't tried again and again.
func TestImpossiblePower(t *testing.T) {
	reset := func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 }
	end := func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff }
	cases := map[string]struct {
		reason string
		types  []any
		off    bool
		change func(*v1alpha1.RedfishHost)
		says   string
	}{
		"Off":   {reason: "Neither asking nor force.", types: []any{"On", "ForceRestart"}, change: end, says: "can't cut the machine's power: it offers On, ForceRestart; "},
		"Never": {reason: "Force isn't wanted.", types: []any{"On", "ForceOff", "Nmi"}, change: func(h *v1alpha1.RedfishHost) { end(h); h.Spec.ForProvider.PowerOff = &v1alpha1.PowerOff{Then: "Never"} }, says: "can't ask the operating system to shut down: it offers On, ForceOff, Nmi; set powerOff.then to Force"},
		"On":    {reason: "It stays off.", types: []any{"ForceOff", "Nmi"}, off: true, change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn }, says: "can't switch the machine on: it offers ForceOff, Nmi; "},
		"Reset": {reason: "A machine that couldn't be switched on again isn't switched off.", types: []any{"ForceOff", "GracefulShutdown"}, change: reset, says: "can't reset the machine: it offers ForceOff, GracefulShutdown; "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := offering(t, tc.types...)
			if tc.off {
				_ = l.m.Off(false)
			}
			l.edit(tc.change)
			h, err := l.until(6, func(*v1alpha1.RedfishHost) bool { return false })
			c := h.Status.GetCondition(v1alpha1.ConditionPowerApplied)
			if err != nil || c.Reason != v1alpha1.ReasonNotSupported || !strings.Contains(c.Message, tc.says) || redfishhost.PollSoon(h) {
				t.Errorf("\n%s\nPollSoon %v, last error %v, PowerApplied %v; want %q", tc.reason, redfishhost.PollSoon(h), err, c, tc.says)
			}
			requests := l.emu.Counters().Requests
			if _, _ = l.until(10, func(*v1alpha1.RedfishHost) bool { return false }); l.emu.Counters().Requests > requests+20 || len(l.emu.FullWrites()) > 0 {
				t.Errorf("\n%s\n%d requests in ten looks, written %v", tc.reason, l.emu.Counters().Requests-requests, l.emu.FullWrites())
			}
		})
	}
}

// TestRestartOnce: where a BMC can't switch off and on, one raised generation is one restart, or none after a crash, and never two.
func TestRestartOnce(t *testing.T) {
	for name, point := range map[string]string{"": "", "BeforeCall": redfishhost.FailpointBeforeCall, "AfterCall": redfishhost.FailpointAfterCall} {
		for _, types := range [][]any{{"On", "ForceRestart"}, {"On", "PowerCycle"}, {"On", "GracefulRestart"}} {
			t.Run(name+types[1].(string), func(t *testing.T) {
				l := offering(t, types...)
				l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
				restart := 2 // The off comes first, which isn't offered.
				l.failpoint = func(at string) {
					if at == point {
						restart--
						if restart == 0 {
							panic(crash{at})
						}
					}
				}
				l.untilCrash()
				l.failpoint = nil
				l.start()
				h, err := l.until(10, func(*v1alpha1.RedfishHost) bool { return false })
				want := map[string]int{types[1].(string): 1}
				if point == redfishhost.FailpointBeforeCall {
					want = map[string]int{}
				}
				if diff := cmp.Diff(want, l.resets()); diff != "" || err != nil || h.Status.AtProvider.Boot.ResetGeneration != 1 {
					t.Errorf("generation %d, last error %v; resets: -want, +got:\n%s", h.Status.AtProvider.Boot.ResetGeneration, err, diff)
				}
				if point != "" {
					survived(t, "the provider is killed around a restart that can't be told from none")
				}
			})
		}
	}
}

// TestOffersAreKept: what an ActionInfo offers is read once, and again when the BMC refuses what it offers.
func TestOffersAreKept(t *testing.T) {
	emu, _ := emulator(t, bmc.ModelActionInfo, nil)
	c := connect(t, settings(emu))
	reads := func() int {
		n := 0
		for _, r := range emu.Requests() {
			if strings.HasSuffix(r.Path, "/ResetActionInfo") {
				n++
			}
		}

		return n
	}
	for _, act := range []redfish.Act{redfish.ActOn, redfish.ActForceOff, redfish.ActOn} {
		if err := reset(t, c, act); err != nil {
			t.Fatal(err)
		}
	}
	if n := reads(); n != 1 {
		t.Errorf("the ActionInfo was read %d times for three acts, want once", n)
	}
	emu.Inject(bmc.Fault{Method: "POST", PathContains: "Reset", Status: 400, Times: 1})
	if err := reset(t, c, redfish.ActForceOff); redfish.KindOf(err) != redfish.Refused {
		t.Errorf("Reset(...): got %v, want it refused", err)
	}
	if err := reset(t, c, redfish.ActForceOff); err != nil || reads() != 2 {
		t.Errorf("after a refusal: %v, the ActionInfo was read %d times, want twice", err, reads())
	}
}
