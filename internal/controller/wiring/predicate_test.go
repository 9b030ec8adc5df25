package wiring

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
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

// TestPaused: whoever wants to hear of resources that are paused does, by whatever word they are, and of those that aren't any more.
func TestPaused(t *testing.T) {
	var told []bool
	p := pausedTo(func(_ *v1alpha1.RedfishHost, is bool) { told = append(told, is) })
	runs := testHost("1")
	runs.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	byWord, byPolicy := runs.DeepCopy(), runs.DeepCopy()
	meta.AddAnnotations(byWord, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
	byPolicy.Spec.ManagementPolicies = xpv2.ManagementPolicies{}
	anew := runs.DeepCopy()
	anew.UID = "another"
	all := p.Create(event.CreateEvent{Object: runs}) && p.Create(event.CreateEvent{Object: byWord})
	for _, u := range [][2]*v1alpha1.RedfishHost{{runs, byWord}, {byWord, byPolicy}, {byWord, runs}, {runs, runs.DeepCopy()}, {runs, byPolicy}, {byPolicy, runs}, {runs, anew}} {
		all = p.Update(event.UpdateEvent{ObjectOld: u[0], ObjectNew: u[1]}) && all
	}
	if diff := cmp.Diff([]bool{true, true, false, true, false, false}, told); diff != "" || !all {
		t.Errorf("passed all: %v; -want, +told:\n%s", all, diff)
	}
	if !pausedTo[*v1alpha1.RedfishHost](nil).Update(event.UpdateEvent{ObjectOld: runs, ObjectNew: byWord}) {
		t.Error("nobody needs to hear of it")
	}
}
