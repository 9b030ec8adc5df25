package netboxipaddress

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestHidden: a record that was made a moment ago, and isn't shown, may be there. Its resource isn't said to have lost it, and doesn't go without it.
func TestHidden(t *testing.T) {
	named := func(mg *v1alpha1.NetBoxIPAddress) {
		meta.SetExternalName(mg, "5")
		mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24", Marker: ours}
		mg.SetConditions(xpv2.Available())
	}
	succeeded := func(ago time.Duration) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			named(mg)
			meta.SetExternalCreateSucceeded(mg, time.Now().Add(-ago))
		}
	}
	failed := func(ago time.Duration) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalCreateFailed(mg, time.Now().Add(-ago)) }
	}
	cases := map[string]struct {
		reason string
		mg     []edit
		// log is what NetBox's has of the record.
		log []netbox.Change
		// reason of an error; "" is that of Ready, which says what is lost.
		err xpv2.ConditionReason
		// goes says that nothing is there any more, as far as is known, and stays that it's Ready.
		goes, stays bool
	}{
		"Made":        {reason: "it was made just now", mg: []edit{succeeded(time.Second)}, err: v1alpha1.ReasonUnreachable, stays: true},
		"Long":        {reason: "whatever was made then would show by now", mg: []edit{succeeded(hiddenFor + 2*time.Second)}},
		"Logged":      {reason: "its log says that somebody deleted it", mg: []edit{succeeded(time.Second)}, log: []netbox.Change{{User: "alice", Before: map[string]any{"address": "10.77.0.11/24"}}}},
		"LoggedMade":  {reason: "its log says that it's there", mg: []edit{succeeded(time.Second)}, log: []netbox.Change{{User: "us", After: map[string]any{"address": "10.77.0.11/24"}}}, err: v1alpha1.ReasonUnreachable, stays: true},
		"Failed":      {reason: "what failed has made nothing of that number", mg: []edit{succeeded(time.Minute), failed(time.Second)}},
		"Ahead":       {reason: "by a clock that is ahead it was never made", mg: []edit{succeeded(-24 * time.Hour)}, err: v1alpha1.ReasonUnreachable, stays: true},
		"Deleted":     {reason: "it would stay behind", mg: []edit{succeeded(time.Second), deleted}, err: v1alpha1.ReasonUnreachable},
		"DeletedUsed": {reason: "so may one that was made and isn't used", mg: []edit{failed(time.Second), deleted}, err: v1alpha1.ReasonUnreachable},
		"DeletedLong": {reason: "it would show by now", mg: []edit{succeeded(time.Minute), failed(time.Minute), deleted}, goes: true, stays: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.rack.changes = tc.log
			h, mg := newHarness(f), newAddress(tc.mg...)
			var again time.Time
			h.Again = func(_ types.NamespacedName, at time.Time) { again = at }
			o, err := h.connect(t, mg).Observe(t.Context(), mg)
			ready := mg.GetCondition(xpv2.TypeReady)
			switch {
			case tc.err != "":
				said, ok := err.(*trouble) //nolint:errorlint // As Observe returns it.
				if !ok || said.reason != tc.err || !strings.Contains(said.message, "it is looked for until "+again.UTC().Format(time.RFC3339)) || time.Until(again) > hiddenFor {
					t.Errorf("%s: %+v, looked at again at %s", tc.reason, err, again)
				}
			case tc.goes:
				if err != nil || o.ResourceExists {
					t.Errorf("%s: %+v, %v", tc.reason, o, err)
				}
			case err != nil || ready.Reason != v1alpha1.ReasonLost:
				t.Errorf("%s: %+v, %v", tc.reason, ready, err)
			}
			if stays := ready.Status == corev1.ConditionTrue; stays != tc.stays {
				t.Errorf("%s: %+v", tc.reason, ready)
			}
			if w := h.netbox.writes(); len(w) != 0 {
				t.Errorf("%s: %v", tc.reason, w)
			}
		})
	}
}

// TestPast: a record that is found by its marker isn't taken as long as it may be shown as it was before this resource gave it away.
func TestPast(t *testing.T) {
	gave := func(records string, ago time.Duration) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalCreatePending(mg, time.Now().Add(-ago-time.Second))
			meta.SetExternalCreateFailed(mg, time.Now().Add(-ago))
			meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAsked: "a", v1alpha1.AnnotationGivenAway: records})
		}
	}
	cases := map[string]struct {
		reason string
		mg     []edit
		past   bool
	}{
		"GivenAway": {"it was, a moment ago", []edit{gave("5", time.Second)}, true},
		"Several":   {"so may others have been", []edit{gave("4,5,6", time.Second)}, true},
		"Long":      {"by now it would be shown as it is", []edit{gave("5", hiddenFor+2*time.Second)}, false},
		"Another":   {"another one was", []edit{gave("55", time.Second)}, false},
		"None":      {"a Create failed by something else", []edit{gave("", time.Second)}, false},
		"Deleted":   {"what it released would be another one's", []edit{gave("5", time.Second), deleted}, true},
		"Succeeded": {"its Create went on to another one", []edit{gave("5", time.Minute), deleted, func(mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalCreateSucceeded(mg, time.Now().Add(-time.Second))
		}}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
			h, mg := newHarness(f), newAddress(tc.mg...)
			var again time.Time
			h.Again = func(_ types.NamespacedName, at time.Time) { again = at }
			o, err := h.connect(t, mg).Observe(t.Context(), mg)
			said, ok := err.(*trouble) //nolint:errorlint // As Observe returns it.
			if past := ok && said.reason == v1alpha1.ReasonUnreachable && strings.Contains(said.message, "it's looked at again at "+again.UTC().Format(time.RFC3339)); past != tc.past || !past && err != nil {
				t.Errorf("%s: %+v, %v", tc.reason, o, err)
			}
			if tc.past && (mg.Status.AtProvider.ID != 0 || o.ResourceExists) {
				t.Errorf("%s: it's taken: %+v", tc.reason, mg.Status.AtProvider)
			}
		})
	}
}

// TestGivesAway: what a Create sets aside, or takes back, is written down, also where it's a record that was found.
func TestGivesAway(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(9, "10.77.0.1/24", ours)}
	h, mg := newHarness(f), newAddress(askedAgo(5*time.Minute))
	h.Live = kubefake.NewClientBuilder().WithScheme(scheme()).WithObjects(holder()).Build()
	lost := []v1alpha1.NetBoxIPAddress{*holder()}
	h.Holders = func(context.Context, netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) { return lost, nil }
	e := h.connect(t, mg)
	if _, err := e.Observe(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	was := slices.Clone(f.records)
	meta.SetExternalCreatePending(mg, time.Now())
	if _, err := e.Create(t.Context(), mg); err == nil || f.records[0].Marker(testField) != "" || mg.GetAnnotations()[v1alpha1.AnnotationGivenAway] != "9" {
		t.Fatalf("it isn't set aside, or nothing says so: %v, %+v, %v", err, f.records, mg.GetAnnotations())
	}
	meta.SetExternalCreateFailed(mg, time.Now())
	// Another provider's look, answered by a copy that is behind, once nothing is known any more of who had the address.
	f.records, lost = was, nil
	if o, err := h.connect(t, mg).Observe(t.Context(), mg); err == nil || o.ResourceExists || mg.Status.AtProvider.Address != "" {
		t.Errorf("it's taken again: %+v, %v, %+v", o, err, mg.Status.AtProvider)
	}
	// What the next Create gives away comes beside it.
	f.records = []netbox.IPAddress{record(10, "10.77.0.1/24", ours)}
	_ = h.connect(t, mg).takeBack(t.Context(), mg, f.records[0], takenError{})
	if got := mg.GetAnnotations()[v1alpha1.AnnotationGivenAway]; got != "9,10" || len(f.records) != 0 {
		t.Errorf("taken back: %q, %+v", got, f.records)
	}
	// What NetBox refused is there as it was.
	f.records, f.fail["Delete"] = []netbox.IPAddress{record(11, "10.77.0.1/24", ours)}, kind(netbox.KindForbidden)
	_ = h.connect(t, mg).takeBack(t.Context(), mg, f.records[0], takenError{})
	theirs := map[string]string{v1alpha1.AnnotationGivenAway: "8,9"}
	noted := mg.GetAnnotations()
	if got := noted[v1alpha1.AnnotationGivenAway]; got != "9,10" {
		t.Errorf("refused: %q", got)
	}
	StillTrue(noted, theirs)
	if noted[v1alpha1.AnnotationGivenAway] != "8,9,10" {
		t.Errorf("beside another provider's: %q", noted[v1alpha1.AnnotationGivenAway])
	}
}

// TestGoesWithoutAside: a resource that is being deleted, and names a record that was set aside for another, goes without it; one that lives stays as it
// is, as does one whose record somebody has just unmarked.
func TestGoesWithoutAside(t *testing.T) {
	named := func(mg *v1alpha1.NetBoxIPAddress) {
		meta.SetExternalName(mg, "5")
		mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.1/24", Marker: ours}
	}
	retired := func(note string) netbox.IPAddress {
		r := record(5, "10.77.0.1/24", "")
		r.Status, r.CustomFields[testField], r.CustomFields[testNote] = netbox.StatusDeprecated, nil, note
		return r
	}
	const until = " 2026-09-01T10:00:00Z"
	cases := map[string]struct {
		reason string
		record netbox.IPAddress
		mg     []edit
		goes   bool
	}{
		"Aside":     {"it's another's", retired(theirs + until), []edit{named, deleted}, true},
		"Lives":     {"it has no other one", retired(theirs + until), []edit{named}, false},
		"Elsewhere": {"of another cluster's nothing is known", retired("c2/team-b/x/y" + until), []edit{named, deleted}, false},
		"Kept":      {"it's in use", retired(theirs), []edit{named, deleted}, false},
		"Unmarked":  {"it may have lost ours", retired(""), []edit{named, deleted}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{tc.record}
			h, mg := newHarness(f), newAddress(tc.mg...)
			o, err := h.connect(t, mg).Observe(t.Context(), mg)
			if goes := err == nil && !o.ResourceExists; goes != tc.goes || len(f.writes()) != 0 {
				t.Errorf("%s: %+v, %v, writes %v", tc.reason, o, err, f.writes())
			}
		})
	}
}
