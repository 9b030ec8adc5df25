package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

func TestCounted(t *testing.T) {
	got, err := counted(strings.NewReader(`# HELP provider_baremetal_observations_total Looks
# TYPE provider_baremetal_observations_total counter
provider_baremetal_observations_total{found="UpToDate",kind="NetBoxIPAddress"} 12345
provider_baremetal_observations_total{found="Different",kind="NetBoxIPAddress"} 3
provider_baremetal_observations_total{found="UpToDate",kind="RedfishHost"} 7
controller_runtime_reconcile_total{controller="managed/netboxipaddress.baremetal.m.crossplane.io",result="success"} 9
`), "NetBoxIPAddress")
	if diff := cmp.Diff(count{"UpToDate": 12345, "Different": 3}, got); err != nil || diff != "" || got.all() != 12348 {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if _, err := counted(strings.NewReader(`provider_baremetal_observations_total{found="UpToDate",kind="NetBoxIPAddress"} many`), "NetBoxIPAddress"); err == nil {
		t.Error("what isn't a number must be an error")
	}
}

func TestOthers(t *testing.T) {
	get := func(path, query string) netbox.Request {
		return netbox.Request{Method: "GET", Path: "/api/" + path, Query: query}
	}
	write := func(method, path string) netbox.Request { return netbox.Request{Method: method, Path: "/api/" + path} }
	page, live := get("ipam/ip-addresses/", "limit=1000"), get("ipam/ip-addresses/7/", "")
	changes := get("core/object-changes/", url.Values{"changed_object_id": {"7"}}.Encode())
	patch := write("PATCH", "ipam/ip-addresses/7/")
	about := map[int64]bool{7: true}
	cases := map[string]struct {
		reason   string
		requests []netbox.Request
		about    map[int64]bool
		want     int
		says     string
	}{
		"Corrected": {"What is about the changed one doesn't count.", []netbox.Request{page, page, live, changes, patch}, about, 2, ""},
		"Nothing":   {"Nobody changed anything.", []netbox.Request{page, get("status/", ""), get("ipam/ip-addresses/8/", "")}, nil, 3, ""},
		"Left":      {"A change that nobody corrected.", []netbox.Request{page, live}, about, 0, "1 changes were corrected by 0 writes"},
		"Twice":     {"One that was corrected again and again.", []netbox.Request{patch, patch}, about, 0, "by 2 writes"},
		"Another":   {"A write to what nobody had changed.", []netbox.Request{patch, write("PATCH", "ipam/ip-addresses/8/")}, about, 0, "PATCH /api/ipam/ip-addresses/8/"},
		"Made":      {"An address that nobody asked for.", []netbox.Request{patch, write("POST", "ipam/prefixes/7/available-ips/")}, about, 0, "wrote to what nobody had changed"},
		"Deleted":   {"The changed one is corrected, not deleted.", []netbox.Request{write("DELETE", "ipam/ip-addresses/7/")}, about, 0, "DELETE"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := others(tc.requests, tc.about)
			if got != tc.want || (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: got %d, %v; want %d, %q", tc.reason, got, err, tc.want, tc.says)
			}
		})
	}
}
