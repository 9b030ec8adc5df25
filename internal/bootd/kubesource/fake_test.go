package kubesource

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// faked is the API by controller-runtime's fake, which can't stream a list as the API does.
type faked struct{ kube client.WithWatch }

func (faked) IsWatchListSemanticsUnSupported() bool { return true }

func (f faked) Get(ctx context.Context, name types.NamespacedName, into Object) error {
	return f.kube.Get(ctx, name, into)
}

func (f faked) Create(ctx context.Context, o Object) error { return f.kube.Create(ctx, o) }

func (f faked) UpdateStatus(ctx context.Context, o Object) error {
	return f.kube.Status().Update(ctx, o)
}

func (f faked) List(ctx context.Context, namespace string, into runtime.Object, o metav1.ListOptions) error {
	list, opts, err := options(namespace, into, o)
	if err != nil {
		return err
	}
	return f.kube.List(ctx, list, opts)
}

func (f faked) Watch(ctx context.Context, namespace string, of runtime.Object, o metav1.ListOptions) (watch.Interface, error) {
	list, opts, err := options(namespace, of, o)
	if err != nil {
		return nil, err
	}
	return f.kube.Watch(ctx, list, opts)
}

// whole is what a test does to the API itself.
func whole(s *Source) client.WithWatch {
	f, _ := s.o.Kube.(faked)
	return f.kube
}

func options(namespace string, o runtime.Object, raw metav1.ListOptions) (client.ObjectList, *client.ListOptions, error) {
	list, ok := o.(client.ObjectList)
	if !ok {
		return nil, nil, errors.New("no list")
	}
	chosen, err := fields.ParseSelector(raw.FieldSelector)
	if raw.FieldSelector == "" {
		chosen = nil
	}
	return list, &client.ListOptions{Namespace: namespace, FieldSelector: chosen, Raw: &raw}, err
}
