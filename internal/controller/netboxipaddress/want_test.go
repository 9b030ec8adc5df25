package netboxipaddress

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
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
		"WideBlock":    {"also where it's that of the network around a prefix", policies, "team-b", "10.77.0.40/23", "", false, ""},
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
	slugged := func(ip *netbox.IPAddress) {
		ip.CustomFields = map[string]any{
			"m": marker, "site": map[string]any{"id": 1.0, "url": "u", "slug": "fra1", "name": "Frankfurt"}, "free": map[string]any{"a": 1.0, "b": 2.0},
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
		"ListOnce":    {"how often a list has what is in it counts", params{CustomFields: map[string]apiextv1.JSON{"words": json(`["a","a"]`)}}, v1alpha1.NetBoxPolicy{}, func(ip *netbox.IPAddress) { ip.CustomFields = map[string]any{"m": marker, "words": []any{"a", "b"}} }, netbox.Patch{CustomFields: map[string]any{"words": []any{"a", "a"}}}, "customFields"},
		"ListTwice":   {"the other way around, too", params{CustomFields: map[string]apiextv1.JSON{"words": json(`["a","b"]`)}}, v1alpha1.NetBoxPolicy{}, func(ip *netbox.IPAddress) { ip.CustomFields = map[string]any{"m": marker, "words": []any{"a", "a"}} }, netbox.Patch{CustomFields: map[string]any{"words": []any{"a", "b"}}}, "customFields"},
		"BySlug":      {"an object may be named by what is its own", params{CustomFields: map[string]apiextv1.JSON{"site": json(`{"slug":"fra1"}`)}}, v1alpha1.NetBoxPolicy{}, slugged, netbox.Patch{}, ""},
		"OtherSlug":   {"another one is another one", params{CustomFields: map[string]apiextv1.JSON{"site": json(`{"slug":"ams1"}`)}}, v1alpha1.NetBoxPolicy{}, slugged, netbox.Patch{CustomFields: map[string]any{"site": map[string]any{"slug": "ams1"}}}, "customFields"},
		"PartOfJSON":  {"what isn't an object of NetBox's is compared as it is", params{CustomFields: map[string]apiextv1.JSON{"free": json(`{"a":1}`)}}, v1alpha1.NetBoxPolicy{}, slugged, netbox.Patch{CustomFields: map[string]any{"free": map[string]any{"a": 1.0}}}, "customFields"},
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

// TestMalformedFields: what can't be carried exactly, or be in NetBox at all, is refused by one sentence, and isn't sent rounded.
func TestMalformedFields(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, field, value, says string
	}{
		"Most":       {"2^53 is exact", "n", `9007199254740992`, ""},
		"Rounded":    {"one more isn't", "n", `9007199254740993`, `customFields gives "n" the number 9007199254740993, which JSON doesn't carry exactly`},
		"Negative":   {"nor is one less", "n", `-9007199254740993`, "doesn't carry exactly"},
		"Huge":       {"nor what no program holds", "n", `99999999999999999999`, "doesn't carry exactly"},
		"InAList":    {"in whatever it is", "n", `{"a":["b",{"c":9007199254740993}]}`, "the number 9007199254740993"},
		"Fraction":   {"a fraction is what it is", "n", `9007199254740993.5`, ""},
		"Text":       {"a text has any digits", "n", `"9007199254740993"`, ""},
		"Capitals":   {"NetBox takes capitals", "Pool_1", `1`, ""},
		"Hyphen":     {"and no hyphens", "pool-1", `1`, `customFields names "pool-1", as which NetBox has no custom field`},
		"Empty":      {"nor nothing", "", `1`, `customFields names ""`},
		"Two":        {"nor two underscores", "a__b", `1`, `customFields names "a__b"`},
		"Underscore": {"one may stand anywhere", "_a_", `1`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			mg := newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.CustomFields = map[string]apiextv1.JSON{tc.field: {Raw: []byte(tc.value)}}
			}))
			made(t, newHarness(f), mg)
			c := mg.GetCondition(xpv2.TypeReady)
			if refused := c.Reason == v1alpha1.ReasonInvalid; refused != (tc.says != "") || !strings.Contains(c.Message, tc.says) {
				t.Errorf("%s: condition %+v", tc.reason, c)
			}
			if written := len(f.writes()) > 0; written != (tc.says == "") {
				t.Errorf("%s: writes %v", tc.reason, f.writes())
			}
		})
	}
}

// TestReordered: the order of a list is people's, but in a field whose values are any JSON.
func TestReordered(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		field  string
		got    any
		asks   bool
		want   bool
	}{
		"JSON":        {"an order says something in JSON", "ordered", []any{"b", "a"}, true, true},
		"Selection":   {"and nothing in a selection", "zones", []any{"b", "a"}, true, false},
		"Labels":      {"which shows itself as one", "ordered", []any{map[string]any{"value": "b", "label": "B"}, map[string]any{"value": "a", "label": "A"}}, false, false},
		"Same":        {"what is in order isn't asked about", "ordered", []any{"a", "b"}, false, false},
		"Undecoded":   {"a long list is a list", "ordered", netbox.Undecoded(`["b","a"]`), true, true},
		"NotReadable": {"where NetBox can't say, no order counts", "ordered", []any{"b", "a"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(5, "10.77.0.5/24", ours)}
			f.records[0].CustomFields[tc.field] = tc.got
			if name == "NotReadable" {
				f.fail["JSONFields"] = kind(netbox.KindUnreachable)
			}
			h := newHarness(f)
			mg := newAddress(named("5"), params(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.CustomFields = map[string]apiextv1.JSON{tc.field: {Raw: []byte(`["a","b"]`)}}
			}))
			o, err := h.connect(t, mg).Observe(t.Context(), mg)
			if err != nil || o.ResourceUpToDate == tc.want {
				t.Errorf("%s: %+v, %v", tc.reason, o, err)
			}
			if asked := slices.Contains(f.calls, "JSONFields"); asked != tc.asks {
				t.Errorf("%s: calls %v", tc.reason, f.calls)
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
