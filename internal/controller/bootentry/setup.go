package bootentry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

// Setup adds the controller of BootEntry to the manager.
func Setup(mgr ctrl.Manager, o wiring.Options) error {
	kube := mgr.GetClient()
	return wiring.Setup(mgr, o, wiring.Kind[*v1alpha1.BootEntry]{
		GVK:                       v1alpha1.BootEntryGroupVersionKind,
		DeterministicExternalName: true,
		// A session is made on the same API server: only our own cache may lag. The default of 30 s would delay a deletion.
		CreationGrace: 2 * time.Second,
		Connector: NewConnector(Options{
			Kube: kube, Live: mgr.GetAPIReader(), BootNamespace: o.BootNamespace,
			Recorder: o.Recorder(mgr, managed.ControllerName(v1alpha1.BootEntryKind)), Now: o.Clock, Failpoint: o.Fail,
		}),
		Secrets: func(e *v1alpha1.BootEntry) []types.NamespacedName {
			var names []types.NamespacedName
			for _, r := range bootspec.DataRefs(e) {
				names = append(names, types.NamespacedName{Namespace: e.Namespace, Name: r.Name})
			}
			return names
		},
		Pending: func(e *v1alpha1.BootEntry) bool { return e.Status.AtProvider.Grant != nil },
		Watches: watches(kube),
		Requires: []schema.GroupVersionKind{
			v1alpha1.HostClaimGroupVersionKind, v1alpha1.RedfishHostGroupVersionKind, v1alpha1.NetBoxIPAddressGroupVersionKind,
			v1alpha1.GroupVersion.WithKind(v1alpha1.BootProfileKind), v1alpha1.GroupVersion.WithKind(v1alpha1.BootNetworkKind),
			v1alpha1.GroupVersion.WithKind(v1alpha1.BootSessionKind), v1alpha1.GroupVersion.WithKind(v1alpha1.BootServerKind),
		},
	})
}

// NewID makes the id of a grant or a revocation: 16 hexadecimal digits, as a boot token holds them.
func NewID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // Never fails: crypto/rand ends the program rather.
	return hex.EncodeToString(b)
}

// watches wake an entry when anything changes that its plan or its grant rests on.
func watches(kube client.Reader) []wiring.Watch {
	return []wiring.Watch{
		{Object: &v1alpha1.BootSession{}, Map: func(_ context.Context, o client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
		}},
		{Object: &v1alpha1.HostClaim{}, Map: matching(kube, func(o client.Object, e *v1alpha1.BootEntry) bool {
			return o.GetNamespace() == e.Namespace && claims(e, o.GetName())
		})},
		{Object: &v1alpha1.RedfishHost{}, Map: matching(kube, func(o client.Object, e *v1alpha1.BootEntry) bool {
			h, ok := o.(*v1alpha1.RedfishHost)
			return ok && (h.Spec.ClaimRef != nil && h.Spec.ClaimRef.Namespace == e.Namespace && claims(e, h.Spec.ClaimRef.Name) || shares(e, h))
		})},
		{Object: &v1alpha1.NetBoxIPAddress{}, Map: matching(kube, func(o client.Object, e *v1alpha1.BootEntry) bool {
			return o.GetNamespace() == e.Namespace && slices.ContainsFunc(e.Spec.ForProvider.Networks[0].Addresses, func(a v1alpha1.EntryAddress) bool {
				return a.Ref != nil && a.Ref.Name == o.GetName()
			})
		})},
		{Object: &v1alpha1.BootProfile{}, Map: matching(kube, func(o client.Object, e *v1alpha1.BootEntry) bool {
			return refersTo(e.Spec.ForProvider.ProfileRef, e, o)
		})},
		{Object: &v1alpha1.BootNetwork{}, Map: matching(kube, func(o client.Object, e *v1alpha1.BootEntry) bool {
			return refersTo(e.Spec.ForProvider.Networks[0].NetworkRef, e, o)
		})},
		// A heartbeat matters only to those that still wait for one.
		{Object: &v1alpha1.BootServer{}, Map: matching(kube, func(_ client.Object, e *v1alpha1.BootEntry) bool {
			return e.Status.AtProvider.Plan != nil && e.GetCondition(v1alpha1.ConditionServed).Status != corev1.ConditionTrue
		})},
	}
}

func claims(e *v1alpha1.BootEntry, name string) bool {
	r := e.Spec.ForProvider.Machine.HostClaimRef
	return r != nil && r.Name == name
}

// shares says whether a host lists a MAC that an entry is served for.
func shares(e *v1alpha1.BootEntry, h *v1alpha1.RedfishHost) bool {
	p := e.Status.AtProvider.Plan
	return p != nil && slices.ContainsFunc(macsOf(h), func(m boot.MAC) bool { return slices.Contains(p.MACs, string(m)) })
}

func refersTo(r v1alpha1.NamespacedReference, e *v1alpha1.BootEntry, o client.Object) bool {
	return r.Name == o.GetName() && or(r.Namespace, e.Namespace) == o.GetNamespace()
}

// matching wakes the entries for which a changed object matters.
func matching(kube client.Reader, matters func(client.Object, *v1alpha1.BootEntry) bool) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		l := &v1alpha1.BootEntryList{} // Shared with the cache: only looked at.
		if err := kube.List(ctx, l, client.UnsafeDisableDeepCopy); err != nil {
			return nil // The poll will see it.
		}
		var out []reconcile.Request
		for i := range l.Items {
			if matters(o, &l.Items[i]) {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
			}
		}
		return out
	}
}
