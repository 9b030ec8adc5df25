package netboxipaddress

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func from(cidr string) []v1alpha1.AddressSource {
	return []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: cidr}}}
}

func TestMalformed(t *testing.T) {
	type params = v1alpha1.NetBoxIPAddressParameters
	cases := map[string]struct {
		reason    string
		in        params
		malformed bool
	}{
		"Prefix":     {"a prefix", params{From: from("10.77.0.0/24")}, false},
		"Address":    {"a fixed address", params{Address: "10.77.0.40/24"}, false},
		"Delete":     {"the policy that there is", params{Address: "10.77.0.40/24", Release: &v1alpha1.ReleasePolicy{Policy: "Delete"}}, false},
		"Range":      {"a range", params{From: []v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{ID: new(int64(1))}}}}, false},
		"Filter":     {"a filter", params{From: []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{}}}}}, false},
		"EmptyRange": {"a range that names nothing", params{From: []v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{}}}}, true},
		"Neither":    {"nothing to go by", params{}, true},
		"Both":       {"two things to go by", params{From: from("10.77.0.0/24"), Address: "10.77.0.40/24"}, true},
		"NoNetwork":  {"no network", params{Address: "10.77.0.40/0"}, true},
		"NoMask":     {"no mask", params{Address: "10.77.0.40"}, true},
		"EmptyEntry": {"an entry that names nothing", params{From: []v1alpha1.AddressSource{{}}}, true},
		"NoTable":    {"a table that names none would be any", params{Address: "10.77.0.40/24", VRF: &v1alpha1.VRFSelector{}}, true},
		"NoTablePre": {"in a prefix", params{From: []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.77.0.0/24", VRF: &v1alpha1.VRFSelector{}}}}}, true},
		"NoTableRan": {"in a range", params{From: []v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{Start: "10.77.0.1/24", VRF: &v1alpha1.VRFSelector{}}}}}, true},
		"NoTableFil": {"in a filter", params{From: []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{VRF: &v1alpha1.VRFSelector{}}}}}}, true},
		"NoTableRaF": {"in a filter of ranges", params{From: []v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{Filter: &v1alpha1.RangeFilter{VRF: &v1alpha1.VRFSelector{}}}}}}, true},
		"EmptyOne":   {"a prefix that names nothing", params{From: []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{}}}}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := malformed(tc.in); (got != "") != tc.malformed {
				t.Errorf("%s: malformed %q", tc.reason, got)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	policies := []v1alpha1.NetBoxPolicy{
		{Namespaces: []string{"team-a", "team-b"}, Prefixes: []string{"10.77.0.0/24", "nonsense"}, DNSZones: []string{"rack7.example"}, Tenant: "a"},
		{Namespaces: []string{"team-a"}, Prefixes: []string{"10.78.0.0/16"}},
		{Namespaces: []string{"team-c"}},
	}
	cases := map[string]struct {
		reason    string
		policies  []v1alpha1.NetBoxPolicy
		namespace string
		network   string
		dnsName   string
		want      bool
		tenant    string
	}{
		"NoPolicies":   {"none is no restriction", nil, "team-x", "10.0.0.0/8", "a.b", true, ""},
		"NoneNamesIt":  {"where there are any, others may nothing", policies, "team-x", "10.77.0.0/24", "", false, ""},
		"Inside":       {"exactly the prefix", policies, "team-b", "10.77.0.0/24", "", true, "a"},
		"Part":         {"a part of it", policies, "team-b", "10.77.0.128/25", "", true, "a"},
		"Around":       {"a prefix around it isn't inside", policies, "team-b", "10.76.0.0/15", "", false, ""},
		"Outside":      {"another one", policies, "team-b", "10.78.0.0/24", "", false, ""},
		"Address":      {"a fixed address, mask as in the network", policies, "team-b", "10.77.0.40/24", "", true, "a"},
		"WideAddress":  {"a fixed address with a wider mask", policies, "team-b", "10.77.0.40/8", "", false, ""},
		"Zone":         {"below the zone, in any case, with a dot", policies, "team-b", "10.77.0.0/24", "Web-1.Rack7.example.", true, "a"},
		"ZoneItself":   {"the zone itself", policies, "team-b", "10.77.0.0/24", "rack7.example", true, "a"},
		"OtherZone":    {"a name that only ends alike", policies, "team-b", "10.77.0.0/24", "evilrack7.example", false, ""},
		"SecondPolicy": {"any one policy is enough", policies, "team-a", "10.78.1.0/24", "anything.example", true, ""},
		"NotMixed":     {"the prefix of one, the name of another", policies, "team-a", "10.77.0.0/24", "anything.example", false, ""},
		"OtherFamily":  {"IPv6 isn't inside IPv4", policies, "team-b", "2001:db8::/64", "", false, ""},
		"Anything":     {"a policy without prefixes", policies, "team-c", "2001:db8::/64", "x", true, ""},
		"Unknown":      {"a prefix named by its number isn't known yet", policies, "team-b", "", "", true, "a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var network netip.Prefix
			if tc.network != "" {
				network = netip.MustParsePrefix(tc.network)
			}
			p, ok := grantOf(tc.policies, tc.namespace).policy(network, tc.dnsName)
			if ok != tc.want || p.Tenant != tc.tenant {
				t.Errorf("%s: got %v with tenant %q, want %v with %q", tc.reason, ok, p.Tenant, tc.want, tc.tenant)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	type params = v1alpha1.NetBoxIPAddressParameters
	const marker = "c/ns/n/u"
	got := netbox.IPAddress{
		Status: "active", DNSName: "web-1.example", Description: "by hand", Tenant: "team-a", Tags: []string{"human", "pool"},
		CustomFields: map[string]any{"m": marker, "purpose": "web", "n": 5.0, "zone": map[string]any{"value": "a", "label": "A"}, "site": map[string]any{"id": 1.0, "url": "u"}},
	}
	json := func(s string) apiextv1.JSON { return apiextv1.JSON{Raw: []byte(s)} }
	object := func(id float64) map[string]any { return map[string]any{"id": id, "url": "u", "name": "n"} }
	lists := func(ip *netbox.IPAddress) {
		ip.CustomFields = map[string]any{
			"m": marker, "site": object(1), "sites": []any{object(1), object(2)},
			"zones": []any{map[string]any{"value": "a", "label": "A"}, "b"},
		}
	}
	times := func(ip *netbox.IPAddress) {
		ip.CustomFields = map[string]any{"m": marker, "since": "2026-08-01T10:00:00Z", "until": "2026-08-01T12:00:00"}
	}
	cases := map[string]struct {
		reason string
		in     params
		policy v1alpha1.NetBoxPolicy
		got    func(*netbox.IPAddress)
		want   netbox.Patch
		words  string
	}{
		"Nothing":     {"what isn't said stays", params{}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{}, ""},
		"Same":        {"the same in other words", params{Status: "active", DNSName: new("Web-1.Example"), Tags: []string{"pool"}, Tenant: &v1alpha1.SlugReference{Slug: "team-a"}, CustomFields: map[string]apiextv1.JSON{"purpose": json(`"web"`), "n": json("5"), "zone": json(`"a"`), "site": json("1")}}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{}, ""},
		"Status":      {"one value", params{Status: "reserved"}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{Status: new("reserved")}, "status"},
		"Texts":       {"several", params{DNSName: new("x.example"), Description: new("d"), Role: new("vip"), Comments: new("c")}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{DNSName: new("x.example"), Description: new("d"), Role: new("vip"), Comments: new("c")}, "comments, description, dnsName, role"},
		"Tags":        {"people's tags stay", params{Tags: []string{"kubernetes", "pool"}}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{Tags: []string{"human", "pool", "kubernetes"}}, "tags"},
		"Fields":      {"only the one that differs", params{CustomFields: map[string]apiextv1.JSON{"purpose": json(`"db"`), "n": json("5")}}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{CustomFields: map[string]any{"purpose": "db"}}, "customFields"},
		"ForgedMark":  {"the marker isn't a tenant's to set", params{CustomFields: map[string]apiextv1.JSON{"m": json(`"c/other/n/u"`)}}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{}, ""},
		"Restored":    {"a restored resource marks its record anew", params{}, v1alpha1.NetBoxPolicy{}, func(ip *netbox.IPAddress) { ip.CustomFields = map[string]any{"m": "c/ns/n/old"} }, netbox.Patch{CustomFields: map[string]any{"m": marker}}, "customFields"},
		"Trimmed":     {"NetBox trims what it stores: written once, not at each look", params{Description: new(" by hand\n"), CustomFields: map[string]apiextv1.JSON{"purpose": json(`"web "`)}}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{}, ""},
		"Blank":       {"what is named empty is wanted empty", params{Description: new("")}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{Description: new("")}, "description"},
		"NoName":      {"so is a DNS name", params{DNSName: new("")}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{DNSName: new("")}, "dnsName"},
		"NoRole":      {"so is a role", params{Role: new("")}, v1alpha1.NetBoxPolicy{}, func(ip *netbox.IPAddress) { ip.Role = "vip" }, netbox.Patch{Role: new("")}, "role"},
		"NoneYet":     {"and what is empty stays", params{Role: new(""), Comments: new(" ")}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{}, ""},
		"NullField":   {"a custom field named null is cleared", params{CustomFields: map[string]apiextv1.JSON{"purpose": json("null")}}, v1alpha1.NetBoxPolicy{}, nil, netbox.Patch{CustomFields: map[string]any{"purpose": nil}}, "customFields"},
		"Lists":       {"selections and objects, in any order, as they read", params{CustomFields: map[string]apiextv1.JSON{"sites": json("[2,1]"), "zones": json(`["b","a"]`), "site": json(`{"id":1}`)}}, v1alpha1.NetBoxPolicy{}, lists, netbox.Patch{}, ""},
		"Times":       {"NetBox writes a time in its own way", params{CustomFields: map[string]apiextv1.JSON{"since": json(`"2026-08-01 12:00:00+02:00"`), "until": json(`"2026-08-01 12:00:00"`)}}, v1alpha1.NetBoxPolicy{}, times, netbox.Patch{}, ""},
		"OtherTime":   {"another one is another one", params{CustomFields: map[string]apiextv1.JSON{"since": json(`"2026-08-01T12:00:00Z"`)}}, v1alpha1.NetBoxPolicy{}, times, netbox.Patch{CustomFields: map[string]any{"since": "2026-08-01T12:00:00Z"}}, "customFields"},
		"ListsDiffer": {"one more is another list", params{CustomFields: map[string]apiextv1.JSON{"sites": json("[2]")}}, v1alpha1.NetBoxPolicy{}, lists, netbox.Patch{CustomFields: map[string]any{"sites": []any{2.0}}}, "customFields"},
		"PolicyWins":  {"the policy's tenant, whatever is asked for", params{Tenant: &v1alpha1.SlugReference{Slug: "team-a"}}, v1alpha1.NetBoxPolicy{Tenant: "b"}, nil, netbox.Patch{Tenant: new("b")}, "tenant"},
		"PolicyAlone": {"also where none is asked for", params{}, v1alpha1.NetBoxPolicy{Tenant: "team-a"}, nil, netbox.Patch{}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ip := got
			if tc.got != nil {
				tc.got(&ip)
			}
			p := diff(tc.in, tc.policy, "m", marker, ip)
			if len(p.CustomFields) == 0 {
				p.CustomFields = nil
			}
			if d := cmp.Diff(tc.want, p); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
			if words(p) != tc.words || p.Empty() != (tc.words == "") {
				t.Errorf("%s: words %q, want %q", tc.reason, words(p), tc.words)
			}
		})
	}
}

// TestForgedMarkerInRequest: a tenant's custom fields don't reach the marker of a new record either.
func TestForgedMarkerInRequest(t *testing.T) {
	r := requestOf(v1alpha1.NetBoxIPAddressParameters{CustomFields: map[string]apiextv1.JSON{"m": {Raw: []byte(`"forged"`)}, "bad": {Raw: []byte("{")}}}, v1alpha1.NetBoxPolicy{}, "c/ns/n/u")
	if r.Marker != "c/ns/n/u" {
		t.Errorf("marker %q", r.Marker)
	}
	if _, ok := r.CustomFields["bad"]; ok {
		t.Error("a value that isn't JSON is left out")
	}
}
