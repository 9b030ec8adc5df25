package hostclaim

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// An act is one write of the HostClaim controller.
type act string

const (
	actNone     act = ""
	actFinalize act = "AddFinalizer"
	// actForget takes an operator's word about an earlier claim off a host.
	actForget     act = "Forget"
	actBindHost   act = "BindHost"
	actBindClaim  act = "BindClaim"
	actHold       act = "HoldEntryAndAddresses"
	actQuestion   act = "Question"
	actApply      act = "ApplyHost"
	actRecordBoot act = "RecordBoot"
	actRevoke     act = "Revoke"
	actQuarantine act = "Quarantine"
	// actKeepAddresses lets the addresses of a machine that may be running outlive their objects.
	actKeepAddresses act = "KeepAddresses"
	actClear         act = "ClearRecords"
	// actUnclaim takes the claim's half of the binding away, before the host's: a claim that still has its half and whose host is gone
	// never gave it back.
	actUnclaim act = "Unclaim"
	actUnbind  act = "Unbind"
	actLetGo   act = "LetGo"
	actFinish  act = "RemoveFinalizer"
)

// wish is what the claim applies to its host, as one whole.
type wish struct {
	power v1alpha1.PowerState
	once  int64
}

// verdict is where the claim is, in the tenant's words, and the next act.
type verdict struct {
	act     act
	phase   v1alpha1.HostClaimPhase
	reason  xpv2.ConditionReason
	message string

	wish     wish
	boot     *v1alpha1.BootRecord
	question *v1alpha1.QuestionRecord
}

func (v verdict) then(a act) verdict {
	v.act = a
	return v
}

func at(phase v1alpha1.HostClaimPhase, reason xpv2.ConditionReason, format string, args ...any) verdict {
	return verdict{phase: phase, reason: reason, message: fmt.Sprintf(format, args...)}
}

// decide is pure: what was read in, where the claim is and its one next act out.
func decide(in inputs) verdict {
	if in.claim.DeletionTimestamp != nil {
		return release(in)
	}
	if !controllerutil.ContainsFinalizer(in.claim, v1alpha1.FinalizerRelease) {
		return at(v1alpha1.ClaimPending, v1alpha1.ReasonWaitingForHost, "the claim was just seen").then(actFinalize)
	}
	if !in.bound() {
		return forgetting(in, bind(in))
	}
	if v := checkBound(in); v.phase != "" {
		return v
	}
	if in.host.Annotations[v1alpha1.AnnotationForceRelease] != "" {
		return at(v1alpha1.ClaimBound, v1alpha1.ReasonBound, "host %s has its claim; an operator's word about an earlier one is taken off it", in.host.Name).then(actForget)
	}
	if q := v1alpha1.ReadRecord[v1alpha1.QuestionRecord](in.claim.Annotations, v1alpha1.AnnotationQuestion); q != nil && q.Answered == "" {
		return at(v1alpha1.ClaimBound, v1alpha1.ReasonBound, "the question is answered").then(actQuestion)
	}
	if v := hold(in); v.phase != "" {
		return v
	}
	v := run(in)
	// An answer stands until the machine runs, for the entry's own question about it; not longer.
	if v.act == actNone && (v.phase == v1alpha1.ClaimReady || v.phase == v1alpha1.ClaimStopped) && v1alpha1.ReadRecord[v1alpha1.QuestionRecord](in.claim.Annotations, v1alpha1.AnnotationQuestion) != nil {
		return v.then(actQuestion)
	}
	return v
}

// bind joins claim and host: the host's half first, guarded by its revision, so that one of two claims
// wins; then the claim's own.
func bind(in inputs) verdict {
	name := hostName(in.claim)
	if in.host == nil {
		return at(v1alpha1.ClaimPending, v1alpha1.ReasonNotFound, "RedfishHost %q isn't there; ask its operator, or name another host", name)
	}
	if !in.host.Spec.AllowedNamespaces.Allows(in.claim.Namespace, in.host.Namespace, v1alpha1.AllowedFromSame) {
		// The same words as for an absent host would hide a mistake; the host's name is the tenant's own input.
		return at(v1alpha1.ClaimPending, v1alpha1.ReasonNotAllowed, "RedfishHost %q may not be claimed from namespace %q; its operator must add it to spec.allowedNamespaces", name, in.claim.Namespace)
	}
	if v := bindable(in); v.phase != "" {
		return v
	}
	if in.holdsHost() {
		return at(v1alpha1.ClaimPending, v1alpha1.ReasonWaitingForBinding, "host %s is held, the claim's half follows", in.host.Name).then(actBindClaim)
	}
	return at(v1alpha1.ClaimPending, v1alpha1.ReasonWaitingForBinding, "host %s is free and will be held", in.host.Name).then(actBindHost)
}

// forgetting takes an operator's word about an earlier claim off a host before it's joined with another: it gives up what was meant,
// never a claim that comes later.
func forgetting(in inputs, v verdict) verdict {
	if (v.act == actBindHost || v.act == actBindClaim) && in.host.Annotations[v1alpha1.AnnotationForceRelease] != "" {
		return v.then(actForget)
	}
	return v
}

// bindable says, by an empty verdict, whether the host may be held by this claim now.
func bindable(in inputs) verdict {
	h, c := in.host, in.claim
	if r := h.Spec.ClaimRef; r != nil && r.UID != c.UID {
		if in.forsaken {
			return at(v1alpha1.ClaimPending, v1alpha1.ReasonReserved, "host %s is held by a claim that is gone and never released it; its operator must look at the host's events, or name another host", h.Name)
		}
		if r.Namespace != c.Namespace || r.Name != c.Name {
			return at(v1alpha1.ClaimPending, v1alpha1.ReasonReserved, "host %s is held by another claim; name another host, or wait until it's released", h.Name)
		}
		return ask(in, "BoundToEarlierClaim", "host %s is held by an earlier claim of this name, as after a restored backup", h.Name)
	}
	if b := c.Spec.Bound; b != nil && b.UID != h.UID {
		return ask(in, "BoundToEarlierHost", "this claim was bound to an earlier object of host %s, as after a restored backup", h.Name)
	}
	if b := c.Spec.Bound; b != nil && b.Serial != "" && in.serial() != "" && b.Serial != in.serial() {
		return at(v1alpha1.ClaimNeedsConfirmation, v1alpha1.ReasonIdentityChanged, "host %s was bound with serial %q and now says %q; its operator must look at the machine", h.Name, b.Serial, in.serial())
	}
	return available(in)
}

// available says, by an empty verdict, whether the host is fit for a new claim.
func available(in inputs) verdict {
	h := in.host
	p := h.Spec.ForProvider
	switch {
	case in.holdsHost() && h.DeletionTimestamp == nil:
		return verdict{}
	case h.DeletionTimestamp != nil:
		return at(v1alpha1.ClaimPending, v1alpha1.ReasonWaitingForHost, "host %s is being removed; name another host", h.Name)
	case h.Annotations[v1alpha1.AnnotationQuarantined] != "":
		return at(v1alpha1.ClaimPending, v1alpha1.ReasonQuarantined, "host %s is in quarantine; its operator must look at it first", h.Name)
	case p.Maintenance != nil:
		return at(v1alpha1.ClaimPending, v1alpha1.ReasonMaintenance, "host %s is in maintenance; wait, or name another host", h.Name)
	case p.Unschedulable:
		return at(v1alpha1.ClaimPending, v1alpha1.ReasonMaintenance, "host %s is unschedulable; wait, or name another host", h.Name)
	case h.Status.AtProvider.Identity.SystemURI == "":
		return at(v1alpha1.ClaimPending, hostReason(h), "host %s isn't known yet: %s", h.Name, hostSentence(h))
	case h.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue:
		return at(v1alpha1.ClaimPending, hostReason(h), "host %s isn't ready: %s", h.Name, hostSentence(h))
	}
	return verdict{}
}

// checkBound says, by an empty verdict, whether a bound pair is what it was when it was joined.
func checkBound(in inputs) verdict {
	b := in.claim.Spec.Bound
	if b.Serial != "" && in.serial() != "" && b.Serial != in.serial() {
		return at(v1alpha1.ClaimNeedsConfirmation, v1alpha1.ReasonIdentityChanged,
			"host %s was bound with serial %q and now says %q; its operator must look at the machine", in.host.Name, b.Serial, in.serial())
	}
	return verdict{}
}

// hold keeps entry and addresses from going before the machine is off.
func hold(in inputs) verdict {
	waiting := at(v1alpha1.ClaimBound, v1alpha1.ReasonWaitingForBootEntry, "host %s is held; waiting for the claim's BootEntry", in.host.Name)
	if in.claim.Spec.BootEntryRef == nil {
		return verdict{}
	}
	if in.entry == nil {
		return waiting
	}
	if unheld(in) {
		return waiting.then(actHold)
	}
	return verdict{}
}

func unheld(in inputs) bool {
	if in.entry.DeletionTimestamp == nil && !controllerutil.ContainsFinalizer(in.entry, v1alpha1.FinalizerHeldByClaim) {
		return true
	}
	for i := range in.addresses {
		a := &in.addresses[i]
		if a.DeletionTimestamp == nil && !controllerutil.ContainsFinalizer(a, v1alpha1.FinalizerHeldByClaim) {
			return true
		}
	}
	return false
}

// ask puts a question that only a person answers, by confirm.serial set after it. A confirmation that
// was there before the question, such as one restored with the claim, is no answer.
func ask(in inputs, reason, format string, args ...any) verdict {
	confirmed := ""
	if c := in.claim.Spec.Confirm; c != nil {
		confirmed = c.Serial
	}
	q := &v1alpha1.QuestionRecord{OwnerUID: string(in.claim.UID), Reason: reason, Seen: confirmed}
	old := v1alpha1.ReadRecord[v1alpha1.QuestionRecord](in.claim.Annotations, v1alpha1.AnnotationQuestion)
	if old != nil && old.OwnerUID == q.OwnerUID && old.Answered == in.serial() && in.serial() != "" {
		v := at(v1alpha1.ClaimPending, v1alpha1.ReasonWaitingForBinding, "the machine was confirmed")
		if in.holdsHost() {
			return v.then(actBindClaim)
		}
		return v.then(actBindHost)
	}
	known := old != nil && old.OwnerUID == q.OwnerUID && old.Reason == q.Reason
	if known && confirmed != "" {
		q.Seen = old.Seen
		if confirmed == in.serial() && old.Seen != confirmed {
			q.Answered = confirmed
		}
	}
	v := at(v1alpha1.ClaimNeedsConfirmation, v1alpha1.ReasonNeedsConfirmation, format, args...)
	v.message += fmt.Sprintf("; nothing is done to the machine until a person has looked: to go on with it set confirm.serial to %q", in.serial())
	if q.Seen != "" {
		v.message += " (the present value was there before the question: remove it first)"
	}
	if !known || *old != *q {
		v.question = q
		return v.then(actQuestion)
	}
	return v
}
