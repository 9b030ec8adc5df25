//go:build !bootd

package v1alpha1

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ResolveReferences chooses the host of assignTo.hostSelector and writes it to assignTo.hostRef, as Crossplane's managed reconciler
// asks for before each look. A host that was chosen stays, unless the selector's policy is to resolve always and it doesn't match any
// more. Which hosts a namespace may name is checked at each use, and not only here.
func (mg *NetBoxIPAddress) ResolveReferences(ctx context.Context, c client.Reader) error {
	a := mg.Spec.ForProvider.AssignTo
	if a == nil || a.HostSelector == nil || (a.HostRef != nil && !a.HostSelector.Policy.IsResolvePolicyAlways()) {
		return nil
	}
	if selectsAll(a.HostSelector) {
		return mg.unresolved(ReasonInvalid, "assignTo.hostSelector says nothing, and would choose any RedfishHost: set its matchLabels, matchControllerRef or namespace")
	}
	hosts := &RedfishHostList{}
	err := c.List(ctx, hosts, client.InNamespace(a.HostSelector.Namespace), client.MatchingLabels(a.HostSelector.MatchLabels))
	switch {
	case apimeta.IsNoMatchError(err):
		return mg.unresolved(ReasonNotFound, "this cluster has no kind RedfishHost, which assignTo.hostSelector chooses from: name the device in assignTo.device")
	case err != nil:
		return fmt.Errorf("cannot list the RedfishHosts of assignTo.hostSelector: %w", err)
	}
	found := slices.DeleteFunc(hosts.Items, func(h RedfishHost) bool { return !h.LentTo(mg.Namespace) || !sameController(a.HostSelector, mg, &h) })
	if len(found) > 0 {
		a.HostRef = chosen(a.HostRef, mg.Namespace, found)
		return nil
	}
	if a.HostSelector.Policy.IsResolutionPolicyOptional() {
		return nil
	}
	return mg.unresolved(ReasonNotFound, fmt.Sprintf("no RedfishHost that is of namespace %q, or bound to a HostClaim of it, matches assignTo.hostSelector: correct the selector, or claim a host", mg.Namespace))
}

// selectsAll says that a selector leaves nothing out.
func selectsAll(s *xpv2.NamespacedSelector) bool {
	return s.Namespace == "" && len(s.MatchLabels) == 0 && (s.MatchControllerRef == nil || !*s.MatchControllerRef)
}

// unresolved is the error that no host was chosen, and shows it on an address that isn't there yet.
func (mg *NetBoxIPAddress) unresolved(reason xpv2.ConditionReason, why string) error {
	if mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		mg.SetConditions(NewCondition(xpv2.TypeReady, false, reason, why))
	}
	return errors.New(why)
}

// LentTo says whether a namespace's objects may name the host: it's of that namespace, or bound to a HostClaim of it.
func (mg *RedfishHost) LentTo(namespace string) bool {
	return mg.Namespace == namespace || mg.BoundTo(namespace)
}

// BoundTo says whether the host is bound to a HostClaim of a namespace.
func (mg *RedfishHost) BoundTo(namespace string) bool {
	return mg.Spec.ClaimRef != nil && mg.Spec.ClaimRef.Namespace == namespace
}

// chosen keeps the host that was chosen before as long as it's among them, else takes the first one: all choose the same. Those of the
// namespace itself come last, as policies may leave it no more than what it has claimed.
func chosen(before *xpv2.NamespacedReference, namespace string, found []RedfishHost) *xpv2.NamespacedReference {
	if before != nil && slices.ContainsFunc(found, func(h RedfishHost) bool {
		return h.Name == before.Name && h.Namespace == cmp.Or(before.Namespace, namespace)
	}) {
		return before
	}
	slices.SortFunc(found, func(a, b RedfishHost) int {
		if own := a.Namespace == namespace; own != (b.Namespace == namespace) {
			if own {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return &xpv2.NamespacedReference{Name: found[0].Name, Namespace: found[0].Namespace}
}

// sameController says whether a selector that asks for it finds a host of the same controller.
func sameController(s *xpv2.NamespacedSelector, mg, h metav1.Object) bool {
	if s.MatchControllerRef == nil || !*s.MatchControllerRef {
		return true
	}
	a, b := metav1.GetControllerOf(mg), metav1.GetControllerOf(h)
	return a != nil && b != nil && a.UID == b.UID
}
