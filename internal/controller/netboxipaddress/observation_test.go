package netboxipaddress

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func TestObservation(t *testing.T) {
	ip := netbox.IPAddress{
		ID: 4711, URL: "http://n/api/ipam/ip-addresses/4711/", Address: netip.MustParsePrefix("10.77.0.11/24"), VRF: &netbox.VRF{ID: 3, Name: "prod"},
		Status: "active", DNSName: "web-1.example", LastUpdated: "2026-11-21T03:10:50Z", Description: "by hand",
		Comments: "are long, and aren't shown", Role: "vip", Tenant: "team-a", Tags: []string{"human"},
	}
	prefix := &v1alpha1.PrefixObservation{ID: 3, CIDR: "10.77.0.0/24"}
	want := v1alpha1.NetBoxIPAddressObservation{
		ID: 4711, URL: ip.URL, Address: "10.77.0.11/24", Family: v1alpha1.IPv4, Prefix: prefix,
		VRF: &v1alpha1.VRFObservation{ID: 3, Name: "prod"}, Status: "active", DNSName: "web-1.example", LastUpdated: "2026-11-21T03:10:50Z",
		Description: "by hand", Role: "vip", Tenant: "team-a", Tags: []string{"human"},
	}
	if d := cmp.Diff(want, observation(ip, prefix)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	six := observation(netbox.IPAddress{ID: 1, Address: netip.MustParsePrefix("2001:db8::1/64")}, nil)
	if six.Family != v1alpha1.IPv6 || six.VRF != nil {
		t.Errorf("IPv6: %+v", six)
	}
}

// TestDetails: what is published of an address is only what may be used.
func TestDetails(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, address string
		ready           xpv2.Condition
		want            managed.ConnectionDetails
	}{
		"Ready":    {"with and without its mask", "10.77.0.11/24", xpv2.Available(), managed.ConnectionDetails{"address": []byte("10.77.0.11"), "cidr": []byte("10.77.0.11/24")}},
		"IPv6":     {"of IPv6, too", "2001:db8::11/64", xpv2.Available(), managed.ConnectionDetails{"address": []byte("2001:db8::11"), "cidr": []byte("2001:db8::11/64")}},
		"NotReady": {"it isn't where it is to be yet, or isn't its own any more", "10.77.0.11/24", xpv2.Unavailable(), nil},
		"None":     {"there's none", "", xpv2.Available(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			mg := newAddress()
			mg.Status.AtProvider.Address = tc.address
			mg.SetConditions(tc.ready)
			if diff := cmp.Diff(tc.want, details(mg)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestShownFields: custom fields are shown as the spec has them, without ours, empty ones and long ones.
func TestShownFields(t *testing.T) {
	ip := netbox.IPAddress{Address: netip.MustParsePrefix("10.77.0.11/24"), CustomFields: map[string]any{
		testField: ours, "purpose": "web", "n": 5.0, "none": nil, "empty": "", "long": strings.Repeat("x", longestValue),
		"zone": map[string]any{"value": "a", "label": "A"}, "site": map[string]any{"id": 1.0, "url": "u"}, "sites": []any{map[string]any{"id": 2.0, "url": "u"}},
	}}
	got := map[string]string{}
	for name, v := range observation(ip, nil, testField, "crossplane_released").CustomFields {
		got[name] = string(v.Raw)
	}
	want := map[string]string{"purpose": `"web"`, "n": "5", "zone": `"a"`, "site": "1", "sites": "[2]"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for i := range 2 * mostFields {
		ip.CustomFields[fmt.Sprint("f", i)] = true
	}
	if n := len(observation(ip, nil).CustomFields); n != mostFields {
		t.Errorf("%d fields are shown", n)
	}
}

func TestPrefixOf(t *testing.T) {
	ip := netbox.IPAddress{Address: netip.MustParsePrefix("10.77.0.11/24")}
	inVRF := netbox.IPAddress{Address: ip.Address, VRF: &netbox.VRF{ID: 3}}
	sources := []netbox.Parent{inPrefix(1, "10.78.0.0/24"), inPrefix(2, "10.77.0.0/24"), inPrefix(3, "10.77.0.0/24")}
	sources[1].VRF = &netbox.VRF{ID: 3}
	before := &v1alpha1.PrefixObservation{ID: 9, CIDR: "10.77.0.0/16"}
	cases := map[string]struct {
		reason  string
		sources []netbox.Parent
		before  *v1alpha1.PrefixObservation
		ip      netbox.IPAddress
		want    *v1alpha1.PrefixObservation
	}{
		"First":    {"the source that holds it, in its table", sources, nil, ip, &v1alpha1.PrefixObservation{ID: 3, CIDR: "10.77.0.0/24"}},
		"InVRF":    {"the same in a VRF", sources, nil, inVRF, &v1alpha1.PrefixObservation{ID: 2, CIDR: "10.77.0.0/24"}},
		"Before":   {"what was said stays", sources, before, ip, before},
		"NotAgain": {"unless it can't be", sources, &v1alpha1.PrefixObservation{ID: 9, CIDR: "10.1.0.0/16"}, ip, &v1alpha1.PrefixObservation{ID: 3, CIDR: "10.77.0.0/24"}},
		"None":     {"nothing fits", sources[:1], nil, ip, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, prefixOf(tc.sources, tc.before, tc.ip)); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

func TestVRFRef(t *testing.T) {
	cases := map[string]struct {
		in   *v1alpha1.VRFSelector
		want netbox.VRFRef
	}{
		"Any":    {nil, netbox.VRFRef{}},
		"Global": {&v1alpha1.VRFSelector{Table: v1alpha1.VRFGlobal}, netbox.VRFRef{Global: true}},
		"Name":   {&v1alpha1.VRFSelector{Name: "prod"}, netbox.VRFRef{Name: "prod"}},
		"RD":     {&v1alpha1.VRFSelector{RD: "65000:1"}, netbox.VRFRef{RD: "65000:1"}},
		"ID":     {&v1alpha1.VRFSelector{ID: new(int64(3))}, netbox.VRFRef{ID: 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := vrfRef(tc.in); got != tc.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}
