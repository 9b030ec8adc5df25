package bmc_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// bound is a lab whose host a claim has.
func bound(t *testing.T, model bmc.Model) *lab {
	t.Helper()
	l := newLab(t, model)
	l.settle()
	l.edit(claimedBy)
	l.settle()

	return l
}

// TestInventoryIsBesideTheLook: a host is Ready before its inventory is read, and shows it right after.
func TestInventoryIsBesideTheLook(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.emu.Inject(bmc.Fault{PathContains: "/EthernetInterfaces", Status: http.StatusServiceUnavailable})
	h := l.settle()
	if h.Status.Phase != v1alpha1.HostAvailable || condition(h, v1alpha1.ConditionReachable)[0] != "True" || len(h.Status.AtProvider.MACs) != 0 {
		t.Errorf("phase %q, conditions %v, MACs %v; want an available host without addresses", h.Status.Phase, h.Status.Conditions, h.Status.AtProvider.MACs)
	}
	l.emu.Heal()
	if h = l.later(10 * time.Minute); len(h.Status.AtProvider.MACs) != 2 || h.Status.AtProvider.Inventory == nil || h.Status.AtProvider.BMC.Firmware == "" {
		t.Errorf("ten minutes later: %+v", h.Status.AtProvider)
	}
}

// TestRestartKeepsInventory: after a restart of the provider nothing is taken away from what a machine's boots and address hang on, whether
// its BMC hangs, answers for the System alone, or refuses.
func TestRestartKeepsInventory(t *testing.T) {
	cases := map[string]struct {
		reason string
		fault  bmc.Fault
	}{
		"Dead":     {reason: "It doesn't answer at all.", fault: bmc.Fault{Disconnect: true}},
		"Away":     {reason: "It's starting, but for its System.", fault: bmc.Fault{PathContains: "/EthernetInterfaces", Status: http.StatusServiceUnavailable}},
		"Refuses":  {reason: "It refuses to show its NICs.", fault: bmc.Fault{PathContains: "/EthernetInterfaces", Status: http.StatusForbidden}},
		"Missing":  {reason: "It doesn't know them yet.", fault: bmc.Fault{PathContains: "/EthernetInterfaces", Status: http.StatusNotFound}},
		"Broken":   {reason: "It sends something else.", fault: bmc.Fault{PathContains: "/EthernetInterfaces", Status: http.StatusInternalServerError}},
		"Managers": {reason: "It doesn't say which addresses are its own.", fault: bmc.Fault{PathContains: "/Managers", Status: http.StatusInternalServerError}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := bound(t, bmc.ModelInline)
			before := l.get().Status.AtProvider
			l.emu.Inject(tc.fault)
			for range 3 {
				l.start()
				after := l.settle().Status.AtProvider
				if diff := cmp.Diff(before.MACs, after.MACs); diff != "" {
					t.Errorf("\n%s\nMACs: -before, +after:\n%s", tc.reason, diff)
				}
				if after.BMC.Firmware != before.BMC.Firmware || after.Inventory == nil || after.Identity != before.Identity {
					t.Errorf("\n%s\nbefore %+v, after %+v", tc.reason, before, after)
				}
				l.now = l.now.Add(time.Hour)
			}
			l.emu.Heal()
			l.now = l.now.Add(time.Hour)
			if diff := cmp.Diff(before.MACs, l.settle().Status.AtProvider.MACs); diff != "" {
				t.Errorf("\n%s\nhealed: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHangingBMCAfterARestart: the same of a BMC that hangs: the status isn't even touched.
func TestHangingBMCAfterARestart(t *testing.T) {
	l := bound(t, bmc.ModelActionInfo)
	before := l.get().Status.AtProvider
	l.tune = func(c *v1alpha1.RedfishConfig) { c.RequestTimeout = &metav1.Duration{Duration: 300 * time.Millisecond} }
	l.emu.Inject(bmc.Fault{PathContains: "/NetworkAdapters", Hang: true})
	l.start()
	after := l.settle().Status.AtProvider
	if after.Inventory == nil || !slices.Equal(after.Inventory.Partial, []string{"macs"}) {
		t.Errorf("inventory %+v, want one that says what is missing", after.Inventory)
	}
	after.Inventory = before.Inventory
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("-before, +after:\n%s", diff)
	}
	l.emu.Heal()
	before = l.get().Status.AtProvider
	l.emu.Inject(bmc.Fault{Hang: true})
	l.start()
	if diff := cmp.Diff(before, l.settle().Status.AtProvider); diff != "" {
		t.Errorf("-before, +after:\n%s", diff)
	}
	l.emu.Heal()
}

// TestUnchangedIsNotRewritten: fifty looks, over which the inventory is read again, write nothing.
func TestUnchangedIsNotRewritten(t *testing.T) {
	for _, model := range bmc.Models() {
		t.Run(string(model), func(t *testing.T) {
			l := newLab(t, model)
			l.settle()
			reconcileOnce := l.runtimeOf()
			reconcileOnce()
			version := l.get().ResourceVersion
			for range 50 {
				l.now = l.now.Add(5 * time.Minute)
				reconcileOnce()
			}
			if now := l.get().ResourceVersion; now != version {
				t.Errorf("resourceVersion %s became %s", version, now)
			}
		})
	}
}

// TestActsBeforeInventories: the requests of an inventory that is under way let those of an act through.
func TestActsBeforeInventories(t *testing.T) {
	l := newLab(t, bmc.ModelActionInfo)
	l.settle()
	l.now = l.now.Add(2 * time.Hour) // The inventory is due.
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
	before := len(l.emu.Requests())
	if _, err := l.reconcile(); err != nil {
		t.Fatal(err)
	}
	for _, r := range l.emu.Requests()[before:] {
		if strings.Contains(r.Path, "/NetworkAdapters") {
			t.Errorf("%s %s between the look and its act", r.Method, r.Path)
		}
	}
}

// claimedBy binds a host to a claim.
func claimedBy(h *v1alpha1.RedfishHost) {
	h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"}
}

func addressSet(macs []v1alpha1.HostMAC) map[string]bool {
	out := map[string]bool{}
	for _, m := range macs {
		out[m.Address] = true
	}

	return out
}
