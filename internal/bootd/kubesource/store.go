package kubesource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// A Store reads and writes BootSessions live. It's a session.Store.
type Store struct {
	// Kube must not read from a cache.
	Kube API
}

// Get reads a session, with quorum.
func (s Store) Get(ctx context.Context, n boot.Name) (session.Record, error) {
	b := &v1alpha1.BootSession{}
	err := s.Kube.Get(ctx, types.NamespacedName{Namespace: n.Namespace, Name: n.Name}, b)
	switch {
	case kerrors.IsNotFound(err):
		return session.Record{}, session.ErrNotFound
	case err != nil:
		return session.Record{}, fmt.Errorf("cannot read BootSession %q: %w", n, err)
	}
	return RecordOf(b), nil
}

// Update writes the status by compare-and-swap. A session that is gone, or was made anew, is a conflict.
func (s Store) Update(ctx context.Context, r session.Record) (session.Record, error) {
	b := &v1alpha1.BootSession{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Name.Namespace, Name: r.Name.Name,
			UID: types.UID(r.Session.UID), ResourceVersion: r.Session.Revision,
		},
		Spec:   v1alpha1.BootSessionSpec{EntryUID: r.Session.EntryUID}, // Required by the schema, ignored by the subresource.
		Status: StatusOf(r),
	}
	err := s.Kube.UpdateStatus(ctx, b)
	switch {
	case kerrors.IsConflict(err), kerrors.IsNotFound(err):
		return session.Record{}, session.ErrConflict
	case err != nil:
		return session.Record{}, fmt.Errorf("cannot write BootSession %q: %w", r.Name, err)
	}
	return RecordOf(b), nil
}

// Data reads what a machine is given: one Secret of bootd's namespace.
func (s *Source) Data(ctx context.Context, name string) (map[string][]byte, error) {
	x := &corev1.Secret{}
	if err := s.o.Kube.Get(ctx, types.NamespacedName{Namespace: s.o.Namespace, Name: name}, x); err != nil {
		return nil, fmt.Errorf("cannot read Secret %q: %w", s.o.Namespace+"/"+name, err)
	}
	return x.Data, nil
}
