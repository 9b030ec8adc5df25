package netboxipaddress

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestReverted: where spec goes to something else and back, the record is what spec says, and nobody is said to have changed it: also where
// the answer was lost, so that the one who changed spec saw it fail.
func TestReverted(t *testing.T) {
	comments := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Comments = new("other") })
	purpose := params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.CustomFields = map[string]apiextv1.JSON{"purpose": {Raw: []byte(`"db"`)}}
	})
	texts := params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.Description, p.Status, p.Role, p.DNSName = new("other"), "reserved", new("vip"), new("other.example.")
	})
	cases := map[string]struct {
		reason string
		from   edit
		to     edit
		// hers happens in between; nil does nothing. tells is what is told.
		hers  func(*netbox.IPAddress)
		tells string
	}{
		"Texts":    {"what status shows", nil, texts, nil, ""},
		"Comments": {"what it doesn't", params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Comments = new("ours") }), comments, nil, ""},
		"Field":    {"a custom field", nil, purpose, nil, ""},
		"Place": {
			"an assignment", assignTo(onDevice("r7-u12", "eno1", v1alpha1.UseAdditional)),
			assignTo(onDevice("r7-u12", "eno2", v1alpha1.UseAdditional)), nil, "",
		},
		"Hers": {"what somebody wrote in the same moment is hers", nil, texts, func(ip *netbox.IPAddress) { ip.Description = "hers" }, "description of"},
	}
	for name, tc := range cases {
		for policy, drift := range map[string]edit{"Report": report, "Correct": anyhow} {
			for _, lost := range []bool{true, false} {
				t.Run(name+policy, func(t *testing.T) {
					f := newFake()
					base := func(mg *v1alpha1.NetBoxIPAddress) {
						described(mg)
						params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Role, p.DNSName = new(""), new("web.example.") })(mg)
						if tc.from != nil {
							tc.from(mg)
						}
						drift(mg)
					}
					h, mg := newHarness(f), newAddress(base)
					if err := h.settle(t, mg); err != nil {
						t.Fatal(err)
					}
					was, spec := f.records[0], mg.Spec
					if lost {
						f.lose["Patch"] = kind(netbox.KindUnknownOutcome)
					}
					mg.Spec = *spec.DeepCopy()
					tc.to(mg)
					mg.Generation++
					if err := h.reconcile(t, mg); (err != nil) != lost {
						t.Fatalf("%s: %v", tc.reason, err)
					}
					delete(f.lose, "Patch")
					if tc.hers != nil {
						tc.hers(&f.records[0])
					}
					mg.Spec = spec
					mg.Generation++
					if err := h.settle(t, mg); err != nil {
						t.Fatal(err)
					}
					if tc.hers != nil && policy == "Report" {
						was.Description = "hers"
					}
					same := cmp.Comparer(func(a, b netbox.IPAddress) bool {
						return a.Description+a.Comments+a.Status+a.Role+a.DNSName == b.Description+b.Comments+b.Status+b.Role+b.DNSName &&
							a.Assigned.Same(b.Assigned) && cmp.Equal(a.CustomFields, b.CustomFields)
					})
					if diff := cmp.Diff(was, f.records[0], same); diff != "" {
						t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
					}
					if told := strings.Join(h.events, "\n"); !strings.Contains(told, tc.tells) || tc.tells == "" && (told != "" || len(mg.Status.AtProvider.Drift) != 0) {
						t.Errorf("%s: told %q, %+v", tc.reason, told, mg.Status.AtProvider.Drift)
					}
				})
			}
		}
	}
}

// TestSameUndecoded: a list too long to be decoded with its record is compared all the same, or it would be written at each look.
func TestSameUndecoded(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   any
		got    netbox.Undecoded
		same   bool
	}{
		"Same":    {"in any form", []any{"a", map[string]any{"id": 5.0}}, `["a", {"id": 5, "url": "u"}]`, true},
		"Other":   {"another list", []any{"a"}, `["b"]`, false},
		"Text":    {"a text isn't a list", `["a"]`, `["a"]`, false},
		"TooLong": {"beyond what anybody wants", []any{}, netbox.Undecoded("[" + strings.Repeat(" ", mostCompared) + "]"), false},
	}
	for name, tc := range cases {
		if got := same(tc.want, tc.got); got != tc.same {
			t.Errorf("%s: %s: %t", name, tc.reason, got)
		}
	}
}
