package netboxipaddress

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestGiven: a fixed address is in the table of the prefix that holds it, and nobody else's but where that's asked for.
func TestGiven(t *testing.T) {
	type change = func(*v1alpha1.NetBoxIPAddressParameters)
	prod := &netbox.VRF{ID: 3, Name: "prod"}
	held := func(marker, role string) func(*fakeNetBox) {
		return func(f *fakeNetBox) {
			ip := record(9, "10.77.0.40/25", marker)
			ip.Role, ip.URL = role, "https://n/api/ipam/ip-addresses/9/"
			f.records = []netbox.IPAddress{ip}
		}
	}
	unique := func(f *fakeNetBox) { held("", "")(f); f.loose = false }
	cases := map[string]struct {
		reason  string
		fake    func(*fakeNetBox)
		change  change
		vrf     int64
		trouble xpv2.ConditionReason
		says    string
		writes  string
	}{
		"Global":    {"the prefix is in the global table", nil, nil, 0, "", "", "Create"},
		"InVRF":     {"the prefix is in a VRF: so is the address", func(f *fakeNetBox) { f.prefixes[0].VRF = prod }, nil, 3, "", "", "Create"},
		"Outside":   {"no prefix holds it", func(f *fakeNetBox) { f.prefixes = nil }, nil, 0, "Invalid", `"10.77.0.40" is outside any prefix: create`, ""},
		"NotGlobal": {"none of the global table does", func(f *fakeNetBox) { f.prefixes[0].VRF = prod }, func(p *v1alpha1.NetBoxIPAddressParameters) { p.VRF = &v1alpha1.VRFSelector{Table: v1alpha1.VRFGlobal} }, 0, "Invalid", "outside any prefix of the global table", ""},
		"NotOfVRF":  {"none of that VRF does", nil, func(p *v1alpha1.NetBoxIPAddressParameters) { p.VRF = &v1alpha1.VRFSelector{Name: "prod"} }, 0, "Invalid", `outside any prefix of VRF "prod"`, ""},
		"NoVRF":     {"there's no such VRF", nil, func(p *v1alpha1.NetBoxIPAddressParameters) { p.VRF = &v1alpha1.VRFSelector{Name: "x"} }, 0, "NotFound", "", ""},
		"NoVRFNo":   {"nor one of that number", nil, func(p *v1alpha1.NetBoxIPAddressParameters) { p.VRF = &v1alpha1.VRFSelector{ID: new(int64(99))} }, 0, "NotFound", "", ""},
		"NoTable":   {"a table that names none isn't any", nil, func(p *v1alpha1.NetBoxIPAddressParameters) { p.VRF = &v1alpha1.VRFSelector{Name: ""} }, 0, "Invalid", "a vrf must be named by table, name, rd or id", ""},
		"TwoTables": {"several tables hold it", func(f *fakeNetBox) { f.fail["FindAround"] = kind(netbox.KindAmbiguous) }, nil, 0, "Ambiguous", "", ""},
		"Refused":   {"a person has it", held("", ""), nil, 0, "Conflict", "another record's in NetBox (record 9 of somebody else: https://n/api/ipam/ip-addresses/9/)", ""},
		"Ours":      {"another resource has it", held("c1/team-b/x/y", "vip"), func(p *v1alpha1.NetBoxIPAddressParameters) { p.Role = new("vip") }, 0, "Conflict", "of another resource of this cluster", ""},
		"Cluster":   {"another cluster has it", held("c2/team-b/x/y", ""), nil, 0, "Conflict", "of another cluster", ""},
		"Assigned":  {"it's on a machine", func(f *fakeNetBox) { held("", "")(f); f.records[0].Assigned, f.records[0].URL = on("db-1"), "" }, nil, 0, "Conflict", `another record's in NetBox (record 9 of somebody else, on interface "eno1" of device "db-1"): ask`, ""},
		"Populated": {"a range is full of what NetBox doesn't know", func(f *fakeNetBox) {
			f.fail["Create"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
			f.ranges = []netbox.Parent{inRange(12, "10.77.0.30/24", "10.77.0.50/24")}
			f.ranges[0].Populated = true
		}, nil, 0, "Conflict", `it is inside range "10.77.0.30-10.77.0.50/24" of the global table, which is marked as populated`, "Create"},
		"HiddenTaken": {"the token doesn't see who has it", func(f *fakeNetBox) {
			f.fail["Create"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
		}, nil, 0, "Conflict", `NetBox doesn't take address "10.77.0.40/24": another record has it that the token may not see, or it is inside a range`, "Create"},
		"Shared":      {"both may share it", held("", "vip"), func(p *v1alpha1.NetBoxIPAddressParameters) { p.Role, p.Duplicates = new("anycast"), "SharedRole" }, 0, "", "", "Create"},
		"NotShared":   {"the other's role isn't one to share", held("", "loopback"), func(p *v1alpha1.NetBoxIPAddressParameters) { p.Role, p.Duplicates = new("vip"), "SharedRole" }, 0, "Conflict", "each record of it must have a role that addresses share", ""},
		"Allowed":     {"whatever NetBox takes", held("", ""), func(p *v1alpha1.NetBoxIPAddressParameters) { p.Duplicates = "Allow" }, 0, "", "", "Create"},
		"NotTaken":    {"and it doesn't take it", unique, func(p *v1alpha1.NetBoxIPAddressParameters) { p.Duplicates = "Allow" }, 0, "Conflict", "another record's", "Create"},
		"OtherTable":  {"the same address in another table is another", func(f *fakeNetBox) { held("", "")(f); f.records[0].VRF = prod }, nil, 0, "", "", "Create"},
		"HostUnknown": {"who has it can't be asked", func(f *fakeNetBox) { f.fail["FindHost"] = kind(netbox.KindUnreachable) }, nil, 0, "Unreachable", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.loose = true
			if tc.fake != nil {
				tc.fake(f)
			}
			mg := newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.From, p.Address = nil, "10.77.0.40/24"
				if tc.change != nil {
					tc.change(p)
				}
			}))
			e := newHarness(f).connect(t, mg)
			o, err := e.Observe(t.Context(), mg)
			if err == nil && !o.ResourceExists {
				_, err = e.Create(t.Context(), mg)
			}
			c := mg.GetCondition(xpv2.TypeReady)
			if err != nil {
				c.Reason, c.Message = reasonOf(err), err.Error()
			}
			if c.Reason != tc.trouble || !strings.Contains(c.Message, tc.says) {
				t.Fatalf("%s: got %q %q, want %q with %q", tc.reason, c.Reason, c.Message, tc.trouble, tc.says)
			}
			if got := strings.Join(f.writes(), " "); got != tc.writes {
				t.Errorf("%s: writes %q, want %q", tc.reason, got, tc.writes)
			}
			if tc.trouble != "" {
				return
			}
			ip, err := f.FindByMarker(t.Context(), ours)
			if err != nil || (ip.VRF != nil) != (tc.vrf != 0) || (ip.VRF != nil && ip.VRF.ID != tc.vrf) {
				t.Errorf("%s: %+v, %v, want VRF %d", tc.reason, ip, err, tc.vrf)
			}
		})
	}
}
