package hostclaim

import (
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// release gives a machine back: revoke, wait for the boot plane, power off and see it, clear, unbind,
// and only then let entry and addresses go.
func release(in inputs) verdict {
	if !controllerutil.ContainsFinalizer(in.claim, v1alpha1.FinalizerRelease) {
		return verdict{phase: v1alpha1.ClaimReleasing, reason: v1alpha1.ReasonReleasing}
	}
	if in.kindGoes != nil && in.claim.Annotations[v1alpha1.AnnotationForceRelease] == "" {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonKindDeleted, "%s; where the machine is to be given up as it runs: kubectl annotate hostclaim -n %s %s %s='<reason>'",
			in.kindGoes, in.claim.Namespace, in.claim.Name, v1alpha1.AnnotationForceRelease)
	}
	if s := in.ownSession(); s != nil && in.everBound() {
		if s.Spec.Revocation == nil {
			return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonWaitingForRevocation, "the boot plane is told that nothing is granted any more").then(actRevoke)
		}
		if s.Status.AcknowledgedRevocation != s.Spec.Revocation.ID && in.liveServers() > 0 {
			return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonWaitingForRevocation, "waiting for a boot server to acknowledge that nothing is granted any more")
		}
	}
	if in.holdsHost() {
		return releaseHost(in)
	}
	if in.lostHostsHalf() && !in.takenAway() {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonWaitingForPowerOff, "host %s lost its half of the binding, as after a restored backup; it's held again, to be switched off", in.host.Name).then(actBindHost)
	}
	if in.lostHostsHalf() && !addressesKept(in) {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonNeedsConfirmation,
			"host %s was taken from this claim by its operator and never seen off: it's left as it runs, and its addresses stay in NetBox", in.host.Name).then(actKeepAddresses)
	}
	if in.host == nil && in.claim.Spec.Bound != nil && !addressesKept(in) {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonNeedsConfirmation,
			"host %s is gone and was never seen off: it may be running, and its addresses stay in NetBox", in.claim.Spec.Bound.Name).then(actKeepAddresses)
	}
	if in.hostMadeAnew() && !addressesKept(in) {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonNeedsConfirmation,
			"host %s is a new object, and nobody confirmed that it's the same machine: it's left as it runs, and its addresses stay in NetBox", in.host.Name).then(actKeepAddresses)
	}
	if in.heldByEarlierSelf() && !addressesKept(in) {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonNeedsConfirmation,
			"host %s is held by an earlier claim of this name and was never confirmed: it's left as it runs, and its addresses stay in NetBox", in.host.Name).then(actKeepAddresses)
	}
	if held(in) {
		return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonReleasing, "the machine is released; its entry and addresses follow").then(actLetGo)
	}
	return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonReleasing, "everything is released").then(actFinish)
}

// everBound says whether this claim may have had a machine.
func (in inputs) everBound() bool { return in.holdsHost() || in.claim.Spec.Bound != nil }

// heldByEarlierSelf says whether claim and host name each other, but by UIDs of before a restore. Nobody confirmed that it's the same
// machine, so it isn't powered off; and it may be running, so its addresses can't be given to another.
func (in inputs) heldByEarlierSelf() bool {
	if in.holdsHost() || in.host == nil || in.host.Spec.ClaimRef == nil || in.claim.Spec.Bound == nil {
		return false
	}
	r := in.host.Spec.ClaimRef
	return r.Namespace == in.claim.Namespace && r.Name == in.claim.Name
}

// lostHostsHalf says whether the host is free, and the claim still has its half: it was never given back, since the claim's half goes first.
func (in inputs) lostHostsHalf() bool {
	return in.host != nil && in.host.Spec.ClaimRef == nil && in.claim.Spec.Bound != nil && in.claim.Spec.Bound.UID == in.host.UID
}

// takenAway says whether a person has since set the host aside: it isn't held again, nor switched off under his hands.
func (in inputs) takenAway() bool {
	h := in.host
	return h.DeletionTimestamp != nil || h.Annotations[v1alpha1.AnnotationQuarantined] != "" || h.Spec.ForProvider.Maintenance != nil || h.Spec.ForProvider.Unschedulable
}

// hostMadeAnew says whether the claim was bound to an earlier object of its host: it was never given back by us, so that the machine
// may be running, with its addresses.
func (in inputs) hostMadeAnew() bool {
	return in.host != nil && in.claim.Spec.Bound != nil && in.claim.Spec.Bound.UID != in.host.UID && in.host.Spec.ClaimRef == nil
}

func releaseHost(in inputs) verdict {
	h := in.host
	force := in.claim.Annotations[v1alpha1.AnnotationForceRelease]
	if force != "" && !in.seenOff() {
		if h.Annotations[v1alpha1.AnnotationQuarantined] == "" || !addressesKept(in) {
			return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonQuarantined, "host %s is given up unseen: %s", h.Name, force).then(actQuarantine)
		}
		return unbind(in)
	}
	if !in.seenOff() {
		v := at(v1alpha1.ClaimReleasing, v1alpha1.ReasonWaitingForPowerOff, "waiting for host %s to be off%s", h.Name, deadSentence(in))
		if h.Spec.ForProvider.Power == v1alpha1.PoweredOff {
			return v
		}
		return apply(in, v, wish{v1alpha1.PoweredOff, currentOnce(in)})
	}
	return unbind(in)
}

// unbind clears the host's records before its binding: a crash between the two leaves a machine that is
// still ours, never a free one with a stranger's records.
func unbind(in inputs) verdict {
	for _, k := range recordsOfClaim {
		if _, ok := in.host.Annotations[k]; ok {
			return at(v1alpha1.ClaimReleasing, v1alpha1.ReasonReleasing, "host %s is off; its records are cleared", in.host.Name).then(actClear)
		}
	}
	v := at(v1alpha1.ClaimReleasing, v1alpha1.ReasonReleasing, "host %s is off; it's given back", in.host.Name)
	if in.claim.Spec.Bound != nil {
		return v.then(actUnclaim)
	}
	return v.then(actUnbind)
}

func held(in inputs) bool {
	if in.entry != nil && controllerutil.ContainsFinalizer(in.entry, v1alpha1.FinalizerHeldByClaim) {
		return true
	}
	for i := range in.addresses {
		if controllerutil.ContainsFinalizer(&in.addresses[i], v1alpha1.FinalizerHeldByClaim) {
			return true
		}
	}
	return false
}

// addressesKept says whether the addresses of a machine that was given up stay in NetBox: it may still
// be running with them.
func addressesKept(in inputs) bool {
	for i := range in.addresses {
		if deletes(&in.addresses[i]) {
			return false
		}
	}
	return true
}

func deletes(a *v1alpha1.NetBoxIPAddress) bool {
	for _, p := range a.Spec.ManagementPolicies {
		if p == "*" || p == "Delete" {
			return true
		}
	}
	return len(a.Spec.ManagementPolicies) == 0
}
