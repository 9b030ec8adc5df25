package hostclaim

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func unbound(in *inputs) { in.claim.Spec.Bound, in.host.Spec.ClaimRef = nil, nil }

func TestBind(t *testing.T) {
	pending := v1alpha1.ClaimPending
	check(t, map[string]decideCase{
		"Finalizer": {
			"A claim is guarded before it holds anything.",
			world(func(in *inputs) { in.claim.Finalizers = nil }),
			want{act: actFinalize, phase: pending, reason: v1alpha1.ReasonWaitingForHost},
		},
		"HostFirst": {
			"The host's half comes first: of two claims one wins it.",
			world(unbound),
			want{act: actBindHost, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"ClaimSecond": {
			"A crash between the halves is healed from the host's.",
			world(func(in *inputs) { in.claim.Spec.Bound = nil }),
			want{act: actBindClaim, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"HostLostItsHalf": {
			"Or from the claim's.",
			world(func(in *inputs) { in.host.Spec.ClaimRef = nil }),
			want{act: actBindHost, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"NoHost": {
			"A host that isn't there is named.",
			world(unbound, func(in *inputs) { in.host = nil }),
			want{phase: pending, reason: v1alpha1.ReasonNotFound, says: `"infra/r7-u12" isn't there`},
		},
		"NotAllowed": {
			"A host is claimed only by whom it allows.",
			world(unbound, func(in *inputs) { in.host.Spec.AllowedNamespaces = nil }),
			want{phase: pending, reason: v1alpha1.ReasonNotAllowed, says: "may not be claimed"},
		},
		"NotAllowedAnyMore": {
			"A bound machine isn't taken away when the permission goes.",
			world(func(in *inputs) { in.host.Spec.AllowedNamespaces = nil }),
			want{act: actRecordBoot, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn},
		},
		"Reserved": {
			"Another's machine stays theirs, and they aren't named.",
			world(unbound, func(in *inputs) {
				in.host.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-b", Name: "db", UID: "x"}
			}),
			want{phase: pending, reason: v1alpha1.ReasonReserved, says: "another claim;"},
		},
		"EarlierWord": {
			"What an operator said about an earlier claim isn't taken for a word about this one.",
			world(unbound, func(in *inputs) {
				in.host.Annotations = map[string]string{v1alpha1.AnnotationForceRelease: "gone"}
			}),
			want{act: actForget, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"EarlierWordConfirmed": {
			"Nor where a person confirmed the machine for this claim.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				in.host.Annotations = map[string]string{v1alpha1.AnnotationForceRelease: "gone"}
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim", Answered: "ABC123"})
			}),
			want{act: actForget, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"WordAboutALivingClaim": {
			"A word isn't kept for the day on which the claim goes.",
			world(func(in *inputs) {
				in.host.Annotations = map[string]string{v1alpha1.AnnotationForceRelease: "in advance"}
			}),
			want{act: actForget, phase: v1alpha1.ClaimBound, reason: v1alpha1.ReasonBound},
		},
		"Forsaken": {
			"A machine whose claim went without a release isn't taken, and it's said whose turn it is.",
			world(unbound, func(in *inputs) {
				in.host.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-b", Name: "db", UID: "x"}
				in.forsaken = true
			}),
			want{phase: pending, reason: v1alpha1.ReasonReserved, says: "a claim that is gone"},
		},
		"RestoredClaim": {
			"A claim that was applied again has another UID: a person must look.",
			world(func(in *inputs) { in.claim.UID = "restored" }),
			want{act: actQuestion, phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation, says: `confirm.serial to "ABC123"`},
		},
		"RestoredWithConfirmation": {
			"A confirmation that came with the restored claim is no answer.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				in.claim.Spec.Confirm = &v1alpha1.Confirmation{Serial: "ABC123"}
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim", Seen: "ABC123"})
			}),
			want{phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation, says: "remove it first"},
		},
		"Answered": {
			"One that came after the question is noted.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				in.claim.Spec.Confirm = &v1alpha1.Confirmation{Serial: "ABC123"}
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim"})
			}),
			want{act: actQuestion, phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation},
		},
		"AnsweredWrongly": {
			"The serial of another machine answers nothing.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				in.claim.Spec.Confirm = &v1alpha1.Confirmation{Serial: "XYZ"}
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim"})
			}),
			want{phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation},
		},
		"AnswerNoted": {
			"Then the machine is taken over.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim", Answered: "ABC123"})
			}),
			want{act: actBindHost, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"AnswerForBoth": {
			"One answer is enough where claim and host were both restored.",
			world(func(in *inputs) {
				in.claim.UID, in.host.UID = "restored", "restored-host"
				in.host.Spec.ClaimRef.UID = "restored"
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim", Answered: "ABC123"})
			}),
			want{act: actBindClaim, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"RestoredHost": {
			"A host object that was made anew isn't the one we were bound to.",
			world(func(in *inputs) { in.host.UID, in.host.Spec.ClaimRef = "restored", nil }),
			want{act: actQuestion, phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation},
		},
		"SwappedBoard": {
			"A machine that says another serial number isn't touched.",
			world(func(in *inputs) { in.host.Status.AtProvider.Identity.Serial = "XYZ" }),
			want{phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonIdentityChanged, says: `"ABC123"`},
		},
		"Quarantined": {
			"A machine that was given up isn't claimed.",
			world(unbound, func(in *inputs) {
				in.host.Annotations = map[string]string{v1alpha1.AnnotationQuarantined: "burnt"}
			}),
			want{phase: pending, reason: v1alpha1.ReasonQuarantined},
		},
		"Leaving": {
			"Nor one that its operator removes.",
			world(unbound, func(in *inputs) { in.host.DeletionTimestamp = &metav1.Time{Time: noon} }),
			want{phase: pending, reason: v1alpha1.ReasonWaitingForHost, says: "being removed"},
		},
		"NotReady": {
			"Nor one whose machine isn't known to be what its object says.",
			world(unbound, func(in *inputs) { in.host.SetConditions(xpv2.Unavailable()) }),
			want{phase: pending, reason: v1alpha1.ReasonWaitingForHost, says: "isn't ready"},
		},
		"SwappedWhileUnbound": {
			"A claim whose host lost its half isn't joined to another machine that came in its place.",
			world(func(in *inputs) {
				in.host.Spec.ClaimRef, in.host.Status.AtProvider.Identity.Serial = nil, "XYZ"
			}),
			want{phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonIdentityChanged, says: `"ABC123"`},
		},
		"Maintenance": {
			"Nor one in maintenance.",
			world(unbound, func(in *inputs) {
				in.host.Spec.ForProvider.Maintenance = &v1alpha1.HostMaintenance{Reason: "DIMM"}
			}),
			want{phase: pending, reason: v1alpha1.ReasonMaintenance},
		},
		"Unschedulable": {
			"Nor one that was cordoned.",
			world(unbound, func(in *inputs) { in.host.Spec.ForProvider.Unschedulable = true }),
			want{phase: pending, reason: v1alpha1.ReasonMaintenance},
		},
		"WrongPassword": {
			"The tenant learns what is wrong, and nothing of the BMC.",
			world(unbound, func(in *inputs) {
				in.host.Status.AtProvider.Identity.SystemURI = ""
				in.host.SetConditions(xpv2.Condition{
					Type: v1alpha1.ConditionReachable, Status: corev1.ConditionFalse,
					Reason: v1alpha1.ReasonUnauthorized, Message: "10.0.7.12 refused user root",
				})
			}),
			want{phase: pending, reason: v1alpha1.ReasonUnauthorized, says: "its BMC refused the credentials"},
		},
	})
}
