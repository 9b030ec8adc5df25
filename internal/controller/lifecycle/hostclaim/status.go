package hostclaim

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// status writes a verdict as the claim's status. What hasn't changed stays as it is, times included.
func status(in inputs, v verdict) v1alpha1.HostClaimStatus {
	s := *in.claim.Status.DeepCopy()
	s.Phase, s.Reason, s.Message = v.phase, string(v.reason), v.message
	s.Host = hostFacts(in)
	ready := v1alpha1.NewCondition(xpv2.TypeReady, v.phase == v1alpha1.ClaimReady || v.phase == v1alpha1.ClaimStopped, v.reason, v.message)
	bound := v1alpha1.NewCondition(v1alpha1.ConditionBound, in.bound(), v1alpha1.ReasonBound, "")
	if !in.bound() {
		bound = v1alpha1.NewCondition(v1alpha1.ConditionBound, false, v.reason, v.message)
	}
	s.SetConditions(ready, bound)
	if in.bound() {
		s.SetConditions(reachable(in.host), healthy(in.host))
	}
	return s
}

// hostFacts are what a tenant may know of the machine: nothing before it's theirs.
func hostFacts(in inputs) *v1alpha1.HostFacts {
	if !in.bound() {
		return nil
	}
	o := in.host.Status.AtProvider
	return &v1alpha1.HostFacts{
		Kind: v1alpha1.RedfishHostKind, Namespace: in.host.Namespace, Name: in.host.Name,
		Serial: o.Identity.Serial, Manufacturer: o.Identity.Manufacturer, Model: o.Identity.Model,
		Power: o.Power, Health: o.Health, PoweredOnAt: o.PoweredOnAt.DeepCopy(),
	}
}

func reachable(h *v1alpha1.RedfishHost) xpv2.Condition {
	if h.GetCondition(v1alpha1.ConditionReachable).Status == corev1.ConditionTrue {
		return v1alpha1.NewCondition(v1alpha1.ConditionReachable, true, v1alpha1.ReasonAvailable, "")
	}
	return v1alpha1.NewCondition(v1alpha1.ConditionReachable, false, hostReason(h), hostSentence(h))
}

func healthy(h *v1alpha1.RedfishHost) xpv2.Condition {
	health := h.Status.AtProvider.Health
	if health == "" {
		c := v1alpha1.NewCondition(v1alpha1.ConditionHealthy, false, "Unknown", "the BMC doesn't say")
		c.Status = corev1.ConditionUnknown
		return c
	}
	return v1alpha1.NewCondition(v1alpha1.ConditionHealthy, health == "OK", xpv2.ConditionReason(health), "")
}
