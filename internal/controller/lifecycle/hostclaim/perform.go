package hostclaim

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// fieldManager owns what a claim applies to its host.
const fieldManager = "baremetal-hostclaim"

// perform takes one act. Each is one write, guarded by what was read, and may be taken twice.
func (r *reconciler) perform(ctx context.Context, in inputs, v verdict) error {
	switch v.act {
	case actFinalize:
		return r.patch(ctx, in.claim, func(o client.Object) { controllerutil.AddFinalizer(o, v1alpha1.FinalizerRelease) })
	case actBindHost:
		return r.applyHost(ctx, in, wish{in.host.Spec.ForProvider.Power, currentOnce(in)})
	case actBindClaim:
		return r.bindClaim(ctx, in)
	case actHold:
		return r.each(ctx, in, func(o client.Object) { controllerutil.AddFinalizer(o, v1alpha1.FinalizerHeldByClaim) }, false)
	case actQuestion:
		return r.annotate(ctx, in.claim, v1alpha1.AnnotationQuestion, encode(v.question))
	case actRecordBoot:
		return r.annotate(ctx, in.claim, v1alpha1.AnnotationBoot, encode(v.boot))
	case actApply:
		return r.applyHost(ctx, in, v.wish)
	case actRevoke:
		in.session.Spec.Grant = nil
		in.session.Spec.Revocation = &v1alpha1.Revocation{ID: r.newID(), Reason: "the HostClaim was deleted"}
		return errors.Wrap(client.IgnoreNotFound(r.kube.Update(ctx, in.session)), "cannot revoke the grant")
	case actQuarantine:
		return r.quarantine(ctx, in)
	case actKeepAddresses:
		return r.keepAddresses(ctx, in)
	case actClear:
		return r.patch(ctx, in.host, func(o client.Object) { clearRecords(o) })
	case actForget:
		return r.annotate(ctx, in.host, v1alpha1.AnnotationForceRelease, "")
	case actUnclaim:
		return r.patch(ctx, in.claim, func(o client.Object) {
			if c, ok := o.(*v1alpha1.HostClaim); ok {
				c.Spec.Bound = nil
			}
		})
	case actUnbind:
		return r.apply(ctx, in.host, map[string]any{})
	case actLetGo:
		return r.each(ctx, in, func(o client.Object) { controllerutil.RemoveFinalizer(o, v1alpha1.FinalizerHeldByClaim) }, true)
	case actFinish:
		return r.patch(ctx, in.claim, func(o client.Object) { controllerutil.RemoveFinalizer(o, v1alpha1.FinalizerRelease) })
	case actNone:
	}
	return nil
}

// encode writes an annotation's value; "" takes the annotation away.
func encode[T any](r *T) string {
	if r == nil {
		return ""
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // Records are plain strings and numbers.
	}
	return string(b)
}

func (r *reconciler) annotate(ctx context.Context, o client.Object, key, value string) error {
	return r.patch(ctx, o, func(o client.Object) {
		as := map[string]string{}
		maps.Copy(as, o.GetAnnotations())
		as[key] = value
		if value == "" {
			delete(as, key)
		}
		o.SetAnnotations(as)
	})
}

// patch changes metadata of one object, if it's still the one that was read. What is as it should be isn't written: whoever writes it meanwhile is in nobody's way.
func (r *reconciler) patch(ctx context.Context, o client.Object, change func(client.Object)) error {
	c, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return errors.Errorf("%T is no client object", o)
	}
	change(c)
	if equality.Semantic.DeepEqual(c, o) {
		return nil
	}
	err := r.kube.Patch(ctx, c, client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{}))
	return errors.Wrapf(client.IgnoreNotFound(err), "cannot patch %T %q", o, o.GetNamespace()+"/"+o.GetName())
}

// each changes entry and addresses; going says whether they're let go, be they being deleted or not. The entry is first to be held, and last to be let go: it
// names the addresses, and once it has gone nothing says whose they are.
func (r *reconciler) each(ctx context.Context, in inputs, change func(client.Object), going bool) error {
	objects := []client.Object{}
	if in.entry != nil {
		objects = append(objects, in.entry)
	}
	for i := range in.addresses {
		objects = append(objects, &in.addresses[i])
	}
	if going {
		slices.Reverse(objects)
	}
	for _, o := range objects {
		if o.GetDeletionTimestamp() != nil && !going {
			continue
		}
		if err := r.patch(ctx, o, change); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) bindClaim(ctx context.Context, in inputs) error {
	return r.patch(ctx, in.claim, func(o client.Object) {
		c, ok := o.(*v1alpha1.HostClaim)
		if !ok {
			return
		}
		c.Spec.Bound = &v1alpha1.Binding{
			Kind: v1alpha1.RedfishHostKind, Namespace: in.host.Namespace, Name: in.host.Name, UID: in.host.UID, Serial: in.serial(),
		}
	})
}

// applyHost applies the whole of what a bound claim wants of its host.
func (r *reconciler) applyHost(ctx context.Context, in inputs, w wish) error {
	provider := map[string]any{}
	if w.power == v1alpha1.PoweredOn || w.power == v1alpha1.PoweredOff {
		provider["power"] = string(w.power)
	}
	if w.once > 0 {
		provider["boot"] = map[string]any{"once": map[string]any{"target": string(v1alpha1.BootTargetPxe), "generation": w.once}}
	}
	return r.apply(ctx, in.host, map[string]any{
		"claimRef":    map[string]any{"namespace": in.claim.Namespace, "name": in.claim.Name, "uid": string(in.claim.UID)},
		"forProvider": provider,
	})
}

// apply is a server-side apply with our own field manager and without force: what somebody else set to
// another value is a conflict that names them. The revision makes it a compare-and-swap.
func (r *reconciler) apply(ctx context.Context, h *v1alpha1.RedfishHost, spec map[string]any) error {
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"namespace": h.Namespace, "name": h.Name, "uid": string(h.UID), "resourceVersion": h.ResourceVersion,
		},
	}}
	u.SetGroupVersionKind(v1alpha1.RedfishHostGroupVersionKind)
	if len(spec) > 0 {
		u.Object["spec"] = spec
	}
	err := r.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager))
	return errors.Wrapf(err, "cannot apply to RedfishHost %q", h.Namespace+"/"+h.Name)
}

// quarantine gives up a machine that may still be running: its host is marked, its addresses are held.
func (r *reconciler) quarantine(ctx context.Context, in inputs) error {
	if err := r.keepAddresses(ctx, in); err != nil {
		return err
	}
	return r.annotate(ctx, in.host, v1alpha1.AnnotationQuarantined, in.claim.Annotations[v1alpha1.AnnotationForceRelease])
}

// keepAddresses takes from the addresses what would delete them in NetBox.
func (r *reconciler) keepAddresses(ctx context.Context, in inputs) error {
	for i := range in.addresses {
		if !deletes(&in.addresses[i]) {
			continue
		}
		err := r.patch(ctx, &in.addresses[i], func(o client.Object) {
			if a, ok := o.(*v1alpha1.NetBoxIPAddress); ok {
				a.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recordsOfClaim are a host's annotations that are about the claim which has it, and go with it.
var recordsOfClaim = []string{v1alpha1.AnnotationGranted, v1alpha1.AnnotationInstalled} //nolint:gochecknoglobals // A list of names.

func clearRecords(o client.Object) {
	as := map[string]string{}
	for k, v := range o.GetAnnotations() {
		if !slices.Contains(recordsOfClaim, k) {
			as[k] = v
		}
	}
	o.SetAnnotations(as)
}
