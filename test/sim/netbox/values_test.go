package netbox_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// valued asks for a custom field's value.
func valued(name, value string) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.CustomFields = map[string]apiextv1.JSON{name: {Raw: []byte(value)}}
	}
}

// TestListsEdited: what somebody makes of a list that the spec names is undone, where it says something else: other elements, or how often each is
// there, and in JSON their order, too.
func TestListsEdited(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, field, wanted, edited string
		back                          bool
	}{
		"Doubled": {"of two that are alike one was changed", "js", `["a","a"]`, `["a","b"]`, true},
		"Halved":  {"one is there twice now", "js", `["a","b"]`, `["a","a"]`, true},
		"Order":   {"the order of JSON says something", "js", `["eth0","eth1"]`, `["eth1","eth0"]`, true},
		"Zones":   {"that of a selection is NetBox's own", "zones", `["a","b"]`, `["b","a"]`, false},
	} {
		for _, v := range versions() {
			t.Run(v+" "+name, func(t *testing.T) {
				l := newLab(t, v)
				set := l.netbox.AddChoiceSet(netbox.ChoiceSet{Name: "zones", Choices: []netbox.Choice{{Value: "a", Label: "A"}, {Value: "b", Label: "B"}}})
				for name, f := range map[string]netbox.CustomField{"js": {Type: "json"}, "zones": {Type: "multiselect", ChoiceSet: set}} {
					f.Name, f.FilterLogic, f.ObjectTypes = name, "exact", []string{"ipam.ipaddress"}
					l.netbox.AddCustomField(f)
				}
				l.apply("web-1", valued(tc.field, tc.wanted))
				l.still(l.settle("web-1", ready))
				var made, wanted any
				_, _ = json.Unmarshal([]byte(tc.edited), &made), json.Unmarshal([]byte(tc.wanted), &wanted)
				l.netbox.ChangeAddressAs("alice", l.only().ID, func(a *netbox.Address) {
					a.CustomFields = map[string]any{field: a.CustomFields[field], tc.field: made}
				})
				l.once("web-1")
				mg := l.settle("web-1", ready)
				if !tc.back {
					wanted = made
				}
				if diff := cmp.Diff(wanted, l.only().CustomFields[tc.field]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
				if told := slices.ContainsFunc(l.told, func(s string) bool { return strings.HasPrefix(s, "DriftCorrected: customFields."+tc.field) }); told != tc.back {
					t.Errorf("%s: events %q", tc.reason, l.told)
				}
				l.still(mg)
			})
		}
	}
}

// TestObjectNamed: an object in a custom field is named by its id or by its slug, and is the same then as NetBox shows it.
func TestObjectNamed(t *testing.T) {
	for _, v := range versions() {
		for _, value := range []string{`1`, `{"id":1}`, `{"slug":"fra1"}`} {
			t.Run(v+" "+value, func(t *testing.T) {
				l := newLab(t, v)
				l.netbox.AddSite(netbox.Named{ID: 1, Name: "Frankfurt", Slug: "fra1"})
				l.netbox.AddCustomField(netbox.CustomField{Name: "obj", Type: "object", Related: "dcim.site", FilterLogic: "exact", ObjectTypes: []string{"ipam.ipaddress"}})
				l.apply("web-1", valued("obj", value))
				l.still(l.settle("web-1", ready))
			})
		}
	}
}

// TestRounded: a number that JSON doesn't carry exactly is refused, and costs no address.
func TestRounded(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddCustomField(netbox.CustomField{Name: "num", Type: "integer", FilterLogic: "exact", ObjectTypes: []string{"ipam.ipaddress"}})
	l.apply("web-1", valued("num", "9007199254740993"))
	mg := l.settle("web-1", because(v1alpha1.ReasonInvalid))
	if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, `customFields gives "num" the number 9007199254740993`) || l.netbox.Writes() != 0 {
		t.Errorf("%d writes, %q", l.netbox.Writes(), m)
	}
}
