package hostclaim

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// A forsaker gives back what a claim had that is gone without a release, such as one whose finalizer somebody took off. That proves
// nothing about its machine: of a backup that is being restored, hosts may come before claims, and of a cluster that is given up the
// machines go on. So the host is left as it is, and says so, until an operator gives it up. Requests name claims.
type forsaker struct {
	*reconciler

	// cached says of most claims that they are there.
	cached client.Reader
}

const forsakerName = "hostclaim-forsaken"

func assembleForsaker(mgr ctrl.Manager, o wiring.Options, r *reconciler) error {
	f := &forsaker{reconciler: r, cached: mgr.GetClient()}
	err := ctrl.NewControllerManagedBy(mgr).Named(forsakerName).
		WithOptions(o.ForController()).
		For(&v1alpha1.HostClaim{}).
		Watches(&v1alpha1.RedfishHost{}, handler.EnqueueRequestsFromMapFunc(holders)).
		Watches(&v1alpha1.BootEntry{}, handler.EnqueueRequestsFromMapFunc(holders)).
		Complete(ratelimiter.NewReconciler(forsakerName, f, o.GlobalRateLimiter))
	if err != nil {
		return fmt.Errorf("cannot build controller %q: %w", forsakerName, err)
	}
	return nil
}

// holders are the claims that an object is held by.
func holders(_ context.Context, o client.Object) []reconcile.Request {
	switch x := o.(type) {
	case *v1alpha1.RedfishHost:
		if r := x.Spec.ClaimRef; r != nil {
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: r.Namespace, Name: r.Name}}}
		}
	case *v1alpha1.BootEntry:
		if r := x.Spec.ForProvider.Machine.HostClaimRef; r != nil && x.DeletionTimestamp != nil {
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: x.Namespace, Name: r.Name}}}
		}
	}
	return nil
}

// Reconcile takes the next act for what a claim had that is gone. One of its name and another UID asks for a confirmation by itself.
func (f *forsaker) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	for _, kube := range []client.Reader{f.cached, f.live} {
		if there, err := claimThere(ctx, kube, req.NamespacedName); err != nil || there {
			return reconcile.Result{}, err
		}
	}
	in, err := f.gatherForsaken(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	v := forsake(in)
	if v.phase == "" {
		return reconcile.Result{}, nil
	}
	f.log.Info("A claim is gone without a release", "claim", req.String(), "act", string(v.act), "message", v.message)
	if v.phase == v1alpha1.ClaimNeedsConfirmation && in.host != nil {
		f.record.Event(in.host, event.Warning(event.Reason(v.reason), errors.New(v.message)))
		return reconcile.Result{RequeueAfter: pollSettled}, nil
	}
	if err := quiet(f.perform(ctx, in, v)); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: pollPending}, nil
}

func claimThere(ctx context.Context, kube client.Reader, key client.ObjectKey) (bool, error) {
	c := &v1alpha1.HostClaim{}
	c, err := absent(kube.Get(ctx, key, c), c)
	return c != nil && err == nil, err
}

// gatherForsaken reads what a release needs, with a claim in place of the one that is gone.
func (f *forsaker) gatherForsaken(ctx context.Context, claim client.ObjectKey) (inputs, error) {
	entries, hosts := &v1alpha1.BootEntryList{}, &v1alpha1.RedfishHostList{}
	if err := f.live.List(ctx, entries, client.InNamespace(claim.Namespace)); err != nil {
		return inputs{}, errors.Wrap(err, "cannot list BootEntries")
	}
	if err := f.live.List(ctx, hosts); err != nil {
		return inputs{}, errors.Wrap(err, "cannot list RedfishHosts")
	}
	return f.gather(ctx, f.live, standIn(claim, hosts.Items, entries.Items, f.now()))
}

// standIn is the claim that is gone, as far as its host and its entry tell. It's never written.
func standIn(claim client.ObjectKey, hosts []v1alpha1.RedfishHost, entries []v1alpha1.BootEntry, now time.Time) *v1alpha1.HostClaim {
	c := &v1alpha1.HostClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: claim.Namespace, Name: claim.Name, UID: "gone", Finalizers: []string{v1alpha1.FinalizerRelease},
		Annotations: map[string]string{}, DeletionTimestamp: &metav1.Time{Time: now},
	}}
	for i := range hosts {
		h := &hosts[i]
		if r := h.Spec.ClaimRef; r == nil || r.Namespace != claim.Namespace || r.Name != claim.Name {
			continue
		}
		c.UID = h.Spec.ClaimRef.UID
		c.Spec.Bound = &v1alpha1.Binding{Kind: v1alpha1.RedfishHostKind, Namespace: h.Namespace, Name: h.Name, UID: h.UID}
		if v := h.Annotations[v1alpha1.AnnotationForceRelease]; v != "" {
			c.Annotations[v1alpha1.AnnotationForceRelease] = v
		}
		break // Of several, the others follow once this one is free.
	}
	for i := range entries {
		m := entries[i].Spec.ForProvider.Machine.HostClaimRef
		if m == nil || m.Name != claim.Name {
			continue
		}
		c.Spec.BootEntryRef = &v1alpha1.LocalReference{Name: entries[i].Name}
		if entries[i].DeletionTimestamp != nil {
			break // One that goes waits for us; another may be a living machine's.
		}
	}
	return c
}

// forsake is the release of what a claim had that is gone; an empty verdict where there's nothing. Nobody is switched off by it: an
// operator's word unbinds a host, which is quarantined unless it was seen off, and its addresses are held.
func forsake(in inputs) verdict {
	going := in.entry != nil && in.entry.DeletionTimestamp != nil && controllerutil.ContainsFinalizer(in.entry, v1alpha1.FinalizerHeldByClaim)
	switch {
	case !in.holdsHost() && !going:
		return verdict{}
	case in.holdsHost() && in.claim.Annotations[v1alpha1.AnnotationForceRelease] == "":
		return at(v1alpha1.ClaimNeedsConfirmation, v1alpha1.ReasonNeedsConfirmation,
			"its HostClaim %s/%s is gone and never released it, so that it may be running: restore the claim, or give the machine up: kubectl annotate redfishhost -n %s %s %s='<reason>'",
			in.claim.Namespace, in.claim.Name, in.host.Namespace, in.host.Name, v1alpha1.AnnotationForceRelease)
	case !in.holdsHost() && !addressesKept(in):
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonNeedsConfirmation,
			"HostClaim %s/%s is gone and its machine was never seen off: it may be running, and its addresses stay in NetBox", in.claim.Namespace, in.claim.Name).then(actKeepAddresses)
	}
	v := release(in)
	switch v.act {
	case actUnclaim:
		v = v.then(actUnbind) // There's no claim to take its half from.
	case actFinish:
		return verdict{}
	case actNone, actFinalize, actForget, actBindHost, actBindClaim, actHold, actQuestion, actApply, actRecordBoot, actRevoke, actQuarantine, actKeepAddresses, actClear, actUnbind, actLetGo:
	}
	if v.act == actUnbind && held(in) {
		return v.then(actLetGo) // Once the host is free, nobody knows that it was seen off.
	}
	return v
}
