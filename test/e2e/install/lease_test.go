package install_test

import (
	"context"
	"path/filepath"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// lease asks an API server whose Lease is whose: nobody who isn't the provider or an operator gets the provider's, and everybody else in
// Crossplane's namespace, Crossplane itself first of all, keeps theirs.
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
	s.apply(ctx, t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {namespace: crossplane-system, name: all-leases}
rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: crossplane-system, name: all-leases}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: all-leases}
subjects: [{kind: User, name: mate, apiGroup: rbac.authorization.k8s.io}]
`)
	cfg, err := s.plane.UserConfig("mate")
	must(t, err)
	mate, err := client.New(cfg, client.Options{})
	must(t, err)
	lease := func(name string) *unstructured.Unstructured {
		return object("coordination.k8s.io/v1", "Lease", namespace, name)
	}
	s.await(ctx, t, object("v1", "Namespace", "", namespace), "without the provider's lease", func(*unstructured.Unstructured) bool {
		return kerrors.IsForbidden(mate.Create(ctx, lease("crossplane-leader-election-provider-baremetal"), client.DryRunAll))
	})
	for _, name := range []string{"crossplane-leader-election-core", "crossplane-leader-election-provider-other"} {
		if err := mate.Create(ctx, lease(name), client.DryRunAll); err != nil {
			t.Errorf("a Lease that isn't ours can't be written: %v", err)
		}
	}
	must(t, s.kube.Delete(ctx, object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", policy)))
	must(t, s.kube.Delete(ctx, object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "", policy)))
}
