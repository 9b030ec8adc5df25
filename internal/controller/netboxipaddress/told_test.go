package netboxipaddress

import (
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
	got = nil
	for range 2 {
		e := h.connect(t, lost)
		if _, err := e.Observe(t.Context(), lost); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(heard{told}, got); diff != "" {
		t.Errorf("after a lost answer: -want, +got:\n%s", diff)
	}
}
