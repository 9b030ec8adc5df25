package bootplane

import (
	"bytes"
	"context"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// What says, on a copy, of which Secret it is.
const (
	annotationPullNamespace = v1alpha1.Group + "/pull-secret-namespace"
	annotationPullName      = v1alpha1.Group + "/pull-secret-name"
)

// pullSecrets copies the Secrets that profiles name into bootd's namespace, the only one whose Secrets bootd may read, and removes the copies
// that no profile has a use for. One that somebody deletes is made again.
type pullSecrets struct {
	kube      client.Client // Live for Secrets.
	namespace string
}

// addPullSecrets adds the controller of these copies. Each Secret's own change, and each profile's that named or names it, wakes it; and so
// does a copy, at the start too: what went while nobody looked is seen.
func addPullSecrets(mgr ctrl.Manager, o wiring.Options) error {
	r := &pullSecrets{kube: mgr.GetClient(), namespace: o.BootNamespace}
	opts := o.ForController()
	opts.MaxConcurrentReconciles = 1
	err := ctrl.NewControllerManagedBy(mgr).
		Named("pullsecret").
		WithOptions(opts).
		Watches(&v1alpha1.BootProfile{}, handler.EnqueueRequestsFromMapFunc(pullSecretNamed), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.concerned), builder.OnlyMetadata).
		Complete(r)
	if err != nil {
		return fmt.Errorf("cannot build the controller of pull Secrets: %w", err)
	}
	return nil
}

// pullSecretNamed is the Secret that a profile names.
func pullSecretNamed(_ context.Context, o client.Object) []reconcile.Request {
	p, ok := o.(*v1alpha1.BootProfile)
	if !ok || p.Spec.PullSecretRef == nil {
		return nil
	}
	return requests([]types.NamespacedName{{Namespace: p.Namespace, Name: p.Spec.PullSecretRef.Name}})
}

// concerned passes a Secret that a profile names, and what may be a copy.
func (r *pullSecrets) concerned(ctx context.Context, o client.Object) []reconcile.Request {
	at := client.ObjectKeyFromObject(o)
	if at.Namespace == r.namespace && boot.IsPullSecret(at.Name) {
		return requests([]types.NamespacedName{at})
	}
	if named, err := r.profiles(ctx, at); err == nil && len(named) == 0 {
		return nil
	}
	return requests([]types.NamespacedName{at})
}

// profiles that name a Secret.
func (r *pullSecrets) profiles(ctx context.Context, at types.NamespacedName) ([]types.NamespacedName, error) {
	return profilesNaming(ctx, r.kube, at)
}

func profilesNaming(ctx context.Context, kube client.Reader, at types.NamespacedName) (named []types.NamespacedName, err error) {
	l := &v1alpha1.BootProfileList{}
	if err := kube.List(ctx, l, client.InNamespace(at.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list the BootProfiles of namespace %q: %w", at.Namespace, err)
	}
	for i := range l.Items {
		if ref := l.Items[i].Spec.PullSecretRef; ref != nil && ref.Name == at.Name {
			named = append(named, client.ObjectKeyFromObject(&l.Items[i]))
		}
	}
	return named, nil
}

// Reconcile makes one Secret's copy what it has to be.
func (r *pullSecrets) Reconcile(ctx context.Context, req reconcile.Request) (ctrl.Result, error) {
	of := req.NamespacedName
	if of.Namespace == r.namespace && boot.IsPullSecret(of.Name) {
		s, err := secret(ctx, r.kube, of)
		if err != nil {
			return ctrl.Result{}, err
		}
		if s == nil {
			return ctrl.Result{}, r.again(ctx, of.Name)
		}
		of = types.NamespacedName{Namespace: s.Annotations[annotationPullNamespace], Name: s.Annotations[annotationPullName]}
		if boot.PullSecretName(of.Namespace, of.Name) != s.Name {
			return ctrl.Result{}, nil // Somebody else's.
		}
	}
	return ctrl.Result{}, r.copy(ctx, of)
}

// again makes a copy of that name, which somebody deleted, where a profile needs it. The name alone is known of it: what is watched of Secrets has
// no annotations.
func (r *pullSecrets) again(ctx context.Context, name string) error {
	l := &v1alpha1.BootProfileList{}
	if err := r.kube.List(ctx, l, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list BootProfiles: %w", err)
	}
	for i := range l.Items {
		p := &l.Items[i]
		if ref := p.Spec.PullSecretRef; ref != nil && boot.PullSecretName(p.Namespace, ref.Name) == name {
			return r.copy(ctx, types.NamespacedName{Namespace: p.Namespace, Name: ref.Name})
		}
	}
	return nil
}

func (r *pullSecrets) copy(ctx context.Context, of types.NamespacedName) error {
	named, err := r.profiles(ctx, of)
	if err != nil {
		return err
	}
	var s *corev1.Secret
	if len(named) > 0 {
		if s, err = secret(ctx, r.kube, of); err != nil {
			return err
		}
	}
	there, err := secret(ctx, r.kube, types.NamespacedName{Namespace: r.namespace, Name: boot.PullSecretName(of.Namespace, of.Name)})
	if err != nil {
		return err
	}
	var want []byte
	if s != nil && s.Type == corev1.SecretTypeDockerConfigJson {
		want = s.Data[boot.KeyPullSecret]
	}
	switch {
	case len(want) == 0 && there == nil:
		return nil
	case len(want) == 0: // A password that was taken back isn't used any more.
		err = client.IgnoreNotFound(r.kube.Delete(ctx, there))
	case there == nil:
		err = r.kube.Create(ctx, r.copyOf(of, want))
	case bytes.Equal(there.Data[boot.KeyPullSecret], want):
		return nil
	default:
		there.Data = map[string][]byte{boot.KeyPullSecret: want}
		err = r.kube.Update(ctx, there)
	}
	if err != nil {
		return fmt.Errorf("cannot copy Secret %q for bootd: %w", of, err)
	}
	return nil
}

// copyOf makes the Secret in bootd's namespace.
func (r *pullSecrets) copyOf(of types.NamespacedName, config []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.namespace, Name: boot.PullSecretName(of.Namespace, of.Name),
			Annotations: map[string]string{annotationPullNamespace: of.Namespace, annotationPullName: of.Name},
		},
		Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{boot.KeyPullSecret: config},
	}
}

// secret reads one; nil where it isn't there.
func secret(ctx context.Context, live client.Reader, at types.NamespacedName) (*corev1.Secret, error) {
	s := &corev1.Secret{}
	err := live.Get(ctx, at, s)
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // Absent is an answer here, not an error.
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get Secret %q: %w", at, err)
	}
	return s, nil
}

// bySecret wakes the profiles that name a Secret.
func bySecret(kube client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		named, err := profilesNaming(ctx, kube, client.ObjectKeyFromObject(o))
		if err != nil {
			return nil // What's told of it is stale until something else wakes them.
		}
		return requests(named)
	})
}

// pullReady says what is wrong with the Secret that a profile names; nil: nothing, or it names none.
func (r *profiles) pullReady(ctx context.Context, p *v1alpha1.BootProfile) (*xpv2.Condition, error) {
	if p.Spec.PullSecretRef == nil {
		return nil, nil //nolint:nilnil // There's nothing to say.
	}
	s, err := secret(ctx, r.kube, types.NamespacedName{Namespace: p.Namespace, Name: p.Spec.PullSecretRef.Name})
	if err != nil {
		return nil, err
	}
	kind, data := "", map[string][]byte(nil)
	if s != nil {
		kind, data = string(s.Type), s.Data
		if data == nil {
			data = map[string][]byte{}
		}
	}
	prob := bootspec.CheckPullSecret(p, kind, data)
	if prob == nil {
		return nil, nil //nolint:nilnil // There's nothing to say.
	}
	c := xpv2.Unavailable().WithMessage(prob.Message)
	c.Reason = xpv2.ConditionReason(prob.Reason)
	return &c, nil
}
