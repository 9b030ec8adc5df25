package redfishhost

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// sharer names another user of the host's BMC or Secret, for whom another password
// would be the wrong one; "" is nobody.
func (e *external) sharer(ctx context.Context, host *v1alpha1.RedfishHost) (string, error) {
	same, err := e.others(ctx, []string{secretIndexed(e.own.at)})
	if err != nil {
		return "", err
	}
	bmcs, err := e.neighbours(ctx, host)
	if err != nil {
		return "", err
	}
	twins, err := e.others(ctx, namesIndexed(e.system.Identity))
	if err != nil {
		return "", err
	}
	for i := range twins {
		if wasMachine(host, e.system.Identity, &twins[i]) {
			bmcs = append(bmcs, twins[i])
		}
	}
	others := slices.DeleteFunc(append(same, bmcs...), func(o v1alpha1.RedfishHost) bool { return o.GetUID() == host.GetUID() })
	if len(others) == 0 {
		return e.configOfSecret(ctx)
	}
	// Always the same of several, so that the condition doesn't change.
	o := slices.MinFunc(others, func(a, b v1alpha1.RedfishHost) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	if o.GetNamespace() != host.GetNamespace() {
		return "another RedfishHost", nil
	}

	return named(o.GetName()), nil
}

// neighbours are the hosts, this one among them, that have the same BMC, by its
// address or by what it says that it is. Those that only name it, and were never
// let in, don't count.
func (e *external) neighbours(ctx context.Context, host *v1alpha1.RedfishHost) ([]v1alpha1.RedfishHost, error) {
	all, err := e.others(ctx, append(bmcIndexed(host), managerIndexed(host)...))

	return slices.DeleteFunc(all, func(o v1alpha1.RedfishHost) bool { return squats(host, &o) }), err
}

// lookOthers finds out what of other hosts, and of the host's Secret, stands in the
// way of what is wanted.
func (e *external) lookOthers(ctx context.Context, host *v1alpha1.RedfishHost) error {
	if err := e.lookNeighbours(ctx, host); err != nil {
		return err
	}

	return e.lookRotation(ctx, host)
}

// lookNeighbours finds out whether another host of the same BMC has something on its
// way, where this one's BMC is to be restarted. What nobody has gone on with for so
// long isn't waited for.
func (e *external) lookNeighbours(ctx context.Context, host *v1alpha1.RedfishHost) error {
	e.shared = false
	if j := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]); j == nil || host.Spec.ForProvider.BMCResetGeneration <= j.BMCReset || meta.WasDeleted(host) {
		return nil
	}
	all, err := e.neighbours(ctx, host)
	e.shared = slices.ContainsFunc(all, func(o v1alpha1.RedfishHost) bool {
		j := parseJournal(o.GetAnnotations()[v1alpha1.AnnotationJournal])

		return o.GetUID() != host.GetUID() && j.pending() && e.connector.Now().Sub(j.Act.Time).Abs() < stale
	})

	return err
}

// configOfSecret names a provider config with the host's own Secret, or is "".
func (e *external) configOfSecret(ctx context.Context) (string, error) {
	configs, all := &v1alpha1.ProviderConfigList{}, &v1alpha1.ClusterProviderConfigList{}
	if err := e.connector.Kube.List(ctx, configs, client.InNamespace(e.own.at.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", errors.Wrap(err, "cannot list provider configs")
	}
	if err := e.connector.Kube.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return "", errors.Wrap(err, "cannot list provider configs")
	}
	for _, c := range configs.Items {
		if secretOfConfig(c.Spec).Name == e.own.at.Name {
			return fmt.Sprintf("ProviderConfig %q", c.GetName()), nil
		}
	}
	for _, c := range all.Items {
		if secretOfConfig(c.Spec) == e.own.at {
			return "a ClusterProviderConfig", nil
		}
	}

	return "", nil
}

func secretOfConfig(spec v1alpha1.ProviderConfigSpec) types.NamespacedName {
	switch {
	case spec.Redfish != nil:
		ref := spec.Redfish.Credentials.SecretRef

		return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	case spec.NetBox != nil:
		ref := spec.NetBox.Credentials.SecretRef

		return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	default:
		return types.NamespacedName{}
	}
}
