package hostclaim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// calls are what a look at a claim asked of the API server.
type calls struct{ reads, writes int }

// serverOf is an API server, or a cache, that holds the inputs.
func serverOf(t *testing.T, in inputs, n *calls) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	in.session.Namespace, in.session.Name = in.entry.Namespace, in.entry.Name
	in.servers[0].Namespace, in.servers[0].Name = "baremetal-boot", "bootd"
	return fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(in.claim).
		WithObjects(in.claim, in.host, in.entry, in.session, &in.addresses[0], &in.servers[0]).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				n.reads++
				return c.Get(ctx, key, o, opts...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				n.writes++
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				n.writes++
				return c.SubResource(sub).Update(ctx, o, opts...)
			},
		}).Build()
}

// TestSettled holds that a claim with nothing to do and nothing to tell costs the API server nothing, and that what is done and told
// about any other is decided on what the API server says.
func TestSettled(t *testing.T) {
	running := func(in *inputs) {
		applied(v1alpha1.PoweredOn, 1)(in)
		power(v1alpha1.PoweredOn)(in)
		started(in)
	}
	said := func(in *inputs) { in.claim.Status = status(*in, decide(*in)) }
	cases := map[string]struct {
		reason        string
		cached, there inputs
		reads, writes bool
		after         time.Duration
	}{
		"Settled": {"All is said: the API server isn't asked.", world(running, said), world(running, said), false, false, pollPending},
		"Unsaid":  {"Its status lacks what the cache shows.", world(running), world(running), true, true, pollPending},
		"CacheBehind": {
			"The cache doesn't know yet what was done and said: nothing is done twice.", world(), world(running, said), true, false, pollPending,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var cache, server calls
			r := &reconciler{
				kube: serverOf(t, tc.cached, &cache), live: serverOf(t, tc.there, &server), bootNamespace: "baremetal-boot",
				log: logging.NewNopLogger(), record: event.NewNopRecorder(), now: func() time.Time { return noon }, newID: func() string { return "id" },
				stays: func(context.Context) error { return nil },
			}
			got, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(tc.there.claim)})
			if err != nil {
				t.Fatalf("%s\nReconcile(...): %v", tc.reason, err)
			}
			if got.RequeueAfter != tc.after {
				t.Errorf("%s\nlooks again after %s, want %s", tc.reason, got.RequeueAfter, tc.after)
			}
			if (server.reads > 0) != tc.reads || (cache.writes+server.writes > 0) != tc.writes {
				t.Errorf("%s\n%d live reads (wanted: %t), %d writes (wanted: %t)", tc.reason, server.reads, tc.reads, cache.writes+server.writes, tc.writes)
			}
		})
	}
}

// TestKindGoes holds that a claim which is deleted with its kind is left as it is, and says so: who deletes the kind is asked of the API
// server each time.
func TestKindGoes(t *testing.T) {
	var n calls
	in := world(deleted, revoked(true), power(v1alpha1.PoweredOn))
	server := serverOf(t, in, &n)
	asked := 0
	r := &reconciler{
		kube: server, live: server, bootNamespace: "baremetal-boot",
		log: logging.NewNopLogger(), record: event.NewNopRecorder(), now: func() time.Time { return noon }, newID: func() string { return "id" },
		stays: func(context.Context) error { asked++; return errors.New("the kind is being deleted") },
	}
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(in.claim)}
	for range 3 {
		if _, err := r.Reconcile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if asked < 3 || n.writes != 1 {
		t.Errorf("asked %d times, wrote %d times: want a look each time, and its status once", asked, n.writes)
	}
	c, h := &v1alpha1.HostClaim{}, &v1alpha1.RedfishHost{}
	for o, key := range map[client.Object]client.ObjectKey{c: req.NamespacedName, h: client.ObjectKeyFromObject(in.host)} {
		if err := server.Get(t.Context(), key, o); err != nil {
			t.Fatal(err)
		}
	}
	if c.Status.Reason != string(v1alpha1.ReasonKindDeleted) || h.Spec.ForProvider.Power == v1alpha1.PoweredOff || h.Spec.ClaimRef == nil {
		t.Errorf("claim says %q, host is to be %q for %v: want KindDeleted, and the host as it was", c.Status.Reason, h.Spec.ForProvider.Power, h.Spec.ClaimRef)
	}
}

// TestLetGo: where an address can't be let go yet, since somebody has just written it, the entry that names it stays, so that the next try knows of both.
func TestLetGo(t *testing.T) {
	in := world(func(in *inputs) {
		in.entry.Finalizers = []string{v1alpha1.FinalizerHeldByClaim}
		in.addresses[0].Finalizers = []string{v1alpha1.FinalizerHeldByClaim}
	})
	var n calls
	kube := serverOf(t, in, &n)
	r := &reconciler{kube: kube}
	get := func(o client.Object) client.Object {
		t.Helper()
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	get(in.entry)
	get(&in.addresses[0])
	written := in.addresses[0].DeepCopy()
	written.Labels = map[string]string{"somebody": "wrote"}
	if err := kube.Update(t.Context(), written); err != nil {
		t.Fatal(err)
	}
	if err := r.perform(t.Context(), in, verdict{act: actLetGo}); !kerrors.IsConflict(err) {
		t.Errorf("want the conflict, got %v", err)
	}
	if e := get(in.entry.DeepCopy()); len(e.GetFinalizers()) != 1 {
		t.Errorf("the entry is let go before its address: %v", e.GetFinalizers())
	}
	get(&in.addresses[0])
	if err := r.perform(t.Context(), in, verdict{act: actLetGo}); err != nil {
		t.Error(err)
	}
	for _, o := range []client.Object{in.entry.DeepCopy(), in.addresses[0].DeepCopy()} {
		if o := get(o); len(o.GetFinalizers()) != 0 {
			t.Errorf("%T is still held: %v", o, o.GetFinalizers())
		}
	}
	get(in.entry)
	get(&in.addresses[0])
	written = in.addresses[0].DeepCopy()
	written.Labels = map[string]string{"somebody": "wrote again"}
	if err := kube.Update(t.Context(), written); err != nil {
		t.Fatal(err)
	}
	if err := r.perform(t.Context(), in, verdict{act: actLetGo}); err != nil {
		t.Errorf("who writes an address that was let go is in the way: %v", err)
	}
}
