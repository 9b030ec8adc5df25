package wiring

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestDesiredStateChanged(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(h *v1alpha1.RedfishHost)
		want   bool
	}{
		"Nothing":    {reason: "A resync wakes nobody.", change: func(*v1alpha1.RedfishHost) {}},
		"Status":     {reason: "A status is our own news.", change: func(h *v1alpha1.RedfishHost) { h.SetConditions(xpv2.Available()) }},
		"Spec":       {reason: "A changed spec has a new generation.", change: func(h *v1alpha1.RedfishHost) { h.Generation++ }, want: true},
		"Annotation": {reason: "People ask by annotation.", change: func(h *v1alpha1.RedfishHost) { meta.AddAnnotations(h, map[string]string{"a": "b"}) }, want: true},
		"Label":      {reason: "Labels select.", change: func(h *v1alpha1.RedfishHost) { meta.AddLabels(h, map[string]string{"a": "b"}) }, want: true},
		"Finalizer": {
			reason: "The external thing is deleted when the last foreign finalizer is gone, and nothing else says so.",
			change: func(h *v1alpha1.RedfishHost) { h.Finalizers = nil }, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := testHost("1")
			was.Finalizers = []string{v1alpha1.FinalizerHeldByClaim}
			is := was.DeepCopy()
			tc.change(is)
			if got := desiredStateChanged().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}); got != tc.want {
				t.Errorf("%s\nUpdate(...) = %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
	if desiredStateChanged().Update(event.UpdateEvent{ObjectNew: testHost("1")}) {
		t.Error("an event without an old object tells nothing")
	}
	if !desiredStateChanged().Create(event.CreateEvent{Object: testHost("1")}) {
		t.Error("a new resource must be looked at")
	}
}

// TestGone: whoever wants to hear of resources that are gone does, and nobody is kept from it.
func TestGone(t *testing.T) {
	var gone []string
	all := newPace(nil)
	p := goneTo(all, func(h *v1alpha1.RedfishHost) { gone = append(gone, string(h.GetUID())) })
	h := testHost("1")
	all.deletions[h.GetUID()] = true // It was taken away by force in the middle of being deleted.
	all.wrote(h)
	all.step(h.GetUID())
	if !p.Delete(event.DeleteEvent{Object: h}) || !p.Create(event.CreateEvent{Object: h}) || !p.Update(event.UpdateEvent{ObjectOld: h, ObjectNew: h}) {
		t.Error("want every event passed")
	}
	if len(gone) != 1 || gone[0] != string(h.GetUID()) {
		t.Errorf("told of %q, want once", gone)
	}
	if len(all.deletions)+len(all.versions)+len(all.looks) != 0 {
		t.Errorf("kept %v, %v, %v", all.deletions, all.versions, all.looks)
	}
	if !goneTo[*v1alpha1.RedfishHost](all, nil).Delete(event.DeleteEvent{Object: h}) {
		t.Error("nobody needs to hear of it")
	}
}
