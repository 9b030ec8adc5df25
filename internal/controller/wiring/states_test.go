package wiring

import (
	"context"
	"testing"

	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestStatesAreCountedInPlace: what counts ten thousand resources keeps no copy of them.
func TestStatesAreCountedInPlace(t *testing.T) {
	shared := false
	kube := kubefake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(testHost("1")).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			o := client.ListOptions{}
			o.ApplyOptions(opts)
			shared = o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy
			return c.List(ctx, l, opts...)
		},
	}).Build()
	l := &v1alpha1.RedfishHostList{}
	if err := (sharing{kube}).List(t.Context(), l, client.InNamespace("infra")); err != nil || len(l.Items) != 1 || !shared {
		t.Errorf("%v, %d hosts, shared %t", err, len(l.Items), shared)
	}
}
