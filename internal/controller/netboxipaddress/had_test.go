package netboxipaddress

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// seenAs is a resource that has a record, as its status alone says: its annotations were taken off, or never came to be.
func seenAs(id int64) edit {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: id, Address: "10.77.0.11/24"}
		mg.SetConditions(xpv2.Available())
	}
}

// marked says of such a resource that the record is its own, and not only observed.
func marked(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider.Marker = ours }

// TestNoAnnotations: that a resource had a record is known from status, too. It's looked for, and nothing takes its place.
func TestNoAnnotations(t *testing.T) {
	now := func(mg *v1alpha1.NetBoxIPAddress) {
		deleted(mg)
		meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalCreatePending)
	}
	cases := map[string]struct {
		reason  string
		mg      []edit
		records []netbox.IPAddress
		ready   xpv2.ConditionReason
		err     xpv2.ConditionReason
		calls   []string
		exists  bool
	}{
		"There":        {"it's found by its number", []edit{seenAs(5), marked}, []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}, "Available", "", []string{"Get", "FindPrefix"}, true},
		"OnceObserved": {"what was only observed is looked at anew", []edit{seenAs(5)}, []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}, "Available", "", []string{"Get", "FindPrefix", "FindPrefix"}, true},
		"Renumbered":   {"or by its marker", []edit{seenAs(5), marked}, []netbox.IPAddress{record(6, "10.77.0.11/24", ours)}, "Available", "", []string{"Get", "FindByMarker", "FindHost", "FindPrefix"}, true},
		"Gone":         {"somebody deleted it: no other one is taken", []edit{seenAs(5)}, nil, v1alpha1.ReasonLost, "", []string{"Get", "FindByMarker", "Changes", "Hides"}, true},
		"DeletedGone":  {"it's looked for before the resource goes", []edit{seenAs(5), now}, nil, "Available", "", []string{"Get", "FindByMarker", "Hides"}, false},
		"Deleted":      {"and released", []edit{seenAs(5), now}, []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}, "Available", "", []string{"Get"}, true},
		"DeletedDown":  {"also where NetBox is down", []edit{seenAs(0), marked, now, seenAs(5)}, nil, "Available", "", []string{"Get", "FindByMarker", "Hides"}, false},
		"LostMarker":   {"what was ours, and isn't marked any more, isn't replaced", []edit{seenAs(5), marked}, []netbox.IPAddress{record(5, "10.77.0.11/24", "")}, v1alpha1.ReasonConflict, v1alpha1.ReasonConflict, []string{"Get"}, false},
		"Theirs":       {"what never was ours says nothing: it was only observed", []edit{seenAs(5)}, []netbox.IPAddress{record(5, "10.77.0.11/24", theirs)}, "Available", "", []string{"Get", "FindByMarker", "FindPrefix"}, false},
		"Observed":     {"a resource that may only observe names its record", []edit{seenAs(5), managedBy(xpv2.ManagementActionObserve)}, []netbox.IPAddress{record(5, "10.77.0.11/24", theirs)}, v1alpha1.ReasonNotFound, "", []string{"FindByMarker"}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = tc.records
			h, mg := newHarness(f), newAddress(tc.mg...)
			o, err := h.connect(t, mg).Observe(t.Context(), mg)
			if reasonOf(err) != tc.err || o.ResourceExists != tc.exists || mg.GetCondition(xpv2.TypeReady).Reason != tc.ready {
				t.Errorf("%s: %+v, %v, %+v", tc.reason, o, err, mg.GetCondition(xpv2.TypeReady))
			}
			if diff := cmp.Diff(append([]string{"Preflight"}, tc.calls...), f.calls); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWithoutLateInitialize: the number of a record that was found is never kept as the external name. It's glanced at all the same, told
// once, and held when it's lost.
func TestWithoutLateInitialize(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
	h := newHarness(f)
	h.MaxAge = time.Minute
	var got heard
	h.Recorder = &got
	mg := newAddress(managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete))
	meta.SetExternalCreatePending(mg, h.now)
	look := func() {
		t.Helper()
		if err := h.reconcile(t, mg); err != nil {
			t.Fatal(err)
		}
		meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalName)
	}
	look()
	f.seen = f.records
	f.calls = nil
	for range 3 {
		look()
	}
	if diff := cmp.Diff([]string{"Preflight", "Seen", "Preflight", "Seen", "Preflight", "Seen"}, f.calls); diff != "" {
		t.Errorf("steady looks (-want +got):\n%s", diff)
	}
	f.records, f.seen = nil, nil
	look()
	if c := mg.GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonLost || len(f.writes()) != 0 {
		t.Errorf("%+v, writes %v", c, f.writes())
	}
	if n := strings.Count(strings.Join(got, "\n"), "Allocated: "); n != 1 {
		t.Errorf("told %d times: %q", n, got)
	}
}

// TestTwinDeleted: a clone of a resource in another cluster of the same id, or one of before a restore, that's deleted before it ever marked
// its record. Nobody can tell them apart, so the record stays: a living original uses it.
func TestTwinDeleted(t *testing.T) {
	release := func(policy string) edit {
		return params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Release = &v1alpha1.ReleasePolicy{Policy: policy} })
	}
	cases := map[string]struct {
		reason string
		mg     []edit
		goes   bool
	}{
		"Delete":     {"it isn't deleted", nil, false},
		"Quarantine": {"nor taken away", []edit{release(v1alpha1.ReleaseQuarantine)}, false},
		"Keep":       {"what releases nothing goes without it", []edit{release(v1alpha1.ReleaseKeep)}, true},
		"Orphan":     {"also by its management policies", []edit{managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate)}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h := newHarness(f)
			original := newAddress()
			if err := h.settle(t, original); err != nil {
				t.Fatal(err)
			}
			clone := newAddress(append([]edit{named("100"), deleted, func(mg *v1alpha1.NetBoxIPAddress) { mg.UID = "u2" }}, tc.mg...)...)
			f.calls = nil
			for range 3 {
				gone, err := h.deleteOnce(t, clone)
				if gone != tc.goes || !gone && (reasonOf(err) != v1alpha1.ReasonConflict || !strings.Contains(err.Error(), "release.policy: Keep")) {
					t.Errorf("%s: gone %v, %v", tc.reason, gone, err)
				}
			}
			if w := f.writes(); len(w) != 0 || f.records[0].Marker(testField) != ours {
				t.Errorf("%s: writes %v, %+v", tc.reason, w, f.records)
			}
			if err := h.reconcile(t, original); err != nil || original.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
				t.Errorf("the original: %v", err)
			}
			f.records = nil // A person has deleted it.
			if gone, err := h.deleteOnce(t, clone); err != nil || !gone {
				t.Errorf("once the record is gone: %v, %v", gone, err)
			}
		})
	}
}

// TestTwin: two clusters of one id. Each takes its record for its own once, after a restore, and says so; whose it had marked doesn't take it
// back and forth.
func TestTwin(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	original := newAddress()
	if err := h.settle(t, original); err != nil {
		t.Fatal(err)
	}
	clone := newAddress(named("100"), func(mg *v1alpha1.NetBoxIPAddress) { mg.UID = "u2" })
	if err := h.settle(t, clone); err != nil || f.records[0].Marker(testField) != "c1/team-a/web-1/u2" {
		t.Fatalf("as after a restore: %v, %+v", err, f.records)
	}
	if len(h.events) != 1 || !strings.HasPrefix(h.events[0], "TakenOver: record 100 (10.77.0.1/24)") {
		t.Errorf("told %q", h.events)
	}
	f.calls = nil
	for range 3 {
		if err := h.reconcile(t, original); reasonOf(err) != v1alpha1.ReasonConflict || !strings.Contains(err.Error(), "two clusters share an id") {
			t.Errorf("the original: %v", err)
		}
		if err := h.reconcile(t, clone); err != nil {
			t.Errorf("the clone: %v", err)
		}
	}
	if w := f.writes(); len(w) != 0 {
		t.Errorf("they fight: %v", w)
	}
	deleted(original)
	if gone, err := h.deleteOnce(t, original); err != nil || !gone || len(f.records) != 1 {
		t.Errorf("the original goes without it: %v, %v, %+v", gone, err, f.records)
	}
	f.records[0].CustomFields[testField] = nil
	back := newAddress(named("100"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Adopt = v1alpha1.AdoptExternalName }))
	back.Status = *original.Status.DeepCopy()
	if err := h.settle(t, back); err != nil || f.records[0].Marker(testField) != ours || back.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("a person has said whose it is: %v, %+v", err, f.records)
	}
}

// TestUnsourced: an edit of from doesn't move an address that was given, and Ready says so.
func TestUnsourced(t *testing.T) {
	prefix := func(p v1alpha1.PrefixSource) []v1alpha1.AddressSource { return []v1alpha1.AddressSource{{Prefix: &p}} }
	ranged := func(r v1alpha1.RangeSource) []v1alpha1.AddressSource { return []v1alpha1.AddressSource{{Range: &r}} }
	o := v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24"}
	ofPrefix, ofRange := o, o
	ofPrefix.Prefix = &v1alpha1.PrefixObservation{ID: 1, CIDR: "10.77.0.0/24"}
	ofRange.Range = &v1alpha1.RangeObservation{ID: 12, Start: "10.77.0.10/24", End: "10.77.0.19/24"}
	inVRF := ofPrefix
	inVRF.VRF = &v1alpha1.VRFObservation{ID: 3, Name: "prod"}
	cases := map[string]struct {
		reason string
		o      v1alpha1.NetBoxIPAddressObservation
		from   []v1alpha1.AddressSource
		want   string
	}{
		"Same":      {"its prefix", ofPrefix, from("10.77.0.0/24"), ""},
		"Grown":     {"a prefix that holds it", ofPrefix, from("10.77.0.0/16"), ""},
		"Other":     {"another prefix", ofPrefix, from("10.78.0.0/24"), "the address is from prefix 10.77.0.0/24, which spec.forProvider.from doesn't name any more"},
		"OneOf":     {"one of several", ofPrefix, append(from("10.78.0.0/24"), from("10.77.0.0/24")...), ""},
		"Number":    {"its number", ofPrefix, prefix(v1alpha1.PrefixSource{ID: new(int64(1))}), ""},
		"NotNumber": {"another number", ofPrefix, prefix(v1alpha1.PrefixSource{ID: new(int64(2))}), "the address is from prefix"},
		"Filter":    {"what a filter finds isn't known here", ofPrefix, prefix(v1alpha1.PrefixSource{Filter: &v1alpha1.PrefixFilter{Role: "x"}}), ""},
		"Table":     {"another table", inVRF, prefix(v1alpha1.PrefixSource{CIDR: "10.77.0.0/24", VRF: &v1alpha1.VRFSelector{Table: v1alpha1.VRFGlobal}}), "the address is from prefix"},
		"VRF":       {"its VRF", inVRF, prefix(v1alpha1.PrefixSource{CIDR: "10.77.0.0/24", VRF: &v1alpha1.VRFSelector{Name: "prod"}}), ""},
		"RD":        {"status has no RD", inVRF, prefix(v1alpha1.PrefixSource{CIDR: "10.77.0.0/24", VRF: &v1alpha1.VRFSelector{RD: "1:1"}}), ""},
		"Range":     {"its range", ofRange, ranged(v1alpha1.RangeSource{Start: "10.77.0.10/24"}), ""},
		"RangeID":   {"another range", ofRange, ranged(v1alpha1.RangeSource{ID: new(int64(13))}), "the address is from the range 10.77.0.10/24 to 10.77.0.19/24"},
		"NotRange":  {"a range that begins elsewhere", ofRange, ranged(v1alpha1.RangeSource{Start: "10.77.0.20/24"}), "the address is from the range"},
		"Unknown":   {"nobody knows where it's from", o, from("10.78.0.0/24"), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := newAddress()
			mg.Spec.ForProvider.From, mg.Status.AtProvider = tc.from, tc.o
			if got := unsourced(mg); !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
	f := newFake()
	h, mg := newHarness(f), newAddress()
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	mg.Spec.ForProvider.From = from("10.78.0.0/24")
	mg.Generation++
	if err := h.settle(t, mg); err != nil || f.records[0].Address.String() != "10.77.0.1/24" {
		t.Errorf("%v, %+v", err, f.records)
	}
	if c := mg.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "it stays") {
		t.Errorf("%+v", c)
	}
}
