package netboxipaddress

import (
	"net/netip"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func TestEdgeOf(t *testing.T) {
	for address, want := range map[string]string{
		"10.77.0.0/24": "network", "10.77.0.255/24": "broadcast", "10.77.0.1/24": "", "10.77.0.0/31": "", "10.77.0.1/31": "", "10.77.0.0/32": "",
		"255.255.255.255/24": "broadcast", "2001:db8::/64": "network", "2001:db8::ffff:ffff:ffff:ffff/64": "", "2001:db8::/127": "", "2001:db8::/128": "",
		"10.77.0.128/24": "", "10.77.0.128/25": "network", "nonsense": "",
	} {
		if got := edgeText(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	if edgeOf(netip.Prefix{}) != "" {
		t.Error("no address is one of a network's own")
	}
}

// TestEdge: an address that is to be on an interface is never its network's own: another source gives one, or it's said.
func TestEdge(t *testing.T) {
	const at = `interface "eno1" of device "r7-u12"`
	pool := func(f *fakeNetBox) { f.prefixes[0].Pool = true }
	next := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = append(p.From, from("10.78.0.0/24")...) })
	cases := map[string]struct {
		reason  string
		fake    func(*fakeNetBox)
		mg      []edit
		address string
		on      string
		writes  []string
		want    xpv2.ConditionReason
		text    string
	}{
		"Pool": {
			reason: "a pool begins with its network address", fake: pool, writes: []string{"Allocate"}, want: "Invalid",
			text: `the next free address of prefix "10.77.0.0/24" of the global table is "10.77.0.0/24", a network address, which NetBox puts on no interface: give it a record of its own in NetBox, ask for prefixLength: 32, or take assignTo out`,
		},
		"Next":  {reason: "another source has one that may be assigned", fake: pool, mg: []edit{next}, address: "10.78.0.1/24", on: at, writes: []string{"Allocate", "Allocate"}},
		"Alone": {reason: "alone it may be assigned, also where NetBox looks at its own mask first", fake: pool, mg: []edit{masked(32)}, address: "10.77.0.0/32", on: at, writes: []string{"Allocate", "Allocate", "Patch", "Patch"}},
		"AloneAtOnce": {
			reason: "and where it doesn't, at once", fake: func(f *fakeNetBox) { pool(f); f.masks = true }, mg: []edit{masked(32)}, address: "10.77.0.0/32", on: at, writes: []string{"Allocate"},
		},
		"Second": {
			reason: "the next one of a pool is as any other", fake: func(f *fakeNetBox) { pool(f); f.records = []netbox.IPAddress{record(9, "10.77.0.0/24", "")} },
			address: "10.77.0.1/24", on: at, writes: []string{"Allocate"},
		},
		"Marked": {
			reason: "what the rule is about is a record of ours", fake: func(f *fakeNetBox) { pool(f); f.lose["Allocate"] = kind(netbox.KindMarkerTaken) }, mg: []edit{unassigned},
			address: "10.77.0.0/24", on: "nothing", writes: []string{"Allocate"},
		},
		"OtherRule": {
			reason: "another rule is against it", fake: func(f *fakeNetBox) { f.fail["Allocate"] = kind(netbox.KindMarkerTaken) }, writes: []string{"Allocate"}, want: "Conflict", text: "shows none",
		},
		"Unassigned":     {reason: "on no interface it's an address as any other", fake: pool, mg: []edit{unassigned}, address: "10.77.0.0/24", on: "nothing", writes: []string{"Allocate"}},
		"Fixed":          {reason: "a given one isn't even asked for", mg: []edit{fixedAt("10.77.0.0/24")}, want: "Invalid", text: `address "10.77.0.0/24" is a network address, which NetBox puts on no interface: take assignTo out, or ask for another address, or for it as "10.77.0.0/32"`},
		"FixedBroadcast": {reason: "nor the last one", mg: []edit{fixedAt("10.77.0.255/24")}, want: "Invalid", text: `"10.77.0.255/24" is a broadcast address`},
		"FixedAlone":     {reason: "but alone", mg: []edit{fixedAt("10.77.0.0/32")}, address: "10.77.0.0/32", on: at, writes: []string{"Create"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(append([]edit{assignTo(onDevice("r7-u12", "eno1", ""))}, tc.mg...)...)
			err := h.settle(t, mg)
			ready := mg.GetCondition(xpv2.TypeReady)
			if got := reasonOf(err); got != tc.want || (err != nil && !strings.Contains(err.Error(), tc.text)) || (ready.Status == corev1.ConditionTrue) != (tc.want == "") {
				t.Fatalf("%s: %v, Ready %+v; want %q with %q", tc.reason, err, ready, tc.want, tc.text)
			}
			if diff := cmp.Diff(tc.writes, f.writes()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want != "" {
				return
			}
			ip, ferr := f.FindByMarker(t.Context(), ours)
			place := "nothing"
			if ip.Assigned != nil {
				place = ip.Assigned.String()
			}
			if ferr != nil || ip.Address.String() != tc.address || place != tc.on {
				t.Errorf("%s: %s on %s, %v; want %s on %s", tc.reason, ip.Address, place, ferr, tc.address, tc.on)
			}
		})
	}
}

func unassigned(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.AssignTo = nil }

func masked(bits int32) edit {
	return params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.PrefixLength = bits })
}

// TestEdgeLater: an address that is there can't be put on an interface either. It stays its owner's, who is told why.
func TestEdgeLater(t *testing.T) {
	f := newFake()
	f.prefixes[0].Pool = true
	h, mg := newHarness(f), newAddress()
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	mg.Spec.ForProvider.AssignTo = new(onDevice("r7-u12", "eno1", ""))
	mg.Generation++
	err := h.settle(t, mg)
	if reasonOf(err) != "Invalid" || !strings.Contains(err.Error(), `address "10.77.0.0/24" is a network address`) || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("%v, %+v", err, mg.GetCondition(xpv2.TypeReady))
	}
	mg.Spec.ForProvider.PrefixLength = 32
	mg.Generation++
	if err := h.settle(t, mg); err != nil || f.records[0].Assigned == nil || f.records[0].Address.String() != "10.77.0.0/32" {
		t.Errorf("alone it may: %v, %+v", err, f.records[0])
	}
}

// TestAssignBySource: which source may serve depends on what the policies leave to the namespace there, and on the seats.
func TestAssignBySource(t *testing.T) {
	both := params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.From = append(from("10.77.0.0/24"), from("10.78.0.0/24")...)
	})
	mixed := params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.From = append(from("10.77.0.0/24"), from("2001:db8::/64")...)
	})
	ranged := params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.From = append([]v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{ID: new(int64(12))}}}, from("10.78.0.0/24")...)
	})
	policy := func(scope v1alpha1.AssignmentScope, cidrs ...string) v1alpha1.NetBoxPolicy {
		return v1alpha1.NetBoxPolicy{Namespaces: []string{"team-a"}, Prefixes: cidrs, AssignTo: scope}
	}
	sat := func(f *fakeNetBox) {
		f.prefixes = append(f.prefixes, inPrefix(3, "2001:db8::/64"))
		f.rack.holders[0].Seated[netbox.SeatPrimary4] = netbox.Seated{ID: 99, Address: "10.77.0.9/24"}
	}
	for name, tc := range map[string]struct {
		reason  string
		fake    func(*fakeNetBox)
		mg      edit
		to      v1alpha1.Assignment
		policy  []v1alpha1.NetBoxPolicy
		address string
		passed  string
		want    xpv2.ConditionReason
	}{
		"Second": {
			reason: "the first may give addresses, but none to assign", mg: both, to: onDevice("r7-u12", "eno1", ""),
			policy: []v1alpha1.NetBoxPolicy{policy("", "10.77.0.0/24"), policy(v1alpha1.AssignAll, "10.78.0.0/24")}, address: "10.78.0.1/24", passed: "NotAllowed",
		},
		"Neither": {
			reason: "nothing is taken in vain", mg: both, to: onDevice("r7-u12", "eno1", ""), policy: []v1alpha1.NetBoxPolicy{policy("", "10.77.0.0/24"), policy("", "10.78.0.0/24")}, want: "NotAllowed",
		},
		"HomeMade": {
			reason: "its own host counts where all may be assigned", mg: both, to: onHost("", "r7-u13", &v1alpha1.NetBoxInterface{Name: "eno1"}),
			policy: []v1alpha1.NetBoxPolicy{policy(v1alpha1.AssignOwnHosts, "10.77.0.0/24"), policy(v1alpha1.AssignAll, "10.78.0.0/24")}, address: "10.78.0.1/24", passed: "NotAllowed",
		},
		"Ends": {
			reason: "both ends of a range are looked at", mg: ranged, to: onDevice("r7-u12", "eno1", ""), address: "10.78.0.1/24", passed: "NotAllowed",
			policy: []v1alpha1.NetBoxPolicy{policy("", "10.77.0.0/16"), policy(v1alpha1.AssignAll, "10.77.0.0/25"), policy(v1alpha1.AssignAll, "10.78.0.0/24")},
			fake:   func(f *fakeNetBox) { f.ranges = []netbox.Parent{inRange(12, "10.77.0.100/25", "10.77.0.200/25")} },
		},
		"Seat":    {reason: "the seat of the other family is free", fake: sat, mg: mixed, to: onDevice("r7-u12", "eno1", v1alpha1.UsePrimary), address: "2001:db8::1/64", passed: "Conflict"},
		"NoSeats": {reason: "neither is", fake: func(f *fakeNetBox) { sat(f); f.rack.holders[0].Seated[netbox.SeatPrimary6] = netbox.Seated{ID: 98} }, mg: mixed, to: onDevice("r7-u12", "eno1", v1alpha1.UsePrimary), want: "Conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(tc.mg, assignTo(tc.to))
			h.cfg.Config.Policies = tc.policy
			if err := h.settle(t, mg); reasonOf(err) != tc.want {
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.want)
			}
			if tc.want != "" {
				if len(f.writes()) != 0 {
					t.Errorf("%s: %v", tc.reason, f.writes())
				}
				return
			}
			ip, err := f.FindByMarker(t.Context(), ours)
			if err != nil || ip.Address.String() != tc.address || ip.Assigned == nil || f.writes()[0] != "Allocate" {
				t.Errorf("%s: %+v, %v, %v; want %s, assigned", tc.reason, ip, err, f.writes(), tc.address)
			}
			if s := mg.Status.AtProvider.Sources; len(s) != 2 || s[0].Reason != tc.passed {
				t.Errorf("%s: passed over %+v, want %s", tc.reason, s, tc.passed)
			}
		})
	}
}

// TestReservedFields: what says whose a record is isn't its owner's to write.
func TestReservedFields(t *testing.T) {
	for _, name := range []string{testField, testNote} {
		f := newFake()
		h, mg := newHarness(f), newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.CustomFields = map[string]apiextv1.JSON{name: {Raw: []byte(`"c1/team-b/x/y 1970-01-01T00:00:00Z"`)}}
		}))
		if err := h.settle(t, mg); reasonOf(err) != "Invalid" || !strings.Contains(err.Error(), name) || len(f.writes()) != 0 {
			t.Errorf("%s: %v, %v", name, err, f.writes())
		}
		f.records = []netbox.IPAddress{record(9, "10.77.0.9/24", ours)}
		if err := h.settle(t, mg); reasonOf(err) != "Invalid" || len(f.writes()) != 0 {
			t.Errorf("%s of what is there: %v, %v", name, err, f.writes())
		}
	}
}
