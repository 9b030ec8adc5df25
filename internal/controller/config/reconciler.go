package config

import (
	"context"
	"fmt"
	"slices"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// FinalizerInUse keeps a config as long as it has users. It's Crossplane's own.
const FinalizerInUse = "in-use.crossplane.io"

// inUseRetry is between looks at a deleted config that has users: their own going doesn't wake it.
const inUseRetry = 2 * time.Second

// Setup adds the controllers of ProviderConfig, ClusterProviderConfig, and the Secrets they name. All three kinds of configs must
// be there.
func Setup(mgr ctrl.Manager, o xpcontroller.Options, r *Resolver, now func() time.Time) error {
	if err := indexConfigs(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := mgr.Add(r.record(o.Logger)); err != nil {
		return fmt.Errorf("cannot add what records the uses of provider configs: %w", err)
	}
	started := now()
	for _, kind := range []string{v1alpha1.ProviderConfigKind, v1alpha1.ClusterProviderConfigKind} {
		err := ctrl.NewControllerManagedBy(mgr).
			Named(providerconfig.ControllerName(kind)).
			WithOptions(o.ForControllerRuntime()).
			For(newConfig(kind).object(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
			Watches(&v1alpha1.ProviderConfigUsage{}, together{&resource.EnqueueRequestForProviderConfig{Kind: kind}}).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.bySecret(kind)), builder.OnlyMetadata).
			WatchesRawSource(source.Channel(r.seen[kind], &handler.EnqueueRequestForObject{})).
			Complete(&reconciler{Resolver: r, kind: kind, now: now, started: started})
		if err != nil {
			return fmt.Errorf("cannot build the controller of %s: %w", kind, err)
		}
	}
	held := predicate.NewPredicateFuncs(func(o client.Object) bool {
		return slices.Contains(o.GetFinalizers(), FinalizerCredentials)
	})
	err := ctrl.NewControllerManagedBy(mgr).
		Named("credentials").
		WithOptions(o.ForControllerRuntime()).
		For(&corev1.Secret{}, builder.OnlyMetadata, builder.WithPredicates(held)).
		Complete(&holder{Resolver: r, now: now, started: started})
	if err != nil {
		return fmt.Errorf("cannot build the controller of credentials: %w", err)
	}
	return nil
}

// bySecret maps a Secret to the configs of one kind that name it.
func (r *Resolver) bySecret(kind string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		refs, err := r.configsBySecret(ctx, client.ObjectKeyFromObject(o))
		if err != nil {
			return nil
		}
		var found []reconcile.Request
		for _, ref := range refs {
			if ref.Kind == kind {
				found = append(found, reconcile.Request{NamespacedName: ref.key()})
			}
		}
		return found
	}
}

// A reconciler keeps the status and the finalizer of one kind of configs. Crossplane-runtime's own deletes usages, which a
// provider may not, and counts no users that are losing theirs in a terminating namespace.
type reconciler struct {
	*Resolver

	kind    string
	now     func() time.Time
	started time.Time
	counts  counts
}

// Reconcile counts the users of a config, says whether its credentials are there, and keeps it while it's in use.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (ctrl.Result, error) {
	c := newConfig(r.kind)
	if err := r.kube.Get(ctx, req.NamespacedName, c.object()); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) //nolint:wrapcheck // Nothing to add.
	}
	if !meta.WasDeleted(c.object()) {
		users, recount, err := r.number(ctx, c)
		if err != nil {
			return ctrl.Result{}, err
		}
		again, err := r.keep(ctx, c, users)
		return ctrl.Result{RequeueAfter: sooner(again, recount)}, err
	}
	users, err := r.users(ctx, c)
	if err != nil {
		return ctrl.Result{}, err
	}
	settled := r.now().Sub(r.started) >= settling
	if len(users) == 0 && settled {
		return ctrl.Result{}, r.letGo(ctx, c)
	}
	return ctrl.Result{RequeueAfter: inUseRetry}, r.report(ctx, c, func() {
		c.object().SetUsers(int64(len(users)))
		if len(users) > 0 {
			c.object().SetConditions(providerconfig.Terminating().WithMessage("it goes when its users have gone: " + sentence(users)))
		}
	})
}

// sooner is the first of two times to come, each 0 where it doesn't.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// keep a config that isn't being deleted, and say how it is. Where its NetBox is looked at, it's to be asked for again after a while.
func (r *reconciler) keep(ctx context.Context, c config, users int64) (again time.Duration, err error) {
	o := c.object()
	if !meta.FinalizerExists(o, FinalizerInUse) {
		before, _ := o.DeepCopyObject().(client.Object)
		meta.AddFinalizer(o, FinalizerInUse)
		if err := r.kube.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return 0, fmt.Errorf("cannot put finalizer %q on %s: %w", FinalizerInUse, refTo(c), err)
		}
	}
	at, err := secretOf(refTo(c), *c.spec())
	s := secret{}
	if err == nil {
		s, err = r.read(ctx, at, false)
	}
	ready := credentialsReady(refTo(c), *c.spec(), at, s.data, err)
	said, clock := &ready, (*xpv2.Condition)(nil)
	if ready.Status == corev1.ConditionTrue {
		f, after, looks := r.probed(ctx, c, s)
		switch again = after; {
		case f != nil:
			ready, clock = reachable(*f), f.Clock
		case looks:
			said = nil // What was said before stands until the look has ended.
		}
	}
	return again, r.report(ctx, c, func() {
		o.SetUsers(users)
		if said != nil {
			o.SetConditions(said.WithObservedGeneration(o.GetGeneration()))
		}
		if clock != nil {
			o.SetConditions(clock.WithObservedGeneration(o.GetGeneration()))
		}
		c.status().NetBox = r.facts(c)
	})
}

// letGo takes the finalizer off a config that nobody uses.
func (r *reconciler) letGo(ctx context.Context, c config) error {
	o := c.object()
	r.forgetProbe(o.GetUID())
	r.counts.forget(o.GetUID())
	if !meta.FinalizerExists(o, FinalizerInUse) {
		return nil
	}
	before, _ := o.DeepCopyObject().(client.Object)
	meta.RemoveFinalizer(o, FinalizerInUse)
	err := r.kube.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot take finalizer %q off %s: %w", FinalizerInUse, refTo(c), err)
	}
	return nil
}

// report writes a status where change changes it.
func (r *reconciler) report(ctx context.Context, c config, change func()) error {
	before, _ := c.object().DeepCopyObject().(client.Object)
	was := c.status().DeepCopy()
	change()
	if equality.Semantic.DeepEqual(was, c.status()) {
		return nil
	}
	if err := r.kube.Status().Patch(ctx, c.object(), client.MergeFrom(before)); err != nil {
		return fmt.Errorf("cannot write the status of %s: %w", refTo(c), err)
	}
	return nil
}
