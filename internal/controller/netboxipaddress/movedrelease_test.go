package netboxipaddress

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestMovedIsReleased: a record that somebody made another address of is in use as that, as far as anybody knows: its resource doesn't release
// it, and says so, until it's put back or is to be kept. What only looks moved is released.
func TestMovedIsReleased(t *testing.T) {
	const was = "record 100 was 10.77.0.1/24 "
	to := func(address string) func(*fakeNetBox) {
		return func(f *fakeNetBox) { f.records[0].Address = netip.MustParsePrefix(address) }
	}
	inProd := func(f *fakeNetBox) { f.records[0].VRF = &netbox.VRF{ID: 3, Name: "prod"} }
	fixed := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, "10.77.0.1/24" })
	forgotten := func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{} }
	cases := map[string]struct {
		reason string
		mg     edit
		change func(*fakeNetBox)
		// look says that the resource sees it before it's deleted.
		look bool
		// before happens to the resource right before that.
		before edit
		// says is how the refusal begins; "": it's released.
		says string
	}{
		"Address":        {reason: "somebody uses it as another address", mg: anyhow, change: to("10.77.0.9/24"), says: was + "and is 10.77.0.9/24 now (changed by \"alice\" at 2026-11-21T03:13:36Z): somebody may use it as that"},
		"Seen":           {reason: "also where that was said before", mg: report, change: to("10.77.0.9/24"), look: true, says: was},
		"VRF":            {reason: "or in another VRF", mg: anyhow, change: inProd, says: was + `of the global table and is 10.77.0.1/24 of VRF "prod" now`},
		"Quarantine":     {reason: "the address in quarantine would be another one", mg: releasedBy("Quarantine"), change: to("10.77.0.9/24"), says: was},
		"Fixed":          {reason: "a given one", mg: fixed, change: to("10.77.0.9/24"), says: was},
		"FixedForgotten": {reason: "and one that nobody saw yet", mg: fixed, change: to("10.77.0.9/24"), before: forgotten, says: was},
		"Unnamed":        {reason: "its number is known from status", mg: anyhow, change: to("10.77.0.9/24"), before: func(mg *v1alpha1.NetBoxIPAddress) { meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalName) }, says: was},
		"Keep":           {reason: "it's left as it is", mg: releasedBy("Keep"), change: to("10.77.0.9/24")},
		"Mask":           {reason: "its mask is people's", mg: anyhow, change: to("10.77.0.1/32")},
		"Forgotten":      {reason: "nobody knows what was given: it's ours by its marker", mg: anyhow, change: to("10.77.0.9/24"), before: forgotten},
		"Late": {reason: "one that a POST without an answer made late, after the first was deleted", mg: anyhow, change: func(f *fakeNetBox) {
			f.records = []netbox.IPAddress{record(107, "10.77.0.7/24", ours)}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.rack.changes = movedByAlice()
			h, mg := newHarness(f), newAddress(tc.mg)
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			tc.change(f)
			if tc.look {
				if err := h.settle(t, mg); err != nil {
					t.Fatal(err)
				}
			}
			if tc.before != nil {
				tc.before(mg)
			}
			deleted(mg)
			f.calls = nil
			err := h.until(t, mg)
			if tc.says == "" {
				if err != nil || len(f.records) > 0 && f.records[0].Marker(testField) == ours {
					t.Errorf("%s: %v, left %+v", tc.reason, err, f.records)
				}
				return
			}
			if reasonOf(err) != v1alpha1.ReasonMoved || !strings.HasPrefix(err.Error(), tc.says) || !strings.HasSuffix(err.Error(), "put it back in NetBox, or set spec.forProvider.release.policy: Keep to leave it as it is") {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if w := f.writes(); len(w) != 0 || len(f.records) != 1 {
				t.Fatalf("%s: writes %v, records %+v", tc.reason, w, f.records)
			}
			kept := mg.DeepCopy()
			releasedBy("Keep")(kept)
			if name != "Quarantine" { // Either way out ends it.
				to("10.77.0.1/25")(f)
				f.records[0].VRF = nil
				kept = mg
			}
			if err := h.until(t, kept); err != nil || len(f.records) > 0 && f.records[0].Marker(testField) == ours {
				t.Errorf("%s: afterwards %v, left %+v", tc.reason, err, f.records)
			}
		})
	}
}

// TestMovedBeforeSeen: a record that was moved before its resource ever saw it is told once, and looked at no more than others, also where
// its number isn't kept as the external name. Nothing of it is shown until it's back.
func TestMovedBeforeSeen(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(6, "10.77.0.9/24", ours)}
	h := newHarness(f)
	h.MaxAge = time.Minute
	var got heard
	h.Recorder = &got
	mg := newAddress(aFixed, report, managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete))
	mg.Spec.ForProvider.VRF = &v1alpha1.VRFSelector{Table: v1alpha1.VRFGlobal}
	meta.SetExternalCreatePending(mg, h.now)
	look := func() {
		t.Helper()
		if err := h.reconcile(t, mg); err != nil {
			t.Fatal(err)
		}
		meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalName)
	}
	look()
	if o := mg.Status.AtProvider; o.ID != 6 || o.Address != "" || o.Marker != "" || mg.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonMoved {
		t.Errorf("status %+v, %+v", o, mg.GetCondition(xpv2.TypeReady))
	}
	f.seen, f.calls = f.records, nil
	look()
	look()
	if diff := cmp.Diff([]string{"Preflight", "Seen", "Preflight", "Seen"}, f.calls); diff != "" {
		t.Errorf("steady looks (-want +got):\n%s", diff)
	}
	told := map[string]int{}
	for _, e := range got {
		word, _, _ := strings.Cut(e, ":")
		told[word]++
	}
	if told["Allocated"] != 1 || told["Moved"] != 1 {
		t.Errorf("told %q", got)
	}
	mg.Spec.ForProvider.Drift, f.seen = v1alpha1.DriftCorrect, nil
	mg.Generation++
	look()
	if o := mg.Status.AtProvider; o.ID != 6 || o.Address != "10.77.0.40/24" || o.Marker != ours || f.records[0].Address.String() != "10.77.0.40/24" || mg.GetCondition(xpv2.TypeReady).Reason != "Available" {
		t.Errorf("put back: status %+v, %+v, record %+v", o, mg.GetCondition(xpv2.TypeReady), f.records[0])
	}
}
