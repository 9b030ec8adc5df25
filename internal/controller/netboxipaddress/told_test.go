package netboxipaddress

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// heard are all events and counts, in their order.
type heard []string

func (h *heard) Event(_ runtime.Object, e event.Event) {
	*h = append(*h, string(e.Reason)+": "+e.Message)
}
func (h *heard) WithAnnotations(...string) event.Recorder { return h }
func (h *heard) Retried(of config.Ref)                    { *h = append(*h, "retried "+of.Name) }
func (h *heard) Drifted(of config.Ref, action string)     { *h = append(*h, action+" "+of.Name) }

// TestAllocated: an address that was taken is told once, also where its answer was lost, and a second attempt is counted.
func TestAllocated(t *testing.T) {
	const told = `Allocated: address 10.77.0.1/24 is record 100 of the NetBox of ClusterProviderConfig "netbox"`
	f := newFake()
	h := newHarness(f)
	var got heard
	h.Recorder, h.Tally = &got, &got
	mg := newAddress()
	f.fail["Allocate"] = kind(netbox.KindInvalid)
	create := func() error {
		e := h.connect(t, mg)
		if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
			return err
		}
		_, err := e.Create(t.Context(), mg)
		return err
	}
	if err := create(); err == nil {
		t.Fatal("want a refusal")
	}
	delete(f.fail, "Allocate")
	h.now = h.now.Add(retryAfter)
	if err := create(); err != nil {
		t.Fatal(err)
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(heard{"retried netbox", told}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	lost := newAddress(func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalCreatePending(mg, h.now) })
	look := func(h *harness) {
		t.Helper()
		e := h.connect(t, lost)
		if _, err := e.Observe(t.Context(), lost); err != nil {
			t.Fatal(err)
		}
	}
	got = nil
	look(h)
	if len(got) != 0 {
		t.Errorf("it's the copy that is behind: %q", got)
	}
	h = newHarness(f)
	h.Recorder, h.Tally = &got, &got
	lost.Status, lost.Annotations = v1alpha1.NetBoxIPAddressStatus{}, nil
	meta.SetExternalCreatePending(lost, h.now)
	look(h)
	look(h)
	if diff := cmp.Diff(heard{told}, got); diff != "" {
		t.Errorf("after a lost answer: -want, +got:\n%s", diff)
	}
}

// TestToldByOldCopies: what a resource shows by now is told once, also where it's looked at by a copy of before.
func TestToldByOldCopies(t *testing.T) {
	cases := map[string]struct {
		mg     []edit
		change func(*fakeNetBox)
		want   string
	}{
		"Both": {[]edit{report, params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("ours") })}, func(f *fakeNetBox) {
			f.records[0].Address, f.records[0].Description = netip.MustParsePrefix("10.77.0.9/24"), "theirs"
		}, "Drifted: "},
		"Moved":    {[]edit{report}, func(f *fakeNetBox) { f.records[0].Address = netip.MustParsePrefix("10.77.0.9/24") }, "Moved: "},
		"Drifted":  {[]edit{report, params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("ours") })}, func(f *fakeNetBox) { f.records[0].Description = "theirs" }, "Drifted: "},
		"Lost":     {nil, func(f *fakeNetBox) { f.records = nil }, "Lost: "},
		"Released": {[]edit{deleted}, func(*fakeNetBox) {}, "Released: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(tc.mg...)
			mg.DeletionTimestamp = nil
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			tc.change(f)
			for range 3 {
				old := mg.DeepCopy()
				if name != "Released" {
					_ = h.reconcile(t, old)
					continue
				}
				deleted(old)
				if err := h.until(t, old); err != nil {
					t.Fatal(err)
				}
			}
			want := 1
			if name == "Both" { // Each of the two.
				want = 2
			}
			if len(h.events) != want || !strings.HasPrefix(h.events[0], tc.want) {
				t.Errorf("told %q, want %q once", h.events, tc.want)
			}
		})
	}
}

// TestFarewell: what is given up is told once, also where NetBox did it and its answer was lost, or nobody lived to hear it.
func TestFarewell(t *testing.T) {
	const released = `Released: address 10.77.0.1/24, record 100 of the NetBox of ClusterProviderConfig "netbox", was given up`
	cases := map[string]struct {
		reason  string
		policy  string
		lose    string
		restart bool
		// byHand says that a person has deleted the record before.
		byHand bool
		want   string
	}{
		"Delete":             {reason: "it's deleted", policy: v1alpha1.ReleaseDelete, want: released},
		"DeleteLost":         {reason: "the answer is lost", policy: v1alpha1.ReleaseDelete, lose: "Delete", want: released},
		"DeleteKilled":       {reason: "nobody lived to hear it", policy: v1alpha1.ReleaseDelete, lose: "Delete", restart: true, want: released},
		"ByHand":             {reason: "it was gone before", policy: v1alpha1.ReleaseDelete, byHand: true, want: released},
		"Keep":               {reason: "it's kept", policy: v1alpha1.ReleaseKeep, want: "Kept: record 100 (10.77.0.1/24) stays in NetBox as it is"},
		"KeepLost":           {reason: "the answer is lost", policy: v1alpha1.ReleaseKeep, lose: "Release", want: "Kept: record 100"},
		"KeepKilled":         {reason: "nobody lived to hear it", policy: v1alpha1.ReleaseKeep, lose: "Release", restart: true, want: "Kept: record 100"},
		"QuarantineLost":     {reason: "the answer is lost", policy: v1alpha1.ReleaseQuarantine, lose: "Release", want: "Quarantined: record 100 (10.77.0.1/24) is deprecated in NetBox, and is deleted there after 1970-01-02T00:16:40Z"},
		"QuarantineKilled":   {reason: "nobody lived to hear it", policy: v1alpha1.ReleaseQuarantine, lose: "Release", restart: true, want: "Quarantined: record 100 (10.77.0.1/24) is deprecated in NetBox, and is deleted there after 1970-01-02T00:16:40Z"},
		"DeleteUnknownField": {reason: "and looked for once more", policy: v1alpha1.ReleaseDelete, want: released},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if name == "DeleteUnknownField" {
				f.field = netbox.FieldUnproven // Then NetBox's word isn't enough.
			}
			h := newHarness(f)
			mg := newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Release = &v1alpha1.ReleasePolicy{Policy: tc.policy} }))
			if err := h.settle(t, mg); err != nil {
				t.Fatal(err)
			}
			var got heard
			h.Recorder = &got
			deleted(mg)
			if tc.byHand {
				f.records = nil
			}
			if tc.lose != "" {
				f.lose[tc.lose] = kind(netbox.KindUnknownOutcome)
				if _, err := h.deleteOnce(t, mg); err == nil {
					t.Fatal("want a lost answer")
				}
				clear(f.lose)
			}
			if tc.restart {
				h = newHarness(f)
				h.Recorder = &got
			}
			for gone := false; !gone; {
				var err error
				if gone, err = h.deleteOnce(t, mg); err != nil {
					t.Fatal(err)
				}
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], tc.want) {
				t.Errorf("%s: told %q, want %q once", tc.reason, got, tc.want)
			}
		})
	}
}

// TestAdoptedOnce: an adoption is told as one, and as nothing else, also where its answer is lost or nobody lived to hear it.
func TestAdoptedOnce(t *testing.T) {
	for name, spoil := range map[string]func(*harness){
		"Plain":  func(*harness) {},
		"Lost":   func(h *harness) { h.netbox.lose["Adopt"] = kind(netbox.KindUnknownOutcome) },
		"Killed": func(h *harness) { h.crash = "netbox-after-post" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", "")}
			h := newHarness(f)
			var got heard
			h.Recorder = &got
			spoil(h)
			mg := newAddress(named("5"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Adopt = v1alpha1.AdoptExternalName }))
			meta.SetExternalCreatePending(mg, h.now)
			func() {
				defer func() { _ = recover() }()
				if h.reconcile(t, mg) == nil {
					meta.SetExternalCreateSucceeded(mg, h.now) // As the managed reconciler does.
				}
			}()
			h.crash = ""
			for range 2 {
				if err := h.reconcile(t, mg); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(heard{"Adopted: record 5 (10.77.0.11/24) of NetBox carried no marker and is this resource's now"}, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}
