package config

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// FinalizerCredentials is on a Secret whose credentials resources of its own namespace use. When the namespace is deleted, the
// Secret stays until they have been released with it. It doesn't keep anybody from deleting the Secret alone.
const FinalizerCredentials = v1alpha1.Group + "/credentials-in-use"

// AnnotationRotating is on a Secret that has a password which a machine is being given, or may have been: it isn't let go as long as
// anybody uses it, since no other place has that password.
const AnnotationRotating = v1alpha1.Group + "/rotating"

const (
	// holdGrace is how long the deletion of a Secret waits for that of its users: a namespace's contents aren't deleted at once.
	holdGrace = 5 * time.Second
	// holdRetry is between looks at a deleted Secret that must stay, holdPoll at one that isn't deleted.
	holdRetry = 2 * time.Second
	holdPoll  = time.Minute
	// settling is how long after the start nobody is believed to be unused: not all kinds may be known yet.
	settling = 10 * time.Second
)

// mustHold says whether a resource needs a Secret to outlive the deletion of their namespace.
func mustHold(mg resource.ModernManaged, at types.NamespacedName) bool {
	return at.Namespace == mg.GetNamespace() && !meta.WasDeleted(mg)
}

// hold puts our finalizer on a Secret, unless it's being deleted: then it's too late.
func (r *Resolver) hold(ctx context.Context, s *corev1.Secret) error {
	if meta.WasDeleted(s) || slices.Contains(s.Finalizers, FinalizerCredentials) {
		return nil
	}
	before := s.DeepCopy()
	s.Finalizers = append(s.Finalizers, FinalizerCredentials)
	if err := r.kube.Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return aboutSecret(err, "cannot put finalizer %q on Secret %q", FinalizerCredentials, s.Name)
	}
	return nil
}

// release decides whether our finalizer goes from a Secret, and else when to ask again. rotating says that it has AnnotationRotating.
func release(now time.Time, deleted *metav1.Time, users []resource.ModernManaged, rotating bool) (bool, time.Duration) {
	if len(users) == 0 {
		return true, 0
	}
	if deleted == nil {
		return false, holdPoll
	}
	if left := holdGrace - now.Sub(deleted.Time); left > 0 {
		return false, left
	}
	if rotating || slices.ContainsFunc(users, func(mg resource.ModernManaged) bool { return meta.WasDeleted(mg) }) {
		return false, holdRetry
	}
	return true, 0
}

// A holder takes our finalizer off Secrets.
type holder struct {
	*Resolver

	now     func() time.Time
	started time.Time
}

// Reconcile takes our finalizer off a Secret that nobody needs to be released with.
func (h *holder) Reconcile(ctx context.Context, req reconcile.Request) (ctrl.Result, error) {
	m := SecretMetadata()
	if err := h.meta.Get(ctx, req.NamespacedName, m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) //nolint:wrapcheck // Nothing to add.
	}
	if !slices.Contains(m.Finalizers, FinalizerCredentials) {
		return ctrl.Result{}, nil
	}
	if left := settling - h.now().Sub(h.started); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	users, err := h.usersOfSecret(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	rotating := false
	if m.DeletionTimestamp != nil {
		live := SecretMetadata() // What is cached has no annotations.
		if err := h.live.Get(ctx, req.NamespacedName, live); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err) //nolint:wrapcheck // Nothing to add.
		}
		_, rotating = live.Annotations[AnnotationRotating]
	}
	gone, after := release(h.now(), m.DeletionTimestamp, users, rotating)
	if !gone {
		return ctrl.Result{RequeueAfter: after}, nil
	}
	before := m.DeepCopy()
	m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == FinalizerCredentials })
	err = h.kube.Patch(ctx, m, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, aboutSecret(err, "cannot take finalizer %q off Secret %q", FinalizerCredentials, m.Name)
	}
	return ctrl.Result{}, nil
}

// usersOfSecret returns the resources of a Secret's own namespace that use it.
func (r *Resolver) usersOfSecret(ctx context.Context, at types.NamespacedName) ([]resource.ModernManaged, error) {
	users, err := r.resources(ctx, fieldSecret, at.String())
	if err != nil {
		return nil, err
	}
	refs, err := r.configsBySecret(ctx, at)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		found, err := r.resources(ctx, fieldConfig, ref.index())
		if err != nil {
			return nil, err
		}
		users = append(users, found...)
	}
	return slices.DeleteFunc(users, func(mg resource.ModernManaged) bool { return mg.GetNamespace() != at.Namespace }), nil
}
