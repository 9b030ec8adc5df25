package install_test

import (
	"context"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// lease asks an API server that has lost the ConfigMap of writers: nobody gets the provider's lease then, and everybody else in Crossplane's
// namespace, Crossplane itself first of all, keeps theirs.
func (s *stage) lease(ctx context.Context, t *testing.T) {
	t.Helper()
	const policy, namespace = "baremetal-lease", "crossplane-system"
	all, err := local.Load(filepath.Join(root, "package", "manifests", "rbac.yaml"))
	must(t, err)
	for _, o := range all {
		if o.GetName() == policy {
			must(t, s.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test"), client.ForceOwnership))
		}
	}
	must(t, client.IgnoreNotFound(s.kube.Delete(ctx, object("v1", "ConfigMap", namespace, "baremetal-writers"))))
	lease := func(name string) *unstructured.Unstructured {
		return object("coordination.k8s.io/v1", "Lease", namespace, name)
	}
	s.await(ctx, t, object("v1", "Namespace", "", namespace), "without the provider's lease", func(*unstructured.Unstructured) bool {
		return s.kube.Create(ctx, lease("crossplane-leader-election-provider-baremetal"), client.DryRunAll) != nil
	})
	for _, name := range []string{"crossplane-leader-election-core", "crossplane-leader-election-provider-other"} {
		if err := s.kube.Create(ctx, lease(name), client.DryRunAll); err != nil {
			t.Errorf("a Lease that isn't ours can't be written where our ConfigMap is gone: %v", err)
		}
	}
	must(t, s.kube.Delete(ctx, object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", policy)))
	must(t, s.kube.Delete(ctx, object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "", policy)))
}
