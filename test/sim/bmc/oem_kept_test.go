package bmc_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestOEMKept: whatever becomes of the call that sets the vendor's own way, in the end it says what it said before.
func TestOEMKept(t *testing.T) {
	o := owns()["iDRAC"]
	patch := bmc.Fault{Method: http.MethodPatch, PathContains: "/DellAttributes/"}
	cases := map[string]struct {
		reason string
		fault  func(f *bmc.Fault)
		// then is what happens behind the failed calls.
		then func(r *rig)
		// next is asked for in place of the first boot; nil is nothing.
		next *v1alpha1.BootOnce
	}{
		"Answer":   {reason: "Done, and the answer is an error.", fault: func(f *bmc.Fault) { f.AfterEffect, f.Status = true, http.StatusInternalServerError }},
		"Other":    {reason: "The same, and another boot is wanted: what is ours isn't taken for what was there.", fault: func(f *bmc.Fault) { f.AfterEffect, f.Status = true, http.StatusInternalServerError }, next: onceFrom(v1alpha1.BootTargetHdd, 2)},
		"Late":     {reason: "Accepted, and done by a job later.", fault: func(f *bmc.Fault) { f.WithoutEffect = true }, then: func(r *rig) { r.Change(o.resource, ownSays("PXE", "Enabled")) }},
		"Half":     {reason: "One of them is locked, and refuses the whole.", fault: func(f *bmc.Fault) { f.Status = http.StatusBadRequest }, then: func(r *rig) { r.Change(o.resource, ownSays("PXE", "Disabled")) }},
		"LateNext": {reason: "Late, while another boot is wanted.", fault: func(f *bmc.Fault) { f.WithoutEffect = true }, then: func(r *rig) { r.Change(o.resource, ownSays("PXE", "Enabled")) }, next: onceFrom(v1alpha1.BootTargetHdd, 2)},
	}
	for name, tc := range cases {
		for _, looks := range []int{1, 2, 10} {
			t.Run(fmt.Sprintf("%s/%d", name, looks), func(t *testing.T) {
				t.Parallel()
				l, r := oemLab(t, o)
				f := patch
				tc.fault(&f)
				r.Inject(f)
				writes := len(r.FullWrites())
				l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.Unmanaged)
				for n := 0; n < 20 && !slices.ContainsFunc(r.FullWrites()[writes:], func(w bmc.Write) bool { return w.Path == o.resource }); n++ {
					l.look30(1)
				}
				l.look30(looks - 1)
				if tc.then != nil {
					tc.then(r)
				}
				r.Heal()
				if tc.next != nil {
					l.boot(v1alpha1.HostBoot{Once: tc.next}, v1alpha1.Unmanaged)
					l.look30(20)
				}
				l.boot(v1alpha1.HostBoot{}, v1alpha1.Unmanaged)
				l.look30(20)
				if r.OEMBoot("1") != o.rest || r.NextBoot("1") != bmc.BootNormal || hasMoved(l.get()) {
					t.Errorf("\n%s\nit says %q, journal %s; written %v", tc.reason, r.OEMBoot("1"), l.get().GetAnnotations()[v1alpha1.AnnotationJournal], r.FullWrites()[writes:])
				}
			})
		}
	}
}

// ownSays makes an iDRAC's own boot setting say something.
func ownSays(device, once string) func(body map[string]any) {
	return func(body map[string]any) {
		own := body["Attributes"].(map[string]any)
		own["ServerBoot.1.FirstBootDevice"], own["ServerBoot.1.BootOnce"] = device, once
	}
}

// hasMoved says whether a host's journal has something to put back.
func hasMoved(h *v1alpha1.RedfishHost) bool {
	return strings.Contains(h.GetAnnotations()[v1alpha1.AnnotationJournal], `"moved"`)
}
