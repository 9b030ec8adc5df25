package config

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// Names of our indexes.
const (
	// fieldConfig: managed resource → its provider config (Ref.index).
	fieldConfig = "baremetal.providerConfig"
	// fieldSecret: managed resource or provider config → the Secrets it names (NAMESPACE/NAME).
	fieldSecret = "baremetal.secret"
	// fieldUsage: ProviderConfigUsage → its provider config (Ref.index).
	fieldUsage = "baremetal.providerConfigUsage"
)

// A SecretsFn returns the Secrets that a resource itself names, such as a host's own credentials.
type SecretsFn func(mg resource.ModernManaged) []types.NamespacedName

// indexConfig is the index fieldConfig of managed resources.
func indexConfig(o client.Object) []string {
	mg, ok := o.(resource.ModernManaged)
	if !ok {
		return nil
	}
	ref, err := refOf(mg)
	if err != nil {
		return nil
	}
	return []string{ref.index()}
}

// indexSecret is the index fieldSecret of managed resources.
func indexSecret(secrets SecretsFn) client.IndexerFunc {
	return func(o client.Object) []string {
		mg, ok := o.(resource.ModernManaged)
		if !ok || secrets == nil {
			return nil
		}
		named := secrets(mg)
		values := make([]string, 0, len(named))
		for _, n := range named {
			values = append(values, n.String())
		}
		return values
	}
}

// indexConfigSecret is the index fieldSecret of provider configs.
func indexConfigSecret(o client.Object) []string {
	c := configOf(o)
	if c == nil {
		return nil
	}
	at, err := secretOf(refTo(c), *c.spec())
	if err != nil {
		return nil
	}
	return []string{at.String()}
}

// indexUsage is the index fieldUsage of usages.
func indexUsage(o client.Object) []string {
	u, ok := o.(*v1alpha1.ProviderConfigUsage)
	if !ok {
		return nil
	}
	ref := Ref{Kind: u.ProviderConfigReference.Kind, Name: u.ProviderConfigReference.Name}
	if ref.Kind == v1alpha1.ProviderConfigKind {
		ref.Namespace = u.Namespace
	}
	return []string{ref.index()}
}

// Index makes a kind of managed resources findable by its provider config and by the Secrets that it names.
func Index(ctx context.Context, i client.FieldIndexer, o client.Object, secrets SecretsFn) error {
	for field, fn := range map[string]client.IndexerFunc{fieldConfig: indexConfig, fieldSecret: indexSecret(secrets)} {
		if err := i.IndexField(ctx, o, field, fn); err != nil {
			return fmt.Errorf("cannot index %T by %s: %w", o, field, err)
		}
	}
	return nil
}

// indexConfigs makes configs findable by their Secret, and usages by their config.
func indexConfigs(ctx context.Context, i client.FieldIndexer) error {
	for _, o := range []client.Object{&v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{}} {
		if err := i.IndexField(ctx, o, fieldSecret, indexConfigSecret); err != nil {
			return fmt.Errorf("cannot index %T by its Secret: %w", o, err)
		}
	}
	if err := i.IndexField(ctx, &v1alpha1.ProviderConfigUsage{}, fieldUsage, indexUsage); err != nil {
		return fmt.Errorf("cannot index ProviderConfigUsages by their config: %w", err)
	}
	return nil
}

// BySecret maps a Secret to the resources of one kind that use it: because they name it, or by their provider config.
func (r *Resolver) BySecret(newList func() resource.ManagedList) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		at := client.ObjectKeyFromObject(o)
		found := r.find(ctx, newList(), fieldSecret, at.String())
		refs, err := r.configsBySecret(ctx, at)
		if err != nil {
			return found // As in find.
		}
		for _, ref := range refs {
			found = append(found, r.find(ctx, newList(), fieldConfig, ref.index())...)
		}
		return found
	}
}

// ByConfig maps a ProviderConfig or ClusterProviderConfig to the resources of one kind that name it.
func (r *Resolver) ByConfig(newList func() resource.ManagedList) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		c := configOf(o)
		if c == nil {
			return nil
		}
		return r.find(ctx, newList(), fieldConfig, refTo(c).index())
	}
}

// find lists what has a value in an index. An error means nobody is woken: they look again by themselves, at the latest after
// their poll interval.
func (r *Resolver) find(ctx context.Context, l resource.ManagedList, field, value string) []reconcile.Request {
	if err := r.kube.List(ctx, l, client.MatchingFields{field: value}, onlyRead); err != nil {
		return nil
	}
	var found []reconcile.Request
	for _, mg := range l.GetItems() {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mg)})
	}
	return found
}

// configsBySecret returns the configs whose credentials are in a Secret.
func (r *Resolver) configsBySecret(ctx context.Context, at types.NamespacedName) ([]Ref, error) {
	match := client.MatchingFields{fieldSecret: at.String()}
	pcs, cpcs := &v1alpha1.ProviderConfigList{}, &v1alpha1.ClusterProviderConfigList{}
	for _, l := range []client.ObjectList{pcs, cpcs} {
		if err := r.kube.List(ctx, l, match); err != nil {
			return nil, fmt.Errorf("cannot list the provider configs of Secret %q: %w", at, err)
		}
	}
	refs := make([]Ref, 0, len(pcs.Items)+len(cpcs.Items))
	for i := range pcs.Items {
		refs = append(refs, refTo(namespaced{&pcs.Items[i]}))
	}
	for i := range cpcs.Items {
		refs = append(refs, refTo(clustered{&cpcs.Items[i]}))
	}
	return refs, nil
}
