package netboxipaddress

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestRetried: what failed and is asked for again is counted, whatever it failed of; that a source was full isn't a failure.
func TestRetried(t *testing.T) {
	for reason, want := range map[netbox.Kind]heard{
		netbox.KindUnknownOutcome: {"retried netbox"}, netbox.KindUnreachable: {"retried netbox"}, netbox.KindForbidden: {"retried netbox"},
		netbox.KindInvalid: {"retried netbox"}, netbox.KindFull: nil,
	} {
		t.Run(string(reason), func(t *testing.T) {
			f := newFake()
			h := newHarness(f)
			var got heard
			h.Tally = &got
			mg := newAddress()
			create := func() {
				e := h.connect(t, mg)
				if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
					return
				}
				_, _ = e.Create(t.Context(), mg)
			}
			f.fail["Allocate"] = kind(reason)
			create()
			delete(f.fail, "Allocate")
			for range 3 {
				h.now = h.now.Add(retryAfter)
				create()
			}
			if diff := cmp.Diff(want, got); diff != "" || len(f.records) != 1 {
				t.Errorf("%d records; -want, +got:\n%s", len(f.records), diff)
			}
		})
	}
}

// TestNotesEnd: what a resource leaves behind that goes without a last look is forgotten some day.
func TestNotesEnd(t *testing.T) {
	n, now := newNotes[bool](), time.Now()
	n.putAt("old", true, now)
	n.putAt("young", true, now.Add(noteFor))
	if _, ok := n.get("old"); !ok {
		t.Error("it's forgotten too early")
	}
	n.putAt("new", true, now.Add(noteFor+noteSweep+time.Second))
	if _, ok := n.get("old"); ok || len(n.last) != 2 {
		t.Errorf("left: %v", n.last)
	}
}

// TestNotesCount: what was found of one NetBox says nothing of how much another one bears.
func TestNotesCount(t *testing.T) {
	n, now := newCounted(func(s string) types.UID { return types.UID(s) }), time.Now()
	for uid, of := range map[types.UID]string{"1": "a", "2": "a", "3": "b"} {
		n.putAt(uid, of, now)
	}
	n.putAt("2", "b", now)
	n.forget("1")
	n.forget("none")
	if a, b := n.count("a"), n.count("b"); a != 0 || b != 2 {
		t.Errorf("%d of a and %d of b", a, b)
	}
	n.putAt("4", "a", now.Add(countedFor+time.Second))
	if a, b := n.count("a"), n.count("b"); a != 1 || b != 0 || len(n.counts) != 1 {
		t.Errorf("once the old ones are forgotten, %d of a and %d of b", a, b)
	}
}

// TestOrphanLeavesNothing: a resource that goes and leaves its record gets no other look.
func TestOrphanLeavesNothing(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(5, "10.77.0.5/24", ours)}
	h := newHarness(f)
	mg := newAddress(named("5"), deleted, func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate}
	})
	h.unanswered.put(mg.GetUID(), time.Now())
	if o, err := h.connect(t, mg).Observe(t.Context(), mg); err != nil || !o.ResourceExists {
		t.Fatal(o, err)
	}
	if _, ok := h.unanswered.get(mg.GetUID()); ok {
		t.Error("something is remembered of it")
	}
}
