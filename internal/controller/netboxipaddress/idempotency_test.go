package netboxipaddress

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// pending notes that a Create was begun, as the managed reconciler does before it calls one.
func pending(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalCreatePending(mg, time.Unix(1000, 0)) }

// TestOneRecord is the promise of one record for each resource, for ever, clause by clause.
func TestOneRecord(t *testing.T) {
	all := managedBy(xpv2.ManagementActionAll)
	mine := record(9, "10.77.0.9/24", ours)
	cases := map[string]struct {
		reason string
		mg     []edit
		fake   func(*fakeNetBox)
		// acts are looks of processes that remember nothing of each other.
		acts func(t *testing.T, f *fakeNetBox, mg *v1alpha1.NetBoxIPAddress)
		// posts are the calls that may have made a record.
		posts  int
		number string
	}{
		"TakenMarker": {
			reason: "a POST that meets its own marker leads to the first record", mg: []edit{all},
			fake: func(f *fakeNetBox) { f.records = []netbox.IPAddress{mine} }, posts: 1, number: "9",
		},
		"FullAndTaken": {
			reason: "also where the prefix is full, which NetBox says first (763)", mg: []edit{all},
			fake: func(f *fakeNetBox) { f.records, f.full = []netbox.IPAddress{mine}, []int64{1} }, posts: 1, number: "9",
		},
		"Unproven": {
			reason: "where nobody knows that the marker is unique, it's looked for first", mg: []edit{all},
			fake: func(f *fakeNetBox) { f.records, f.field = []netbox.IPAddress{mine}, netbox.FieldUnproven }, number: "9",
		},
		"Pending": {
			reason: "also where a Create was begun", mg: []edit{all, pending},
			fake: func(f *fakeNetBox) { f.records = []netbox.IPAddress{mine} }, number: "9",
		},
		"Late": {
			reason: "a POST whose answer was given up is carried out later (858)", mg: []edit{all},
			acts: func(t *testing.T, f *fakeNetBox, mg *v1alpha1.NetBoxIPAddress) {
				t.Helper()
				f.fail["Allocate"] = kind(netbox.KindUnknownOutcome)
				if err := newHarness(f).look(t, mg); reasonOf(err) != v1alpha1.ReasonUnreachable {
					t.Errorf("nobody knows: %v", err)
				}
				pending(mg)
				delete(f.fail, "Allocate")
				f.records = append(f.records, mine)
			}, posts: 1, number: "9",
		},
		"TwoProviders": {
			reason: "two processes at once, neither of which saw a record", mg: []edit{all},
			acts: func(t *testing.T, f *fakeNetBox, mg *v1alpha1.NetBoxIPAddress) {
				t.Helper()
				other := mg.DeepCopy()
				a, b := newHarness(f).connect(t, mg), newHarness(f).connect(t, other)
				for _, e := range []*external{a, b} {
					if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
						t.Fatalf("observe: %+v, %v", o, err)
					}
				}
				if _, err := a.Create(t.Context(), mg); err != nil {
					t.Fatal(err)
				}
				if _, err := b.Create(t.Context(), other); err != nil || meta.GetExternalName(other) != meta.GetExternalName(mg) {
					t.Errorf("the second: %v, %q", err, meta.GetExternalName(other))
				}
			}, posts: 2, number: "100",
		},
		"Renumbered": {
			reason: "NetBox was set back and made it again under another number", mg: []edit{all, named("5")},
			fake: func(f *fakeNetBox) { f.records = []netbox.IPAddress{mine} }, number: "9",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, mg := newFake(), newAddress(tc.mg...)
			if tc.fake != nil {
				tc.fake(f)
			}
			if tc.acts != nil {
				tc.acts(t, f, mg)
			}
			if err := newHarness(f).look(t, mg); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			n := 0
			for _, r := range f.records {
				if r.Marker(testField) == ours {
					n++
				}
			}
			if posts := strings.Count(strings.Join(f.calls, " "), "Allocate"); n != 1 || posts != tc.posts || meta.GetExternalName(mg) != tc.number {
				t.Errorf("%s: %d records after %d POSTs, external name %q", tc.reason, n, posts, meta.GetExternalName(mg))
			}
		})
	}
}

// TestLateAndDeleted: what NetBox made after its answer was given up goes with its resource, though nobody ever saw it.
func TestLateAndDeleted(t *testing.T) {
	f, mg := newFake(), newAddress(managedBy(xpv2.ManagementActionAll))
	f.fail["Allocate"] = kind(netbox.KindUnknownOutcome)
	h := newHarness(f)
	if err := h.look(t, mg); err == nil {
		t.Fatal("the answer was to be lost")
	}
	f.records = append(f.records, record(9, "10.77.0.9/24", ours))
	deleted(mg)
	h.Outstanding = time.Nanosecond // TestOutstanding has how long it's waited for.
	if err := h.until(t, mg); err != nil || len(f.records) != 0 {
		t.Errorf("%v, left %+v", err, f.records)
	}
}

// TestMarkerFieldTaken: somebody renames the marker's field, and its values with it (791). What has a record keeps it, and nothing else
// is made for it.
func TestMarkerFieldTaken(t *testing.T) {
	f, mg := newFake(), newAddress(managedBy(xpv2.ManagementActionAll), named("9"))
	f.records, f.field = []netbox.IPAddress{bare(9, "10.77.0.9/24")}, netbox.FieldMissing
	mg.SetConditions(xpv2.Available())
	if err := newHarness(f).look(t, mg); reasonOf(err) != v1alpha1.ReasonConflict || len(f.writes()) != 0 {
		t.Errorf("%v, writes %v", err, f.writes())
	}
}

// TestClustersKeepApart: the same resource in two clusters, as after a restore into another one, has a record in each.
func TestClustersKeepApart(t *testing.T) {
	f := newFake()
	theirs := newHarness(f)
	theirs.ClusterID = "c2"
	first, second := newAddress(managedBy(xpv2.ManagementActionAll)), newAddress(managedBy(xpv2.ManagementActionAll))
	if err := newHarness(f).look(t, first); err != nil {
		t.Fatal(err)
	}
	if err := theirs.look(t, second); err != nil || meta.GetExternalName(second) == meta.GetExternalName(first) {
		t.Fatalf("%v, %q", err, meta.GetExternalName(second))
	}
	meta.SetExternalName(second, meta.GetExternalName(first))
	before := f.writes()
	err := theirs.look(t, second)
	if reasonOf(err) != v1alpha1.ReasonConflict || !strings.Contains(err.Error(), "belongs to another cluster") {
		t.Errorf("the other's record: %v", err)
	}
	deleted(second)
	if err := theirs.until(t, second); err != nil {
		t.Errorf("going: %v", err)
	}
	if ip, err := f.FindByMarker(t.Context(), ours); err != nil || ip.ID == 0 {
		t.Errorf("ours is %+v, %v", ip, err)
	}
	if diff := cmp.Diff(append(before, "Delete"), f.writes()); diff != "" {
		t.Errorf("its own record goes, no other (-want +got):\n%s", diff)
	}
}
