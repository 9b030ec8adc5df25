package netboxipaddress

import (
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
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

// TestDriftAfterTroubleUnshown: what somebody changed is his after a look that failed also where status doesn't show the field, or not as
// spec spells it.
func TestDriftAfterTroubleUnshown(t *testing.T) {
	comments := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Comments = new("ours") })
	block := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("ours\n") })
	purpose := func(raw string) edit {
		return params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.CustomFields = map[string]apiextv1.JSON{"purpose": {Raw: []byte(raw)}}
		})
	}
	long := strings.Repeat("x", 2*longestValue)
	herComments := func(ip *netbox.IPAddress) { ip.Comments = "hers" }
	herText := func(ip *netbox.IPAddress) { ip.Description = "hers" }
	herPurpose := func(ip *netbox.IPAddress) { ip.CustomFields["purpose"] = "hers" }
	text := func(ip netbox.IPAddress) any { return ip.Comments + ip.Description }
	field := func(ip netbox.IPAddress) any { return ip.CustomFields["purpose"] }
	elsewhere := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.Status, mg.Generation = "reserved", mg.Generation+1
	}
	cases := map[string]struct {
		reason string
		mg     []edit
		hers   func(*netbox.IPAddress)
		// spec is what happens to it in the same moment; nil is nothing. is what the record ends up with, event is told.
		spec  func(*v1alpha1.NetBoxIPAddress)
		of    func(netbox.IPAddress) any
		is    any
		event string
	}{
		"Comments":         {"status doesn't show comments", []edit{report, comments}, herComments, nil, text, "hers", "Drifted: comments"},
		"CommentsCorrect":  {"which are told where they're corrected, too", []edit{comments}, herComments, nil, text, "ours", "DriftCorrected: comments"},
		"BlockScalar":      {"NetBox trims", []edit{report, block}, herText, nil, text, "hers", "Drifted: description"},
		"BlockScalarSpec":  {"also where spec was changed elsewhere", []edit{report, block}, herText, elsewhere, text, "hers", "Drifted: description"},
		"Null":             {"status doesn't show what has no value", []edit{report, purpose("null")}, herPurpose, nil, field, "hers", "Drifted: customFields.purpose"},
		"LongField":        {"nor a long one", []edit{report, purpose(`"` + long + `"`)}, herPurpose, nil, field, "hers", "Drifted: customFields.purpose"},
		"LongFieldCorrect": {"nor a long one", []edit{purpose(`"` + long + `"`)}, herPurpose, nil, field, long, "DriftCorrected: customFields.purpose"},
		"Object":           {"an object is named in another way than it's shown", []edit{report, purpose(`{"id": 5}`)}, herPurpose, elsewhere, field, "hers", "Drifted: customFields.purpose"},
		"List":             {"the order of a selection says nothing", []edit{report, purpose(`["a", "b"]`)}, herPurpose, elsewhere, field, "hers", "Drifted: customFields.purpose"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(tc.mg...)
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			f.records[0].Description = strings.TrimSpace(f.records[0].Description)
			switch name {
			case "Object":
				f.records[0].CustomFields["purpose"] = map[string]any{"id": 5.0, "url": "https://netbox/5"}
			case "List":
				f.records[0].CustomFields["purpose"] = []any{"b", "a"}
			default:
			}
			if err := h.settle(t, mg); err != nil || len(h.events) != 0 {
				t.Fatalf("%v, %q", err, h.events)
			}
			f.fail["Preflight"] = kind(netbox.KindUnreachable)
			if err := h.reconcile(t, mg); err == nil {
				t.Fatal("NetBox was away")
			}
			delete(f.fail, "Preflight")
			tc.hers(&f.records[0])
			if tc.spec != nil {
				tc.spec(mg)
			}
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.is, tc.of(f.records[0])); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
			if len(h.events) != 1 || !strings.Contains(h.events[0], tc.event) || tc.spec != nil && f.records[0].Status != "reserved" {
				t.Errorf("%s: told %q, want %q; %+v", tc.reason, h.events, tc.event, f.records[0].Status)
			}
		})
	}
}

// TestDriftAfterUpdate: what an update wrote is known to be there, though no look showed it yet.
func TestDriftAfterUpdate(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(report)
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	mg.Spec.ForProvider.Comments, mg.Generation = new("ours"), mg.Generation+1
	if err := h.reconcile(t, mg); err != nil || f.records[0].Comments != "ours" {
		t.Fatalf("%v, %+v", err, f.records[0])
	}
	f.fail["Preflight"] = kind(netbox.KindUnreachable)
	if err := h.reconcile(t, mg); err == nil {
		t.Fatal("NetBox was away")
	}
	delete(f.fail, "Preflight")
	f.records[0].Comments = "hers"
	if err := h.settle(t, mg); err != nil || f.records[0].Comments != "hers" || len(mg.Status.AtProvider.Drift) != 1 {
		t.Errorf("%v, %+v, %+v", err, f.records[0], mg.Status.AtProvider.Drift)
	}
	mg.Spec.ForProvider.Comments, mg.Generation = new("anew"), mg.Generation+1
	if err := h.settle(t, mg); err != nil || f.records[0].Comments != "anew" {
		t.Errorf("what spec asks for anew isn't written: %v, %+v", err, f.records[0])
	}
}
