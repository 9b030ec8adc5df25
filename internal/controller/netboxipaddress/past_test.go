package netboxipaddress

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestPastInCreate: a record that Create finds by its marker, as its POST had no answer or found nothing free, isn't taken either where it was given away a moment ago.
func TestPastInCreate(t *testing.T) {
	for _, k := range []netbox.Kind{netbox.KindUnknownOutcome, netbox.KindFull} {
		f := newFake()
		h, mg := newHarness(f), newAddress(func(mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalCreatePending(mg, time.Now().Add(-2*time.Second))
			meta.SetExternalCreateFailed(mg, time.Now().Add(-time.Second))
			meta.AddAnnotations(mg, map[string]string{v1alpha1.AnnotationAsked: "a", v1alpha1.AnnotationAnswered: "a", v1alpha1.AnnotationGivenAway: "5"})
		})
		e := h.connect(t, mg)
		if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
			t.Fatal(o, err)
		}
		meta.SetExternalCreatePending(mg, time.Now())
		f.records, f.fail["Allocate"] = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}, kind(k) // By a copy that is behind.
		if _, err := e.Create(t.Context(), mg); err == nil || meta.GetExternalName(mg) != "" {
			t.Errorf("%s: %v, record %q is taken", k, err, meta.GetExternalName(mg))
		}
		f.records, h.now = nil, h.now.Add(12*time.Second)
		meta.SetExternalCreateFailed(mg, time.Now().Add(-12*time.Second))
		if _, err := h.connect(t, mg).Observe(t.Context(), mg); err != nil && strings.Contains(err.Error(), "record 5") {
			t.Errorf("%s: once it's shown as it is: %v", k, err)
		}
	}
}

// TestRefused: what NetBox keeps by a rule of its own was given to nobody.
func TestRefused(t *testing.T) {
	for want, err := range map[string]error{"": &netbox.Error{Kind: netbox.KindConflict, Status: 400}, "11": &netbox.Error{Kind: netbox.KindConflict, Status: 412}} {
		f := newFake()
		f.records, f.fail["Delete"] = []netbox.IPAddress{record(11, "10.77.0.1/24", ours)}, err
		h, mg := newHarness(f), newAddress(askedAgo(5*time.Minute))
		_ = h.connect(t, mg).takeBack(t.Context(), mg, f.records[0], takenError{})
		if got := mg.GetAnnotations()[v1alpha1.AnnotationGivenAway]; got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
