package install_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// The kinds that the cases ask for.
const (
	hosts    = "redfishhosts.baremetal.m.crossplane.io"
	claims   = "baremetalnodes.platform.baremetal.crossplane.io"
	claimsV2 = "baremetalnodes.platform.baremetal.m.crossplane.io"
	racks    = "xrackpools.platform.baremetal.crossplane.io"
)

// kinds asks an API server who may delete our kinds: nobody by hand, and those with their packages who do that for a living. Nothing is
// deleted: they only ask.
func (s *stage) kinds(ctx context.Context, t *testing.T) {
	t.Helper()
	const policy = "baremetal-kinds"
	all, err := local.Load(filepath.Join(root, "package", "manifests", "policies.yaml"))
	must(t, err)
	for _, o := range all {
		if o.GetName() == policy {
			must(t, s.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test"), client.ForceOwnership))
		}
	}
	s.await(ctx, t, definition(hosts), "refused", func(u *unstructured.Unstructured) bool { return s.kube.Delete(ctx, u, client.DryRunAll) != nil })
	s.refusals(ctx, t)

	// The way through.
	must(t, s.kube.Delete(ctx, object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", policy)))
	for _, u := range []*unstructured.Unstructured{definition(hosts), composite(racks)} {
		s.await(ctx, t, u, "not refused without the policy's binding", func(u *unstructured.Unstructured) bool {
			return s.kube.Delete(ctx, u, client.DryRunAll) == nil
		})
	}
}

func (s *stage) refusals(ctx context.Context, t *testing.T) {
	t.Helper()
	const (
		admin     = "admin"
		collector = "system:serviceaccount:kube-system:generic-garbage-collector"
		manager   = "system:kube-controller-manager"
		crossing  = "system:serviceaccount:crossplane-system:crossplane"
		provider  = "system:serviceaccount:crossplane-system:provider-kubernetes-0123456789ab"
	)
	for name, tc := range map[string]struct {
		reason, user string
		what         *unstructured.Unstructured
		says         []string
	}{
		"Kind": {
			"Every host would be deleted with it, past the policy on bound ones.", admin, definition(hosts),
			[]string{"CustomResourceDefinition " + hosts, "every RedfishHost would be deleted", "docs/operations/uninstall.md", "ValidatingAdmissionPolicyBinding baremetal-kinds first"},
		},
		"Claims":     {"Nor that of claims, protected ones among them.", admin, definition(claims), []string{claims, "every BareMetalNode"}},
		"ClaimsV2":   {"Of either flavour.", admin, definition(claimsV2), []string{claimsV2, "every BareMetalNode"}},
		"Composite":  {"Crossplane would delete every rack.", admin, composite(racks), []string{"CompositeResourceDefinition " + racks, "every XRackPool"}},
		"NotByMate":  {"Another provider's rights are no reason, whatever namespace it's in.", provider, definition(hosts), []string{hosts}},
		"Others":     {"What isn't ours is none of our business.", admin, definition("usages.protection.crossplane.io"), nil},
		"Collector":  {"The kind goes with its package.", collector, definition(hosts), nil},
		"Manager":    {"Also where all controllers are one user.", manager, composite(racks), nil},
		"Crossplane": {"A composite's kind goes with its definition, after the last claim.", crossing, definition(claims), nil},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := s.plane.UserConfig(tc.user, "system:masters")
			must(t, err)
			kube, err := client.New(cfg, client.Options{})
			must(t, err)
			refused(t, kube.Delete(ctx, tc.what, client.DryRunAll), tc.reason, tc.says)
		})
	}
	crd := definition("")
	refused(t, s.kube.DeleteAllOf(ctx, crd, client.DryRunAll), "All at once is refused as one is.", []string{"goes with its package"})
}

// refused holds that an error says that something is refused, and what it says; none where nothing is to be said.
func refused(t *testing.T, err error, reason string, says []string) {
	t.Helper()
	if (err != nil) != (len(says) > 0) {
		t.Errorf("%s\nit's answered with %v", reason, err)
		return
	}
	for _, w := range says {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s\nit's to say %q: %v", reason, w, err)
		}
	}
}

func definition(name string) *unstructured.Unstructured {
	return object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
}

func composite(name string) *unstructured.Unstructured {
	return object("apiextensions.crossplane.io/v1", "CompositeResourceDefinition", "", name)
}
