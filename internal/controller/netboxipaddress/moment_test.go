package netboxipaddress

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestSameMoment: what somebody changes in NetBox is his also where spec is changed elsewhere before the next look, and where status doesn't
// show the field.
func TestSameMoment(t *testing.T) {
	comments := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Comments = new("ours") })
	purpose := func(raw string) edit {
		return params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.CustomFields = map[string]apiextv1.JSON{"purpose": {Raw: []byte(raw)}}
		})
	}
	long := strings.Repeat("x", 2*longestValue)
	herComments := func(ip *netbox.IPAddress) { ip.Comments = "hers" }
	herPurpose := func(ip *netbox.IPAddress) {
		ip.CustomFields = maps.Clone(ip.CustomFields)
		ip.CustomFields["purpose"] = "hers"
	}
	nobody := func(*netbox.IPAddress) {}
	anew := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("anew") })
	text := func(ip netbox.IPAddress) any { return ip.Comments }
	field := func(ip netbox.IPAddress) any { return ip.CustomFields["purpose"] }
	cases := map[string]struct {
		reason string
		mg     edit
		hers   func(*netbox.IPAddress)
		spec   edit
		of     func(netbox.IPAddress) any
		// reported is what the record ends up with where it's only reported, corrected where it's corrected; and tells what is told of.
		reported, corrected any
		tells               string
	}{
		"Comments": {"which status doesn't show", comments, herComments, anew, text, "hers", "ours", "comments of"},
		"Null":     {"nor what has no value", purpose("null"), herPurpose, anew, field, "hers", nil, "customFields.purpose of"},
		"Long":     {"nor a long one", purpose(`"` + long + `"`), herPurpose, anew, field, "hers", long, "customFields.purpose of"},
		"Asked":    {"what spec asks for anew is written", comments, herComments, both(anew, params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Comments = new("anew") })), text, "anew", "anew", ""},
		"Named":    {"also where it was never named", anyhow, herComments, both(anew, comments), text, "ours", "ours", ""},
		"Mask": {
			"and a mask, which is no custom field", anyhow, nobody, both(anew, params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.PrefixLength = 32 })),
			func(ip netbox.IPAddress) any { return ip.Address.Bits() }, 32, 32, "",
		},
	}
	for name, tc := range cases {
		for policy, drift := range map[string]edit{"Report": report, "Correct": anyhow} {
			t.Run(name+policy, func(t *testing.T) {
				f := newFake()
				h, mg := newHarness(f), newAddress(tc.mg, drift)
				if err := h.settle(t, mg); err != nil || len(h.events) != 0 {
					t.Fatalf("%v, %q", err, h.events)
				}
				h.MaxAge, f.seen = maxAge(time.Minute), slices.Clone(f.records)
				tc.hers(&f.records[0])
				tc.spec(mg)
				mg.Generation++
				if err := h.settle(t, mg); err != nil {
					t.Fatal(err)
				}
				want, event := tc.corrected, reasonDriftCorrected
				if policy == "Report" {
					want, event = tc.reported, reasonDrifted
				}
				if d := cmp.Diff(want, tc.of(f.records[0])); d != "" || f.records[0].Description != "anew" {
					t.Errorf("%s: description %q (-want +got):\n%s", tc.reason, f.records[0].Description, d)
				}
				told := strings.Join(h.events, "\n")
				if tc.tells == "" && told != "" || tc.tells != "" && (len(h.events) != 1 || !strings.HasPrefix(told, string(event)+": "+tc.tells)) {
					t.Errorf("%s: told %q", tc.reason, told)
				}
			})
		}
	}
}

// both makes one change after another.
func both(first, second edit) edit {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		first(mg)
		second(mg)
	}
}

// TestDriftAfterRefusal: what somebody changed is told as his once it's put right, also where NetBox refused that at first.
func TestDriftAfterRefusal(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(described)
	if err := h.settle(t, mg); err != nil || len(h.events) != 0 {
		t.Fatalf("%v, %q", err, h.events)
	}
	f.records[0].Description = "hers"
	f.fail["Patch"] = &netbox.Error{Kind: netbox.KindInvalid, Op: "do", Fields: []string{"tags"}}
	mg.Spec.ForProvider.Tags, mg.Generation = append(mg.Spec.ForProvider.Tags, "nosuch"), mg.Generation+1
	for range 3 {
		if err := h.reconcile(t, mg); err == nil {
			t.Fatal("NetBox has no such tag")
		}
		h.now = h.now.Add(time.Minute)
	}
	if len(h.events) != 0 || mg.Status.AtProvider.Description != "hers" {
		t.Errorf("while it isn't put right: %q, %+v", h.events, mg.Status.AtProvider)
	}
	delete(f.fail, "Patch")
	h.now = h.now.Add(time.Hour)
	if err := h.settle(t, mg); err != nil || f.records[0].Description != "ours" {
		t.Errorf("%v, %+v", err, f.records[0])
	}
	if len(h.events) != 1 || !strings.HasPrefix(h.events[0], "DriftCorrected: description of") {
		t.Errorf("told %q", h.events)
	}
	f.records[0].Description = "hers"
	mg.Spec.ForProvider.Description, mg.Generation = new("anew"), mg.Generation+1
	mg.Status.AtProvider.Description = "hers"
	if err := h.settle(t, mg); err != nil || len(h.events) != 1 {
		t.Errorf("what spec asks for anew is nobody's change: %v, %q", err, h.events)
	}
}
