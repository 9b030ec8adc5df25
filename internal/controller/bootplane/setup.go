// Package bootplane keeps what bootd and people need to know of the boot plane: token keys, and the state of profiles and networks.
package bootplane

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// Names of our indexes of BootEntries, by NAMESPACE/NAME of what they name.
const (
	fieldProfile = "baremetal.profile"
	fieldNetwork = "baremetal.network"
)

// Setup adds the controllers of token keys, BootProfiles and BootNetworks.
func Setup(mgr ctrl.Manager, o wiring.Options) error {
	if err := addKeys(mgr, o, &keyring{kube: mgr.GetClient(), namespace: o.BootNamespace, random: rand.Reader, now: o.Clock, log: o.Logger}); err != nil {
		return err
	}
	gv := v1alpha1.GroupVersion
	return o.Gated(func() error { return addStatuses(mgr, o) }, gv.WithKind(v1alpha1.BootProfileKind), gv.WithKind(v1alpha1.BootNetworkKind),
		gv.WithKind(v1alpha1.BootEntryKind), gv.WithKind(v1alpha1.BootServerKind))
}

// addStatuses adds the controllers of BootProfiles and BootNetworks.
func addStatuses(mgr ctrl.Manager, o wiring.Options) error {
	for field, named := range map[string]func(*v1alpha1.BootEntry) []types.NamespacedName{fieldProfile: profilesOf, fieldNetwork: networksOf} {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.BootEntry{}, field, index(named)); err != nil {
			return fmt.Errorf("cannot index BootEntries by %s: %w", field, err)
		}
	}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	err := ctrl.NewControllerManagedBy(mgr).
		Named("bootprofile").
		WithOptions(o.ForController()).
		For(&v1alpha1.BootProfile{}, changed).
		Watches(&v1alpha1.BootEntry{}, wake(profilesOf), changed).
		Watches(&v1alpha1.BootServer{}, allProfiles(mgr.GetClient()), builder.WithPredicates(cacheChanged())).
		Watches(&corev1.Secret{}, bySecret(mgr.GetClient()), builder.OnlyMetadata).
		Complete(&profiles{kube: mgr.GetClient()})
	if err != nil {
		return fmt.Errorf("cannot build the controller of BootProfiles: %w", err)
	}
	err = ctrl.NewControllerManagedBy(mgr).
		Named("bootnetwork").
		WithOptions(o.ForController()).
		For(&v1alpha1.BootNetwork{}, changed).
		Watches(&v1alpha1.BootEntry{}, wake(networksOf), changed).
		Watches(&v1alpha1.BootServer{}, handler.EnqueueRequestsFromMapFunc(served)).
		Complete(&networks{kube: mgr.GetClient(), now: o.Clock})
	if err != nil {
		return fmt.Errorf("cannot build the controller of BootNetworks: %w", err)
	}
	return addPullSecrets(mgr, o)
}

// index makes BootEntries findable by what they name.
func index(named func(*v1alpha1.BootEntry) []types.NamespacedName) client.IndexerFunc {
	return func(o client.Object) []string {
		e, ok := o.(*v1alpha1.BootEntry)
		if !ok {
			return nil
		}
		var values []string
		for _, n := range named(e) {
			values = append(values, n.String())
		}
		return values
	}
}

// wake maps a BootEntry to what it names.
func wake(named func(*v1alpha1.BootEntry) []types.NamespacedName) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		e, ok := o.(*v1alpha1.BootEntry)
		if !ok {
			return nil
		}
		return requests(named(e))
	})
}

// allProfiles wakes all BootProfiles.
func allProfiles(kube client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		l := &v1alpha1.BootProfileList{}
		if err := kube.List(ctx, l); err != nil {
			return nil // Their counts of caches are stale until something else wakes them.
		}
		var all []types.NamespacedName
		for i := range l.Items {
			all = append(all, client.ObjectKeyFromObject(&l.Items[i]))
		}
		return requests(all)
	})
}

// cacheChanged passes a bootd that comes, goes, has other files than before, or can't get others: not every heartbeat, nor how far a download
// has come.
func cacheChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, ok := e.ObjectOld.(*v1alpha1.BootServer)
		is, ok2 := e.ObjectNew.(*v1alpha1.BootServer)
		return ok && ok2 && (!equality.Semantic.DeepEqual(was.Status.Cache.Digests, is.Status.Cache.Digests) ||
			!equality.Semantic.DeepEqual(was.Status.Cache.Failed, is.Status.Cache.Failed))
	}}
}

// served maps a BootServer to the networks it serves.
func served(_ context.Context, o client.Object) []reconcile.Request {
	s, ok := o.(*v1alpha1.BootServer)
	if !ok {
		return nil
	}
	var all []types.NamespacedName
	for _, n := range s.Status.Networks {
		all = append(all, types.NamespacedName{Namespace: n.Namespace, Name: n.Name})
	}
	return requests(all)
}

func requests(names []types.NamespacedName) []reconcile.Request {
	out := make([]reconcile.Request, 0, len(names))
	for _, n := range names {
		out = append(out, reconcile.Request{NamespacedName: n})
	}
	return out
}

// at is where a reference of a BootEntry points.
func at(e *v1alpha1.BootEntry, ref v1alpha1.NamespacedReference) types.NamespacedName {
	n := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	if n.Namespace == "" {
		n.Namespace = e.Namespace
	}
	return n
}

func profilesOf(e *v1alpha1.BootEntry) []types.NamespacedName {
	return []types.NamespacedName{at(e, e.Spec.ForProvider.ProfileRef)}
}

func networksOf(e *v1alpha1.BootEntry) []types.NamespacedName {
	var all []types.NamespacedName
	for _, n := range e.Spec.ForProvider.Networks {
		all = append(all, at(e, n.NetworkRef))
	}
	return all
}
