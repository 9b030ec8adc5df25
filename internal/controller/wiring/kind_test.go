package wiring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// hostsKind is the CustomResourceDefinition of RedfishHost.
func hostsKind(going bool) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "redfishhosts.baremetal.m.crossplane.io"}}
	if going {
		now := metav1.Now()
		crd.DeletionTimestamp, crd.Finalizers = &now, []string{apiextensionsv1.CustomResourceCleanupFinalizer}
	}
	return crd
}

func liveWith(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.Reader {
	t.Helper()
	s := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return kubefake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

// TestDeletedWithItsKind holds that nothing outside is touched where a resource is deleted because its kind is.
func TestDeletedWithItsKind(t *testing.T) {
	errBoom := errors.New("boom")
	broken := interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errBoom
	}}
	cases := map[string]struct {
		reason string
		live   client.Reader
		exists bool
		calls  int
		says   string
	}{
		"Stays": {reason: "Somebody deleted the resource, and means it.", live: liveWith(t, interceptor.Funcs{}, hostsKind(false)), exists: true, calls: 1},
		"Goes": {
			reason: "Nobody said anything about the machine.", live: liveWith(t, interceptor.Funcs{}, hostsKind(true)), exists: true,
			says: `CustomResourceDefinition "redfishhosts.baremetal.m.crossplane.io" is being deleted`,
		},
		"Unknown": {reason: "Who can't tell doesn't act.", live: liveWith(t, broken, hostsKind(false)), exists: true, says: "boom"},
		"Nothing": {reason: "What has nothing outside keeps nobody waiting.", live: liveWith(t, interceptor.Funcs{}, hostsKind(true))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := testHost("", xpv2.Available())
			at := metav1.Now()
			h.DeletionTimestamp, h.Finalizers = &at, []string{managed.FinalizerName}
			s := testScheme(t)
			kube := kubefake.NewClientBuilder().WithScheme(s).WithObjects(h).WithStatusSubresource(h).Build()
			x := thing{exists: tc.exists}
			o := Options{Options: xpcontroller.DefaultOptions(), Live: tc.live}
			r := NewReconciler(&manager{Manager: fake.Manager{Client: kube, Scheme: s}}, o, Kind[*v1alpha1.RedfishHost]{
				GVK: v1alpha1.RedfishHostGroupVersionKind, Connector: managed.TypedExternalConnectorFn[*v1alpha1.RedfishHost](x.connect),
			}, o.ForController().RateLimiter)
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(h)}); err != nil {
				t.Fatal(err)
			}
			if len(x.calls) != tc.calls {
				t.Errorf("%s\ncalls %v, want %d", tc.reason, x.calls, tc.calls)
			}
			err := kube.Get(t.Context(), client.ObjectKeyFromObject(h), h)
			if gone := client.IgnoreNotFound(err) == nil && err != nil; gone == tc.exists {
				t.Fatalf("%s\ngone %t: %v", tc.reason, gone, err)
			}
			if said := h.GetCondition(xpv2.TypeSynced).Message; tc.exists && !strings.Contains(said, tc.says) {
				t.Errorf("%s\nSynced says %q, want %q in it", tc.reason, said, tc.says)
			}
		})
	}
}

// TestDefinition holds that each of our kinds is found by its name.
func TestDefinition(t *testing.T) {
	for _, kind := range []string{
		v1alpha1.RedfishHostKind, v1alpha1.NetBoxIPAddressKind, v1alpha1.BootEntryKind, v1alpha1.HostClaimKind,
	} {
		name := definition(v1alpha1.GroupVersion.WithKind(kind))
		plural, group, _ := strings.Cut(name, ".")
		if _, err := os.Stat(filepath.Join("..", "..", "..", "package", "provider", "crds", group+"_"+plural+".yaml")); err != nil {
			t.Errorf("%s isn't defined by %q: %v", kind, name, err)
		}
	}
}
