package bmc_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestOrderThatComesLate: a boot order that a BMC accepted three times without effect, and has later all the same, doesn't stay.
func TestOrderThatComesLate(t *testing.T) {
	pxeFirst := func(r *rig) {
		r.Change(uriSystem, func(body map[string]any) {
			body["Boot"].(map[string]any)["BootOrder"] = []any{optionPxe, optionDisk, optionHTTP, optionOther}
		})
	}
	cases := map[string]struct {
		reason string
		// wanted says that the boot is still asked for when it comes.
		wanted bool
		// boots says that the machine does before it comes, and late that it comes.
		boots, late bool
		// refuses is how often the BMC doesn't put it back, in a row.
		refuses int
	}{
		"Job":      {reason: "A job has it, some time.", wanted: true, late: true},
		"Boot":     {reason: "With the next boot.", wanted: true, boots: true, late: true},
		"Taken":    {reason: "Nobody wants it any more by then.", late: true},
		"TakenOff": {reason: "The same, with a boot.", boots: true, late: true},
		"Never":    {reason: "It's waited for until some minutes after a boot.", boots: true},
		"Refused":  {reason: "And a BMC that doesn't put it back for long is told again.", boots: true, late: true, refuses: 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := serveTree(t, bootable(t, noOverride))
			l := newLabOf(t, r.Server, r.machines["1"])
			_ = l.m.Off(false)
			l.settle()
			was := r.BootOrder("1")
			r.Inject(bmc.Fault{Method: http.MethodPatch, WithoutEffect: true})
			l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.Unmanaged)
			h := l.look30(60)
			if got := condition(h, v1alpha1.ConditionBootApplied); got != [2]string{"False", "GaveUp"} {
				t.Fatalf("in vain: %v; written %v", h.Status.Conditions, r.FullWrites())
			}
			r.Heal()
			if !tc.wanted {
				l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged)
				l.look30(4)
			}
			if tc.boots {
				_ = l.m.On(bmc.BootNormal)
				l.look30(2)
			}
			writes := len(r.FullWrites())
			if tc.late {
				pxeFirst(r)
			}
			if tc.refuses > 0 {
				r.Inject(bmc.Fault{Method: http.MethodPatch, Status: http.StatusBadRequest, Times: tc.refuses})
			}
			h = l.look30(400)
			if diff := cmp.Diff(was, r.BootOrder("1")); diff != "" {
				t.Errorf("\n%s\norder: -want, +got:\n%s\nconditions %v; written %v", tc.reason, diff, h.Status.Conditions, r.FullWrites()[writes:])
			}
			if journal := h.GetAnnotations()[v1alpha1.AnnotationJournal]; strings.Contains(journal, `"moved"`) || tc.boots && strings.Contains(journal, `"late"`) {
				t.Errorf("\n%s\njournal %s", tc.reason, journal)
			}
			if !tc.late && len(r.FullWrites()) != writes {
				t.Errorf("\n%s\nwritten %v", tc.reason, r.FullWrites()[writes:])
			}
		})
	}
	survived(t, "a boot order that had no effect has it after it was given up")
}

// TestOEMByAnotherRow: what was set by a row of quirks is put back as that row has it, whatever the rows say by now; where none tells of such
// properties any more, nothing is written. What isn't set yet isn't by an old row.
func TestOEMByAnotherRow(t *testing.T) {
	o := owns()["iDRAC"]
	dell := quirk.Match{Manufacturer: "Dell*"}
	cases := map[string]struct {
		reason string
		rows   []quirk.Row
		stays  bool
	}{
		"Words":    {reason: "Another word for the target.", rows: append(quirk.Table(), quirk.Row{Name: "x", Match: dell, Facts: quirk.Facts{OEM: quirk.OEMBoot{Words: map[string]string{"Pxe": "NIC.1"}}}})},
		"Property": {reason: "Another property, in a resource of its own.", rows: append(quirk.Table(), quirk.Row{Name: "x", Match: dell, Facts: quirk.Facts{OEM: quirk.OEMBoot{Resources: []string{quirk.OfSystem + "/Own"}, Target: "/Next", Words: map[string]string{"Pxe": "Net"}}}})},
		"With":     {reason: "One property less.", rows: append(quirk.Table(), quirk.Row{Name: "x", Match: dell, Facts: quirk.Facts{OEM: quirk.OEMBoot{Target: "/Attributes/ServerBoot.1.FirstBootDevice", Words: map[string]string{"Pxe": "PXE"}}}})},
		"Swapped":  {reason: "The same number of others: they aren't given what was read elsewhere.", rows: []quirk.Row{{Name: "x", Match: dell, Facts: quirk.Facts{OEM: quirk.OEMBoot{Resources: []string{quirk.OfManager + "/Oem/Dell/DellAttributes/iDRAC.Embedded.1"}, Target: "/Attributes/ServerBoot.1.FirstBootDevice", With: map[string]string{"/Attributes/Other.1.Thing": "kept"}, Words: map[string]string{"Pxe": "PXE"}}}}}, stays: true},
		"None":     {reason: "Nobody tells of it.", rows: []quirk.Row{}, stays: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tree, row := withOwn(t, o, noBootOrder)
			r := serveTree(t, tree, row)
			cfg := settings(r.Server)
			cfg.Quirks = quirk.Table()
			c := connect(t, cfg)
			_, err := c.SetBoot(t.Context(), system(t, c), redfish.BootSource{Target: "Pxe"})
			e := new(redfish.Error)
			if !cmpAs(err, &e) || e.OEM == nil {
				t.Fatalf("SetBoot(...): %v", err)
			}
			cfg.Quirks = tc.rows
			other := connect(t, cfg)
			if _, err := other.SetOEM(t.Context(), system(t, other), "Pxe", *e.OEM); !redfish.IsUnsupported(err) || r.OEMBoot("1") != o.rest {
				t.Errorf("\n%s\nSetOEM(...) by an old row: %v; it says %q", tc.reason, err, r.OEMBoot("1"))
			}
			if _, err := c.SetOEM(t.Context(), system(t, c), "Pxe", *e.OEM); err != nil {
				t.Fatal(err)
			}
			writes := len(r.FullWrites())
			err = other.ClearOEM(t.Context(), system(t, other), "Pxe", *e.OEM)
			if tc.stays && (!redfish.IsUnsupported(err) || len(r.FullWrites()) != writes) || !tc.stays && (err != nil || r.OEMBoot("1") != o.rest) {
				t.Errorf("\n%s\nClearOEM(...): %v; it says %q; written %v", tc.reason, err, r.OEMBoot("1"), r.FullWrites()[writes:])
			}
		})
	}
}

// TestRowsChangeMeanwhile: a row of quirks that is changed while its boot for once is set leaves nothing behind, and nor does one that is taken
// out and comes back.
func TestRowsChangeMeanwhile(t *testing.T) {
	o := owns()["iDRAC"]
	l, r := oemLab(t, o)
	l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.Unmanaged)
	l.look30(20)
	if r.OEMBoot("1") != o.pxe {
		t.Fatalf("it says %q: %v", r.OEMBoot("1"), l.get().Status.Conditions)
	}
	word := "PXE2"
	l.tune = func(c *v1alpha1.RedfishConfig) {
		c.Quirks = []v1alpha1.RedfishQuirk{{
			Name: "own", Source: "a test", Match: v1alpha1.QuirkMatch{Manufacturer: "Dell*"},
			Facts: v1alpha1.QuirkFacts{OEMBoot: &v1alpha1.OEMBoot{Words: map[string]string{"Pxe": word}}},
		}}
	}
	l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged)
	l.look30(10)
	if r.OEMBoot("1") != o.rest || hasMoved(l.get()) {
		t.Errorf("it says %q; journal %s; written %v", r.OEMBoot("1"), l.get().GetAnnotations()[v1alpha1.AnnotationJournal], r.FullWrites())
	}
}

// TestOneWayHidesNoOther: of the ways that are left one that can't be read hides no other one.
func TestOneWayHidesNoOther(t *testing.T) {
	o := owns()["iDRAC"]
	cases := map[string]struct {
		reason    string
		fault     bmc.Fault
		order, by bool
	}{
		"Both":  {reason: "Both are told.", order: true, by: true},
		"Own":   {reason: "The vendor's resource is broken.", fault: bmc.Fault{Method: http.MethodGet, PathContains: "/DellAttributes/", Status: http.StatusInternalServerError}, order: true},
		"Order": {reason: "The boot options are.", fault: bmc.Fault{Method: http.MethodGet, PathContains: "/BootOptions", Status: http.StatusInternalServerError}, by: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tree, row := withOwn(t, o, without("BootNext"))
			r := serveTree(t, tree, row)
			cfg := settings(r.Server)
			cfg.Quirks = quirk.Table()
			c := connect(t, cfg)
			s := system(t, c)
			if tc.fault.Method != "" {
				r.Inject(tc.fault)
			}
			_, err := c.SetBoot(t.Context(), s, redfish.BootSource{Target: "Pxe"})
			e := new(redfish.Error)
			if !cmpAs(err, &e) || (e.Fallback != nil) != tc.order || (e.OEM != nil) != tc.by {
				t.Errorf("\n%s\nSetBoot(...): %v, order %+v, own %+v", tc.reason, err, e.Fallback, e.OEM)
			}
		})
	}
}

// TestBMCThatListsNothing: a BMC that starts may list no System for a while, in whatever words. That's no other machine, and no mistake of
// anybody's.
func TestBMCThatListsNothing(t *testing.T) {
	gone := bmc.Fault{Method: http.MethodGet, PathContains: uriSystem, Status: http.StatusNotFound}
	list := bmc.Fault{Method: http.MethodGet, PathContains: "/redfish/v1/Systems", Status: http.StatusNotFound}
	empty := func(r *rig) {
		r.Change("/redfish/v1/Systems", func(body map[string]any) { body["Members"], body["Members@odata.count"] = []any{}, 0 })
	}
	fault := func(f bmc.Fault) func(*rig) { return func(r *rig) { r.Inject(f) } }
	cases := map[string]struct {
		reason string
		starts func(r *rig)
		first  string // of a new host: Ready's reason
		phase  v1alpha1.HostPhase
	}{
		"Empty":   {reason: "A list without members.", starts: func(r *rig) { empty(r); r.Inject(gone) }, first: "NotFound", phase: v1alpha1.HostEnrolling},
		"Missing": {reason: "No list.", starts: fault(list), first: "NotFound", phase: v1alpha1.HostError},
		"Busy":    {reason: "It says so.", starts: fault(bmc.Fault{Method: http.MethodGet, PathContains: "/redfish/v1/Systems", Status: http.StatusServiceUnavailable}), first: "Unreachable", phase: v1alpha1.HostEnrolling},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := serveTree(t, bootable(t, nil))
			was := map[string]any{}
			r.Change("/redfish/v1/Systems", func(body map[string]any) { was["Members"] = body["Members"] })
			tc.starts(r)
			l := newLabOf(t, r.Server, r.machines["1"])
			h := l.look30(2)
			if c := condition(h, "Ready"); c != [2]string{"False", tc.first} || h.Status.Phase != tc.phase {
				t.Errorf("\n%s\na new host: %v, phase %s", tc.reason, h.Status.Conditions, h.Status.Phase)
			}
			r.Heal()
			r.Change("/redfish/v1/Systems", func(body map[string]any) { body["Members"] = was["Members"] })
			l.now = l.now.Add(time.Hour)
			l.settle()
			l.boot(v1alpha1.HostBoot{}, v1alpha1.PoweredOff)
			l.look30(4)
			tc.starts(r)
			writes := len(r.FullWrites())
			l.boot(v1alpha1.HostBoot{}, v1alpha1.PoweredOn)
			h = l.look30(4)
			if condition(h, v1alpha1.ConditionReachable) != [2]string{"False", "Unreachable"} || condition(h, "Ready")[0] != "True" || len(h.Status.AtProvider.Systems) != 0 {
				t.Errorf("\n%s\na known host: %v", tc.reason, h.Status.Conditions)
			}
			if len(r.FullWrites()) != writes || l.m.Powered() {
				t.Errorf("\n%s\nwritten %v", tc.reason, r.FullWrites()[writes:])
			}
			r.Heal()
			r.Change("/redfish/v1/Systems", func(body map[string]any) { body["Members"] = was["Members"] })
			l.start() // One that said so is left alone for a while, by a clock that isn't the test's.
			l.look30(20)
			if !l.m.Powered() {
				t.Errorf("\n%s\nit isn't gone on with: %v", tc.reason, l.get().Status.Conditions)
			}
		})
	}
	survived(t, "a BMC that starts lists no System")
}
