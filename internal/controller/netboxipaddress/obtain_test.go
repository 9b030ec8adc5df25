package netboxipaddress

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func TestCreate(t *testing.T) {
	two := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = append(p.From, from("10.78.0.0/24")...) })
	fixed := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.40/24" })
	inVRF := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.VRF = &v1alpha1.VRFSelector{Name: "prod"} })
	seen := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.200/24", Marker: ours, VRF: &v1alpha1.VRFObservation{ID: 3}}
	}
	restore := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore })
	hidden := func(f *fakeNetBox) { f.fail["Allocate"] = kind(netbox.KindMarkerTaken) }
	cases := map[string]struct {
		reason  string
		fake    func(*fakeNetBox)
		mg      []edit
		policy  []v1alpha1.NetBoxPolicy
		address string
		writes  []string
		trouble xpv2.ConditionReason
	}{
		"Allocated":  {"one POST", nil, nil, nil, "10.77.0.1/24", []string{"Allocate"}, ""},
		"Second":     {"the first source is full", func(f *fakeNetBox) { f.full = []int64{1} }, []edit{two}, nil, "10.78.0.1/24", []string{"Allocate", "Allocate"}, ""},
		"AllFull":    {"all are", func(f *fakeNetBox) { f.full = []int64{1, 2} }, []edit{two}, nil, "", []string{"Allocate", "Allocate"}, "Exhausted"},
		"Fixed":      {"a given address", nil, []edit{fixed}, nil, "10.77.0.40/24", []string{"Create"}, ""},
		"FixedInVRF": {"in a VRF", func(f *fakeNetBox) { f.prefixes[0].VRF = &netbox.VRF{ID: 3, Name: "prod"} }, []edit{fixed, inVRF}, nil, "10.77.0.40/24", []string{"Create"}, ""},
		"FixedRaced": {"which another took between looking and asking", func(f *fakeNetBox) {
			f.fail["Create"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"address"}}
		}, []edit{fixed}, nil, "", []string{"Create"}, "Conflict"},
		"Again":      {"the record is gone: the same address, no other", nil, []edit{named("5"), seen, restore}, nil, "10.77.0.200/24", []string{"Create"}, ""},
		"FirstField": {"the field first", func(f *fakeNetBox) { f.field = netbox.FieldMissing }, nil, nil, "10.77.0.1/24", []string{"CreateMarkerField", "Allocate"}, ""},
		"NoField": {"which the token may not make: nothing is allocated", func(f *fakeNetBox) {
			f.field = netbox.FieldMissing
			f.fail["CreateMarkerField"] = kind(netbox.KindMarkerField)
		}, nil, nil, "", []string{"CreateMarkerField"}, "Invalid"},
		"LostAnswer":  {"made, but the answer was lost: found by marker", func(f *fakeNetBox) { f.lose["Allocate"] = kind(netbox.KindUnknownOutcome) }, nil, nil, "10.77.0.1/24", []string{"Allocate"}, ""},
		"LostRequest": {"not made", func(f *fakeNetBox) { f.fail["Allocate"] = kind(netbox.KindUnknownOutcome) }, nil, nil, "", []string{"Allocate"}, "Unreachable"},
		"Hidden":      {"refused, and nothing to be seen", hidden, nil, nil, "", []string{"Allocate"}, "Conflict"},
		"ReadOnly":    {"a token that may only read", func(f *fakeNetBox) { f.fail["Allocate"] = kind(netbox.KindForbidden) }, nil, nil, "", []string{"Allocate"}, "Forbidden"},
		"ByPolicy":    {"the tenant of the policy", nil, nil, []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Tenant: "a"}}, "10.77.0.1/24", []string{"Allocate"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(tc.mg...)
			h.cfg.Config.Policies = tc.policy
			e := h.connect(t, mg)
			if got, err := e.Observe(t.Context(), mg); err != nil || got.ResourceExists {
				t.Fatalf("%s: observe: %v, %v", tc.reason, got, err)
			}
			_, err := e.Create(t.Context(), mg)
			if reasonOf(err) != tc.trouble {
				t.Fatalf("%s: got %v, want %q", tc.reason, err, tc.trouble)
			}
			if diff := cmp.Diff(tc.writes, f.writes()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.address == "" {
				return
			}
			ip, ferr := f.FindByMarker(t.Context(), ours)
			if ferr != nil || ip.Address.String() != tc.address || meta.GetExternalName(mg) == "" {
				t.Errorf("%s: record %v, %v, external name %q", tc.reason, ip, ferr, meta.GetExternalName(mg))
			}
			if len(tc.policy) > 0 && ip.Tenant != "a" {
				t.Errorf("%s: tenant %q", tc.reason, ip.Tenant)
			}
			if n := len(h.points); n == 0 || h.points[n-1] != "netbox-after-post" {
				t.Errorf("failpoints: %q", h.points)
			}
		})
	}
}

// TestRefusalsAreRemembered: NetBox is not asked to write at each look for what it has just refused.
func TestRefusalsAreRemembered(t *testing.T) {
	f := newFake()
	f.fail["Allocate"] = kind(netbox.KindForbidden)
	h, mg := newHarness(f), newAddress()
	try := func() (xpv2.ConditionReason, int) {
		before := len(f.writes())
		e := h.connect(t, mg)
		_, err := e.Observe(t.Context(), mg)
		if err == nil {
			_, err = e.Create(t.Context(), mg)
		}
		return reasonOf(err), len(f.writes()) - before
	}
	steps := []struct {
		why    string
		before func()
		writes int
		want   xpv2.ConditionReason
	}{
		{"the first try asks", func() {}, 1, "Forbidden"},
		{"the next one doesn't, and says the same", func() { h.now = h.now.Add(time.Second) }, 0, "Forbidden"},
		{"after a while it does", func() { h.now = h.now.Add(retryAfter) }, 1, "Forbidden"},
		{"a new Secret is tried at once", func() { h.cfg.SecretVersion = "2" }, 1, "Forbidden"},
		{"so is a new spec", func() { mg.Generation++ }, 1, "Forbidden"},
		{"so is a new config", func() { h.cfg.Generation++; delete(f.fail, "Allocate") }, 1, ""},
	}
	for _, s := range steps {
		s.before()
		got, writes := try()
		if got != s.want || writes != s.writes {
			t.Errorf("%s: %q with %d writes, want %q with %d", s.why, got, writes, s.want, s.writes)
		}
	}
}

// TestFullHeals: a full prefix is asked by reading, and tried again once it shows room.
func TestFullHeals(t *testing.T) {
	f := newFake()
	f.full = []int64{1}
	h, mg := newHarness(f), newAddress()
	e := h.connect(t, mg)
	if _, err := e.Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Create(t.Context(), mg); reasonOf(err) != "Exhausted" {
		t.Fatalf("create: %v", err)
	}
	for range 3 {
		h.now = h.now.Add(time.Hour)
		got, err := h.connect(t, mg).Observe(t.Context(), mg)
		if err != nil || !got.ResourceExists || mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonExhausted {
			t.Errorf("still full, so Create isn't called: %+v, %v", got, err)
		}
	}
	if c := mg.GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonExhausted || c.Message == "" {
		t.Errorf("condition %+v", c)
	}
	h.now = h.now.Add(time.Minute)
	f.fail["Usage"] = kind(netbox.KindUnreachable)
	if _, err := h.connect(t, mg).Observe(t.Context(), mg); reasonOf(err) != "Unreachable" {
		t.Errorf("and down: %v", err)
	}
	delete(f.fail, "Usage")
	f.full = nil
	e = h.connect(t, mg)
	if _, err := e.Observe(t.Context(), mg); err != nil {
		t.Fatalf("room again: %v", err)
	}
	if _, err := e.Create(t.Context(), mg); err != nil || len(f.records) != 1 {
		t.Errorf("create: %v, %v", err, f.records)
	}
	if got := len(f.writes()); got != 2 {
		t.Errorf("%d POSTs, want 2", got)
	}
}

func TestFromWords(t *testing.T) {
	got := fromWords(v1alpha1.NetBoxIPAddressParameters{From: []v1alpha1.AddressSource{
		{Prefix: &v1alpha1.PrefixSource{CIDR: "10.77.0.0/24", VRF: &v1alpha1.VRFSelector{Name: "prod"}}}, {Prefix: &v1alpha1.PrefixSource{ID: new(int64(3))}}, {Range: &v1alpha1.RangeSource{ID: new(int64(1))}},
		{Prefix: &v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Site: "fra1", Tags: []string{"b", "a"}}}}, {Range: &v1alpha1.RangeSource{Start: "10.0.0.9/24"}},
		{Range: &v1alpha1.RangeSource{Filter: &v1alpha1.RangeFilter{Family: v1alpha1.IPv6, VRF: &v1alpha1.VRFSelector{Table: v1alpha1.VRFGlobal}}}},
	}})
	if want := `prefix "10.77.0.0/24" of VRF "prod" and prefix number 3 and range number 1 and a prefix with "site fra1, tag a, tag b" and the range of any table that starts at "10.0.0.9/24" and a range with "family IPv6, global table"`; got != want {
		t.Errorf("got %s", got)
	}
}
