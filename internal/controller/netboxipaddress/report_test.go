package netboxipaddress

import (
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestReportIsGlanced: what differs and stays so is told once, and then costs no look of its own, until something else does.
func TestReportIsGlanced(t *testing.T) {
	cases := map[string]struct {
		reason string
		mg     edit
	}{
		"Report":   {"it's only reported", report},
		"NoUpdate": {"nothing may be written for it", managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionLateInitialize)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(tc.mg, params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("web") }))
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			h.MaxAge = maxAge(time.Minute)
			look := func() []string {
				h.now = h.now.Add(time.Minute)
				f.seen, f.calls = slices.Clone(f.records), nil
				if err := h.look(t, mg); err != nil {
					t.Fatal(err)
				}
				return f.calls
			}
			f.records[0].Description = "mine"
			look()
			told := len(h.events)
			for range 3 {
				if d := cmp.Diff([]string{"Preflight", "Seen"}, look()); d != "" {
					t.Errorf("%s: each look asks for more (-want +got):\n%s", tc.reason, d)
				}
			}
			f.records[0].Description = "theirs"
			if calls := look(); name == "Report" && !slices.Contains(calls, "Get") {
				t.Errorf("%s: another change isn't looked at: %v", tc.reason, calls)
			}
			if n := len(mg.Status.AtProvider.Drift); (n == 1) != (name == "Report") || mg.Status.AtProvider.Description != "theirs" {
				t.Errorf("%s: status %+v", tc.reason, mg.Status.AtProvider)
			}
			if len(h.events) != 2*told || len(f.writes()) != 0 || f.records[0].Description != "theirs" {
				t.Errorf("%s: told %q, wrote %v", tc.reason, h.events, f.writes())
			}
		})
	}
}
