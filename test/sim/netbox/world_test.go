package netbox_test

import (
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A world is the recorded NetBox: what its people made without being recorded comes before the exchange that meets it.
type world struct {
	*netbox.Server

	version string
	now     time.Time
	steps   map[string]func()
	// last is the number of the address that was made last.
	last int64
}

func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func newWorld(t *testing.T, version string) *world {
	t.Helper()
	w := &world{version: version, now: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)}
	w.Server = netbox.New(netbox.Options{Version: version, Now: func() time.Time { return w.now }})
	w.tokens()
	w.steps = map[string]func(){
		"105": func() {
			w.AddChoiceSet(netbox.ChoiceSet{ID: 1, Name: "zones", Choices: []netbox.Choice{{Value: "a", Label: "Zone A"}, {Value: "b", Label: "Zone B"}}})
		},
		"122": w.things, "156": w.machines, "212": w.prefixes, "406": w.ranges,
		"500": func() { w.AddTag(netbox.Named{ID: 4, Name: "human", Slug: "human"}) },
	}
	maps.Copy(w.steps, w.stepsOfRights())
	maps.Copy(w.steps, w.stepsOfAddresses())
	return w
}

// before does what was done up to the exchange of this number and not before.
func (w *world) before(number string) {
	w.now = w.now.Add(time.Millisecond)
	for _, n := range slices.Sorted(maps.Keys(w.steps)) {
		if n <= number && (n[:1] == number[:1] || n < "500") && (n != "627" || number < "634") && (n != "828" || number == n) {
			w.steps[n]()
			delete(w.steps, n)
		}
	}
}

// trouble is that of the recorded server while an exchange was made.
func (w *world) trouble(number string) (over func()) {
	for pattern, kind := range map[string]netbox.FaultKind{
		`^(91[0-6]|92[2-4]|94[0-3])$`: netbox.FaultServerErrorJSON, `^93[0-479]$`: netbox.FaultServerErrorHTML,
	} {
		if regexp.MustCompile(pattern).MatchString(number) {
			return w.Inject(netbox.Fault{Kind: kind, Times: 1})
		}
	}
	return func() {}
}

func (w *world) tokens() {
	for _, name := range []string{"admin", "admin-v1", "admin-readonly", "expired", "disabled", "inactive", "wrong-ip", "nobody", "allocator", "viewer", "scoped"} {
		for _, secret := range []string{"<" + name + "-secret>", "nbt_<" + name + "-secret>.<" + name + "-secret>"} {
			t := netbox.Token{
				Name: strings.TrimSuffix(name, "-v1"), Secret: secret, ReadOnly: name == "admin-readonly", Expired: name == "expired", Disabled: name == "disabled",
			}
			switch name {
			case "inactive":
				t.Refused = "User inactive"
			case "wrong-ip":
				t.Refused = "Source IP 192.0.2.10 is not permitted to authenticate using this token."
			case "nobody", "allocator", "viewer", "scoped":
				t.Rights = []string{}
			}
			w.AddToken(t)
		}
	}
}

func (w *world) things() {
	w.AddTag(netbox.Named{ID: 1, Name: "Managed", Slug: "managed"})
	w.AddTag(netbox.Named{ID: 2, Name: "Rack B", Slug: "rack-b", Color: "ff0000", ObjectTypes: []string{"dcim.device", "ipam.prefix", "ipam.ipaddress"}})
	w.AddTag(netbox.Named{ID: 3, Name: "Only Sites", Slug: "only-sites", ObjectTypes: []string{"dcim.site"}})
	w.AddTenant(netbox.Named{ID: 1, Name: "Tenant A", Slug: "tenant-a"})
	w.AddVRF(netbox.VRF{ID: 1, Name: "prod", RD: "65000:1", EnforceUnique: true})
	w.AddVRF(netbox.VRF{ID: 2, Name: "lab", RD: "65000:2"})
	w.AddVRF(netbox.VRF{ID: 3, Name: "prod", EnforceUnique: true})
	w.AddRole(netbox.Named{ID: 1, Name: "oob", Slug: "oob"})
	w.AddSite(netbox.Named{ID: 1, Name: "AMS1", Slug: "ams1"})
}

func (w *world) machines() {
	for i, name := range []string{"node-1", "node-2", "node-3", "node-4", "node-5", "node-6", "node-7"} {
		m := netbox.Machine{
			Name: name, Site: 1, Type: netbox.Named{ID: 1, Name: "R1", Slug: "r1"}, Maker: netbox.Named{ID: 1, Name: "Acme", Slug: "acme"},
			Role: netbox.Named{ID: 1, Name: "server", Slug: "server"}, Status: []string{"staged", "offline", "active", "planned", "failed", "inventory", "decommissioning"}[i],
		}
		if i == 0 {
			m.Serial, m.AssetTag, m.Position, m.Tags = "SN0001", "A-1", 10, []int64{1}
			m.Rack = netbox.Named{ID: 1, Name: "R01"}
		}
		w.AddMachine(m)
	}
	w.AddInterface(netbox.Interface{ID: 1, Machine: 1, Name: "eth0"}, "52:54:00:00:00:01")
	w.AddInterface(netbox.Interface{ID: 2, Machine: 1, Name: "bmc", Management: true})
	w.AddMAC(netbox.MAC{ID: 2, Address: "52:54:00:00:00:02", Assigned: netbox.Object{Type: "dcim.interface", ID: 2}})
	w.AddInterface(netbox.Interface{ID: 3, Machine: 2, Name: "eth0"})
	w.AddMAC(netbox.MAC{ID: 3, Address: "52:54:00:00:00:01", Assigned: netbox.Object{Type: "dcim.interface", ID: 3}})
	w.AddMAC(netbox.MAC{ID: 4, Address: "00:52:00:54:00:00"})
}

func (w *world) prefixes() {
	for id, p := range map[int64]netbox.Prefix{
		1: {Prefix: cidr("10.10.0.0/24"), Description: "nodes", Site: 1, Role: 1, Tenant: 1, Tags: []int64{1}, CustomFields: map[string]any{"pool_name": "main"}},
		2: {Prefix: cidr("10.10.0.0/24"), VRF: 1, Tags: []int64{1}}, 3: {Prefix: cidr("10.10.0.0/24"), VRF: 2}, 4: {Prefix: cidr("10.10.0.0/24"), VRF: 2},
		5: {Prefix: cidr("10.20.0.0/16"), Status: "container"}, 6: {Prefix: cidr("10.20.0.0/24")}, 7: {Prefix: cidr("10.20.0.0/28")},
		8: {Prefix: cidr("10.30.0.0/31")}, 9: {Prefix: cidr("10.30.0.9/32")}, 10: {Prefix: cidr("10.30.0.16/30")}, 11: {Prefix: cidr("10.30.0.20/30"), IsPool: true},
		12: {Prefix: cidr("10.30.1.0/29"), MarkUtilized: true}, 13: {Prefix: cidr("10.30.2.0/29"), Status: "reserved"},
		14: {Prefix: cidr("10.30.3.0/29"), Status: "deprecated"}, 15: {Prefix: cidr("2001:db8:10::/64")}, 16: {Prefix: cidr("2001:db8:11::/127")},
		17: {Prefix: cidr("2001:db8:12::1/128")}, 18: {Prefix: cidr("10.40.0.0/29")}, 19: {Prefix: cidr("10.41.0.0/24")}, 20: {Prefix: cidr("10.42.0.0/24")},
		21: {Prefix: cidr("10.50.0.0/24"), VRF: 1}, 22: {Prefix: cidr("10.50.0.0/25"), VRF: 1}, 23: {Prefix: cidr("10.60.0.0/24")},
		24: {Prefix: cidr("10.70.0.0/24")}, 25: {Prefix: cidr("10.80.0.0/24")}, 26: {Prefix: cidr("10.90.0.0/24")},
	} {
		p.ID = id
		w.AddPrefix(p)
	}
}

func (w *world) ranges() {
	for id, r := range map[int64]netbox.Range{
		1: {Start: cidr("10.70.0.10/24"), End: cidr("10.70.0.13/24"), CustomFields: map[string]any{"pool_name": "r1"}},
		2: {Start: cidr("10.70.0.1/24"), End: cidr("10.70.0.3/24"), MarkPopulated: w.version != "4.2.9"},
		3: {Start: cidr("10.70.0.100/24"), End: cidr("10.70.0.103/24"), MarkUtilized: true},
		4: {Start: cidr("10.70.0.200/24"), End: cidr("10.70.0.203/24"), Status: "reserved"},
	} {
		r.ID = id
		w.AddRange(r)
	}
}

// stepsOfRights: what the tokens may grew in the course of the recording.
func (w *world) stepsOfRights() map[string]func() {
	allow := func(name string, rights ...string) func() {
		return func() { w.Let(name, func(t *netbox.Token) { t.Rights = append(t.Rights, rights...) }) }
	}
	own := func(a netbox.Address) bool {
		s, _ := a.CustomFields["claim_id"].(string)
		return strings.HasPrefix(s, "cluster-a/")
	}
	return map[string]func(){
		"806": allow("allocator", "view prefix", "view iprange"),
		"808": allow("allocator", "add ipaddress"),
		"813": allow("allocator", "view ipaddress"),
		"819": allow("allocator", "change ipaddress"),
		"821": allow("allocator", "delete ipaddress"),
		"832": func() {
			allow("scoped", "view prefix", "view ipaddress", "add ipaddress", "change ipaddress", "delete ipaddress")()
			w.Let("scoped", func(t *netbox.Token) {
				t.Sees, t.Writes = own, own
				t.SeesPrefix = func(p netbox.Prefix) bool { return p.VRF == 1 || p.VRF == 3 }
			})
		},
		"844": func() {
			allow("viewer", "view prefix", "view ipaddress", "add ipaddress")()
			w.Let("viewer", func(t *netbox.Token) { t.Sees = own })
		},
	}
}
