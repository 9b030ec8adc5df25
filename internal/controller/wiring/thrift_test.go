package wiring

import (
	"context"
	"errors"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A bench reconciles one host around an external thing, and counts what is written.
type bench struct {
	t       *testing.T
	kube    client.Client
	retries workqueue.TypedRateLimiter[reconcile.Request]
	r       *managed.Reconciler
	key     client.ObjectKey
	writes  []string
	// stale is what the cache has; nil: what the API server has.
	stale *v1alpha1.RedfishHost
	// conflict makes the next writes of that name conflict.
	conflict map[string]int
}

func (b *bench) write(name string) error {
	if b.conflict[name] > 0 {
		b.conflict[name]--
		return kerrors.NewConflict(schema.GroupResource{}, "h", errors.New("stale"))
	}
	b.writes = append(b.writes, name)
	return nil
}

func newBench(t *testing.T, h *v1alpha1.RedfishHost, connect managed.TypedExternalConnectorFn[*v1alpha1.RedfishHost], with ...func(*Kind[*v1alpha1.RedfishHost])) *bench {
	t.Helper()
	b := &bench{t: t, key: client.ObjectKeyFromObject(h), conflict: map[string]int{}}
	b.kube = kubefake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(h).WithStatusSubresource(h).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if h, ok := o.(*v1alpha1.RedfishHost); ok && b.stale != nil {
				b.stale.DeepCopyInto(h)
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := b.write("update"); err != nil {
				return err
			}
			return c.Update(ctx, o, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if err := b.write(sub); err != nil {
				return err
			}
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	}).Build()
	o := Options{Options: xpcontroller.DefaultOptions()}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	b.retries = o.ForController().RateLimiter
	k := Kind[*v1alpha1.RedfishHost]{
		GVK: v1alpha1.RedfishHostGroupVersionKind, DeterministicExternalName: true, CreationGrace: time.Nanosecond, Connector: connect,
	}
	for _, change := range with {
		change(&k)
	}
	b.r = NewReconciler(&manager{Manager: fake.Manager{Client: b.kube, Scheme: b.kube.Scheme()}}, o, k, b.retries)
	return b
}

func (b *bench) reconcile() reconcile.Result {
	b.t.Helper()
	got, err := b.r.Reconcile(b.t.Context(), reconcile.Request{NamespacedName: b.key})
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

func (b *bench) host() *v1alpha1.RedfishHost {
	b.t.Helper()
	h := &v1alpha1.RedfishHost{}
	if err := b.kube.Get(b.t.Context(), b.key, h); err != nil {
		b.t.Fatal(err)
	}
	return h
}

// wait is how long the queue lets a retry wait now.
func (b *bench) wait() time.Duration { return b.retries.When(reconcile.Request{NamespacedName: b.key}) }

func managedHost() *v1alpha1.RedfishHost {
	h := testHost("")
	h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	return h
}

func TestWritesOfCreation(t *testing.T) {
	x := &thing{current: true}
	b := newBench(t, managedHost(), x.connect)
	b.reconcile()
	if h := b.host(); !meta.FinalizerExists(h, managed.FinalizerName) || meta.GetExternalCreateSucceeded(h).IsZero() {
		t.Fatalf("after Create: finalizers %v, annotations %v", h.Finalizers, h.Annotations)
	}
	b.reconcile()
	// That a Create is about to be made (with the finalizer), what it made, and that it's there.
	if diff := cmp.Diff([]string{"update", "update", "status"}, b.writes); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}
	if h := b.host(); h.GetCondition(xpv2.TypeReady).Status != "True" || h.GetCondition(xpv2.TypeSynced).Status != "True" {
		t.Errorf("conditions %v", h.Status.Conditions)
	}
}

// TestMade: a kind that knows what Create made says so at once, and the look that follows has nothing to write.
func TestMade(t *testing.T) {
	x := &thing{current: true}
	b := newBench(t, managedHost(), x.connect, func(k *Kind[*v1alpha1.RedfishHost]) {
		k.Made = func(h *v1alpha1.RedfishHost) bool {
			h.SetConditions(xpv2.Available())
			return true
		}
	})
	b.reconcile()
	if h := b.host(); h.GetCondition(xpv2.TypeReady).Status != "True" || h.GetCondition(xpv2.TypeSynced).Status != "True" {
		t.Errorf("after Create: conditions %v", h.Status.Conditions)
	}
	b.reconcile()
	if diff := cmp.Diff([]string{"update", "update", "status"}, b.writes); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}
}

// TestUnchanged: what is as it was costs no write, until something else is to be said.
func TestUnchanged(t *testing.T) {
	phase := v1alpha1.HostAvailable
	b := newBench(t, managedHost(), func(context.Context, *v1alpha1.RedfishHost) (managed.TypedExternalClient[*v1alpha1.RedfishHost], error) {
		return managed.TypedExternalClientFns[*v1alpha1.RedfishHost]{
			ObserveFn: func(_ context.Context, h *v1alpha1.RedfishHost) (managed.ExternalObservation, error) {
				h.Status.Phase = phase
				h.SetConditions(xpv2.Available())
				return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
			},
			DisconnectFn: func(context.Context) error { return nil },
		}, nil
	})
	b.reconcile() // The finalizer's write takes away what was observed.
	b.reconcile()
	b.writes = nil
	b.reconcile()
	b.reconcile()
	if len(b.writes) != 0 {
		t.Errorf("two looks at what is as it was wrote %v", b.writes)
	}
	phase = v1alpha1.HostMaintained
	b.reconcile()
	if b.host().Status.Phase != phase {
		t.Error("what changed wasn't written")
	}
	// Somebody else's write: what was read isn't what was written from here.
	h := b.host()
	h.Labels = map[string]string{"a": "b"}
	if err := b.kube.Update(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	b.writes = nil
	b.reconcile()
	if diff := cmp.Diff([]string{"status"}, b.writes); diff != "" {
		t.Errorf("writes after somebody else's: -want, +got:\n%s", diff)
	}
}

// TestReconcileRequest: who asks for a look by annotation crossplane.io/reconcile-requested-at reads in status that it was taken.
func TestReconcileRequest(t *testing.T) {
	x := &thing{current: true, exists: true}
	b := newBench(t, managedHost(), x.connect)
	b.reconcile()
	b.reconcile()
	for _, token := range []string{"one", "two"} {
		h := b.host()
		meta.AddAnnotations(h, map[string]string{meta.AnnotationKeyReconcileRequestedAt: token})
		if err := b.kube.Update(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		b.reconcile()
		if got := b.host().Status.LastHandledReconcileAt; got != token {
			t.Errorf("asked by %q: status says %q", token, got)
		}
	}
}

// TestWritesOfDeletion: nobody is told that a thing is being deleted which is found gone at once.
func TestWritesOfDeletion(t *testing.T) {
	h := managedHost()
	h.Finalizers = []string{managed.FinalizerName}
	x := &thing{exists: true}
	b := newBench(t, h, x.connect)
	if err := b.kube.Delete(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	x.exists = true // It takes a second step.
	b.reconcile()
	x.exists = false
	b.reconcile()
	if diff := cmp.Diff([]string{"status", "update"}, b.writes); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}
}

// TestFinalizerBeforeCreate holds what deferring the finalizer may not change: it's at the API server when Create is called.
func TestFinalizerBeforeCreate(t *testing.T) {
	var b *bench
	seen := false
	b = newBench(t, managedHost(), func(context.Context, *v1alpha1.RedfishHost) (managed.TypedExternalClient[*v1alpha1.RedfishHost], error) {
		return managed.TypedExternalClientFns[*v1alpha1.RedfishHost]{
			ObserveFn: func(context.Context, *v1alpha1.RedfishHost) (managed.ExternalObservation, error) {
				return managed.ExternalObservation{}, nil
			},
			CreateFn: func(context.Context, *v1alpha1.RedfishHost) (managed.ExternalCreation, error) {
				seen = meta.FinalizerExists(b.host(), managed.FinalizerName)
				return managed.ExternalCreation{}, errors.New("boom")
			},
			DisconnectFn: func(context.Context) error { return nil },
		}, nil
	})
	b.reconcile()
	if !seen {
		t.Error("Create was called on a resource that nothing keeps from going")
	}
	if c := b.host().GetCondition(xpv2.TypeSynced); c.Reason != xpv2.ReasonReconcileError {
		t.Errorf("Synced: got %v; a Create that failed must be told", c)
	}
}

func TestWritesOfLateInitialisation(t *testing.T) {
	const name = "ABC"
	b := newBench(t, managedHost(), func(context.Context, *v1alpha1.RedfishHost) (managed.TypedExternalClient[*v1alpha1.RedfishHost], error) {
		return managed.TypedExternalClientFns[*v1alpha1.RedfishHost]{
			ObserveFn: func(_ context.Context, h *v1alpha1.RedfishHost) (managed.ExternalObservation, error) {
				late := meta.GetExternalName(h) == ""
				meta.SetExternalName(h, name)
				h.Status.Phase = v1alpha1.HostAvailable
				h.SetConditions(xpv2.Available())
				return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, ResourceLateInitialized: late}, nil
			},
			DisconnectFn: func(context.Context) error { return nil },
		}, nil
	})
	b.reconcile()
	h := b.host()
	if meta.GetExternalName(h) != name || !meta.FinalizerExists(h, managed.FinalizerName) || h.Status.Phase != v1alpha1.HostAvailable || h.GetCondition(xpv2.TypeReady).Status != "True" {
		t.Errorf("after one look: external name %q, finalizers %v, status %+v", meta.GetExternalName(h), h.Finalizers, h.Status)
	}
	if diff := cmp.Diff([]string{"update", "status"}, b.writes); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}
}

// TestAdopted: what exists already, and needs no other write, gets its finalizer by itself.
func TestAdopted(t *testing.T) {
	x := &thing{exists: true, current: true}
	b := newBench(t, managedHost(), x.connect)
	b.reconcile()
	if !meta.FinalizerExists(b.host(), managed.FinalizerName) {
		t.Error("no finalizer")
	}
	if diff := cmp.Diff([]string{"update", "status"}, b.writes); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}
}

// TestRetriesStartOver: what failed before a thing was created doesn't make the look after it late.
func TestRetriesStartOver(t *testing.T) {
	tire := func(b *bench) {
		for range 12 {
			b.wait()
		}
		if b.wait() != lastRetry {
			t.Fatal("the back-off didn't grow")
		}
	}
	t.Run("Create", func(t *testing.T) {
		x := &thing{current: true}
		b := newBench(t, managedHost(), x.connect)
		tire(b)
		b.reconcile()
		if w := b.wait(); w != firstRetry {
			t.Errorf("after a Create that followed failures: %s, want %s", w, firstRetry)
		}
	})
	t.Run("CreateThenConflict", func(t *testing.T) {
		x := &thing{current: true}
		b := newBench(t, managedHost(), x.connect)
		tire(b)
		b.reconcile()
		b.conflict["status"] = 1
		b.reconcile()
		if w := b.wait(); w > time.Second {
			t.Errorf("after a conflict of the next look: %s", w)
		}
	})
	t.Run("CreateFails", func(t *testing.T) {
		x := &thing{fail: errors.New("boom")}
		b := newBench(t, managedHost(), x.connect)
		tire(b)
		b.reconcile()
		if w := b.wait(); w != lastRetry {
			t.Errorf("after one more failure: %s, want %s", w, lastRetry)
		}
	})
	t.Run("Delete", func(t *testing.T) {
		h := managedHost()
		h.Finalizers = []string{managed.FinalizerName}
		x := &thing{exists: true, fail: nil}
		b := newBench(t, h, x.connect)
		if err := b.kube.Delete(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		tire(b)
		b.reconcile()
		if w := b.wait(); w != firstRetry {
			t.Errorf("after a deletion that was waited for: %s, want %s", w, firstRetry)
		}
		x.exists = true
		tire(b)
		b.reconcile()
		if w := b.wait(); w != lastRetry {
			t.Errorf("after a further step of a deletion: %s, want %s: steps are retries", w, lastRetry)
		}
	})
}

func TestUpcoming(t *testing.T) {
	policies := func(p ...xpv2.ManagementAction) *v1alpha1.RedfishHost {
		h := testHost("")
		h.Spec.ManagementPolicies = p
		return h
	}
	gone := managedHost()
	at := metav1.Now()
	gone.DeletionTimestamp = &at
	cases := map[string]struct {
		reason string
		host   *v1alpha1.RedfishHost
		o      managed.ExternalObservation
		want   upcoming
	}{
		"Create":       {"That a Create is about to be made is written.", managedHost(), managed.ExternalObservation{}, writeCreate},
		"NoCreate":     {"Where nothing may be created, nothing follows.", policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate), managed.ExternalObservation{}, writeNone},
		"MayCreate":    {"By name.", policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate), managed.ExternalObservation{}, writeCreate},
		"Late":         {"What was initialised late is written.", managedHost(), managed.ExternalObservation{ResourceExists: true, ResourceLateInitialized: true}, writeLate},
		"NotLate":      {"Unless it may not be.", policies(xpv2.ManagementActionObserve), managed.ExternalObservation{ResourceExists: true, ResourceLateInitialized: true}, writeNone},
		"Exists":       {"What is there needs no write.", managedHost(), managed.ExternalObservation{ResourceExists: true}, writeNone},
		"NoPolicies":   {"Policies that are off say nothing.", policies(), managed.ExternalObservation{}, writeNone},
		"BeingDeleted": {"What is being deleted gets no finalizer.", gone, managed.ExternalObservation{}, writeNone},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := upcomingOf(tc.host, tc.o); got != tc.want {
				t.Errorf("%s\nupcomingOf(...) = %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
