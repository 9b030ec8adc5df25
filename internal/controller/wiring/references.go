package wiring

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A referrer is a resource that names others, by references and selectors.
type referrer interface {
	ResolveReferences(ctx context.Context, r client.Reader) error
}

// references resolves what resources name, and writes it down. The managed reconciler's own resolver applies the fields that changed as all that
// it has ever set: of a reference of which only the name changed the namespace would be taken away. And how it compares a resource before and
// after is half of what a look at one costs that nobody touches.
func references(c client.Client) managed.ReferenceResolver {
	return managed.ReferenceResolverFn(func(ctx context.Context, mg resource.Managed) error {
		r, ok := mg.(referrer)
		if !ok {
			return nil
		}
		before, _ := mg.DeepCopyObject().(client.Object)
		if err := r.ResolveReferences(ctx, c); err != nil {
			return fmt.Errorf("cannot resolve references: %w", err)
		}
		if equality.Semantic.DeepEqual(before, mg) {
			return nil
		}
		if err := c.Patch(ctx, mg, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("cannot write down what was resolved: %w", err)
		}
		return nil
	})
}
