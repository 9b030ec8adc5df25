package wiring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// A Watch wakes resources of a kind when another object changes.
type Watch struct {
	// Object of the kind to watch, empty.
	Object client.Object
	// Map says which resources a changed object wakes. It's asked for the old and the new one.
	Map handler.MapFunc
	// Predicates that an event must pass, if any.
	Predicates []predicate.Predicate
	// MetadataOnly watches metadata alone: the object must be read past the cache.
	MetadataOnly bool
}

// A Kind is what differs between managed resources.
type Kind[T resource.ModernManaged] struct {
	// GVK of the kind. It and its list must be in the manager's scheme.
	GVK schema.GroupVersionKind
	// Connector makes external clients.
	Connector managed.TypedExternalConnector[T]
	// UsesProviderConfig says that resources are woken when their provider config or its Secret changes, and count as its users.
	UsesProviderConfig bool
	// Secrets that a resource itself names, if any: it's woken when one changes.
	Secrets func(mg T) []types.NamespacedName
	// Indexes by which resources are found in the cache, beside those of their provider config and Secrets.
	Indexes map[string]client.IndexerFunc
	// Watches that wake resources, beside those.
	Watches []Watch
	// Wake wakes resources by what happened outside of the API server, if anything does.
	Wake <-chan event.GenericEvent
	// Requires lists the kinds that must be there too, beside those that are watched for provider configs.
	Requires []schema.GroupVersionKind
	// DeterministicExternalName says that Observe finds what a Create made that was never recorded.
	DeterministicExternalName bool
	// Pending says that a resource which is Ready still waits for something, and is to be looked at soon. May be nil.
	Pending func(mg T) bool
	// Gone is told of a resource that the API server hasn't any more, however it went: nobody looks at one again that was orphaned, or lost
	// its finalizer. May be nil.
	Gone func(mg T)
	// Paused is told of a resource that is paused, and of one that isn't any more: nobody looks at it meanwhile. May be nil.
	Paused func(mg T, is bool)
	// Made puts on a resource, whose Create has just returned, what it made and how that is; false where it isn't known, or not yet as it
	// should be: then the look that follows says so. May be nil.
	Made func(mg T) bool
	// Merge says what of the annotations that a Create set, noted, is still true where somebody else has written the resource since, with
	// these annotations: it may change noted, or take some out. Nil: all is.
	Merge func(noted, theirs map[string]string)
	// Asks names whom a resource's calls ask, such as its provider config's server; "" is nobody. Who doesn't answer never has all workers,
	// and those of others don't wait for him. Nil: all ask the same.
	Asks func(mg T) string
	// Flow names what a resource waits in line with, of those that ask the same: flows take turns, so that a thousand of one delay one of
	// another by no more than what is under way. Nil: these wait in one line.
	Flow func(mg T) string
	// AtOnce is how many reconciles of the kind run at once, at most, or where Asks isn't nil, of those that ask the same; 0: as many as of
	// any kind.
	AtOnce int
	// Timeout of one reconcile; default 1 min.
	Timeout time.Duration
	// CreationGrace is how long a created thing may take to be seen; default 30 s.
	CreationGrace time.Duration
}

const defaultTimeout = time.Minute

// Setup adds the controller of a kind of managed resources to the manager, once the CRDs that it needs are there.
func Setup[T resource.ModernManaged](mgr ctrl.Manager, o Options, k Kind[T]) error {
	needs := append(slices.Clone(k.Requires), k.GVK)
	if k.UsesProviderConfig {
		needs = append(needs, v1alpha1.ProviderConfigGroupVersionKind,
			v1alpha1.ClusterProviderConfigGroupVersionKind, v1alpha1.ProviderConfigUsageGroupVersionKind)
	}
	return o.Gated(func() error { return assemble(mgr, o, k) }, needs...)
}

// assemble is Setup, once all CRDs are there.
func assemble[T resource.ModernManaged](mgr ctrl.Manager, o Options, k Kind[T]) error {
	object, newList, err := objects[T](mgr.GetScheme(), k.GVK)
	if err != nil {
		return err
	}
	name := managed.ControllerName(k.GVK.GroupKind().String())
	if err := addMetrics(mgr, o, newList); err != nil {
		return err
	}
	options, r, p, err := workers(mgr, o, k, object)
	if err != nil {
		return err
	}
	b := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(options).
		For(object, builder.WithPredicates(heardBy(p), goneTo(p, k.Gone), pausedTo(k.Paused), desiredStateChanged()))
	for _, w := range k.Watches {
		addWatch(b, w)
	}
	if k.Wake != nil {
		b.WatchesRawSource(source.Channel(k.Wake, &handler.EnqueueRequestForObject{}))
	}
	for field, fn := range k.Indexes {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), object, field, fn); err != nil {
			return fmt.Errorf("cannot index %s by %s: %w", k.GVK.Kind, field, err)
		}
	}
	if err := watchConfig(mgr, o, k, object, newList, b); err != nil {
		return err
	}
	if err := b.Complete(ratelimiter.NewReconciler(name, r, o.GlobalRateLimiter)); err != nil {
		return fmt.Errorf("cannot build controller %q: %w", name, err)
	}
	return nil
}

// workers are the reconciler of a kind, and what those go by who call it.
func workers[T resource.ModernManaged](mgr ctrl.Manager, o Options, k Kind[T], object client.Object) (controller.Options, *managed.Reconciler, *pace, error) {
	observations, err := newObservations(metrics.Registry)
	if err != nil {
		return controller.Options{}, nil, nil, err
	}
	options := o.ForController()
	if k.AtOnce > 0 {
		options.MaxConcurrentReconciles = min(options.MaxConcurrentReconciles, k.AtOnce)
	}
	p := newPace(options.RateLimiter)
	p.observed = func(kind, found string) { observations.WithLabelValues(kind, found).Inc() }
	if k.Asks != nil {
		options.MaxConcurrentReconciles = 2 * max(options.MaxConcurrentReconciles, 1) // Of which those that ask the same have half.
		p.crowd = newCrowd[reconcile.Request](options.MaxConcurrentReconciles)
	}
	if k.Asks != nil || k.Flow != nil {
		options.NewQueue = inTurns(mgr.GetClient(), object, k, p.crowd)
	}
	return options, newReconciler(mgr, o, k, p), p, nil
}

// NewController is the controller of a kind as Setup adds it, but that nothing wakes its resources: whoever starts it does so, by a source.
func NewController[T resource.ModernManaged](mgr ctrl.Manager, o Options, k Kind[T]) (controller.Controller, error) {
	object, _, err := objects[T](mgr.GetScheme(), k.GVK)
	if err != nil {
		return nil, err
	}
	options, r, _, err := workers(mgr, o, k, object)
	if err != nil {
		return nil, err
	}
	options.Reconciler, options.SkipNameValidation = r, new(true)
	return controller.NewTypedUnmanaged(managed.ControllerName(k.GVK.GroupKind().String()), options) //nolint:wrapcheck // It says what it lacks.
}

// NewReconciler is the managed reconciler of a kind. Setup puts it behind a queue whose back-off retries is.
func NewReconciler[T resource.ModernManaged](mgr ctrl.Manager, o Options, k Kind[T], retries workqueue.TypedRateLimiter[reconcile.Request]) *managed.Reconciler {
	return newReconciler(mgr, o, k, newPace(retries))
}

func newReconciler[T resource.ModernManaged](mgr ctrl.Manager, o Options, k Kind[T], p *pace) *managed.Reconciler {
	made := func(o client.Object) bool {
		mg, ok := o.(T)
		return ok && k.Made != nil && k.Made(mg)
	}
	thrifty := thriftyManager{mgr, p, made}
	opts := append(reconcilerOptions(mgr, o, k, p), managed.WithCriticalAnnotationUpdater(&annotator{client: thrifty.GetClient(), pace: p, merge: k.Merge}))
	return managed.NewReconciler(thrifty, resource.ManagedKind(k.GVK), opts...)
}

// objects returns an empty resource of a kind, and what makes empty lists of it.
func objects[T resource.ModernManaged](s *runtime.Scheme, gvk schema.GroupVersionKind) (client.Object, func() resource.ManagedList, error) {
	o, err := s.New(gvk)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a %s: %w", gvk.Kind, err)
	}
	object, ok := o.(T)
	if !ok {
		return nil, nil, fmt.Errorf("%s is a %T in the scheme, which isn't what its connector is for", gvk.Kind, o)
	}
	listGVK := gvk.GroupVersion().WithKind(gvk.Kind + "List")
	l, err := s.New(listGVK)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a %s: %w", listGVK.Kind, err)
	}
	list, ok := l.(resource.ManagedList)
	if !ok {
		return nil, nil, fmt.Errorf("%T isn't a list of managed resources", l)
	}
	return object, func() resource.ManagedList {
		return list.DeepCopyObject().(resource.ManagedList) //nolint:forcetypeassert // A copy is what the original is.
	}, nil
}

func addWatch(b *builder.Builder, w Watch) {
	opts := []builder.WatchesOption{builder.WithPredicates(w.Predicates...)}
	if w.MetadataOnly {
		opts = append(opts, builder.OnlyMetadata)
	}
	b.Watches(w.Object, handler.EnqueueRequestsFromMapFunc(w.Map), opts...)
}

// watchConfig wakes resources when their provider config changes, or a Secret that they or it name. Secrets are watched by their
// metadata: their data never enter the cache.
func watchConfig[T resource.ModernManaged](
	mgr ctrl.Manager, o Options, k Kind[T], object client.Object, newList func() resource.ManagedList, b *builder.Builder,
) error {
	if !k.UsesProviderConfig && k.Secrets == nil {
		return nil
	}
	if o.Config == nil {
		return errors.New("cannot watch provider configs without a resolver")
	}
	if err := config.Index(context.Background(), mgr.GetFieldIndexer(), object, secretsOf(k)); err != nil {
		return err //nolint:wrapcheck // It says all there is to say.
	}
	addWatch(b, Watch{Object: &corev1.Secret{}, Map: o.Config.BySecret(newList), MetadataOnly: true})
	if !k.UsesProviderConfig {
		return nil
	}
	o.Config.AddUsers(newList)
	changed := []predicate.Predicate{predicate.GenerationChangedPredicate{}}
	addWatch(b, Watch{Object: &v1alpha1.ProviderConfig{}, Map: o.Config.ByConfig(newList), Predicates: changed})
	addWatch(b, Watch{Object: &v1alpha1.ClusterProviderConfig{}, Map: o.Config.ByConfig(newList), Predicates: changed})
	return nil
}

// secretsOf adapts a kind's Secrets to the index.
func secretsOf[T resource.ModernManaged](k Kind[T]) config.SecretsFn {
	if k.Secrets == nil {
		return nil
	}
	return func(mg resource.ModernManaged) []types.NamespacedName {
		typed, ok := mg.(T)
		if !ok {
			return nil
		}
		return k.Secrets(typed)
	}
}

// reconcilerOptions of a kind. There's no initializer: the default one makes a resource's name its external name, and ours are
// given by NetBox, the BMC, or the API server.
func reconcilerOptions[T resource.ModernManaged](mgr ctrl.Manager, o Options, k Kind[T], p *pace) []managed.ReconcilerOption {
	name := managed.ControllerName(k.GVK.GroupKind().String())
	timeout := k.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	opts := []managed.ReconcilerOption{
		managed.WithInitializers(),
		managed.WithTypedExternalConnector(paced(k, o, p)),
		managed.WithFinalizer(p.finalizer(mgr.GetClient())),
		managed.WithReferenceResolver(references(mgr.GetClient())),
		managed.WithDeterministicExternalName(k.DeterministicExternalName),
		managed.WithTimeout(timeout),
		managed.WithPollInterval(o.PollInterval),
		managed.WithMinPollInterval(o.MinPollInterval),
		managed.WithPollIntervalHook(hook(p, k.Pending)),
		managed.WithLogger(o.Logger.WithValues("controller", name)),
		managed.WithRecorder(o.Recorder(mgr, name)),
	}
	if k.CreationGrace != 0 {
		opts = append(opts, managed.WithCreationGracePeriod(k.CreationGrace))
	}
	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		opts = append(opts, managed.WithManagementPolicies())
	}
	if o.MetricOptions != nil && o.MetricOptions.MRMetrics != nil {
		opts = append(opts, managed.WithMetricRecorder(o.MetricOptions.MRMetrics))
	}
	if o.Features.Enabled(feature.EnableAlphaChangeLogs) && o.ChangeLogOptions != nil {
		opts = append(opts, managed.WithChangeLogger(o.ChangeLogOptions.ChangeLogger))
	}
	return opts
}
