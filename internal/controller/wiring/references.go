package wiring

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A referrer is a resource that names others, by references and selectors.
type referrer interface {
	ResolveReferences(ctx context.Context, r client.Reader) error
}

// references resolves what resources name. How the managed reconciler's own resolver compares a resource before and after is half of what
// a look at one costs that nobody touches: it's asked where a first try, with a copy, changed something or failed.
func references(c client.Client) managed.ReferenceResolver {
	api := managed.NewAPISimpleReferenceResolver(c)
	return managed.ReferenceResolverFn(func(ctx context.Context, mg resource.Managed) error {
		trial, ok := mg.DeepCopyObject().(referrer)
		if !ok {
			return nil
		}
		if err := trial.ResolveReferences(ctx, c); err == nil && equality.Semantic.DeepEqual(trial, mg) {
			return nil
		}
		return api.ResolveReferences(ctx, mg) //nolint:wrapcheck // The managed reconciler says what failed.
	})
}
