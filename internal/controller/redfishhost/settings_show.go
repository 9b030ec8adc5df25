package redfishhost

import (
	"fmt"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// showSettings says how far the small settings have come.
func showSettings(v view, in inputs) []xpv2.Condition {
	w, s, j := v.want.settings, v.seen, journal{}
	if v.j != nil {
		j = *v.j
	}
	restart := act{Action: actResetBMC, Generation: v.want.bmcReset}
	refused := v.want.bmcReset > j.BMCReset && j.Settings.given(restart, v.asked)
	if w == (wantSettings{}) && !refused {
		return nil
	}
	is := func(status corev1.ConditionStatus, reason xpv2.ConditionReason, format string, args ...any) []xpv2.Condition {
		return []xpv2.Condition{condition(v1alpha1.ConditionSettingsApplied, status, reason, fmt.Sprintf(format, args...))}
	}
	a, differs := w.differing(s, []action{actSetSecureBoot, actSetIndicator, actSetAssetTag})
	lacks := w.lacking(s)
	switch {
	case len(lacks) > 0:
		return is(corev1.ConditionFalse, v1alpha1.ReasonNotSupported, "the BMC at %q doesn't offer %s: take it out of the spec", in.address, strings.Join(lacks, " and "))
	case differs && j.Settings.given(a, v.asked):
		return is(corev1.ConditionFalse, v1alpha1.ReasonNoEffect,
			"the BMC at %q doesn't take %s %q: it was tried %d times; another value, or annotation crossplane.io/reconcile-requested-at of this host, has it tried again", in.address, titles[a.Action], a.Target, len(patience))
	case differs && j.Settings.contested(a, v.now):
		return is(corev1.ConditionFalse, v1alpha1.ReasonConflict,
			"%s %q was set %d times within the hour, and something else changes it back each time: look for another manager of the machine, or take it out of the spec; it's set again an hour later", titles[a.Action], a.Target, maxTurns)
	case differs && a.Action == actSetSecureBoot && j.Settings.Waits != nil && j.Settings.Waits.Target == a.Target:
		return is(corev1.ConditionFalse, v1alpha1.ReasonWaitingForReset, "Secure Boot is to be %s: the BMC was told, and has it from the machine's next reset on", w.secureBoot)
	case differs:
		return is(corev1.ConditionFalse, v1alpha1.ReasonApplying, "%s is being set", titles[a.Action])
	case refused:
		return is(corev1.ConditionFalse, v1alpha1.ReasonNoEffect,
			"the BMC at %q refuses to be restarted, or can't be (bmcResetGeneration): restart it on its own page; another generation, or annotation crossplane.io/reconcile-requested-at of this host, has it tried again", in.address)
	case w.secureBoot != "" && s.secureBoot != nil && s.secureBoot.unread:
		return is(corev1.ConditionUnknown, v1alpha1.ReasonRefused, "the BMC at %q doesn't show its Secure Boot at the moment: it's looked at again", in.address)
	}
	if b := s.secureBoot; w.secureBoot != "" && b != nil && b.Known && b.Current != (w.secureBoot == secureBootOn) {
		return is(corev1.ConditionFalse, v1alpha1.ReasonWaitingForReset, "Secure Boot is to be %s, from the machine's next reset on", w.secureBoot)
	}

	return is(corev1.ConditionTrue, v1alpha1.ReasonApplied, "")
}

// lacking are the wanted settings that the BMC doesn't have.
func (w wantSettings) lacking(s seen) []string {
	var out []string
	if w.indicator != "" && !s.small.CanIndicate() {
		out = append(out, "an indicator")
	}
	if w.assetTag != nil && !s.small.CanTag {
		out = append(out, "an asset tag")
	}
	if w.secureBoot != "" && s.secureBoot == nil {
		out = append(out, "Secure Boot")
	}

	return out
}

// secureBootOf is what status shows of it.
func secureBootOf(b *secureBootSeen) string {
	switch {
	case b == nil || !b.Known:
		return ""
	case b.Current:
		return secureBootOn
	default:
		return "Disabled"
	}
}
