package hostclaim

import (
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// The operator reads the BMC's own words on the RedfishHost. A tenant reads these: no BMC address, no
// user, nothing that a remote server answered.

// troubles are what may be wrong with a host, as a tenant may know it.
var troubles = map[xpv2.ConditionReason]string{ //nolint:gochecknoglobals // A table of sentences.
	v1alpha1.ReasonUnauthorized:         "its BMC refused the credentials; its operator must mend the Secret",
	v1alpha1.ReasonForbidden:            "its BMC forbids what is needed; its operator must give the account more rights",
	v1alpha1.ReasonSessionsFull:         "its BMC has no session left; its operator must look at it",
	v1alpha1.ReasonUnreachable:          "its BMC doesn't answer; its operator must look at it",
	v1alpha1.ReasonUntrustedCertificate: "its BMC shows a certificate that isn't trusted; its operator must look at it",
	v1alpha1.ReasonIdentityChanged:      "its BMC now shows another machine; its operator must look at it",
	v1alpha1.ReasonAmbiguous:            "its BMC has several systems; its operator must choose one",
	v1alpha1.ReasonNotFound:             "its BMC shows no such system, or its provider config or credentials aren't there; its operator must look at it",
	v1alpha1.ReasonDuplicate:            "another host object is the same machine; its operator must remove one",
	v1alpha1.ReasonConflict:             "another host object is the same machine; its operator must remove one",
	v1alpha1.ReasonNotAllowed:           "its provider config may not be used for it; the config's owner must allow its namespace in allowedNamespaces and its BMC's address in allowedAddresses",
	v1alpha1.ReasonInvalid:              "its BMC's address or provider config isn't usable as it's written; whoever wrote it must correct it",
	v1alpha1.ReasonNotSupported:         "its BMC lacks a function that is needed; its operator must look at it",
	v1alpha1.ReasonRefused:              "its BMC refuses what is asked of it; its operator must look at it",
	v1alpha1.ReasonNoEffect:             "its BMC accepts a change and doesn't make it; its operator must look at it",
	v1alpha1.ReasonMaintenance:          "it's in maintenance",
	v1alpha1.ReasonQuarantined:          "it's in quarantine; its operator must look at it",

	v1alpha1.ReasonPasswordChangeRequired: "its BMC wants its first password changed; its operator must do that",
}

// hostReason is the word for what is wrong with a host.
func hostReason(h *v1alpha1.RedfishHost) xpv2.ConditionReason {
	for _, t := range []xpv2.ConditionType{v1alpha1.ConditionReachable, xpv2.TypeReady} {
		c := h.GetCondition(t)
		if _, known := troubles[c.Reason]; known && c.Status != corev1.ConditionTrue {
			return c.Reason
		}
	}
	return v1alpha1.ReasonWaitingForHost
}

func hostSentence(h *v1alpha1.RedfishHost) string {
	if s, ok := troubles[hostReason(h)]; ok {
		return s
	}
	return "it's being looked at"
}

// troubleOf appends what is wrong with a host, if anything is.
func troubleOf(h *v1alpha1.RedfishHost) string {
	if s, ok := troubles[hostReason(h)]; ok {
		return ": " + s
	}
	synced := h.GetCondition(xpv2.TypeSynced)
	switch {
	case synced.Reason == xpv2.ReasonReconcilePaused:
		return ": its operator has paused it"
	case !updated(h):
		return ": its operator lets nothing be done to it, by its managementPolicies"
	case h.GetCondition(v1alpha1.ConditionBootApplied).Reason == v1alpha1.ReasonOutdated:
		return ": a newer version of the provider has left something to do on it; its operator must install that version again"
	case h.GetCondition(v1alpha1.ConditionPowerApplied).Reason == v1alpha1.ReasonGaveUp:
		return ": its BMC accepts orders about its power and doesn't carry them out; its operator must look at it"
	case h.GetCondition(v1alpha1.ConditionPowerApplied).Reason == v1alpha1.ReasonNotSupported:
		return ": its BMC can't switch its power as is wanted; its operator must look at it"
	case cantBoot(h):
		return ": its BMC can't be told what to boot; its operator must look at it"
	case synced.Status == corev1.ConditionFalse:
		return ": its BMC doesn't do what it's asked to; its operator must look at it"
	}
	return ""
}

// cantBoot says whether a machine isn't powered on, since it can't be told what to boot.
func cantBoot(h *v1alpha1.RedfishHost) bool {
	c := h.GetCondition(v1alpha1.ConditionBootApplied)
	ends := []xpv2.ConditionReason{v1alpha1.ReasonNotSupported, v1alpha1.ReasonGaveUp, v1alpha1.ReasonConflict}
	return h.Spec.ForProvider.Power == v1alpha1.PoweredOn && c.Status == corev1.ConditionFalse && slices.Contains(ends, c.Reason)
}

// updated says whether a host's power may be changed at all.
func updated(h *v1alpha1.RedfishHost) bool {
	p := h.Spec.ManagementPolicies
	return len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, xpv2.ManagementActionUpdate)
}

// deadSentence says what keeps a release, and the way out.
func deadSentence(in inputs) string {
	trouble := troubleOf(in.host)
	if trouble == "" && in.host.GetCondition(v1alpha1.ConditionReachable).Status == corev1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf("%s; the claim stays until then, or until an operator gives the machine up: kubectl annotate hostclaim -n %s %s %s='<reason>'",
		trouble, in.claim.Namespace, in.claim.Name, v1alpha1.AnnotationForceRelease)
}
