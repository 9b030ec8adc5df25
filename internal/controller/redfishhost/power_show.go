package redfishhost

import (
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// showPower says how far the power has come, of a host whose power is ours, or
// whose reset can't be done.
func showPower(v view, in inputs) []xpv2.Condition {
	is := func(status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) []xpv2.Condition {
		return []xpv2.Condition{condition(v1alpha1.ConditionPowerApplied, status, reason, message)}
	}
	on := v.want.power == v1alpha1.PoweredOn
	reached := on && v.seen.on() || v.want.power == v1alpha1.PoweredOff && v.seen.off()
	a, pending := act{}, v.j.pending() && isPower(v.j.Act.Action)
	if pending {
		a = *v.j.Act
	}
	waits := v1alpha1.ReasonWaitingForPowerOff
	switch {
	case on:
		waits = v1alpha1.ReasonWaitingForPowerOn
	case isReset(a.Action):
		waits = v1alpha1.ReasonWaitingForReset
	}
	switch {
	case v.j.gaveUp() && isPower(v.j.Act.Action) && v.hopeless(*v.j.Act):
		return is(corev1.ConditionFalse, gaveUpReason(*v.j.Act), gaveUpSentence(*v.j.Act, in))
	case a.Refusals > 0 && (!reached || isReset(a.Action)):
		reason, message := refusedSentence(a, in)
		if reason == "" {
			reason = waits
		}

		return is(corev1.ConditionFalse, reason, message)
	case !on && v.want.power != v1alpha1.PoweredOff:
		return nil
	case reached:
		return is(corev1.ConditionTrue, v1alpha1.ReasonApplied, "")
	case a.Action == actPowerOn && a.attempt() > 0, a.Action == actForceOff && a.attempt() > 0:
		return is(corev1.ConditionFalse, v1alpha1.ReasonNoEffect, noEffectSentence(a, in))
	case on:
		return is(corev1.ConditionFalse, waits, "the machine isn't on yet")
	case a.Action == actGracefulOff && !v.want.force:
		return is(corev1.ConditionFalse, waits, deafSentence)
	default:
		return is(corev1.ConditionFalse, v1alpha1.ReasonWaitingForPowerOff, "the machine isn't off yet")
	}
}

// gaveUpReason says in a word why an act was given up.
func gaveUpReason(a act) xpv2.ConditionReason {
	if a.Refused {
		return v1alpha1.ReasonNotSupported
	}

	return v1alpha1.ReasonGaveUp
}

// pendingOf is what is on its way, as the journal has it: nothing in it changes
// but by what is done.
func pendingOf(v view) *v1alpha1.PendingAct {
	if !v.j.pending() {
		return nil
	}
	a := *v.j.Act
	p := &v1alpha1.PendingAct{Action: string(a.Action), Attempts: int64(max(a.Attempts, 0)), Task: a.Task, Message: a.Message}
	if a.Time.IsZero() {
		return p
	}
	since := metav1.NewTime(a.Time)
	p.Since = &since
	if d := v.due(a); d > 0 {
		deadline := metav1.NewTime(a.Time.Add(d))
		p.Deadline = &deadline
	}

	return p
}

// due is how long an act is waited for before something else is done about it, 0
// where that is without end, or nothing to wait for.
func (v view) due(a act) time.Duration {
	switch {
	case a.Refusals > 0 && !a.last():
		return max(a.pause(), settle)
	case a.Action == actGracefulOff && v.want.force:
		return v.want.grace
	case a.Action == actGracefulOff:
		return 0
	case a.Task != "":
		return taskPatience
	case isPower(a.Action):
		return a.patience()
	default:
		return 0
	}
}
