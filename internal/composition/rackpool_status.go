package composition

import (
	"maps"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// status counts the hosts that there are or are to be, and lists what is wrong with them.
func (p *pool) status() platform.RackPoolStatus {
	// Of each host that counts, whether it's listed: one that isn't any more is out of new claims' reach, or about to be.
	names := map[string]bool{}
	for name, h := range p.hosts {
		if p.stays(h) {
			names[name] = false
		}
	}
	for _, h := range p.spec.Hosts {
		names[h.Name] = true
	}
	s := platform.RackPoolStatus{Hosts: int32(len(names))} //nolint:gosec // A pool has 64 hosts at most.
	for _, name := range slices.Sorted(maps.Keys(names)) {
		h := p.hosts[name]
		switch {
		case h == nil:
		case h.Spec.ClaimRef != nil:
			s.Claimed++
		case names[name] && available(h):
			s.Available++
		}
		if pr := hostProblem(name, h); pr != nil {
			s.Problems = append(s.Problems, *pr)
		}
	}
	s.Unavailable = s.Hosts - s.Claimed - s.Available
	s.ProblemCount = int32(len(s.Problems)) //nolint:gosec // At most one a host.
	return s
}

// available says whether a claim could have the host now.
func available(h *v1alpha1.RedfishHost) bool {
	f := h.Spec.ForProvider
	return h.Status.Phase == v1alpha1.HostAvailable && !f.Unschedulable && f.Maintenance == nil && h.GetAnnotations()[v1alpha1.AnnotationQuarantined] == ""
}

// looked says whether the provider has looked at a host: what it found is counted as a problem, and never makes a pool unready, which
// would flap with every BMC.
func looked(h *v1alpha1.RedfishHost) bool {
	if h == nil {
		return false
	}
	return h.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue || hostProblem("", h) != nil
}

// hostProblem says what is wrong with a host, in the operator's words; nil where nothing is.
func hostProblem(name string, h *v1alpha1.RedfishHost) *platform.HostProblem {
	if h == nil {
		return nil
	}
	if why := h.GetAnnotations()[v1alpha1.AnnotationQuarantined]; why != "" {
		return &platform.HostProblem{Host: name, Reason: string(v1alpha1.ReasonQuarantined), Message: name + ": " + why}
	}
	acts := []xpv2.ConditionType{v1alpha1.ConditionPowerApplied, v1alpha1.ConditionBootApplied}
	for _, ct := range slices.Concat([]xpv2.ConditionType{v1alpha1.ConditionReachable}, acts, []xpv2.ConditionType{xpv2.TypeSynced, v1alpha1.ConditionHealthy}) {
		c := h.GetCondition(ct)
		if c.Status != corev1.ConditionFalse || slices.Contains(acts, ct) && onItsWay(c.Reason) {
			continue
		}
		return &platform.HostProblem{Host: name, Reason: string(c.Reason), Since: changed(c), Message: name + ": " + cause(c.Message)}
	}
	if h.Status.Phase == v1alpha1.HostError {
		c := h.GetCondition(xpv2.TypeReady)
		return &platform.HostProblem{Host: name, Reason: string(c.Reason), Since: changed(c), Message: name + ": " + c.Message}
	}
	return nil
}

// onItsWay says whether a reason of PowerApplied or BootApplied is no problem.
func onItsWay(r xpv2.ConditionReason) bool {
	return r != v1alpha1.ReasonOutdated && r != v1alpha1.ReasonGaveUp && r != v1alpha1.ReasonNotSupported && r != v1alpha1.ReasonRefused && r != v1alpha1.ReasonConflict
}
