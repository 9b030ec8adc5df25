package composition

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// unserved is what a claim says until a boot server knows what its machine is to be given.
const unserved = "no boot server serves what is asked for yet"

// conditionAddressed is the one condition of a node that is decided here: whether it has an address.
const conditionAddressed xpv2.ConditionType = "Addressed"

// asksNetBox is what a person reads until there's an address.
const asksNetBox = "NetBox is being asked for an address"

// conditions are a node's own, in the order of a boot. Crossplane owns Ready and Synced.
func (n *node) conditions(addressed xpv2.Condition) []xpv2.Condition {
	var claim, entry []xpv2.Condition
	if n.hostClaim != nil {
		claim = n.hostClaim.Status.Conditions
	}
	if n.entry != nil {
		entry = n.entry.Status.Conditions
	}
	out := []xpv2.Condition{
		mirror(claim, v1alpha1.ConditionBound, corev1.ConditionFalse, v1alpha1.ReasonWaitingForHost, "no host is bound yet"),
		addressed,
		n.served(entry),
		installedCondition(entry),
		mirror(entry, v1alpha1.ConditionBooted, corev1.ConditionFalse, v1alpha1.ReasonWaitingForDiskBoot, "the machine has not been seen booting from its disk"),
		mirror(claim, v1alpha1.ConditionReachable, corev1.ConditionUnknown, v1alpha1.ReasonWaitingForHost, "no host is bound yet"),
		mirror(claim, v1alpha1.ConditionHealthy, corev1.ConditionUnknown, v1alpha1.ReasonWaitingForHost, "no host is bound yet"),
		mirror(entry, v1alpha1.ConditionCurrent, corev1.ConditionUnknown, v1alpha1.ReasonWaitingForBootEntry, "nothing was installed yet"),
	}
	return out
}

// mirror repeats a condition that a controller wrote, or tells what is to be told before it did.
func mirror(cs []xpv2.Condition, ct xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) xpv2.Condition {
	for _, c := range cs {
		if c.Type == ct {
			return c
		}
	}
	return xpv2.Condition{Type: ct, Status: status, Reason: reason, Message: message}
}

// installedCondition says whether what was asked for is installed, or what keeps it from being so. The steps on the way are the node's phase and
// message: told here too, each would be one more change of the composite, and Crossplane stops listening to one that changes too often.
func installedCondition(entry []xpv2.Condition) xpv2.Condition {
	c := mirror(entry, v1alpha1.ConditionInstalled, corev1.ConditionFalse, "", "")
	if c.Status == corev1.ConditionTrue || c.Reason != "" && !onTheWay(c.Reason) {
		return c
	}
	return xpv2.Condition{Type: c.Type, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonWaitingForInstall, Message: "what is asked for isn't installed yet"}
}

// onTheWay says whether a reason is one of waiting, not of trouble.
func onTheWay(r xpv2.ConditionReason) bool { return strings.HasPrefix(string(r), "Waiting") }

// served says whether a boot server serves what is asked for; where there is no plan for it, what that lacks is the answer. Before an
// install its plan is served first, then its grant is made and isn't heard of yet, then it is: that is told once, at the end, since
// each change is one more of the composite.
func (n *node) served(entry []xpv2.Condition) xpv2.Condition {
	unserved := xpv2.Condition{
		Type: v1alpha1.ConditionServed, Status: corev1.ConditionFalse,
		Reason: v1alpha1.ReasonWaitingForBootServer, Message: unserved,
	}
	c := mirror(entry, unserved.Type, unserved.Status, unserved.Reason, unserved.Message)
	planned := mirror(entry, v1alpha1.ConditionPlanned, corev1.ConditionUnknown, "", "")
	switch {
	case c.Status == corev1.ConditionTrue && n.installPending() && !n.granted():
		return unserved
	case c.Status == corev1.ConditionTrue:
	case planned.Status == corev1.ConditionFalse && !onTheWay(planned.Reason):
		c.Reason, c.Message, c.LastTransitionTime = planned.Reason, planned.Message, planned.LastTransitionTime
	case onTheWay(c.Reason) && (n.installPending() || planned.Status == corev1.ConditionFalse):
		return unserved
	}
	return c
}

// granted says whether the install that is asked for is permitted.
func (n *node) granted() bool {
	g := n.entry.Status.AtProvider.Grant
	return g != nil && g.Generation >= n.spec.InstallGeneration
}

// tellsMore says whether a Ready condition has a reason of our own, not one of Crossplane's general ones.
func tellsMore(c xpv2.Condition) bool {
	general := []xpv2.ConditionReason{"", xpv2.ReasonCreating, xpv2.ReasonDeleting, xpv2.ReasonUnavailable}
	return c.Message != "" && !slices.Contains(general, c.Reason)
}

// cause drops the words that Crossplane's reconciler puts before an error of ours.
func cause(message string) string {
	for _, prefix := range []string{"observe failed: ", "create failed: ", "update failed: ", "delete failed: ", "connect failed: "} {
		message = strings.TrimPrefix(message, prefix)
	}
	return message
}
