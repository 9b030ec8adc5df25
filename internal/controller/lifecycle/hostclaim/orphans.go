package hostclaim

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// gatherOrphans finds the addresses of a claim that is released and whose entry is gone already, by force or in a restored backup:
// nobody else would ever let go of them.
func gatherOrphans(ctx context.Context, kube client.Reader, in *inputs) error {
	if in.entry != nil || in.claim.DeletionTimestamp == nil {
		return nil
	}
	at := client.InNamespace(in.claim.Namespace)
	claims, entries, addresses := &v1alpha1.HostClaimList{}, &v1alpha1.BootEntryList{}, &v1alpha1.NetBoxIPAddressList{}
	for _, l := range []client.ObjectList{claims, entries, addresses} {
		if err := kube.List(ctx, l, at); err != nil {
			return errors.Wrapf(err, "cannot list %T", l)
		}
	}
	in.addresses = orphans(in.claim, claims.Items, entries.Items, addresses.Items)
	return nil
}

// orphans are the addresses that are held and that no entry names. While another claim lacks its entry, too, they may be its: then
// the last one of them lets go.
func orphans(
	claim *v1alpha1.HostClaim, claims []v1alpha1.HostClaim, entries []v1alpha1.BootEntry, addresses []v1alpha1.NetBoxIPAddress,
) []v1alpha1.NetBoxIPAddress {
	there, named := map[string]bool{}, map[string]bool{}
	for i := range entries {
		there[entries[i].Name] = true
		for _, n := range entries[i].Spec.ForProvider.Networks {
			for _, a := range n.Addresses {
				if a.Ref != nil {
					named[a.Ref.Name] = true
				}
			}
		}
	}
	for i := range claims {
		c := &claims[i]
		if c.UID != claim.UID && c.Spec.BootEntryRef != nil && !there[c.Spec.BootEntryRef.Name] {
			return nil
		}
	}
	var out []v1alpha1.NetBoxIPAddress
	for i := range addresses {
		if controllerutil.ContainsFinalizer(&addresses[i], v1alpha1.FinalizerHeldByClaim) && !named[addresses[i].Name] {
			out = append(out, addresses[i])
		}
	}
	return out
}
