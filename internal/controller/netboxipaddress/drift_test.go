package netboxipaddress

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func report(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Drift = v1alpha1.DriftReport }

// described wants a description, a tag and a custom field.
var described = params(func(p *v1alpha1.NetBoxIPAddressParameters) {
	p.Description, p.Tags = new("ours"), []string{"pool"}
	p.CustomFields = map[string]apiextv1.JSON{"purpose": {Raw: []byte(`"web"`)}}
})

// byAlice is NetBox's change log after alice changed a description, a custom field and the assignment, and bob something else.
func byAlice() []netbox.Change {
	type m = map[string]any
	return []netbox.Change{
		{User: "bob", Time: "2026-11-21T03:13:40Z", Before: m{"comments": ""}, After: m{"comments": "x"}},
		{
			User: "alice", Time: "2026-11-21T03:13:36Z",
			Before: m{"description": "ours", "custom_fields": m{"purpose": "web"}, "assigned_object_id": 11.0},
			After:  m{"description": "hers", "custom_fields": m{"purpose": "db"}, "assigned_object_id": 13.0},
		},
		{User: "provider", Time: "2026-11-21T03:13:30Z", Before: m{}, After: m{"description": "ours"}},
	}
}

func TestDriftIsCorrected(t *testing.T) {
	cases := map[string]struct {
		reason string
		mg     edit
		change func(f *fakeNetBox)
		event  string
	}{
		"Description": {"a text", described, func(f *fakeNetBox) { f.records[0].Description = "hers" }, `DriftCorrected: description of 10.77.0.1/24 was changed in NetBox by "alice" at 2026-11-21T03:13:36Z, and is again what spec says`},
		"Several": {"several", described, func(f *fakeNetBox) {
			f.records[0].Description, f.records[0].Tags = "hers", nil
			f.records[0].CustomFields["purpose"] = "db"
		}, `description, tags, customFields.purpose of 10.77.0.1/24 was changed in NetBox by "alice"`},
		"Nobody": {"without the right to read changes the name is left out", described, func(f *fakeNetBox) {
			f.records[0].Description = "hers"
			f.fail["Changes"] = kind(netbox.KindForbidden)
			f.rack.changes = nil
		}, "description of 10.77.0.1/24 was changed in NetBox, and is again"},
		"Moved": {"an assignment", assignTo(onDevice("r7-u12", "eno1", v1alpha1.UsePrimary)), func(f *fakeNetBox) {
			delete(f.rack.holders[0].Seated, netbox.SeatPrimary4)
			f.records[0].Assigned = f.rack.elsewhere()
		}, `assignTo of 10.77.0.1/24 was changed in NetBox by "alice"`},
		"Unseated": {"a seat", assignTo(onDevice("r7-u12", "eno1", v1alpha1.UsePrimary)), func(f *fakeNetBox) {
			delete(f.rack.holders[0].Seated, netbox.SeatPrimary4)
		}, `assignTo of 10.77.0.1/24 was changed in NetBox`},
		"TheirTag": {"what people add is no drift", described, func(f *fakeNetBox) {
			f.records[0].Tags = append(f.records[0].Tags, "human")
			f.records[0].Comments = "by hand"
		}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.rack.changes = byAlice()
			h, mg := newHarness(f), newAddress(tc.mg)
			if err := h.settle(t, mg); err != nil || len(h.events) != 0 {
				t.Fatalf("%v, %v", err, h.events)
			}
			before, seats := f.records[0], f.rack.seated()
			before.CustomFields = map[string]any{testField: ours, "purpose": f.records[0].CustomFields["purpose"]}
			if before.CustomFields["purpose"] == nil {
				delete(before.CustomFields, "purpose")
			}
			tc.change(f)
			changed := f.records[0]
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			want := 1
			if tc.event == "" {
				want, before = 0, changed
			}
			if len(h.events) != want || want == 1 && !strings.Contains(h.events[0], tc.event) {
				t.Errorf("%s: told %q, want %q", tc.reason, h.events, tc.event)
			}
			if diff := cmp.Diff(before, f.records[0], cmpopts.EquateComparable(before.Address), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(seats, f.rack.seated()); diff != "" {
				t.Errorf("%s: seats (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDriftAfterTrouble: what somebody changed is his also where the look before failed.
func TestDriftAfterTrouble(t *testing.T) {
	cases := map[string]struct {
		reason string
		mg     edit
		spec   func(*v1alpha1.NetBoxIPAddress)
		// description ends up, event is told, and noted is how many changes status has.
		description, event string
		noted              int
	}{
		"Report":  {"it's only reported", report, nil, "hers", "Drifted: description", 1},
		"Correct": {"it's corrected, and told", anyhow, nil, "ours", "DriftCorrected: description", 0},
		"Spec": {"what spec asks for anew is written", report, func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.Description = new("anew")
			mg.Generation++
		}, "anew", "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(described, tc.mg)
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			f.fail["Preflight"] = kind(netbox.KindUnreachable)
			if err := h.reconcile(t, mg); err == nil {
				t.Fatal("NetBox was away")
			}
			delete(f.fail, "Preflight")
			f.records[0].Description, h.events = "hers", nil
			if tc.spec != nil {
				tc.spec(mg)
			}
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			if got := f.records[0].Description; got != tc.description || len(mg.Status.AtProvider.Drift) != tc.noted {
				t.Errorf("%s: %q, status %v", tc.reason, got, mg.Status.AtProvider.Drift)
			}
			if told := strings.Join(h.events, "\n"); !strings.Contains(told, tc.event) || tc.event == "" && told != "" {
				t.Errorf("%s: told %q", tc.reason, told)
			}
		})
	}
}

// TestDriftIsReported: what somebody changed stays and is told once; what is changed in spec is written all the same, and nothing else.
func TestDriftIsReported(t *testing.T) {
	f := newFake()
	f.rack.changes = byAlice()
	h, mg := newHarness(f), newAddress(described, report, assignTo(onDevice("r7-u12", "eno1", v1alpha1.UsePrimary)))
	if err := h.settle(t, mg); err != nil || len(mg.Status.AtProvider.Drift) != 0 {
		t.Fatalf("%v, %v", err, mg.Status.AtProvider.Drift)
	}
	f.records[0].Description = "hers"
	delete(f.rack.holders[0].Seated, netbox.SeatPrimary4)
	f.records[0].Assigned = f.rack.elsewhere()
	f.calls = nil
	for range 3 {
		if err := h.reconcile(t, mg); err != nil {
			t.Fatal(err)
		}
	}
	want := []v1alpha1.FieldDrift{
		{Field: "description", Wanted: "ours", Found: "hers", By: `"alice" at 2026-11-21T03:13:36Z`},
		{Field: "assignTo", Wanted: `interface "eno1" of device "r7-u12"`, Found: `interface "eno1" of device "r7-u13"`, By: `"alice" at 2026-11-21T03:13:36Z`},
	}
	ignore := cmpopts.IgnoreFields(v1alpha1.FieldDrift{}, "Since")
	if diff := cmp.Diff(want, mg.Status.AtProvider.Drift, ignore); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if len(h.events) != 1 || !strings.Contains(h.events[0], `Drifted: description, assignTo of 10.77.0.1/24 was changed in NetBox by "alice"`) {
		t.Errorf("told once: %q", h.events)
	}
	if w := f.writes(); len(w) != 0 || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("nothing is written: %v", w)
	}
	mg.Spec.ForProvider.Status = "reserved"
	mg.Generation++
	if err := h.settle(t, mg); err != nil || f.records[0].Status != "reserved" || f.records[0].Description != "hers" || f.records[0].Assigned.ID != 13 {
		t.Errorf("another field of spec: %v, %+v", err, f.records[0])
	}
	mg.Spec.ForProvider.Description = new("anew")
	mg.Generation++
	if err := h.settle(t, mg); err != nil || f.records[0].Description != "anew" || len(mg.Status.AtProvider.Drift) != 1 {
		t.Errorf("the same field of spec: %v, %+v, %v", err, f.records[0], mg.Status.AtProvider.Drift)
	}
	if len(h.events) != 1 {
		t.Errorf("told once: %q", h.events)
	}
	mg.Spec.ForProvider.Drift = v1alpha1.DriftCorrect
	mg.Generation++
	if err := h.settle(t, mg); err != nil || f.records[0].Assigned.ID != 11 || len(mg.Status.AtProvider.Drift) != 0 {
		t.Errorf("corrected after all: %v, %+v, %v", err, f.records[0], mg.Status.AtProvider.Drift)
	}
}

// TestRestoredReport: a resource that was restored without its status can't tell what was changed where, and overwrites nothing.
func TestRestoredReport(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "c1/team-a/web-1/old")}
	f.records[0].Description = "hers"
	h, mg := newHarness(f), newAddress(named("5"), described, report)
	if err := h.settle(t, mg); err != nil || f.records[0].Description != "hers" || f.records[0].Marker(testField) != ours {
		t.Errorf("marked anew, and else left alone: %v, %+v", err, f.records[0])
	}
	if len(mg.Status.AtProvider.Drift) != 3 {
		t.Errorf("status: %+v", mg.Status.AtProvider.Drift)
	}
}

// TestAdoptedReport: one that was just adopted has no status either, and is made what spec says.
func TestAdoptedReport(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
	f.records[0].Description = "hers"
	h, mg := newHarness(f), newAddress(named("5"), described, report)
	meta.SetExternalCreateSucceeded(mg, h.now.Add(-time.Second))
	if err := h.settle(t, mg); err != nil || f.records[0].Description != "ours" || len(h.events) != 0 {
		t.Errorf("%v, %+v, %v", err, f.records[0], h.events)
	}
}

// TestPolicyTenant: the tenant that a policy sets isn't the resource's to report, and its owner's change of mind is no drift.
func TestPolicyTenant(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(report)
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	h.cfg.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Tenant: "a"}}
	if err := h.settle(t, mg); err != nil || f.records[0].Tenant != "a" || len(h.events) != 0 {
		t.Errorf("%v, %+v, %v", err, f.records[0], h.events)
	}
}

// TestChangedMeanwhile: a change between the look and the write is looked at, and what a person wrote elsewhere stays.
func TestChangedMeanwhile(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(described)
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	mg.Spec.ForProvider.Description = new("anew")
	mg.Generation++
	e := h.connect(t, mg)
	if _, err := e.Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	conflicts := 1
	f.onPatch = func() error {
		conflicts--
		if conflicts < 0 {
			return nil
		}
		f.records[0].Tags = []string{"human", "pool"}
		f.records[0].Description = "anew"
		return kind(netbox.KindConflict)
	}
	f.calls = nil
	if _, err := e.Update(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"human", "pool"}, f.records[0].Tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Patch", "Get"}, f.calls); diff != "" {
		t.Errorf("what is right by then isn't written (-want +got):\n%s", diff)
	}
	mg.Spec.ForProvider.Description = new("once more")
	conflicts = 9
	mg.SetConditions(xpv2.Available())
	if err := h.reconcile(t, mg); reasonOf(err) != "Conflict" || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("somebody who changes it all the time: %v, %+v", err, mg.GetCondition(xpv2.TypeReady))
	}
}

// TestExplained: a refusal says what NetBox lacks, where that can be found out.
func TestExplained(t *testing.T) {
	f := newFake()
	f.rack.why = []string{`NetBox has no tag with slug "nope", or the token may not see it`}
	f.fail["Allocate"] = &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"tags"}}
	h, mg := newHarness(f), newAddress()
	err := h.reconcile(t, mg)
	if reasonOf(err) != "Invalid" || !strings.Contains(err.Error(), `NetBox has no tag with slug "nope"`) {
		t.Errorf("a new one: %v", err)
	}
	delete(f.fail, "Allocate")
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
	mg = newAddress(named("5"), described)
	f.fail["Patch"] = kind(netbox.KindMarkerTaken)
	if err := h.reconcile(t, mg); reasonOf(err) != "Invalid" || !strings.Contains(err.Error(), `NetBox has no tag with slug "nope"`) {
		t.Errorf("a change: %v", err)
	}
	f.rack.why = nil
	h.now = h.now.Add(retryAfter)
	if err := h.reconcile(t, mg); reasonOf(err) != "Conflict" {
		t.Errorf("nothing found out: %v", err)
	}
}
