package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestLeaks has each leak that a provider may have be seen, on an emulator with three records of resources and two bare ones.
func TestLeaks(t *testing.T) {
	record := func(address, key string) netbox.Address {
		a := netbox.Address{Address: netip.MustParsePrefix(address)}
		if key != "" {
			a.CustomFields = map[string]any{markerField: "c0ffee/" + key}
		}
		return a
	}
	cases := map[string]struct {
		reason string
		spoil  func(s *netbox.Server, want map[string]string)
		says   string
	}{
		"None":     {"All is as it should be.", func(*netbox.Server, map[string]string) {}, ""},
		"Orphan":   {"A record whose resource is gone.", func(_ *netbox.Server, want map[string]string) { delete(want, "infra/b/2") }, `is no resource's: its marker is "c0ffee/infra/b/2"`},
		"Unmarked": {"A record that nobody can find again.", func(s *netbox.Server, _ map[string]string) { s.AddAddress(record("10.88.0.9/20", "")) }, "10.88.0.9/20, is no resource's"},
		"Bare":     {"One too many of those that carry no marker.", func(s *netbox.Server, _ map[string]string) { s.AddAddress(record("10.90.0.9/20", "")) }, "3 records of 10.90.0.0/20 carry no marker, want 2"},
		"Lost":     {"A resource whose record is gone.", func(s *netbox.Server, _ map[string]string) { s.RemoveAddress(1) }, `resource "infra/a/1" has no record`},
		"Swapped": {"Two resources that say each other's address.", func(_ *netbox.Server, want map[string]string) {
			want["infra/a/1"], want["infra/b/2"] = want["infra/b/2"], want["infra/a/1"]
		}, `says that it has 10.88.0.2/20`},
		"TwiceAddress": {"One address in two records.", func(s *netbox.Server, want map[string]string) {
			s.AddAddress(record("10.88.0.1/20", "infra/d/4"))
			want["infra/d/4"] = "10.88.0.1/20"
		}, "are both 10.88.0.1"},
		"TwiceMarker": {"Two records of one resource.", func(s *netbox.Server, _ map[string]string) { s.AddAddress(record("10.88.0.4/20", "infra/a/1")) }, `both carry "c0ffee/infra/a/1"`},
		"Cluster": {"A record of another cluster.", func(s *netbox.Server, want map[string]string) {
			a := record("10.88.0.4/20", "")
			a.CustomFields = map[string]any{markerField: "decaf/infra/d/4"}
			s.AddAddress(a)
			want["infra/d/4"] = "10.88.0.4/20"
		}, `is of cluster "decaf"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := netbox.New(netbox.Options{})
			s.AddMarkerField(markerField)
			want := map[string]string{"infra/a/1": "10.88.0.1/20", "infra/b/2": "10.88.0.2/20", "infra/c/3": "10.88.0.3/20"}
			for _, key := range []string{"infra/a/1", "infra/b/2", "infra/c/3"} {
				s.AddAddress(record(want[key], key))
			}
			s.AddAddress(record("10.90.0.1/20", ""))
			s.AddAddress(record("10.90.0.2/20", ""))
			tc.spoil(s, want)
			err := leaks(s.Addresses(), want, 2, "10.90.0.0/20")
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s\ngot %v, want %q", tc.reason, err, tc.says)
			}
		})
	}
}
