package wiring

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// KindStays says, by an error, that a kind of ours is being deleted, or that nobody can tell. With a kind Kubernetes deletes all of its
// resources, past admission and every finalizer's meaning: that somebody wants a machine off or an address free isn't said by that, so
// nothing outside is touched. It's read past the cache: the kind is marked before the first of its resources is.
func (o Options) KindStays(ctx context.Context, gvk schema.GroupVersionKind) error {
	if o.Live == nil {
		return nil
	}
	name := definition(gvk)
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := o.Live.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return fmt.Errorf("cannot tell whether CustomResourceDefinition %q stays: %w", name, err)
	}
	if crd.DeletionTimestamp != nil {
		return fmt.Errorf("CustomResourceDefinition %q is being deleted, and all its objects with it, whoever wanted that: nothing outside is touched", name)
	}
	return nil
}

// definition is the name of a kind's CustomResourceDefinition. Kubernetes' guess of the plural is right for all kinds of ours, and asks
// no API server.
func definition(gvk schema.GroupVersionKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return plural.GroupResource().String()
}
