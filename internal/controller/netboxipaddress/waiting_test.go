package netboxipaddress

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestLateWhileFull: a POST had no answer, and the source is full at the next look. What NetBox makes of that POST later is found at the next
// look after it, though a resource that waits for space isn't looked for every time.
func TestLateWhileFull(t *testing.T) {
	mine := record(9, "10.77.0.9/24", ours)
	full := func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
		t.Helper()
		h.netbox.full = []int64{1}
		for range 2 {
			if err := h.look(t, mg); err != nil && reasonOf(err) != v1alpha1.ReasonExhausted {
				t.Fatal(err)
			}
		}
		if c := mg.GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonExhausted {
			t.Fatalf("%+v", c)
		}
	}
	lose := func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
		t.Helper()
		h.netbox.fail["Allocate"] = kind(netbox.KindUnknownOutcome)
		if err := h.look(t, mg); reasonOf(err) != v1alpha1.ReasonUnreachable {
			t.Fatalf("the answer was to be lost: %v", err)
		}
		delete(h.netbox.fail, "Allocate")
	}
	cases := map[string]struct {
		reason string
		acts   func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress)
	}{
		"Soon": {"It comes while it may.", func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
			t.Helper()
			lose(t, h, mg)
			full(t, h, mg)
		}},
		"Last": {"It came at the end, and nobody looked in between.", func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
			t.Helper()
			lose(t, h, mg)
			full(t, h, mg)
			h.unanswered.put(mg.GetUID(), time.Now().Add(-outstandingFor-time.Second))
			delete(mg.Annotations, v1alpha1.AnnotationUnanswered)
		}},
		"Other": {"Another process asked meanwhile, and its answer is long written.", func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
			t.Helper()
			full(t, h, mg)
			other := newHarness(h.netbox)
			other.asks(mg)
			other.answers(mg, nil, false)
		}},
		"Named": {"Somebody names it.", func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
			t.Helper()
			full(t, h, mg)
			named("9")(mg)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(managedBy(xpv2.ManagementActionAll))
			tc.acts(t, h, mg)
			f.records = append(f.records, mine)
			if err := h.look(t, mg); err != nil || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
				t.Errorf("%s\n%v, %+v", tc.reason, err, mg.GetCondition(xpv2.TypeReady))
			}
		})
	}
	f := newFake()
	h, mg := newHarness(f), newAddress(managedBy(xpv2.ManagementActionAll))
	full(t, h, mg)
	f.calls = nil
	if err := h.look(t, mg); err != nil || len(f.calls) == 0 {
		t.Fatal(err, f.calls)
	}
	for _, c := range f.calls {
		if c == "FindByMarker" {
			t.Errorf("where every POST was answered, none is looked for: %v", f.calls)
		}
	}
}
