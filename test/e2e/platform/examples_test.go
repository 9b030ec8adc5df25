package platform_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/uptest"
)

// testExamples holds that an API server, with kinds and policies as people install them, takes each file of examples as it stands. They are
// found by themselves, so nobody can forget one; those of examples/install are test/e2e/install's.
func testExamples(ctx context.Context, t *testing.T, plane *local.Plane) {
	t.Helper()
	files, err := uptest.Read(root)
	must(t, err)
	// Those of sites without a cluster, where nobody has to make one.
	for _, name := range []string{"cloud", "edge", "edge6", "hall", "lab", "office", "returns", "sealed", "vault", "yard"} {
		must(t, plane.Client().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	for _, name := range files.Names() {
		t.Run(name, func(t *testing.T) {
			if len(files[name]) == 0 {
				t.Error("it holds nothing")
			}
			for _, o := range files[name].Copy() {
				err := plane.Client().Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("kubectl"), client.ForceOwnership, client.DryRunAll)
				if err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
}
