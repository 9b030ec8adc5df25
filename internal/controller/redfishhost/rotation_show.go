package redfishhost

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// showRotation says how far a new password has come, and what a person has to do.
func showRotation(v view, in inputs) []xpv2.Condition {
	back := v.seen.rotation.back
	if v.want.rotation == 0 && !back || v.j == nil && !v.initial {
		return nil
	}
	is := func(status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) []xpv2.Condition {
		return []xpv2.Condition{condition(v1alpha1.ConditionCredentialsRotated, status, reason, message)}
	}
	r := rotationRecord{}
	if v.j != nil {
		r = v.j.Rotation
	}
	problem := v.seen.rotation.problem
	switch {
	case back:
		return is(corev1.ConditionFalse, problem.reason, problem.message)
	case r.failed(v.want.rotation, v.asked):
		return is(corev1.ConditionFalse, r.Reason, rotationFailedSentence(r, in))
	case v.j.pending() && facetIsRotation(v.j.Act.Action), r.Sent, v.seen.rotation.byNext:
		return is(corev1.ConditionFalse, v1alpha1.ReasonRotating, fmt.Sprintf("the BMC at %q is being given a new password: both are in Secret %q until it's known to be in use", in.address, in.secret))
	case v.j != nil && (v.want.rotation <= r.Done || !r.known()):
		return is(corev1.ConditionTrue, v1alpha1.ReasonApplied, "")
	case problem.reason != "":
		return is(corev1.ConditionFalse, problem.reason, problem.message)
	default:
		return is(corev1.ConditionFalse, v1alpha1.ReasonRotating, "the password is to be changed as soon as nothing else is done to the machine")
	}
}

func facetIsRotation(a action) bool {
	return a == actStorePassword || a == actSetPassword || a == actKeepPassword
}

// rotationFailedSentence says why a rotation was given up, which password counts,
// and what starts it anew.
func rotationFailedSentence(r rotationRecord, in inputs) string {
	said := ""
	if r.Message != "" {
		said = " (" + r.Message + ")"
	}
	const raise = "; raise credentialsRotation.generation to have it tried again"
	const anew = "; raise credentialsRotation.generation, or change annotation crossplane.io/reconcile-requested-at of this host, to have it tried again"
	switch r.Reason {
	case v1alpha1.ReasonNotSupported:
		return fmt.Sprintf("the BMC at %q has no account of the user in Secret %q whose password can be changed by Redfish%s: change it by hand, on the BMC and then in the Secret", in.address, in.secret, said)
	case v1alpha1.ReasonForbidden:
		return fmt.Sprintf("the password of Secret %q isn't changed, since the provider may not do that on the BMC at %q%s, or may not write the Secret: give the BMC's user the right to configure itself, and the provider that to patch the Secret%s", in.secret, in.address, said, anew)
	case v1alpha1.ReasonInvalid:
		return immutableSentence(in.secret) + anew
	case v1alpha1.ReasonConflict:
		return fmt.Sprintf("%s was taken out of Secret %q before it was known whether the BMC at %q lets the provider in with it: where the BMC refuses the old one some day, give it another by hand, on the BMC and then in the Secret%s", v1alpha1.SecretKeyPasswordNext, in.secret, in.address, anew)
	case v1alpha1.ReasonNoEffect:
		why := "took a new password and doesn't let the provider in with it"
		if r.Silent > 0 {
			why = "may have taken a new password, and doesn't say whether it lets the provider in with it" + said
		}

		return fmt.Sprintf("the BMC at %q %s: the old one is still used, and the new one is in Secret %q as %s, which is tried once if the old one is refused%s", in.address, why, in.secret, v1alpha1.SecretKeyPasswordNext, raise)
	default:
		return fmt.Sprintf("the BMC at %q refuses a new password for the user of Secret %q%s: the old one stays; look what it demands of passwords, of one that is given so often, or of one that may be changed so soon%s", in.address, in.secret, said, anew)
	}
}

// refusedCredentials are what a BMC refused, for Unauthorized.
func refusedCredentials(in inputs) string {
	if in.tried != "" {
		return fmt.Sprintf("both passwords of Secret %q, %s and %s,", in.secret, v1alpha1.SecretKeyPassword, in.tried)
	}

	return "the user name or password of " + secretNamed(in.secret)
}

// writtenBack is what else can be behind a password that is refused, where the
// provider made it.
func writtenBack(in inputs) string {
	if in.rotated.IsZero() || in.secret == "" {
		return ""
	}

	return fmt.Sprintf("; the provider gave the BMC a new one on %s (credentialsRotation): where something else writes that Secret, such as External Secrets or GitOps, it may have put an older one back", in.rotated.UTC().Format("2006-01-02 15:04 MST"))
}

// firstByHandSentence is for a BMC that wants another password first, and lets nobody
// in to change it.
func firstByHandSentence(in inputs) string {
	return fmt.Sprintf("the BMC at %q wants another password first, and doesn't let the user of Secret %q in to change it by Redfish: change it on the BMC by hand, and then in the Secret", in.address, in.secret)
}

// putBackSentence is for a Secret that has another password than the BMC was given,
// and keeps that as password-rotated.
func putBackSentence(in inputs) string {
	const rotated = v1alpha1.SecretKeyPasswordRotated

	return fmt.Sprintf("something has put another password into Secret %q than the provider gave the BMC at %q, which refuses it: the Secret's %s is used; have nothing else write that Secret (External Secrets, GitOps, a file that is applied), and make %s what %s is", in.secret, in.address, rotated, v1alpha1.SecretKeyPassword, rotated)
}
