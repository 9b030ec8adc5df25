package config

import (
	"context"
	"fmt"
	"unique"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// maxLabel is the longest value of a label.
const maxLabel = 63

// track records that a resource uses a config, as a ProviderConfigUsage of its namespace that its UID names.
func (r *Resolver) track(ctx context.Context, mg resource.ModernManaged, ref Ref) error {
	got, err := r.tracked(ctx, mg)
	return r.keepTracked(ctx, mg, ref, got, err)
}

// keepTracked is that once the record was read, with what came of that.
func (r *Resolver) keepTracked(ctx context.Context, mg resource.ModernManaged, ref Ref, got *v1alpha1.ProviderConfigUsage, found error) error {
	gvk, err := apiutil.GVKForObject(mg, r.kube.Scheme())
	if err != nil {
		return fmt.Errorf("cannot tell the kind of %q: %w", mg.GetName(), err)
	}
	typed := mg.GetObjectKind().GroupVersionKind()
	if typed.Empty() {
		typed = gvk
	}
	want := usage(mg, meta.TypedReferenceTo(mg, typed), ref)
	if kerrors.IsNotFound(found) {
		// The cache may lag: then it exists, which is what was wanted.
		if err := r.kube.Create(ctx, want); err != nil && !kerrors.IsAlreadyExists(err) {
			return fmt.Errorf("cannot record the use of %s: %w", ref, err)
		}
		return nil
	}
	if found != nil {
		return fmt.Errorf("cannot get the record of the use of %s: %w", ref, found)
	}
	if got.ProviderConfigReference == want.ProviderConfigReference && metav1.IsControlledBy(got, mg) {
		return nil
	}
	got.Labels, got.OwnerReferences = want.Labels, want.OwnerReferences
	got.TypedProviderConfigUsage = want.TypedProviderConfigUsage
	if err := r.kube.Update(ctx, got); err != nil {
		return fmt.Errorf("cannot update the record of the use of %s: %w", ref, err)
	}
	return nil
}

// StripUsage takes off a usage what nobody here reads, before it's kept in a cache: there's one for each resource. What is written to one is all of
// that anew (keepTracked).
func StripUsage(o any) (any, error) {
	u, ok := o.(*v1alpha1.ProviderConfigUsage)
	if !ok {
		return o, nil
	}
	u.ManagedFields, u.Labels, u.ResourceReference = nil, nil, xpv2.TypedReference{}
	for i := range u.OwnerReferences { // Text that all share is kept once.
		owner := &u.OwnerReferences[i]
		owner.APIVersion, owner.Kind = unique.Make(owner.APIVersion).Value(), unique.Make(owner.Kind).Value()
	}
	to := &u.ProviderConfigReference
	to.Kind, to.Name, u.Namespace = unique.Make(to.Kind).Value(), unique.Make(to.Name).Value(), unique.Make(u.Namespace).Value()
	return u, nil
}

// tracked returns the record of a resource's use of a config.
func (r *Resolver) tracked(ctx context.Context, mg resource.ModernManaged) (*v1alpha1.ProviderConfigUsage, error) {
	u := &v1alpha1.ProviderConfigUsage{}
	err := r.kube.Get(ctx, types.NamespacedName{Namespace: mg.GetNamespace(), Name: string(mg.GetUID())}, u)
	return u, err //nolint:wrapcheck // It's worded by who asked.
}

// usage is the record of a resource's use of a config.
func usage(mg resource.ModernManaged, to *xpv2.TypedReference, ref Ref) *v1alpha1.ProviderConfigUsage {
	u := &v1alpha1.ProviderConfigUsage{ObjectMeta: metav1.ObjectMeta{
		Namespace:       mg.GetNamespace(),
		Name:            string(mg.GetUID()),
		Labels:          map[string]string{xpv2.LabelKeyProviderKind: ref.Kind},
		OwnerReferences: []metav1.OwnerReference{meta.AsController(to)},
	}}
	if len(ref.Name) <= maxLabel {
		u.Labels[xpv2.LabelKeyProviderName] = ref.Name
	}
	u.ProviderConfigReference = xpv2.ProviderConfigReference{Kind: ref.Kind, Name: ref.Name}
	u.ResourceReference = xpv2.TypedReference{APIVersion: to.APIVersion, Kind: to.Kind, Name: to.Name}
	return u
}

// A lister lists the resources of one kind that have a value in one of our indexes.
type lister func(ctx context.Context, field, value string) ([]resource.ModernManaged, error)

// onlyRead leaves out copies of what a cache lists: of ten thousand resources that name a config none is changed here.
const onlyRead = client.UnsafeDisableDeepCopy

// AddUsers makes the Resolver count the resources of one kind as users: their usages are gone early in a terminating namespace.
// list must be indexed by Index. What is listed is the cache's own, and is only read.
func (r *Resolver) AddUsers(newList func() resource.ManagedList) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners = append(r.owners, func(ctx context.Context, field, value string) ([]resource.ModernManaged, error) {
		l := newList()
		if err := r.kube.List(ctx, l, client.MatchingFields{field: value}, onlyRead); err != nil {
			return nil, fmt.Errorf("cannot list resources by %s %q: %w", field, value, err)
		}
		found := make([]resource.ModernManaged, 0, len(l.GetItems()))
		for _, m := range l.GetItems() {
			if mg, ok := m.(resource.ModernManaged); ok {
				found = append(found, mg)
			}
		}
		return found, nil
	})
}

// resources returns the resources of all kinds that have a value in an index.
func (r *Resolver) resources(ctx context.Context, field, value string) ([]resource.ModernManaged, error) {
	r.mu.Lock()
	listers := r.owners
	r.mu.Unlock()
	var all []resource.ModernManaged
	for _, list := range listers {
		found, err := list(ctx, field, value)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
