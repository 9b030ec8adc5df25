package bootplane

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// SecretTokens names the Secret, in bootd's namespace, of the keys that tokens are made with.
const SecretTokens = "bootd-tokens"

const (
	keyRetry  = 5 * time.Second
	keyMaxNap = time.Hour
)

// A keyring keeps the keys of tokens.
type keyring struct {
	kube      client.Client // Live for Secrets.
	namespace string
	random    io.Reader
	now       func() time.Time
	log       logging.Logger

	// trouble is what was logged last: once is enough. Only one reconcile runs at a time.
	trouble string
}

// addKeys adds the controller of token keys. It needs no CRD.
func addKeys(mgr ctrl.Manager, o wiring.Options, k *keyring) error {
	name := types.NamespacedName{Namespace: o.BootNamespace, Name: SecretTokens}
	ours := predicate.NewPredicateFuncs(func(o client.Object) bool { return client.ObjectKeyFromObject(o) == name })
	opts := o.ForController()
	opts.MaxConcurrentReconciles = 1
	first := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(reconcile.Request{NamespacedName: name})
		return nil
	})
	err := ctrl.NewControllerManagedBy(mgr).
		Named(SecretTokens).
		WithOptions(opts).
		Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{}, builder.OnlyMetadata, builder.WithPredicates(ours)).
		WatchesRawSource(first).
		Complete(k)
	if err != nil {
		return fmt.Errorf("cannot build the controller of token keys: %w", err)
	}
	return nil
}

// Reconcile makes the keys, and new ones in time. Where they can't be written, most likely because bootd's namespace isn't there
// yet, it says so once and tries again.
func (k *keyring) Reconcile(ctx context.Context, _ reconcile.Request) (ctrl.Result, error) {
	next, err := k.ensure(ctx)
	if err != nil {
		if err.Error() != k.trouble {
			k.log.Info("No token keys for bootd yet", "error", err)
		}
		k.trouble = err.Error()
		return ctrl.Result{RequeueAfter: keyRetry}, nil
	}
	k.trouble = ""
	return ctrl.Result{RequeueAfter: min(next, keyMaxNap)}, nil
}

// ensure the keys, and say when to look again.
func (k *keyring) ensure(ctx context.Context) (time.Duration, error) {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: SecretTokens}}
	err := k.kube.Get(ctx, client.ObjectKeyFromObject(s), s)
	if err != nil && !kerrors.IsNotFound(err) {
		return 0, fmt.Errorf("cannot get Secret %q in namespace %q: %w", SecretTokens, k.namespace, err)
	}
	fresh := make([]byte, keySize)
	if _, err := io.ReadFull(k.random, fresh); err != nil {
		return 0, fmt.Errorf("cannot make a key: %w", err)
	}
	was := keysIn(s)
	keys, next := rotate(was, fresh, k.now())
	if keys.equal(was) {
		return next, nil
	}
	keys.into(s)
	write := k.create
	if err == nil {
		write = k.update
	}
	if err := write(ctx, s); err != nil {
		return 0, fmt.Errorf("cannot write Secret %q in namespace %q: %w", SecretTokens, k.namespace, err)
	}
	return next, nil
}

func (k *keyring) create(ctx context.Context, s *corev1.Secret) error { return k.kube.Create(ctx, s) } //nolint:wrapcheck // Its caller does.

func (k *keyring) update(ctx context.Context, s *corev1.Secret) error { return k.kube.Update(ctx, s) } //nolint:wrapcheck // Its caller does.
