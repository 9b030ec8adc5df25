package composition

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A story is what is told of a node: to a person by status and conditions, to Crossplane by readiness.
type story struct {
	status     platform.BareMetalNodeStatus
	conditions []xpv2.Condition

	// bound: a host is held. addressed: all addresses are there. ready: the machine does what the claim asks for.
	bound, addressed, ready bool
}

// A chapter is where a node is, and why.
type chapter struct {
	phase   platform.NodePhase
	reason  xpv2.ConditionReason
	message string
	since   *metav1.Time
}

// tell says where a node is, from what is observed of its parts and from what becomes of its addresses.
func tell(n *node, addresses []nodeAddress) story {
	addressed := addressedCondition(addresses)
	s := story{
		bound:     n.boundTo() != nil,
		addressed: addressed.Status == corev1.ConditionTrue,
	}
	c := n.chapter(addressed)
	s.ready = s.addressed && (c.phase == platform.PhaseReady || c.phase == platform.PhaseStopped || n.stopping(c))
	s.conditions = n.conditions(addressed)
	s.status = platform.BareMetalNodeStatus{
		Phase:     c.phase,
		Reason:    string(c.reason),
		Message:   c.message,
		Since:     c.since,
		Host:      n.boundTo(),
		Addresses: n.given(addresses),
		Installed: n.installed(),
		Timeline:  n.timeline(s.ready),
	}
	if h := s.status.Host; h != nil {
		s.status.ProviderID = "baremetal://" + h.Namespace + "/" + h.Name
	}
	return s
}

// chapter is the step that the node is at. The steps of a boot are the HostClaim's to tell; an address that is missing is ours.
func (n *node) chapter(addressed xpv2.Condition) chapter {
	c := chapter{phase: platform.PhasePending, reason: v1alpha1.ReasonWaitingForHost, message: "the host claim is being made"}
	if n.hostClaim != nil {
		c = n.claimed()
	}
	if n.lacksAddress(c, addressed) {
		return chapter{phase: platform.PhaseAddressing, reason: addressed.Reason, message: addressed.Message, since: changed(addressed)}
	}
	return n.asAsked(c)
}

// lacksAddress says whether the missing address is what is to be told: where it is what everything waits for, or where a person must
// do something about it and about nothing else.
func (n *node) lacksAddress(c chapter, addressed xpv2.Condition) bool {
	if addressed.Status == corev1.ConditionTrue || c.phase != platform.PhasePending && c.phase != platform.PhasePreparing {
		return false
	}
	if !waiting(c.reason) && c.reason != v1alpha1.ReasonBound {
		return false
	}
	return n.boundTo() != nil || !waiting(addressed.Reason)
}

// waiting says whether a reason asks for nothing but patience.
func waiting(r xpv2.ConditionReason) bool {
	return strings.HasPrefix(string(r), "Waiting")
}

// claimed translates what the HostClaim tells.
func (n *node) claimed() chapter {
	s := n.hostClaim.Status
	c := chapter{
		phase:   phaseOf(s.Phase),
		reason:  xpv2.ConditionReason(s.Reason),
		message: s.Message,
		since:   sinceOf(s.Conditions, xpv2.ConditionReason(s.Reason)),
	}
	if c.reason == "" {
		c.reason, c.message = v1alpha1.ReasonWaitingForHost, "the host claim was not looked at yet"
	}
	return c
}

// asAsked corrects a chapter that was written before the claim asked for more than that: status of another object lags by a moment,
// in which a claim must not look done.
func (n *node) asAsked(c chapter) chapter {
	done := c.phase == platform.PhaseReady || c.phase == platform.PhaseStopped
	if done && n.installPending() {
		return chapter{phase: platform.PhasePreparing, reason: v1alpha1.ReasonWaitingForInstall, message: "the install that installGeneration asks for has not begun yet"}
	}
	if c.phase == platform.PhaseStopped && n.spec.Power != platform.NodePoweredOff {
		return chapter{phase: platform.PhasePoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn, message: "the machine is off and is to be switched on"}
	}
	return c
}

// stopping says whether an installed machine is on its way to being off, as asked: it is no less ready than it was, or will be.
func (n *node) stopping(c chapter) bool {
	return n.spec.Power == platform.NodePoweredOff && c.reason == v1alpha1.ReasonWaitingForPowerOff &&
		n.entry != nil && n.spec.InstallGeneration > 0 && n.entry.Status.AtProvider.InstalledGeneration >= n.spec.InstallGeneration
}

// installPending says whether an install is asked for that isn't on the disk, as far as the plan is known. A live profile never
// installs.
func (n *node) installPending() bool {
	if n.entry == nil || n.spec.Power == platform.NodePoweredOff {
		return false
	}
	at := n.entry.Status.AtProvider
	return at.Plan != nil && at.Plan.Mode == v1alpha1.BootModeInstall && n.spec.InstallGeneration > at.InstalledGeneration
}

// phaseOf translates a HostClaim's phase. Bound is a step of ours that is over at once; Releasing is seen here only where somebody
// deleted the HostClaim alone, which is made again afterwards.
func phaseOf(p v1alpha1.HostClaimPhase) platform.NodePhase {
	switch p {
	case v1alpha1.ClaimBound, v1alpha1.ClaimPreparing:
		return platform.PhasePreparing
	case v1alpha1.ClaimPoweringOn:
		return platform.PhasePoweringOn
	case v1alpha1.ClaimBooting:
		return platform.PhaseBooting
	case v1alpha1.ClaimInstalling:
		return platform.PhaseInstalling
	case v1alpha1.ClaimInstalled:
		return platform.PhaseInstalled
	case v1alpha1.ClaimReady:
		return platform.PhaseReady
	case v1alpha1.ClaimStopped:
		return platform.PhaseStopped
	case v1alpha1.ClaimNeedsConfirmation:
		return platform.PhaseNeedsConfirmation
	case v1alpha1.ClaimFailed:
		return platform.PhaseFailed
	case v1alpha1.ClaimPending, v1alpha1.ClaimReleasing:
	}
	return platform.PhasePending
}

// boundTo is the host that is held; nil where none is.
func (n *node) boundTo() *platform.NodeHost {
	if n.hostClaim == nil || n.hostClaim.Spec.Bound == nil || n.hostClaim.GetCondition(v1alpha1.ConditionBound).Status == corev1.ConditionFalse {
		return nil
	}
	b := n.hostClaim.Spec.Bound
	h := &platform.NodeHost{Kind: b.Kind, Namespace: b.Namespace, Name: b.Name, Serial: b.Serial}
	if f := n.hostClaim.Status.Host; f != nil && f.Namespace == b.Namespace && f.Name == b.Name {
		h.Model = f.Model
		if f.Serial != "" {
			h.Serial = f.Serial
		}
	}
	return h
}

// given are the addresses that NetBox gave.
func (n *node) given(addresses []nodeAddress) []platform.NodeAddress {
	var out []platform.NodeAddress
	for _, a := range addresses {
		if a.was != nil && a.was.Status.AtProvider.Address != "" {
			out = append(out, platform.NodeAddress{Network: n.spec.Networks[0].Name, Family: a.want.Family, Address: a.was.Status.AtProvider.Address})
		}
	}
	return out
}

// installed is what the boot plane saw written to the disk.
func (n *node) installed() *platform.NodeInstalled {
	if n.entry == nil || n.entry.Status.AtProvider.Installed == nil {
		return nil
	}
	i := n.entry.Status.AtProvider.Installed
	return &platform.NodeInstalled{Generation: i.Generation, ProfileDigest: i.ProfileDigest, UserDataDigest: i.UserDataDigest, At: i.At}
}

// timeline says when each step was seen.
func (n *node) timeline(ready bool) *platform.NodeTimeline {
	t := platform.NodeTimeline{}
	if n.hostClaim != nil && n.hostClaim.Status.Host != nil {
		t.PoweredOn = n.hostClaim.Status.Host.PoweredOnAt
	}
	if n.entry != nil {
		at := n.entry.Status.AtProvider.Timeline
		t.DHCP, t.Script, t.Kernel, t.Installed = seconds(at.DHCP), seconds(at.Script), seconds(at.Kernel), seconds(at.Installed)
	}
	if ready {
		t.Ready = changed(n.hostClaim.GetCondition(xpv2.TypeReady))
	}
	if t == (platform.NodeTimeline{}) {
		return nil
	}
	return &t
}

// seconds drops the fraction.
func seconds(t *metav1.MicroTime) *metav1.Time {
	if t == nil {
		return nil
	}
	out := metav1.Time(*t)
	return &out
}

// changed is when a condition last changed; nil where nobody wrote it down.
func changed(c xpv2.Condition) *metav1.Time {
	if c.LastTransitionTime.IsZero() {
		return nil
	}
	return &c.LastTransitionTime
}

// sinceOf is when the condition last changed that a claim's reason comes from: Ready, which the claim gives its reason, else, of one
// that was half written, HostBound where that has it. Other conditions have the same words for other things: a BMC that answers again
// is Available too, and a machine that has run for a week isn't Ready since then.
func sinceOf(cs []xpv2.Condition, reason xpv2.ConditionReason) *metav1.Time {
	ready := conditionOf(cs, xpv2.TypeReady)
	if bound := conditionOf(cs, v1alpha1.ConditionBound); ready.Reason != reason && bound.Reason == reason && changed(bound) != nil {
		return changed(bound)
	}
	return changed(ready)
}

// conditionOf is the condition of that type; the zero value where there is none.
func conditionOf(cs []xpv2.Condition, ct xpv2.ConditionType) xpv2.Condition {
	for _, c := range cs {
		if c.Type == ct {
			return c
		}
	}
	return xpv2.Condition{}
}
