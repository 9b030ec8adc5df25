package netbox_test

import (
	"bytes"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// example reads the addresses of a file of examples/netbox.
func example(t *testing.T, name string) []*v1alpha1.NetBoxIPAddress {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "netbox", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []*v1alpha1.NetBoxIPAddress
	for doc := range bytes.SplitSeq(b, []byte("\n---\n")) {
		mg := &v1alpha1.NetBoxIPAddress{}
		if err := yaml.UnmarshalStrict(doc, mg); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, mg)
	}
	return out
}

// as gives a resource another one's wish, with what the API server fills in.
func as(other *v1alpha1.NetBoxIPAddress) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		other.Spec.ForProvider.DeepCopyInto(&mg.Spec.ForProvider)
		mg.Spec.ForProvider.Status = "active"
	}
}

// TestSourceExamples applies the examples of sources and fixed addresses to each version.
func TestSourceExamples(t *testing.T) {
	want := map[string]string{
		"server-ipv4": "10.77.1.1/24", "server-ipv6": "2001:db8:77::1/128", "from-range": "10.77.9.100/24",
		"loopback-a": "10.77.10.32/32", "loopback-b": "10.77.2.1/32",
		"fixed-in-vrf": "10.78.0.40/24 prod", "anycast-a": "10.77.2.53/24", "anycast-b": "10.77.2.53/24",
		"from-prefix-number": "10.77.12.1/24", "from-range-number": "10.77.12.100/24", "server-in-vrf": "10.78.0.1/24 prod", "in-vrf-by-rd": "10.78.0.2/24 prod",
		"in-vrf-by-number": "10.78.0.1/24 dup", "fixed-global": "10.77.2.77/24", "pool-alone": "10.77.11.0/32", "pool-next": "10.77.11.1/29",
		"link-ipv4-a": "10.77.10.0/31", "link-ipv4-b": "10.77.10.1/31", "link-ipv6-a": "2001:db8:77:1::/127", "link-ipv6-b": "2001:db8:77:1::1/127",
		"twice-a": "10.78.0.60/24 dup", "twice-b": "10.78.0.60/24 dup", "past-utilized": "10.77.13.129/25", "from-utilized": "10.77.13.1/25",
	}
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddExampleWorld()
			got, want := map[string]string{}, maps.Clone(want)
			if v == "4.2.9" { // Which gives nothing of a prefix that is marked as utilized.
				want["from-utilized"] = "10.77.9.1/24"
			}
			for _, file := range []string{"source-filter.yaml", "source-range.yaml", "source-next.yaml", "source-id.yaml", "fixed.yaml", "pools-and-links.yaml", "duplicates.yaml", "source-utilized.yaml"} {
				for _, mg := range example(t, file) {
					l.apply(mg.GetName(), as(mg))
					l.settle(mg.GetName(), ready)
					l.once(mg.GetName())
					is := l.get(mg.GetName())
					got[mg.GetName()] = is.Status.AtProvider.Address
					if vrf := is.Status.AtProvider.VRF; vrf != nil {
						got[mg.GetName()] += " " + vrf.Name
					}
					l.still(is)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			next := l.get("loopback-b").Status.AtProvider.Sources
			if len(next) != 2 || next[0].Reason != "Exhausted" || *next[0].Used != 1 || next[1].Reason != "Served" {
				t.Errorf("what was passed over: %+v", next)
			}
			if r := l.get("from-range").Status.AtProvider.Range; r == nil || r.End != "10.77.9.120/24" {
				t.Errorf("range: %+v", r)
			}
		})
	}
}

// TestBadSources: each is one sentence on the resource, and NetBox is asked to write nothing.
func TestBadSources(t *testing.T) {
	filter := func(f v1alpha1.PrefixFilter) []v1alpha1.AddressSource {
		return []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{Filter: &f}}}
	}
	fixed := func(address string, vrf *v1alpha1.VRFSelector) v1alpha1.NetBoxIPAddressParameters {
		return v1alpha1.NetBoxIPAddressParameters{Address: address, VRF: vrf}
	}
	from := func(f []v1alpha1.AddressSource) v1alpha1.NetBoxIPAddressParameters {
		return v1alpha1.NetBoxIPAddressParameters{From: f}
	}
	prefix := func(cidr string, vrf *v1alpha1.VRFSelector) v1alpha1.NetBoxIPAddressParameters {
		return from([]v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: cidr, VRF: vrf}}})
	}
	global, prod := &v1alpha1.VRFSelector{Table: v1alpha1.VRFGlobal}, &v1alpha1.VRFSelector{Name: "prod"}
	v4 := prefix("10.77.1.0/24", nil)
	v4.PrefixLength = 64
	named := prefix("10.77.1.0/24", nil)
	named.DNSName = new("web-1.evil.example")
	cases := map[string]struct {
		in     v1alpha1.NetBoxIPAddressParameters
		reason xpv2.ConditionReason
		says   string
	}{
		"no-role":     {from(filter(v1alpha1.PrefixFilter{Role: "nope"})), v1alpha1.ReasonNotFound, `cannot find a prefix with "role nope": NetBox has no such role, or the token may not see it`},
		"no-tag":      {from(filter(v1alpha1.PrefixFilter{Tags: []string{"kubernetes", "nope"}})), v1alpha1.ReasonNotFound, "NetBox has no such tag"},
		"no-site":     {from(filter(v1alpha1.PrefixFilter{Site: "nope"})), v1alpha1.ReasonNotFound, "NetBox has no such site"},
		"no-field":    {from(filter(v1alpha1.PrefixFilter{CustomFields: map[string]string{"nope": "x"}})), v1alpha1.ReasonNotFound, `cannot find a prefix with "custom field nope=x": NetBox has no custom field "nope" for a prefix`},
		"no-match":    {from(filter(v1alpha1.PrefixFilter{Role: "management", Family: v1alpha1.IPv6})), v1alpha1.ReasonNotFound, `cannot find a prefix with "role management, family IPv6": NetBox has none`},
		"no-vrf":      {from(filter(v1alpha1.PrefixFilter{VRF: &v1alpha1.VRFSelector{Name: "nope"}})), v1alpha1.ReasonNotFound, `cannot find a prefix with "VRF nope": NetBox has no such VRF`},
		"no-rd":       {from(filter(v1alpha1.PrefixFilter{VRF: &v1alpha1.VRFSelector{RD: "65000:9"}})), v1alpha1.ReasonNotFound, "NetBox has no such VRF"},
		"no-vrf-id":   {fixed("10.77.1.9/24", &v1alpha1.VRFSelector{ID: new(int64(99))}), v1alpha1.ReasonNotFound, `cannot find the VRF number "99": NetBox has none`},
		"many-tables": {from(filter(v1alpha1.PrefixFilter{Role: "servers"})), v1alpha1.ReasonAmbiguous, `what it finds is not in one table: it is in the global table and in VRF "prod": say vrf.table: Global, or name the VRF`},
		"other-vrf":   {prefix("10.77.1.0/24", prod), v1alpha1.ReasonNotFound, `cannot find in VRF "prod" the prefix "10.77.1.0/24": it is in the global table, not there`},
		"two-tables":  {prefix("10.78.0.0/24", nil), v1alpha1.ReasonAmbiguous, `it is in VRF "prod" and in VRF "dup": name the VRF by its name, rd or id`},
		"not-global":  {prefix("10.78.0.0/24", global), v1alpha1.ReasonNotFound, "cannot find in the global table the prefix"},
		"no-range":    {from([]v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{Start: "10.77.9.99/24"}}}), v1alpha1.ReasonNotFound, `cannot find the range that starts at "10.77.9.99/24"`},
		"wrong-mask":  {v4, v1alpha1.ReasonInvalid, "prefixLength 64 is longer than an address of prefix"},
		"outside":     {fixed("192.168.0.1/24", nil), v1alpha1.ReasonInvalid, `address "192.168.0.1" is outside any prefix`},
		"outside-vrf": {fixed("10.77.1.9/24", prod), v1alpha1.ReasonInvalid, `outside any prefix of VRF "prod" (it is inside one of the global table)`},
		"ambiguous":   {fixed("10.78.0.9/24", nil), v1alpha1.ReasonAmbiguous, ": name the VRF by its name, rd or id"},
		"taken":       {fixed("10.77.1.77/24", nil), v1alpha1.ReasonConflict, "another record's in NetBox (record 1 of somebody else: http://"},
		"no-zone":     {named, v1alpha1.ReasonNotAllowed, `DNS name "web-1.evil.example" is not allowed`},
		"taken-loose": {fixed("10.78.0.77/24", &v1alpha1.VRFSelector{Name: "dup"}), v1alpha1.ReasonConflict, "another record's in NetBox"},
	}
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.netbox.AddExampleWorld()
	l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.1.77/25")})
	for vrf := range int64(3) {
		l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.78.0.77/24"), VRF: vrf})
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l.config.Config.Policies = nil
			if tc.reason == v1alpha1.ReasonNotAllowed {
				l.config.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, DNSZones: []string{"rack7.example"}}}
			}
			before := l.netbox.Writes()
			l.apply(name, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider = tc.in })
			mg := l.settle(name, because(tc.reason))
			if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, tc.says) {
				t.Errorf("got %q, want %q in it", m, tc.says)
			}
			l.still(mg)
			if l.netbox.Writes() != before {
				t.Error("NetBox was written to")
			}
			t.Log(faultRow("bad input, sources and addresses: "+name, 1, 1))
		})
	}
}

// TestFullNeighbour: an address that somebody frees is given to who waits, and the other sources of the list are tried first.
func TestFullNeighbour(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.netbox.AddCIDR("10.79.0.0/31")
	two := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.79.0.0/31"}}}
	}
	for _, name := range []string{"web-1", "web-2"} {
		l.apply(name, two)
		l.settle(name, ready)
	}
	l.apply("web-3", two)
	mg := l.settle("web-3", because(v1alpha1.ReasonExhausted))
	if m := mg.GetCondition(v1alpha1.ConditionExhausted).Message; !strings.Contains(m, `prefix "10.79.0.0/31" of the global table (2 of 2 used)`) {
		t.Errorf("Exhausted: %q", m)
	}
	posts := l.posts()
	for range 20 {
		l.once("web-3")
	}
	if l.posts() != posts {
		t.Errorf("%d POSTs to a full prefix", l.posts()-posts)
	}
	l.remove()
	l.settle("web-1", gone)
	l.now = l.now.Add(20e9)
	l.settle("web-3", ready)
}
