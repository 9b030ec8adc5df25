package netboxipaddress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestVeiled: a record that the token isn't shown isn't lost, and its resource doesn't go without it. Nothing but NetBox's own word keeps one.
func TestVeiled(t *testing.T) {
	veiled := func(f *fakeNetBox) { f.veiled = []string{ours} }
	releases := func(policy string) edit {
		return params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Release = &v1alpha1.ReleasePolicy{Policy: policy} })
	}
	pending := func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalName(mg, ""); mg.Status.AtProvider.ID = 0 }
	gone := []netbox.Change{{User: "alice", Action: "delete", Before: map[string]any{"address": "10.77.0.11/24"}}}
	const stays, out = "this resource stays", "it isn't lost"
	cases := map[string]struct {
		reason string
		mg     []edit
		fake   func(*fakeNetBox)
		// says is in an error; "" is none.
		says string
		// ready is the reason of Ready, and asked how often NetBox is.
		ready xpv2.ConditionReason
		asked int
	}{
		"Lives":          {"it's there", []edit{seenAs(5)}, veiled, out, "Available", 1},
		"LivesRestore":   {"nor is it made again", []edit{seenAs(5), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore })}, veiled, out, "Available", 1},
		"LivesUnseen":    {"it was never seen", []edit{named("5")}, veiled, out, v1alpha1.ReasonForbidden, 1},
		"LivesLogged":    {"its log says that somebody deleted it", []edit{seenAs(5)}, func(f *fakeNetBox) { veiled(f); f.rack.changes = gone }, "", v1alpha1.ReasonLost, 0},
		"LivesFree":      {"NetBox has none", []edit{seenAs(5)}, func(*fakeNetBox) {}, "", v1alpha1.ReasonLost, 1},
		"LivesDown":      {"NetBox says nothing", []edit{seenAs(5)}, func(f *fakeNetBox) { f.fail["Hides"] = kind(netbox.KindUnreachable) }, "can't be reached", "Available", 1},
		"Observed":       {"what is only observed is nobody's", []edit{seenAs(5), named("5"), managedBy(xpv2.ManagementActionObserve)}, veiled, "", v1alpha1.ReasonNotFound, 0},
		"Deleted":        {"it would stay behind", []edit{seenAs(5), deleted}, veiled, stays, "Deleting", 1},
		"DeletedFree":    {"NetBox has none", []edit{seenAs(5), deleted}, func(*fakeNetBox) {}, "", "Available", 1},
		"DeletedPending": {"its number was never written down", []edit{seenAs(5), deleted, pending}, veiled, stays, "Deleting", 1},
		"Quarantine":     {"so would it", []edit{seenAs(5), deleted, releases(v1alpha1.ReleaseQuarantine)}, veiled, stays, "Deleting", 1},
		"Keep":           {"it's to stay behind", []edit{seenAs(5), deleted, releases(v1alpha1.ReleaseKeep)}, veiled, "", "Available", 0},
		"Orphan":         {"it isn't to be released", []edit{seenAs(5), deleted, managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)}, veiled, "", "Available", 0},
		"NoField":        {"no record can carry a marker", []edit{seenAs(5), deleted}, func(f *fakeNetBox) { veiled(f); f.field = netbox.FieldMissing }, "", "Available", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			tc.fake(f)
			h, mg := newHarness(f), newAddress(tc.mg...)
			o, err := h.connect(t, mg).Observe(t.Context(), mg)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if !strings.Contains(said, tc.says) || (err == nil) != (tc.says == "") || err == nil && meta.WasDeleted(mg) && o.ResourceExists {
				t.Errorf("%s: %+v, %q, want %q", tc.reason, o, said, tc.says)
			}
			if tc.says == stays && (!strings.Contains(said, "ipam.view_ipaddress") || reasonOf(err) != v1alpha1.ReasonForbidden) {
				t.Errorf("%s: %q is no way on", tc.reason, said)
			}
			if is := mg.GetCondition(xpv2.TypeReady).Reason; is != tc.ready {
				t.Errorf("%s: Ready %s, want %s", tc.reason, is, tc.ready)
			}
			asked := len(slices.DeleteFunc(slices.Clone(f.calls), func(c string) bool { return c != "Hides" }))
			if w := f.writes(); asked != tc.asked || len(w) != 0 {
				t.Errorf("%s: asked %d times, wrote %v", tc.reason, asked, w)
			}
		})
	}
}

// TestVeiledIsBelieved: what NetBox said is believed for a while, also of a resource that is being deleted meanwhile; a new token is tried at once.
func TestVeiledIsBelieved(t *testing.T) {
	f := newFake()
	f.veiled = []string{ours}
	h, mg := newHarness(f), newAddress(seenAs(5))
	h.MaxAge = time.Minute
	look := func(want string, calls ...string) {
		t.Helper()
		f.calls = nil
		o, err := h.connect(t, mg).Observe(t.Context(), mg)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) || want == "" && (err != nil || o.ResourceExists) {
			t.Errorf("%+v, %q, want %q", o, said, want)
		}
		if diff := cmp.Diff(append([]string{"Preflight"}, calls...), f.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
	look("it isn't lost", "Seen", "Get", "FindByMarker", "Changes", "Hides")
	h.now = h.now.Add(longestAge - time.Second)
	look("it isn't lost", "Seen")
	deleted(mg)
	look("it isn't released")
	h.now = h.now.Add(time.Second)
	look("it isn't released", "Get", "FindByMarker", "Hides")
	h.cfg.SecretVersion = "2"
	look("it isn't released", "Get", "FindByMarker", "Hides")
	mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
	look("", "Get", "FindByMarker")
}

// TestFreeIsAskedOnce: of a record that is lost NetBox isn't asked again whether it hides that, until something changes.
func TestFreeIsAskedOnce(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(seenAs(5))
	look := func(want xpv2.ConditionReason, asked int) {
		t.Helper()
		_, err := h.connect(t, mg).Observe(t.Context(), mg)
		n := len(slices.DeleteFunc(slices.Clone(f.calls), func(c string) bool { return c != "Hides" }))
		if is := mg.GetCondition(xpv2.TypeReady).Reason; is != want || n != asked {
			t.Errorf("%s, %v, asked %d times; want %s, %d", is, err, n, want, asked)
		}
	}
	look(v1alpha1.ReasonLost, 1)
	look(v1alpha1.ReasonLost, 1)
	f.veiled = []string{ours}
	h.cfg.SecretVersion = "2"
	look(v1alpha1.ReasonForbidden, 2)
	look(v1alpha1.ReasonForbidden, 3)
	f.veiled = nil
	look(v1alpha1.ReasonLost, 4)
	look(v1alpha1.ReasonLost, 4)
}

// TestDoubted: a NetBox that never says whether it hides a record keeps nobody for good.
func TestDoubted(t *testing.T) {
	f := newFake()
	f.fail["Hides"] = kind(netbox.KindServerError)
	h, mg := newHarness(f), newAddress(seenAs(5), deleted)
	for _, later := range []time.Duration{0, time.Minute, doubtFor - 2*time.Minute} {
		h.now = h.now.Add(later)
		if _, err := h.connect(t, mg).Observe(t.Context(), mg); reasonOf(err) != v1alpha1.ReasonUnreachable {
			t.Errorf("after %s: %v", later, err)
		}
	}
	h.now = h.now.Add(time.Minute)
	if o, err := h.connect(t, mg).Observe(t.Context(), mg); err != nil || o.ResourceExists {
		t.Errorf("it stays for good: %+v, %v", o, err)
	}
}

// TestDoubtedAnew: how long NetBox was away counts for nothing: what it shows then is asked about as long as ever.
func TestDoubtedAnew(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(seenAs(5), deleted)
	for _, step := range []struct {
		fails string
		later time.Duration
	}{{"Hides", 0}, {"Get", time.Minute}, {"Hides", doubtFor}, {"Hides", doubtFor - time.Second}} {
		clear(f.fail)
		f.fail[step.fails] = kind(netbox.KindServerError)
		h.now = h.now.Add(step.later)
		if _, err := h.connect(t, mg).Observe(t.Context(), mg); reasonOf(err) != v1alpha1.ReasonUnreachable {
			t.Errorf("%s fails after %s: %v", step.fails, step.later, err)
		}
	}
}

// TestOutOfSight: a record that isn't shown any more since its quarantine began is told of, once, unless that is over or somebody deleted it.
func TestOutOfSight(t *testing.T) {
	cases := map[string]struct {
		reason string
		policy string
		after  time.Duration
		log    []netbox.Change
		told   bool
	}{
		"Quarantine": {"nobody ends it", v1alpha1.ReleaseQuarantine, time.Hour, nil, true},
		"Logged":     {"the log says that it's there", v1alpha1.ReleaseQuarantine, time.Hour, []netbox.Change{{Action: "update"}}, true},
		"Deleted":    {"somebody deleted it", v1alpha1.ReleaseQuarantine, time.Hour, []netbox.Change{{Action: "delete"}}, false},
		"Over":       {"it was ended", v1alpha1.ReleaseQuarantine, 0, nil, false},
		"Kept":       {"nobody is to end that", v1alpha1.ReleaseKeep, 0, nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
			f.rack.changes = tc.log
			h, mg := newHarness(f), newAddress(seenAs(5), deleted, params(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.Release = &v1alpha1.ReleasePolicy{Policy: tc.policy, After: &metav1.Duration{Duration: tc.after}}
			}))
			e := h.connect(t, mg)
			if _, err := e.Observe(t.Context(), mg); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Delete(t.Context(), mg); err != nil {
				t.Fatal(err)
			}
			f.records = nil
			for range 2 {
				if o, err := h.connect(t, mg).Observe(t.Context(), mg); err != nil || o.ResourceExists {
					t.Fatal(o, err)
				}
			}
			told := slices.DeleteFunc(slices.Clone(h.events), func(e string) bool { return !strings.HasPrefix(e, "OutOfSight: record 5 ") })
			if (len(told) == 1) != tc.told || len(told) > 1 {
				t.Errorf("%s: %q", tc.reason, h.events)
			}
		})
	}
}
