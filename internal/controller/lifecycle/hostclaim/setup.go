package hostclaim

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/bootentry"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

const controllerName = "hostclaim"

// Setup adds the controller of HostClaim to the manager.
func Setup(mgr ctrl.Manager, o wiring.Options) error {
	return o.Gated(func() error { return assemble(mgr, o) },
		v1alpha1.HostClaimGroupVersionKind, v1alpha1.RedfishHostGroupVersionKind, v1alpha1.BootEntryGroupVersionKind,
		v1alpha1.NetBoxIPAddressGroupVersionKind, v1alpha1.GroupVersion.WithKind(v1alpha1.BootSessionKind),
		v1alpha1.GroupVersion.WithKind(v1alpha1.BootServerKind))
}

func assemble(mgr ctrl.Manager, o wiring.Options) error {
	kube := mgr.GetClient()
	r := &reconciler{
		kube: kube, live: mgr.GetAPIReader(), bootNamespace: o.BootNamespace,
		log: o.Logger.WithValues("controller", controllerName), record: o.Recorder(mgr, controllerName),
		now: o.Clock, newID: bootentry.NewID,
		stays: func(ctx context.Context) error { return o.KindStays(ctx, v1alpha1.HostClaimGroupVersionKind) },
	}
	err := ctrl.NewControllerManagedBy(mgr).Named(controllerName).
		WithOptions(o.ForController()).
		For(&v1alpha1.HostClaim{}).
		Watches(&v1alpha1.RedfishHost{}, wake(kube, func(h client.Object, c *v1alpha1.HostClaim) bool {
			return hostName(c) == client.ObjectKeyFromObject(h)
		})).
		Watches(&v1alpha1.BootEntry{}, wake(kube, names)).
		Watches(&v1alpha1.BootSession{}, wake(kube, names)).
		Watches(&v1alpha1.BootServer{}, wake(kube, func(_ client.Object, c *v1alpha1.HostClaim) bool {
			return c.DeletionTimestamp != nil
		})).
		Complete(ratelimiter.NewReconciler(controllerName, r, o.GlobalRateLimiter))
	if err != nil {
		return fmt.Errorf("cannot build controller %q: %w", controllerName, err)
	}
	return assembleForsaker(mgr, o, r)
}

// names says whether a claim's entry, or its session, has this name.
func names(o client.Object, c *v1alpha1.HostClaim) bool {
	return c.Namespace == o.GetNamespace() && c.Spec.BootEntryRef != nil && c.Spec.BootEntryRef.Name == o.GetName()
}

// wake wakes the claims for which a changed object matters.
func wake(kube client.Reader, matters func(client.Object, *v1alpha1.HostClaim) bool) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		l := &v1alpha1.HostClaimList{} // Shared with the cache: only looked at.
		if err := kube.List(ctx, l, client.UnsafeDisableDeepCopy); err != nil {
			return nil // The next look will see it.
		}
		var out []reconcile.Request
		for i := range l.Items {
			if matters(o, &l.Items[i]) {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
			}
		}
		return out
	})
}
