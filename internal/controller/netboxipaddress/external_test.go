package netboxipaddress

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

type edit = func(*v1alpha1.NetBoxIPAddress)

func TestObserve(t *testing.T) {
	exists := managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}
	lateInit := managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, ResourceLateInitialized: true}
	ready := func(mg *v1alpha1.NetBoxIPAddress) { mg.SetConditions(xpv2.Available()) }
	seen := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
	}
	cases := map[string]struct {
		reason string
		fake   func(*fakeNetBox)
		mg     []edit
		policy []v1alpha1.NetBoxPolicy
		want   managed.ExternalObservation
		// ready is the reason of condition Ready, and trouble that of the error.
		ready, trouble xpv2.ConditionReason
		name           string
	}{
		"New":          {"nothing there, nothing in the way", nil, nil, nil, managed.ExternalObservation{}, "", "", ""},
		"ByName":       {"by its number", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)} }, []edit{named("5")}, nil, exists, "Available", "", "5"},
		"ByMarker":     {"made, but never recorded", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)} }, nil, nil, lateInit, "Available", "", "5"},
		"Renumbered":   {"the number is gone, the marker isn't", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(6, "10.77.0.11/24", ours)} }, []edit{named("5")}, nil, lateInit, "Available", "", "6"},
		"Restored":     {"our name with another UID: marked anew", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "c1/team-a/web-1/old")} }, []edit{named("5")}, nil, managed.ExternalObservation{ResourceExists: true, Diff: "customFields"}, "Available", "", "5"},
		"Drifted":      {"a value differs", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)} }, []edit{named("5"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("d") })}, nil, managed.ExternalObservation{ResourceExists: true, Diff: "description"}, "Available", "", "5"},
		"Foreign":      {"another resource's record", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "c1/team-b/web-1/u1")} }, []edit{named("5")}, nil, managed.ExternalObservation{}, "Conflict", "Conflict", "5"},
		"OtherCluster": {"another cluster's record", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "c2/team-a/web-1/u1")} }, []edit{named("5")}, nil, managed.ExternalObservation{}, "Conflict", "Conflict", "5"},
		"Unmarked":     {"a person's record isn't taken over", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "")} }, []edit{named("5"), ready}, nil, managed.ExternalObservation{}, "Conflict", "Conflict", "5"},
		"OddName":      {"not a number", nil, []edit{named("web-1")}, nil, managed.ExternalObservation{}, "Invalid", "Invalid", "web-1"},
		"Down":         {"unreachable isn't absent", func(f *fakeNetBox) { f.fail["FindByMarker"] = kind(netbox.KindUnreachable) }, nil, nil, managed.ExternalObservation{}, "Unreachable", "Unreachable", ""},
		"DownAndReady": {"and takes no address from its holder", func(f *fakeNetBox) { f.fail["Get"] = kind(netbox.KindServerError) }, []edit{named("5"), ready}, nil, managed.ExternalObservation{}, "Available", "Unreachable", "5"},
		"Forbidden":    {"forbidden isn't absent", func(f *fakeNetBox) { f.fail["Get"] = kind(netbox.KindForbidden) }, []edit{named("5")}, nil, managed.ExternalObservation{}, "Forbidden", "Forbidden", "5"},
		"BadToken":     {"the token", func(f *fakeNetBox) { f.fail["Preflight"] = kind(netbox.KindUnauthorized) }, nil, nil, managed.ExternalObservation{}, "Unauthorized", "Unauthorized", ""},
		"Two":          {"two records: never pick", func(f *fakeNetBox) { f.fail["FindByMarker"] = kind(netbox.KindAmbiguous) }, []edit{ready}, nil, managed.ExternalObservation{}, "Ambiguous", "Ambiguous", ""},
		"FieldWrong":   {"the marker's field is no good", func(f *fakeNetBox) { f.fail["Preflight"] = kind(netbox.KindMarkerField) }, nil, nil, managed.ExternalObservation{}, "Invalid", "Invalid", ""},
		"FieldMissing": {"no field, so no marker, so no record", func(f *fakeNetBox) {
			f.field = netbox.FieldMissing
			f.fail["FindByMarker"] = kind(netbox.KindMarkerField)
		}, nil, nil, managed.ExternalObservation{}, "", "", ""},
		"NoPrefix":   {"found out before Create", func(f *fakeNetBox) { f.prefixes = nil }, nil, nil, exists, "NotFound", "", ""},
		"OnePrefix":  {"one of two is enough", func(f *fakeNetBox) { f.prefixes = f.prefixes[1:] }, []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = append(p.From, from("10.78.0.0/24")...) })}, nil, managed.ExternalObservation{}, "", "", ""},
		"PrefixDown": {"a source that can't be asked isn't skipped", func(f *fakeNetBox) { f.fail["FindPrefix"] = kind(netbox.KindUnreachable) }, nil, nil, managed.ExternalObservation{}, "Unreachable", "Unreachable", ""},
		"NotAllowed": {"a prefix outside the policies", nil, nil, []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.9.0.0/16"}}}, managed.ExternalObservation{}, "NotAllowed", "NotAllowed", ""},
		"NotNamed":   {"a namespace that no policy names", nil, nil, []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-b"}}}, managed.ExternalObservation{}, "NotAllowed", "NotAllowed", ""},
		"NotByNumber": {"nor by its number", nil, []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.From[0].Prefix = &v1alpha1.PrefixSource{ID: new(int64(2))}
		})}, []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.0/16"}}}, managed.ExternalObservation{}, "NotAllowed", "NotAllowed", ""},
		"NotThisFixed": {"nor by one address", nil, []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.78.0.9/24" })}, []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.0/16"}}}, managed.ExternalObservation{}, "NotAllowed", "NotAllowed", ""},
		"NameLater":    {"a DNS name that isn't allowed, on an address that is there", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)} }, []edit{named("5"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.DNSName = new("a.evil") })}, []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, DNSZones: []string{"good"}}}, managed.ExternalObservation{}, "Available", "NotAllowed", "5"},
		"NoRange": {"a range that isn't there", nil, []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.From = []v1alpha1.AddressSource{{Range: &v1alpha1.RangeSource{ID: new(int64(1))}}}
		})}, nil, exists, "NotFound", "", ""},
		"Empty": {"admission refuses it, and so do we", nil, []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = nil })}, nil, managed.ExternalObservation{}, "Invalid", "Invalid", ""},
		"FixedNoVRF": {"a VRF that isn't there", nil, []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.From, p.Address, p.VRF = nil, "10.77.0.9/24", &v1alpha1.VRFSelector{Name: "x"}
		})}, nil, exists, "NotFound", "", ""},
		"RecordGone":   {"somebody deleted the record", nil, []edit{named("5"), seen, ready}, nil, exists, "Lost", "", "5"},
		"DeletedGone":  {"gone", nil, []edit{named("5"), deleted}, nil, managed.ExternalObservation{}, "", "", "5"},
		"DeletedThere": {"still there", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)} }, []edit{named("5"), deleted}, nil, exists, "", "", "5"},
		"DeletedLost":  {"never recorded, found by marker", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)} }, []edit{deleted}, nil, exists, "", "", "5"},
		"DeletedDown":  {"unreachable isn't gone", func(f *fakeNetBox) { f.fail["Get"] = kind(netbox.KindUnreachable) }, []edit{named("5"), deleted}, nil, managed.ExternalObservation{}, "Deleting", "Unreachable", "5"},
		"DeletedOther": {"it names another's record: nothing of ours", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "c1/team-b/x/y")} }, []edit{named("5"), deleted}, nil, managed.ExternalObservation{}, "", "", "5"},
		"DeletedOwn": {"it names another's record, and has one of its own", func(f *fakeNetBox) {
			f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "c1/team-b/x/y"), record(6, "10.77.0.12/24", ours)}
		}, []edit{named("5"), deleted}, nil, exists, "", "", "6"},
		"DeletedBare":   {"a record that lost its marker waits for a person", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "")} }, []edit{named("5"), deleted}, nil, managed.ExternalObservation{}, "Deleting", "Conflict", "5"},
		"DeletedPolicy": {"policies don't keep a resource from going", func(f *fakeNetBox) { f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)} }, []edit{named("5"), deleted}, []v1alpha1.NetBoxPolicy{{Namespaces: []string{"x"}}}, exists, "", "", "5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(tc.mg...)
			h.cfg.Config.Policies = tc.policy
			got, err := h.connect(t, mg).Observe(t.Context(), mg)
			if reasonOf(err) != tc.trouble {
				t.Fatalf("%s: error %v, want %q", tc.reason, err, tc.trouble)
			}
			if tc.want.ResourceExists && tc.ready == xpv2.ReasonAvailable {
				tc.want.ConnectionDetails = managed.ConnectionDetails{"address": []byte("10.77.0.11"), "cidr": []byte("10.77.0.11/24")}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if c := mg.GetCondition(xpv2.TypeReady); c.Reason != tc.ready || (c.Status == corev1.ConditionTrue) != (tc.ready == "Available") {
				t.Errorf("%s: condition %+v, want %q", tc.reason, c, tc.ready)
			}
			if meta.GetExternalName(mg) != tc.name {
				t.Errorf("%s: external name %q, want %q", tc.reason, meta.GetExternalName(mg), tc.name)
			}
			if w := f.writes(); len(w) != 0 {
				t.Errorf("Observe never writes: %v", w)
			}
		})
	}
}

// reasonOf is the reason of a trouble, or "" for no error.
func reasonOf(err error) xpv2.ConditionReason {
	var t *trouble
	switch {
	case err == nil:
		return ""
	case errors.As(err, &t):
		return t.reason
	}
	return "not a trouble"
}

func TestObserveShows(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
	h, mg := newHarness(f), newAddress(named("5"))
	for range 2 {
		if _, err := h.connect(t, mg).Observe(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
	}
	want := v1alpha1.NetBoxIPAddressObservation{
		ID: 5, Address: "10.77.0.11/24", Marker: ours, Family: v1alpha1.IPv4, Status: "active", Prefix: &v1alpha1.PrefixObservation{ID: 1, CIDR: "10.77.0.0/24"},
		AppliedGeneration: 1, Given: &metav1.MicroTime{Time: h.now.UTC()},
	}
	if diff := cmp.Diff(want, mg.Status.AtProvider); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Preflight", "Get", "FindPrefix", "Preflight", "Get"}, f.calls); diff != "" {
		t.Errorf("the prefix is looked up once (-want +got):\n%s", diff)
	}
}

// TestConnect: what a person must mend is on the resource; and a resource for which nothing was asked goes without a config.
func TestConnect(t *testing.T) {
	h := newHarness(newFake())
	h.err = &config.Error{Reason: v1alpha1.ReasonNotAllowed}
	mg := newAddress()
	if _, err := h.Connect(t.Context(), mg); reasonOf(err) != "NotAllowed" || mg.GetCondition(xpv2.TypeReady).Reason != "NotAllowed" {
		t.Errorf("a config that may not be used: %v, %+v", err, mg.GetCondition(xpv2.TypeReady))
	}
	h.err = errors.New("boom")
	if _, err := h.Connect(t.Context(), newAddress()); err == nil || reasonOf(err) != "not a trouble" {
		t.Errorf("the API server's trouble: %v", err)
	}
	now := newAddress(deleted)
	meta.RemoveAnnotations(now, meta.AnnotationKeyExternalCreatePending)
	e := h.connect(t, now)
	if got, err := e.Observe(t.Context(), now); err != nil || got.ResourceExists {
		t.Errorf("nothing was ever asked: %v, %v", got, err)
	}
	if err := e.Disconnect(t.Context()); err != nil {
		t.Error(err)
	}
	h.err = &config.Error{Reason: v1alpha1.ReasonNotFound}
	if _, err := h.Connect(t.Context(), newAddress(deleted)); reasonOf(err) != "NotFound" {
		t.Errorf("something may be there: %v", err)
	}
}

func TestUpdateAndDelete(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "c1/team-a/web-1/old")}
	h, mg := newHarness(f), newAddress(named("5"))
	observed := func() *external {
		e := h.connect(t, mg)
		if _, err := e.Observe(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		return e
	}
	if _, err := observed().Update(t.Context(), mg); err != nil || f.records[0].Marker(testField) != ours {
		t.Errorf("a restored resource marks its record anew: %v, %v", err, f.records)
	}
	if _, err := observed().Update(t.Context(), mg); err != nil || len(f.writes()) != 1 {
		t.Errorf("nothing to do: %v, %v", err, f.writes())
	}
	mg.Spec.ForProvider.Description = new("d")
	f.fail["Patch"] = kind(netbox.KindConflict)
	if _, err := observed().Update(t.Context(), mg); reasonOf(err) != "Conflict" {
		t.Errorf("a change in between: %v", err)
	}
	f.fail["Delete"] = kind(netbox.KindForbidden)
	if _, err := observed().Delete(t.Context(), mg); reasonOf(err) != "Forbidden" {
		t.Errorf("no right to delete: %v", err)
	}
	delete(f.fail, "Delete")
	e := observed()
	if _, err := e.Delete(t.Context(), mg); err != nil || len(f.records) != 0 {
		t.Errorf("delete: %v, %v", err, f.records)
	}
	if _, err := (&external{connector: h.Connector}).Delete(t.Context(), mg); err != nil {
		t.Errorf("nothing to delete: %v", err)
	}
}

// TestNotKept: an update that NetBox accepts and drops isn't written again at every look, is told, and heals.
func TestNotKept(t *testing.T) {
	f := newFake()
	f.drops = []string{"purpose"}
	f.records = []netbox.IPAddress{record(7, "10.77.0.1/24", ours)}
	h := newHarness(f)
	mg := newAddress(named("7"), params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.CustomFields = map[string]apiextv1.JSON{"purpose": {Raw: []byte(`"web"`)}}
	}))
	look := func() error {
		e := h.connect(t, mg)
		o, err := e.Observe(t.Context(), mg)
		if err == nil && !o.ResourceUpToDate {
			_, err = e.Update(t.Context(), mg)
		}
		return err
	}
	for range 5 {
		if err := look(); err == nil || !strings.Contains(err.Error(), "accepted a change of customFields and kept something else") {
			t.Fatalf("got %v, want that NetBox doesn't keep it", err)
		}
	}
	if n := len(f.writes()); n != 1 {
		t.Errorf("%d writes in 5 looks, want 1", n)
	}
	if c := mg.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionTrue {
		t.Errorf("Ready: got %v; the address is there all the same", c)
	}
	mg.Generation++
	if err := look(); err == nil || len(f.writes()) != 2 {
		t.Errorf("another spec: %v, %d writes, want a second one", err, len(f.writes()))
	}
	f.drops = nil
	h.now = h.now.Add(11 * time.Minute)
	if err := look(); err != nil {
		t.Errorf("once NetBox has the field: %v", err)
	}
	if err := look(); err != nil || len(f.writes()) != 3 {
		t.Errorf("after it: %v, %d writes, want 3", err, len(f.writes()))
	}
}

// TestSaysVersion: the provider config is told what its NetBox is, once it was asked.
func TestSaysVersion(t *testing.T) {
	f := newFake()
	h := newHarness(f)
	mg := newAddress()
	if _, err := h.connect(t, mg).Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	f.fail["Preflight"] = kind(netbox.KindUnreachable)
	if _, err := h.connect(t, mg).Observe(t.Context(), mg); err == nil {
		t.Fatal("want an error")
	}
	if diff := cmp.Diff([]string{"cfg 4.6.8"}, h.saw); diff != "" {
		t.Errorf("told: -want, +got:\n%s", diff)
	}
}
