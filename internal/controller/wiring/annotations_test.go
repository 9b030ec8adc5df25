package wiring

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestAnnotated holds what becomes of annotations where somebody else writes a resource while its Create is under way.
func TestAnnotated(t *testing.T) {
	const name, note, old, word = meta.AnnotationKeyExternalName, "note", "old", "word"
	set := func(kv ...string) func(*v1alpha1.RedfishHost) {
		return func(h *v1alpha1.RedfishHost) {
			for i := 0; i < len(kv); i += 2 {
				meta.AddAnnotations(h, map[string]string{kv[i]: kv[i+1]})
			}
		}
	}
	cases := map[string]struct {
		reason string
		before map[string]string
		// create is what Create changes, and other what somebody else does meanwhile; nil: nobody does.
		create, other func(*v1alpha1.RedfishHost)
		fails         error
		merge         func(noted, theirs map[string]string)
		want          map[string]string
	}{
		"Alone": {
			reason: "What it notes is written, and what it takes off goes.", before: map[string]string{old: "1", note: "1"},
			create: func(h *v1alpha1.RedfishHost) { set(name, "5", note, "2")(h); meta.RemoveAnnotations(h, old) },
			want:   map[string]string{name: "5", note: "2"},
		},
		"Both": {
			reason: "Also where somebody else wrote something else.", before: map[string]string{old: "1", note: "1"},
			create: func(h *v1alpha1.RedfishHost) { set(name, "5", note, "2")(h); meta.RemoveAnnotations(h, old) },
			other:  set("theirs", "1"),
			want:   map[string]string{name: "5", note: "2", "theirs": "1"},
		},
		"Theirs": {
			reason: "What Create didn't change is as they have it: nothing is taken back.", before: map[string]string{old: "1", note: "1", word: "a"},
			create: set(name, "5"),
			other:  func(h *v1alpha1.RedfishHost) { set(note, "2", word, "b")(h); meta.RemoveAnnotations(h, old) },
			want:   map[string]string{name: "5", note: "2", word: "b"},
		},
		"Failed": {
			reason: "Also where Create fails.", before: map[string]string{word: "a"}, fails: errors.New("boom"),
			create: set(note, "2"), other: set(word, "b"),
			want: map[string]string{note: "2", word: "b"},
		},
		"Same": {
			reason: "What both changed is as Create has it: a name that isn't written is lost.", before: map[string]string{name: "3"},
			create: set(name, "5"), other: set(name, "4"),
			want: map[string]string{name: "5"},
		},
		"Merged": {
			reason: "Unless the kind says that it's true no more.", before: map[string]string{note: "1"},
			create: set(name, "5", note, "2"), other: set(note, "3"),
			merge: func(noted, theirs map[string]string) {
				if theirs[note] > noted[note] {
					delete(noted, note)
				}
			},
			want: map[string]string{name: "5", note: "3"},
		},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			h := managedHost()
			h.Annotations = tc.before
			var b *bench
			b = newBench(t, h, creating(func(h *v1alpha1.RedfishHost) error {
				tc.create(h)
				if tc.other != nil {
					o := b.host()
					tc.other(o)
					if err := b.kube.Update(t.Context(), o); err != nil {
						t.Error(err)
					}
				}
				return tc.fails
			}), func(k *Kind[*v1alpha1.RedfishHost]) { k.Merge = tc.merge })
			b.reconcile()
			times := cmpopts.IgnoreMapEntries(func(k, _ string) bool {
				return k == meta.AnnotationKeyExternalCreatePending || k == meta.AnnotationKeyExternalCreateSucceeded || k == meta.AnnotationKeyExternalCreateFailed
			})
			if diff := cmp.Diff(tc.want, b.host().Annotations, times); diff != "" {
				t.Errorf("%s\nannotations: -want, +got:\n%s", tc.reason, diff)
			}
			if h := b.host(); meta.GetExternalCreateSucceeded(h).IsZero() == (tc.fails == nil) || meta.GetExternalCreateFailed(h).IsZero() == (tc.fails != nil) {
				t.Errorf("how Create ended isn't written: %v", h.Annotations)
			}
		})
	}
}

// creating is a host whose external thing is made so.
func creating(create func(*v1alpha1.RedfishHost) error) managed.TypedExternalConnectorFn[*v1alpha1.RedfishHost] {
	return func(context.Context, *v1alpha1.RedfishHost) (managed.TypedExternalClient[*v1alpha1.RedfishHost], error) {
		return managed.TypedExternalClientFns[*v1alpha1.RedfishHost]{
			ObserveFn: func(_ context.Context, h *v1alpha1.RedfishHost) (managed.ExternalObservation, error) {
				h.SetConditions(xpv2.Available())
				return managed.ExternalObservation{}, nil
			},
			CreateFn: func(_ context.Context, h *v1alpha1.RedfishHost) (managed.ExternalCreation, error) {
				return managed.ExternalCreation{}, create(h)
			},
			DisconnectFn: func(context.Context) error { return nil },
		}, nil
	}
}

// TestAnnotatedReplaced: what was made for a resource isn't noted on another one that has its name by now.
func TestAnnotatedReplaced(t *testing.T) {
	var b *bench
	b = newBench(t, managedHost(), creating(func(h *v1alpha1.RedfishHost) error {
		meta.SetExternalName(h, "5")
		was := b.host()
		was.Finalizers = nil
		if err := b.kube.Update(t.Context(), was); err != nil {
			t.Error(err)
		}
		if err := client.IgnoreNotFound(b.kube.Delete(t.Context(), was)); err != nil {
			t.Error(err)
		}
		next := managedHost()
		next.UID = "another"
		if err := b.kube.Create(t.Context(), next); err != nil {
			t.Error(err)
		}
		return nil
	}))
	_, _ = b.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: b.key})
	if h := b.host(); len(h.Annotations) != 0 || len(h.Status.Conditions) != 0 {
		t.Errorf("the other one has %v, %v", h.Annotations, h.Status.Conditions)
	}
}
