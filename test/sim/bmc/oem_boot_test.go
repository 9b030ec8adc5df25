package bmc_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// own is what a vendor's own property for the next boot is like.
type own struct{ maker, resource, pxe, rest, field string }

// owns are those that the table of quirks knows.
func owns() map[string]own {
	const idrac = "/redfish/v1/Managers/iDRAC.Embedded.1"

	return map[string]own{
		"iDRAC":    {"Dell Inc.", idrac + "/Oem/Dell/DellAttributes/iDRAC.Embedded.1", "PXE", "Normal", "Attributes/ServerBoot.1.FirstBootDevice"},
		"OldiDRAC": {"Dell Inc.", idrac + "/Attributes", "PXE", "Normal", "Attributes/ServerBoot.1.FirstBootDevice"},
		"iRMC":     {"FUJITSU", uriSystem + "/Oem/ts_fujitsu/BootConfig", "Pxe", "None", "BootDevice"},
		"Fsas":     {"Fsas Technologies", uriSystem + "/Oem/Fsas/BootConfig", "Pxe", "None", "BootDevice"},
	}
}

// withOwn is a machine of a maker that takes no override and has a way of its own;
// change is what else is made of its Boot.
func withOwn(t *testing.T, o own, change func(boot map[string]any)) (tree *bmc.Tree, row func(*bmc.Behaviour)) {
	t.Helper()
	const manager = "/redfish/v1/Managers/iDRAC.Embedded.1"
	tree = bootable(t, change).With(uriSystem, func(body map[string]any) {
		body["Manufacturer"] = o.maker
		links := body["Links"].(map[string]any)
		links["ManagedBy"] = []any{map[string]any{"@odata.id": manager}}
	}).With(manager, func(body map[string]any) {
		body["@odata.id"], body["Id"], body["FirmwareVersion"] = manager, "iDRAC.Embedded.1", "7.0"
	}).With("/redfish/v1/Managers", func(body map[string]any) {
		body["@odata.id"], body["Members"] = "/redfish/v1/Managers", []any{map[string]any{"@odata.id": manager}}
	}).With(o.resource, func(body map[string]any) {
		body["@odata.id"] = o.resource
		if strings.HasPrefix(o.field, "Attributes/") {
			body["Attributes"] = map[string]any{"ServerBoot.1.FirstBootDevice": o.rest, "ServerBoot.1.BootOnce": "Disabled", "Other.1.Thing": "kept"}
		} else {
			body["BootDevice"], body["NextBootOnlyEnabled"], body["Other"] = o.rest, false, "kept"
		}
	})

	return tree, func(b *bmc.Behaviour) { b.OverrideAt, b.ResetParameter = bmc.Nowhere, "" }
}

// noBootOrder leaves an override that is shown, and taken by nobody.
var noBootOrder = without("BootOrder", "BootNext")

// TestOEMBoot: where a machine refuses the override, and no order does it, the
// vendor's own way is told, and not taken unasked; then it boots once by that, and
// nothing is left behind.
func TestOEMBoot(t *testing.T) {
	for name, o := range owns() {
		t.Run(name, func(t *testing.T) {
			tree, row := withOwn(t, o, noBootOrder)
			r := serveTree(t, tree, row)
			cfg := settings(r.Server)
			cfg.Quirks = quirk.Table()
			c := connect(t, cfg)
			_, err := c.SetBoot(t.Context(), system(t, c), redfish.BootSource{Target: "Pxe"})
			e := new(redfish.Error)
			if !cmpAs(err, &e) || e.Kind != redfish.Refused || e.Fallback != nil || e.OEM == nil {
				t.Fatalf("SetBoot(...): got %v, %+v; want it refused, with the vendor's own way", err, e.OEM)
			}
			if e.OEM.Resource != o.resource || e.OEM.Was[0] != o.rest {
				t.Errorf("plan: got %+v", e.OEM)
			}
			before := len(r.FullWrites())
			for range 2 { // The second one finds it so.
				via, err := c.SetOEM(t.Context(), system(t, c), "Pxe", *e.OEM)
				if err != nil || via.Rung != redfish.RungOEM || via.Resource != o.resource || r.OEMBoot("1") != o.pxe {
					t.Fatalf("SetOEM(...): %+v, %v; it says %q", via, err, r.OEMBoot("1"))
				}
			}
			wrote := slices.DeleteFunc(r.FullWrites()[before:], func(w bmc.Write) bool { return w.Status == http.StatusPreconditionRequired })
			if len(wrote) != 1 {
				t.Errorf("written %v, want one PATCH, beside what wants an If-Match", wrote)
			}
			if got := r.NextBoot("1"); got != bmc.BootPxe {
				t.Errorf("boots %q", got)
			}
			before = len(r.FullWrites())
			if err := c.ClearOEM(t.Context(), system(t, c), "Pxe", *e.OEM); err != nil || len(r.FullWrites()) != before || r.NextBoot("1") != bmc.BootNormal {
				t.Errorf("used up, it's left alone: %v; written %v", err, r.FullWrites()[before:])
			}
			older := redfish.OEMPlan{Resource: e.OEM.Resource, Was: e.OEM.Was} // Of a version that kept no more of it.
			if _, err := c.SetOEM(t.Context(), system(t, c), "Hdd", older); err != nil {
				t.Fatal(err)
			}
			if err := c.ClearOEM(t.Context(), system(t, c), "Pxe", *e.OEM); err != nil || r.OEMBoot("1") == o.rest {
				t.Errorf("another target isn't ours to clear: %v; it says %q", err, r.OEMBoot("1"))
			}
			if err := c.ClearOEM(t.Context(), system(t, c), "Hdd", older); err != nil || r.OEMBoot("1") != o.rest {
				t.Errorf("ClearOEM(...): %v; it says %q, want %q", err, r.OEMBoot("1"), o.rest)
			}
		})
	}
}

// TestOEMBootRefused: what of the vendor's own way is refused, or had no effect.
func TestOEMBootRefused(t *testing.T) {
	o := owns()["iDRAC"]
	tree, row := withOwn(t, o, noBootOrder)
	plan := redfish.OEMPlan{Resource: o.resource, Was: []string{"Normal", "Disabled"}}
	cases := map[string]struct {
		reason string
		target string
		plan   redfish.OEMPlan
		rows   []quirk.Row
		fault  bmc.Fault
		kind   redfish.Kind
		field  string
	}{
		"NoEffect": {reason: "Accepted, and not made.", target: "Pxe", plan: plan, rows: quirk.Table(), fault: bmc.Fault{Method: http.MethodPatch, WithoutEffect: true}, kind: redfish.NoEffect, field: o.field},
		"Refused":  {reason: "As in a lockdown.", target: "Pxe", plan: plan, rows: quirk.Table(), fault: bmc.Fault{Method: http.MethodPatch, Status: http.StatusBadRequest}, kind: redfish.Refused},
		"NoWord":   {reason: "A target that the vendor has no word for.", target: "Cd", plan: plan, rows: quirk.Table(), kind: redfish.Unsupported},
		"Elsewhere": {
			reason: "A plan of a journal that somebody changed writes nowhere else.", target: "Pxe",
			plan: redfish.OEMPlan{Resource: "/redfish/v1/Managers/iDRAC.Embedded.1", Was: plan.Was}, rows: quirk.Table(), kind: redfish.Unsupported,
		},
		"NoRow": {reason: "The row was taken out meanwhile.", target: "Pxe", plan: plan, rows: []quirk.Row{}, kind: redfish.Unsupported},
		"NoProperty": {
			reason: "A row that is wrong: the resource hasn't got it.", target: "Pxe", plan: plan, kind: redfish.Unsupported, field: "Attributes/ServerBoot.2.FirstBootDevice",
			rows: append(quirk.Table(), quirk.Row{Name: "x", Match: quirk.Match{Manufacturer: "*"}, Facts: quirk.Facts{OEM: quirk.OEMBoot{Target: "/Attributes/ServerBoot.2.FirstBootDevice"}}}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := serveTree(t, tree, row)
			cfg := settings(r.Server)
			cfg.Quirks = tc.rows
			c := connect(t, cfg)
			s := system(t, c)
			if tc.fault.Method != "" {
				r.Inject(tc.fault)
			}
			_, err := c.SetOEM(t.Context(), s, tc.target, tc.plan)
			e := new(redfish.Error)
			if !cmpAs(err, &e) || e.Kind != tc.kind || tc.field != "" && e.Field != tc.field || r.OEMBoot("1") != o.rest {
				t.Errorf("\n%s\nSetOEM(...): got %v (%q), want kind %q, field %q; it says %q", tc.reason, err, e.Field, tc.kind, tc.field, r.OEMBoot("1"))
			}
			if tc.kind == redfish.Unsupported && len(r.FullWrites()) > 0 {
				t.Errorf("\n%s\nwritten %v", tc.reason, r.FullWrites())
			}
		})
	}
}

// TestOEMBootOfATree: the recorded iDRAC9 boots its setup by its own attributes
// where it refuses the override and no boot option is one.
func TestOEMBootOfATree(t *testing.T) {
	for name, dir := range captured(t) {
		if name != "dell-r750-idrac9-6.00.30" {
			continue
		}
		r := serveTree(t, load(t, dir), func(b *bmc.Behaviour) { b.OverrideAt = bmc.Nowhere })
		c := connect(t, settings(r.Server))
		id := r.Systems()[0]
		_, err := c.SetBoot(t.Context(), found(t, c, r, id), redfish.BootSource{Target: "BiosSetup"})
		e := new(redfish.Error)
		if !cmpAs(err, &e) || e.OEM == nil {
			t.Fatalf("SetBoot(...): %v", err)
		}
		if _, err := c.SetOEM(t.Context(), found(t, c, r, id), "BiosSetup", *e.OEM); err != nil || r.NextBoot(id) != bmc.BootBiosSetup {
			t.Errorf("SetOEM(...): %v; written %v", err, r.FullWrites())
		}
	}
}

// TestOnceByOEM: a host boots once by the vendor's own way, and says why; the boot
// uses it up. Where the host is deleted, or the wish taken out, before that, it's as
// it was.
func TestOnceByOEM(t *testing.T) {
	for name, o := range owns() {
		t.Run(name, func(t *testing.T) {
			l, r := oemLab(t, o)
			booted := len(l.m.Boots())
			l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.PoweredOn)
			h := l.powered(40)
			via := h.Status.AtProvider.Boot.Via
			if got := l.m.Boots()[booted:]; !slices.Equal(got, []bmc.BootTarget{bmc.BootPxe}) || condition(h, v1alpha1.ConditionBootApplied) != [2]string{"True", "Applied"} {
				t.Fatalf("boots %v, conditions %v; written %v", got, h.Status.Conditions, r.FullWrites())
			}
			if via == nil || via.Rung != "OEM" || via.Resource != o.resource || !strings.Contains(via.Why, "refuses") {
				t.Errorf("via %+v", via)
			}
			writes := len(r.FullWrites())
			if h = l.look30(40); r.OEMBoot("1") != o.rest || len(r.FullWrites()) != writes || h.Status.AtProvider.Boot.Via != nil {
				t.Errorf("long after the boot it says %q, via %+v; written %v", r.OEMBoot("1"), h.Status.AtProvider.Boot.Via, r.FullWrites()[writes:])
			}
			l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetHdd, 2)}, v1alpha1.Unmanaged)
			l.look30(20)
			if r.OEMBoot("1") == o.rest {
				t.Fatalf("generation 2: %v; written %v", l.get().Status.Conditions, r.FullWrites()[writes:])
			}
			l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged)
			l.look30(4)
			if r.OEMBoot("1") != o.rest {
				t.Errorf("taken out before the boot, it says %q; written %v", r.OEMBoot("1"), r.FullWrites()[writes:])
			}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Finalizers = []string{"finalizer.managedresource.crossplane.io"} })
			l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetHdd, 3)}, v1alpha1.Unmanaged)
			l.look30(20)
			if err := l.kube.Delete(t.Context(), l.get()); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if o, err := l.reconcile(); err != nil || !o.ResourceExists {
					break
				}
			}
			if r.OEMBoot("1") != o.rest {
				t.Errorf("deleted before the boot, it says %q", r.OEMBoot("1"))
			}
		})
	}
}

// oemLab is a host of a machine with a way of its own, which is off.
func oemLab(t *testing.T, o own) (*lab, *rig) {
	t.Helper()
	tree, row := withOwn(t, o, noBootOrder)
	r := serveTree(t, tree, row)
	l := newLabOf(t, r.Server, r.machines["1"])
	_ = l.m.Off(false)
	l.settle()

	return l, r
}

// powered looks every half minute until the machine is on, at most so often, and
// twice more.
func (l *lab) powered(looks int) *v1alpha1.RedfishHost {
	l.t.Helper()
	for range looks {
		if l.m.Powered() {
			break
		}
		l.look30(1)
	}

	return l.look30(2)
}

// TestOEMAfterOrder: the boot order comes before the vendor's own way, and after an
// order that came to nothing that is taken.
func TestOEMAfterOrder(t *testing.T) {
	o := owns()["iDRAC"]
	tree, row := withOwn(t, o, without("BootNext"))
	r := serveTree(t, tree, row)
	l := newLabOf(t, r.Server, r.machines["1"])
	_ = l.m.Off(false)
	l.settle()
	was := r.BootOrder("1")
	r.Inject(bmc.Fault{Method: http.MethodPatch, PathContains: "Systems", WithoutEffect: true})
	booted := len(l.m.Boots())
	l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.PoweredOn)
	h := l.powered(80)
	via := h.Status.AtProvider.Boot.Via
	if got := l.m.Boots()[booted:]; !slices.Equal(got, []bmc.BootTarget{bmc.BootPxe}) || via == nil || via.Rung != "OEM" || !strings.Contains(via.Why, "; BootOrder: ") {
		t.Errorf("boots %v, via %+v, conditions %v; written %v", got, via, h.Status.Conditions, r.FullWrites())
	}
	if diff := cmp.Diff(was, r.BootOrder("1")); diff != "" {
		t.Errorf("order: -want, +got:\n%s", diff)
	}
}
