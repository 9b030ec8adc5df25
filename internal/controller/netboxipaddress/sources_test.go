package netboxipaddress

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func fromFilter(f v1alpha1.PrefixFilter) v1alpha1.AddressSource {
	return v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{Filter: &f}}
}

// made lets a resource be observed, made and observed again, and returns what status says of it.
func made(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) v1alpha1.NetBoxIPAddressObservation {
	t.Helper()
	e := h.connect(t, mg)
	o, err := e.Observe(t.Context(), mg)
	if err == nil && !o.ResourceExists {
		_, err = e.Create(t.Context(), mg)
	}
	if err == nil {
		_, err = h.connect(t, mg).Observe(t.Context(), mg)
	}
	if err != nil && reasonOf(err) == "not a trouble" {
		t.Fatal(err)
	}
	return mg.Status.AtProvider
}

// TestSources: the first source that can serve does, and what was passed over is said, and why.
func TestSources(t *testing.T) {
	number := func(id int64, vrf *v1alpha1.VRFSelector) v1alpha1.AddressSource {
		return v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{ID: &id, VRF: vrf}}
	}
	aRange := func(r v1alpha1.RangeSource) v1alpha1.AddressSource { return v1alpha1.AddressSource{Range: &r} }
	all := fromFilter(v1alpha1.PrefixFilter{Tags: []string{"pool"}})
	within77 := []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.0/16"}}}
	cases := map[string]struct {
		reason  string
		fake    func(*fakeNetBox)
		from    []v1alpha1.AddressSource
		length  int32
		policy  []v1alpha1.NetBoxPolicy
		address string
		// said are "source: reason" of those in status.
		said  []string
		ready xpv2.ConditionReason
	}{
		"First":      {"nothing was passed over", nil, from("10.77.0.0/24"), 0, nil, "10.77.0.1/24", nil, "Available"},
		"Filter":     {"the first that a filter finds", nil, []v1alpha1.AddressSource{all}, 0, nil, "10.77.0.1/24", nil, "Available"},
		"FilterNext": {"is full: the next one", func(f *fakeNetBox) { f.full = []int64{1} }, []v1alpha1.AddressSource{all}, 0, nil, "10.78.0.1/24", []string{`prefix "10.77.0.0/24" of the global table: Exhausted`, `prefix "10.78.0.0/24" of the global table: Served`}, "Available"},
		"Container": {"its status isn't one for machines", func(f *fakeNetBox) { f.prefixes[0].Status = "container" }, []v1alpha1.AddressSource{all}, 0, nil, "10.78.0.1/24", []string{
			`prefix "10.77.0.0/24" of the global table: Invalid`, `prefix "10.78.0.0/24" of the global table: Served`,
		}, "Available"},
		"Named":      {"but who names it gets it", func(f *fakeNetBox) { f.prefixes[0].Status = "container" }, from("10.77.0.0/24"), 0, nil, "10.77.0.1/24", nil, "Available"},
		"Utilized":   {"marked as utilized", func(f *fakeNetBox) { f.prefixes[0].Utilized, f.prefixes[1].Status = true, "deprecated" }, []v1alpha1.AddressSource{all}, 0, nil, "", []string{`prefix "10.77.0.0/24" of the global table: Invalid`, `prefix "10.78.0.0/24" of the global table: Invalid`}, "Invalid"},
		"NotAllowed": {"a policy holds for each match, which isn't named", nil, []v1alpha1.AddressSource{all, number(2, nil)}, 0, []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.9.0.0/16"}}}, "", []string{`a prefix with "tag pool": NotAllowed`, "prefix number 2: NotAllowed"}, "NotAllowed"},
		"SomeOf":     {"what's left of the matches", func(f *fakeNetBox) { f.prefixes[0], f.prefixes[1] = f.prefixes[1], f.prefixes[0] }, []v1alpha1.AddressSource{all}, 0, within77, "10.77.0.1/24", nil, "Available"},
		"NoMatch":    {"nothing matches, the next source does", func(f *fakeNetBox) { f.fail["FindPrefixes"] = kind(netbox.KindNotFound) }, append([]v1alpha1.AddressSource{all}, from("10.78.0.0/24")...), 0, nil, "10.78.0.1/24", []string{`a prefix with "tag pool": NotFound`, `prefix "10.78.0.0/24" of the global table: Served`}, "Available"},
		"Nothing":    {"nothing matches at all", func(f *fakeNetBox) { f.fail["FindPrefixes"] = kind(netbox.KindNotFound) }, []v1alpha1.AddressSource{all}, 0, nil, "", []string{`a prefix with "tag pool": NotFound`}, "NotFound"},
		"Range":      {"a range by its number", nil, []v1alpha1.AddressSource{aRange(v1alpha1.RangeSource{ID: new(int64(12))})}, 0, within77, "10.77.0.100/24", nil, "Available"},
		"RangeStart": {"by its start", nil, []v1alpha1.AddressSource{aRange(v1alpha1.RangeSource{Start: "10.77.0.100/24"})}, 0, nil, "10.77.0.100/24", nil, "Available"},
		"RangeFound": {"by a filter", nil, []v1alpha1.AddressSource{aRange(v1alpha1.RangeSource{Filter: &v1alpha1.RangeFilter{Role: "x"}})}, 0, nil, "10.77.0.100/24", nil, "Available"},
		"RangeBeyond": {"a policy must hold for both ends", func(f *fakeNetBox) {
			f.ranges[0].Last = netip.MustParseAddr("10.78.0.3")
			f.ranges[0].Prefix = netip.MustParsePrefix("10.76.0.0/16")
		}, []v1alpha1.AddressSource{aRange(v1alpha1.RangeSource{ID: new(int64(12))})}, 0, within77, "", []string{
			"range number 12: NotAllowed",
		}, "NotAllowed"},
		"RangeStartRefused": {"nor is it looked for", func(f *fakeNetBox) { f.fail["FindRange"] = kind(netbox.KindUnreachable) }, []v1alpha1.AddressSource{aRange(v1alpha1.RangeSource{Start: "10.78.0.1/24"})}, 0, within77, "", []string{
			`the range of any table that starts at "10.78.0.1/24": NotAllowed`,
		}, "NotAllowed"},
		"OtherVRF": {"a number and another VRF contradict each other", nil, []v1alpha1.AddressSource{number(1, &v1alpha1.VRFSelector{Name: "prod"})}, 0, nil, "", []string{`prefix "10.77.0.0/24" of the global table: Invalid`}, "Invalid"},
		"InTable":  {"a number and its table", nil, []v1alpha1.AddressSource{number(1, &v1alpha1.VRFSelector{Table: v1alpha1.VRFGlobal})}, 0, nil, "10.77.0.1/24", nil, "Available"},
		"Tables":   {"what a filter finds must be in one table", func(f *fakeNetBox) { f.prefixes[0].VRF = &netbox.VRF{ID: 3, Name: "prod"} }, []v1alpha1.AddressSource{all}, 0, nil, "", []string{`a prefix with "tag pool": Ambiguous`}, "Ambiguous"},
		"TablesNext": {"the next source may serve", func(f *fakeNetBox) { f.prefixes[0].VRF = &netbox.VRF{ID: 3, Name: "prod"} }, []v1alpha1.AddressSource{all, number(2, nil)}, 0, nil, "10.78.0.1/24", []string{
			`a prefix with "tag pool": Ambiguous`, `prefix "10.78.0.0/24" of the global table: Served`,
		}, "Available"},
		"TablesSkip": {"what can't serve anyway doesn't count", func(f *fakeNetBox) {
			f.prefixes[0].VRF, f.prefixes[0].Status = &netbox.VRF{ID: 3, Name: "prod"}, "container"
		}, []v1alpha1.AddressSource{all}, 0, nil, "10.78.0.1/24", []string{`prefix "10.77.0.0/24" of VRF "prod": Invalid`, `prefix "10.78.0.0/24" of the global table: Served`}, "Available"},
		"TablesHid": {"nor does what isn't the namespace's", func(f *fakeNetBox) { f.prefixes[1].VRF = &netbox.VRF{ID: 3, Name: "prod"} }, []v1alpha1.AddressSource{all}, 0, within77, "10.77.0.1/24", nil, "Available"},
		"Length":    {"another mask", func(f *fakeNetBox) { f.masks = true }, from("10.77.0.0/24"), 32, nil, "10.77.0.1/32", nil, "Available"},
		"LengthOld": {"NetBoxes that know none are told afterwards", nil, from("10.77.0.0/24"), 32, nil, "10.77.0.1/32", nil, "Available"},
		"TooShort":  {"no mask is shorter than its parent's", nil, from("10.77.0.0/24"), 16, nil, "", []string{`prefix "10.77.0.0/24" of the global table: Invalid`}, "Invalid"},
		"TooLong":   {"nor longer than an address", nil, from("10.77.0.0/24"), 64, nil, "", []string{`prefix "10.77.0.0/24" of the global table: Invalid`}, "Invalid"},
		"Gone":      {"deleted since it was found", func(f *fakeNetBox) { f.fail["Allocate"] = kind(netbox.KindNotFound) }, from("10.77.0.0/24"), 0, nil, "", nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tc.fake != nil {
				tc.fake(f)
			}
			h := newHarness(f)
			h.cfg.Config.Policies = tc.policy
			mg := newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.PrefixLength = tc.from, tc.length }))
			got := made(t, h, mg)
			if got.Address != tc.address {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Address, tc.address)
			}
			var said []string
			for _, s := range got.Sources {
				said = append(said, s.Source+": "+s.Reason)
			}
			if diff := cmp.Diff(tc.said, said); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if c := mg.GetCondition(xpv2.TypeReady); c.Reason != tc.ready {
				t.Errorf("%s: condition %+v, want %q", tc.reason, c, tc.ready)
			}
			if strings.HasPrefix(name, "Range") && tc.address != "" && (got.Prefix != nil || got.Range == nil || got.Range.End != "10.77.0.109/24") {
				t.Errorf("%s: prefix %v, range %v", tc.reason, got.Prefix, got.Range)
			}
		})
	}
}

// TestFamilies: a source of another family than the one that is asked for is passed over, and said; so is a /0, whose mask NetBox takes on no address.
func TestFamilies(t *testing.T) {
	number := func(id int64) v1alpha1.AddressSource {
		return v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{ID: &id}}
	}
	for name, tc := range map[string]struct {
		reason  string
		family  v1alpha1.IPFamily
		from    []v1alpha1.AddressSource
		address string
		says    string
	}{
		"Other":   {"the family of a number is NetBox's to say", v1alpha1.IPv6, []v1alpha1.AddressSource{number(1)}, "", `family is IPv6, of which prefix "10.77.0.0/24" of the global table has no address: name a source of that family`},
		"Next":    {"the next source may be of it", v1alpha1.IPv6, []v1alpha1.AddressSource{number(1), number(3)}, "2001:db8::1/64", ""},
		"Same":    {"one that is of it serves", v1alpha1.IPv4, []v1alpha1.AddressSource{number(1)}, "10.77.0.1/24", ""},
		"Either":  {"where none is asked for, each does", "", []v1alpha1.AddressSource{number(3)}, "2001:db8::1/64", ""},
		"Zero":    {"NetBox makes no address with /0", "", []v1alpha1.AddressSource{number(4)}, "", `prefix "0.0.0.0/0" of the global table gives its addresses the mask /0, which NetBox takes on none: name a prefix inside it`},
		"NotZero": {"and another source may serve", "", []v1alpha1.AddressSource{number(4), number(1)}, "10.77.0.1/24", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.prefixes = append(f.prefixes, inPrefix(3, "2001:db8::/64"), inPrefix(4, "0.0.0.0/0"))
			mg := newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Family = tc.from, tc.family }))
			if got := made(t, newHarness(f), mg); got.Address != tc.address {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Address, tc.address)
			}
			if c := mg.GetCondition(xpv2.TypeReady); !strings.Contains(c.Message, tc.says) || tc.says != "" && c.Reason != v1alpha1.ReasonInvalid {
				t.Errorf("%s: condition %+v", tc.reason, c)
			}
			if tc.address == "" && len(f.writes()) > 0 {
				t.Errorf("%s: NetBox was written to: %v", tc.reason, f.writes())
			}
		})
	}
}

// TestMaskFound: a record whose mask isn't the wanted one is corrected, whoever changed it, and another address is never written.
func TestMaskFound(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
	h := newHarness(f)
	mg := newAddress(named("5"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.PrefixLength = 32 }))
	e := h.connect(t, mg)
	o, err := e.Observe(t.Context(), mg)
	if err != nil || o.ResourceUpToDate || o.Diff != "address" {
		t.Fatalf("observe: %+v, %v", o, err)
	}
	if _, err := e.Update(t.Context(), mg); err != nil || f.records[0].Address.String() != "10.77.0.11/32" {
		t.Errorf("update: %v, %v", err, f.records)
	}
	if o, err := h.connect(t, mg).Observe(t.Context(), mg); err != nil || !o.ResourceUpToDate {
		t.Errorf("once is enough: %+v, %v", o, err)
	}
	for in, want := range map[string]string{"10.77.0.40/32": "10.77.0.40/32", "10.77.0.40/24": "", "10.77.0.41/32": ""} {
		got := maskOf(v1alpha1.NetBoxIPAddressParameters{Address: in}, netip.MustParsePrefix("10.77.0.40/24"))
		if (got == nil) != (want == "") || (got != nil && *got != want) {
			t.Errorf("%s: %v", in, got)
		}
	}
}

// TestExhausted: a resource whose sources are all full says so with numbers, is asked for nothing, and goes on when there's room.
func TestExhausted(t *testing.T) {
	f := newFake()
	f.full = []int64{1, 12}
	h := newHarness(f)
	mg := newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.From = append(from("10.77.0.0/24"), v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{ID: new(int64(12))}}, v1alpha1.AddressSource{Range: &v1alpha1.RangeSource{ID: new(int64(99))}})
	}))
	made(t, h, mg)
	const want = `no address is free in prefix "10.77.0.0/24" of the global table (254 of 254 used) and range "10.77.0.100-10.77.0.109/24" of the global table (10 of 10 used) (1 that can't serve anyway are in status.atProvider.sources): free one in NetBox`
	if _, err := h.connect(t, mg).Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	for _, is := range []xpv2.ConditionType{xpv2.TypeReady, v1alpha1.ConditionExhausted} {
		if c := mg.GetCondition(is); c.Reason != v1alpha1.ReasonExhausted || !strings.HasPrefix(c.Message, want) {
			t.Errorf("%s: %+v", is, c)
		}
	}
	if c := mg.GetCondition(v1alpha1.ConditionExhausted); c.Status != corev1.ConditionTrue {
		t.Errorf("Exhausted: %+v", c)
	}
	got := mg.Status.AtProvider
	if len(got.Sources) != 3 || *got.Sources[0].Used != 254 || *got.Sources[0].Free != 0 || got.Sources[0].PrefixID != 1 || got.Sources[1].RangeID != 12 || *got.Sources[1].Size != 10 || got.Sources[2].Reason != "NotFound" {
		t.Errorf("sources %+v", got.Sources)
	}
	f.full, f.calls = nil, nil
	h.now = h.now.Add(fullStale)
	if got = made(t, h, mg); got.Address == "" || !served(got.Sources) && got.Sources != nil || meta.GetExternalName(mg) == "" {
		t.Errorf("room again: %+v, calls %v", got, f.calls)
	}
	if c := mg.GetCondition(v1alpha1.ConditionExhausted); c.Status != corev1.ConditionFalse || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("conditions %+v", mg.Status.Conditions)
	}
}
