package composition

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// at is a moment of 2026-08-01, by its minutes after ten.
func at(minute int) metav1.Time {
	return metav1.Time{Time: time.Date(2026, 8, 1, 10, minute, 0, 0, time.UTC)}
}

// is makes a condition that changed at that minute.
func is(ct xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason, message string, minute int) xpv2.Condition {
	return xpv2.Condition{Type: ct, Status: status, Reason: reason, Message: message, LastTransitionTime: at(minute)}
}

// A change makes one node out of another, for a table.
type change func(*node)

// aNode is team-a/web-1 with generation 1, nothing observed, and those changes.
func aNode(changes ...change) *node {
	n := &node{
		owner: owner{Namespace: "team-a", Name: "web-1"},
		spec: platform.BareMetalNodeSpec{
			Host:              platform.HostSource{Ref: &v1alpha1.HostReference{Namespace: "infra", Name: "r7-u12"}},
			InstallGeneration: 1,
			ProfileRef:        v1alpha1.NamespacedReference{Namespace: "infra", Name: "debian-12"},
			Networks: []platform.NodeNetwork{{
				Name:       "boot",
				NetworkRef: v1alpha1.NamespacedReference{Namespace: "infra", Name: "rack-7"},
				Addresses:  []platform.AddressRequest{{Family: v1alpha1.IPv4}},
			}},
			Power: platform.NodePoweredOn,
		},
	}
	for _, c := range changes {
		c(n)
	}
	return n
}

// claims adds a HostClaim in a phase.
func claims(phase v1alpha1.HostClaimPhase, reason xpv2.ConditionReason, message string, cs ...xpv2.Condition) change {
	return func(n *node) {
		n.hostClaim = &v1alpha1.HostClaim{Status: v1alpha1.HostClaimStatus{Phase: phase, Reason: string(reason), Message: message}}
		n.hostClaim.Status.Conditions = cs
	}
}

// holds binds the HostClaim, which claims added before.
func holds(n *node) {
	n.hostClaim.Spec.Bound = &v1alpha1.Binding{Kind: v1alpha1.RedfishHostKind, Namespace: "infra", Name: "r7-u12", Serial: "ABC123"}
}

// has adds an address that NetBox gave.
func has(n *node) {
	givenTo(v1alpha1.IPv4, "10.77.0.11/24", is(xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable, "", 1))(n)
}

// installed adds a BootEntry with an installed generation of a mode.
func installed(generation int64, mode v1alpha1.BootMode) change {
	return func(n *node) {
		n.entry = &v1alpha1.BootEntry{}
		n.entry.Status.AtProvider.InstalledGeneration = generation
		n.entry.Status.AtProvider.Plan = &v1alpha1.Plan{Mode: mode}
	}
}

// asks changes what is asked for.
func asks(power platform.NodePower, generation int64) change {
	return func(n *node) { n.spec.Power, n.spec.InstallGeneration = power, generation }
}

func TestTell(t *testing.T) {
	type want struct {
		Phase            platform.NodePhase
		Reason           xpv2.ConditionReason
		Message          string
		Since            int
		Bound, Addressed bool
		Ready            bool
	}
	forbidden := &problem{v1alpha1.ReasonNotAllowed, "ask the operator"}
	cases := map[string]struct {
		reason string
		node   *node
		held   *problem
		want   want
	}{
		"New": {
			reason: "nothing is there yet",
			node:   aNode(),
			want:   want{Phase: platform.PhasePending, Reason: v1alpha1.ReasonWaitingForHost, Message: "the host claim is being made"},
		},
		"NotLookedAt": {
			reason: "a HostClaim without a word is one nobody looked at",
			node:   aNode(claims("", "", "")),
			want:   want{Phase: platform.PhasePending, Reason: v1alpha1.ReasonWaitingForHost, Message: "the host claim was not looked at yet"},
		},
		"HostMissing": {
			reason: "why there is no host is the HostClaim's to say",
			node:   aNode(claims(v1alpha1.ClaimPending, v1alpha1.ReasonNotFound, "no such host", is(xpv2.TypeReady, corev1.ConditionFalse, v1alpha1.ReasonNotFound, "", 7))),
			want:   want{Phase: platform.PhasePending, Reason: v1alpha1.ReasonNotFound, Message: "no such host", Since: 7},
		},
		"NetworkForbidden": {
			reason: "where everything only waits, what a person must mend is told",
			node:   aNode(),
			held:   forbidden,
			want:   want{Phase: platform.PhaseAddressing, Reason: v1alpha1.ReasonNotAllowed, Message: "ask the operator"},
		},
		"NetworkForbiddenAndHostMissing": {
			reason: "of two things to mend the host's is told first",
			node:   aNode(claims(v1alpha1.ClaimPending, v1alpha1.ReasonNotFound, "no such host")),
			held:   forbidden,
			want:   want{Phase: platform.PhasePending, Reason: v1alpha1.ReasonNotFound, Message: "no such host"},
		},
		"BoundWithoutAddress": {
			reason: "a bound node waits for its address",
			node:   aNode(claims(v1alpha1.ClaimBound, v1alpha1.ReasonBound, "held"), holds),
			want:   want{Phase: platform.PhaseAddressing, Reason: v1alpha1.ReasonWaitingForAddress, Message: "NetBox is being asked for an address", Bound: true},
		},
		"ProfileMissingWithoutAddress": {
			reason: "a missing profile is to be mended, a missing address only waited for",
			node:   aNode(claims(v1alpha1.ClaimPreparing, v1alpha1.ReasonNotFound, "no such profile"), holds),
			want:   want{Phase: platform.PhasePreparing, Reason: v1alpha1.ReasonNotFound, Message: "no such profile", Bound: true},
		},
		"Preparing": {
			reason: "with an address the plan is next",
			node:   aNode(claims(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForBootServer, "nobody serves"), holds, has),
			want:   want{Phase: platform.PhasePreparing, Reason: v1alpha1.ReasonWaitingForBootServer, Message: "nobody serves", Bound: true, Addressed: true},
		},
		"PoweringOn": {
			reason: "the order of a boot is the HostClaim's",
			node:   aNode(claims(v1alpha1.ClaimPoweringOn, v1alpha1.ReasonWaitingForPowerOn, ""), holds, has),
			want:   want{Phase: platform.PhasePoweringOn, Reason: v1alpha1.ReasonWaitingForPowerOn, Bound: true, Addressed: true},
		},
		"Booting": {
			reason: "the order of a boot is the HostClaim's",
			node:   aNode(claims(v1alpha1.ClaimBooting, v1alpha1.ReasonWaitingForDHCP, ""), holds, has),
			want:   want{Phase: platform.PhaseBooting, Reason: v1alpha1.ReasonWaitingForDHCP, Bound: true, Addressed: true},
		},
		"Installing": {
			reason: "the order of a boot is the HostClaim's",
			node:   aNode(claims(v1alpha1.ClaimInstalling, v1alpha1.ReasonWaitingForInstall, ""), holds, has),
			want:   want{Phase: platform.PhaseInstalling, Reason: v1alpha1.ReasonWaitingForInstall, Bound: true, Addressed: true},
		},
		"Installed": {
			reason: "an installed machine is Ready once it booted from its disk",
			node:   aNode(claims(v1alpha1.ClaimInstalled, v1alpha1.ReasonWaitingForDiskBoot, ""), holds, has, installed(1, v1alpha1.BootModeInstall)),
			want:   want{Phase: platform.PhaseInstalled, Reason: v1alpha1.ReasonWaitingForDiskBoot, Bound: true, Addressed: true},
		},
		"Ready": {
			reason: "the machine does what is asked for",
			node: aNode(claims(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "runs", is(xpv2.TypeReady, corev1.ConditionTrue, v1alpha1.ReasonAvailable, "", 9)),
				holds, has, installed(1, v1alpha1.BootModeInstall)),
			want: want{Phase: platform.PhaseReady, Reason: v1alpha1.ReasonAvailable, Message: "runs", Since: 9, Bound: true, Addressed: true, Ready: true},
		},
		"ReadyWhileNetBoxIsAway": {
			reason: "a machine that runs isn't less ready because NetBox can't be asked",
			node: aNode(claims(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "runs"), holds, has, installed(1, v1alpha1.BootModeInstall), func(n *node) {
				n.addresses[v1alpha1.IPv4].Status.Conditions = []xpv2.Condition{is(xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError, "no answer", 2)}
			}),
			want: want{Phase: platform.PhaseReady, Reason: v1alpha1.ReasonAvailable, Message: "runs", Bound: true, Addressed: true, Ready: true},
		},
		"GenerationJustRaised": {
			reason: "status of another object lags: a claim that asks for more isn't done",
			node:   aNode(claims(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "runs"), holds, has, installed(1, v1alpha1.BootModeInstall), asks(platform.NodePoweredOn, 2)),
			want: want{
				Phase: platform.PhasePreparing, Reason: v1alpha1.ReasonWaitingForInstall,
				Message: "the install that installGeneration asks for has not begun yet", Bound: true, Addressed: true,
			},
		},
		"LiveHasNoGeneration": {
			reason: "a live profile never installs, whatever is asked for",
			node:   aNode(claims(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "runs"), holds, has, installed(0, v1alpha1.BootModeLive)),
			want:   want{Phase: platform.PhaseReady, Reason: v1alpha1.ReasonAvailable, Message: "runs", Bound: true, Addressed: true, Ready: true},
		},
		"Stopping": {
			reason: "an installed machine on its way to being off, as asked, stays Ready",
			node: aNode(claims(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForPowerOff, ""), holds, has,
				installed(1, v1alpha1.BootModeInstall), asks(platform.NodePoweredOff, 1)),
			want: want{Phase: platform.PhasePreparing, Reason: v1alpha1.ReasonWaitingForPowerOff, Bound: true, Addressed: true, Ready: true},
		},
		"OffBeforeInstall": {
			reason: "a machine that is powered off to be installed isn't Ready",
			node: aNode(claims(v1alpha1.ClaimPreparing, v1alpha1.ReasonWaitingForPowerOff, ""), holds, has,
				installed(0, v1alpha1.BootModeInstall)),
			want: want{Phase: platform.PhasePreparing, Reason: v1alpha1.ReasonWaitingForPowerOff, Bound: true, Addressed: true},
		},
		"Stopped": {
			reason: "off as asked is Ready",
			node: aNode(claims(v1alpha1.ClaimStopped, v1alpha1.ReasonStopped, "off"), holds, has,
				installed(1, v1alpha1.BootModeInstall), asks(platform.NodePoweredOff, 1)),
			want: want{Phase: platform.PhaseStopped, Reason: v1alpha1.ReasonStopped, Message: "off", Bound: true, Addressed: true, Ready: true},
		},
		"StoppedAndAskedOn": {
			reason: "off isn't Ready when On is asked for",
			node:   aNode(claims(v1alpha1.ClaimStopped, v1alpha1.ReasonStopped, "off"), holds, has, installed(1, v1alpha1.BootModeInstall)),
			want: want{
				Phase: platform.PhasePoweringOn, Reason: v1alpha1.ReasonWaitingForPowerOn,
				Message: "the machine is off and is to be switched on", Bound: true, Addressed: true,
			},
		},
		"NeedsConfirmation": {
			reason: "a question goes to the claim",
			node:   aNode(claims(v1alpha1.ClaimNeedsConfirmation, v1alpha1.ReasonNeedsConfirmation, "look"), holds, has),
			want:   want{Phase: platform.PhaseNeedsConfirmation, Reason: v1alpha1.ReasonNeedsConfirmation, Message: "look", Bound: true, Addressed: true},
		},
		"Failed": {
			reason: "an end goes to the claim",
			node:   aNode(claims(v1alpha1.ClaimFailed, v1alpha1.ReasonBootLoop, "loops"), holds, has),
			want:   want{Phase: platform.PhaseFailed, Reason: v1alpha1.ReasonBootLoop, Message: "loops", Bound: true, Addressed: true},
		},
		"HostClaimDeletedAlone": {
			reason: "a HostClaim that somebody deleted is made again once it is gone",
			node:   aNode(claims(v1alpha1.ClaimReleasing, v1alpha1.ReasonWaitingForRevocation, "lets go"), has),
			want:   want{Phase: platform.PhasePending, Reason: v1alpha1.ReasonWaitingForRevocation, Message: "lets go", Addressed: true},
		},
		"BindingBroken": {
			reason: "half a binding is none",
			node: aNode(claims(v1alpha1.ClaimPending, v1alpha1.ReasonConflict, "not both halves",
				is(v1alpha1.ConditionBound, corev1.ConditionFalse, v1alpha1.ReasonConflict, "", 3)), holds, has),
			want: want{Phase: platform.PhasePending, Reason: v1alpha1.ReasonConflict, Message: "not both halves", Since: 3, Addressed: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := tell(tc.node, heldBack(tc.node, tc.held))
			got := want{
				Phase: s.status.Phase, Reason: xpv2.ConditionReason(s.status.Reason), Message: s.status.Message,
				Bound: s.bound, Addressed: s.addressed, Ready: s.ready,
			}
			if s.status.Since != nil {
				got.Since = s.status.Since.Minute()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPhases proves that every phase of a HostClaim has one of a node, and that each is one that the XRD knows.
func TestPhases(t *testing.T) {
	for claim, want := range map[v1alpha1.HostClaimPhase]platform.NodePhase{
		"":                              platform.PhasePending,
		v1alpha1.ClaimPending:           platform.PhasePending,
		v1alpha1.ClaimBound:             platform.PhasePreparing,
		v1alpha1.ClaimPreparing:         platform.PhasePreparing,
		v1alpha1.ClaimPoweringOn:        platform.PhasePoweringOn,
		v1alpha1.ClaimBooting:           platform.PhaseBooting,
		v1alpha1.ClaimInstalling:        platform.PhaseInstalling,
		v1alpha1.ClaimInstalled:         platform.PhaseInstalled,
		v1alpha1.ClaimReady:             platform.PhaseReady,
		v1alpha1.ClaimStopped:           platform.PhaseStopped,
		v1alpha1.ClaimNeedsConfirmation: platform.PhaseNeedsConfirmation,
		v1alpha1.ClaimFailed:            platform.PhaseFailed,
		v1alpha1.ClaimReleasing:         platform.PhasePending,
	} {
		if got := phaseOf(claim); got != want {
			t.Errorf("phaseOf(%q) is %q, not %q", claim, got, want)
		}
	}
}

func TestFacts(t *testing.T) {
	poweredOn, dhcp, done := at(41), metav1.MicroTime{Time: at(42).Add(123 * time.Millisecond)}, at(43)
	n := aNode(claims(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, "", is(xpv2.TypeReady, corev1.ConditionTrue, v1alpha1.ReasonAvailable, "", 44)),
		holds, has, installed(1, v1alpha1.BootModeInstall))
	n.hostClaim.Status.Host = &v1alpha1.HostFacts{Namespace: "infra", Name: "r7-u12", Serial: "ABC124", Model: "R660", PoweredOnAt: &poweredOn}
	n.entry.Status.AtProvider.Timeline.DHCP = &dhcp
	n.entry.Status.AtProvider.Installed = &v1alpha1.InstalledObservation{Generation: 1, ProfileDigest: "p", UserDataDigest: "u", At: &done}

	whole, ready := metav1.Time(dhcp), at(44)
	want := platform.BareMetalNodeStatus{
		Phase:      platform.PhaseReady,
		Reason:     "Available",
		Since:      &ready,
		Host:       &platform.NodeHost{Kind: "RedfishHost", Namespace: "infra", Name: "r7-u12", Serial: "ABC124", Model: "R660"},
		ProviderID: "baremetal://infra/r7-u12",
		Addresses:  []platform.NodeAddress{{Network: "boot", Family: v1alpha1.IPv4, Address: "10.77.0.11/24"}},
		Installed:  &platform.NodeInstalled{Generation: 1, ProfileDigest: "p", UserDataDigest: "u", At: &done},
		Timeline:   &platform.NodeTimeline{PoweredOn: &poweredOn, DHCP: &whole, Ready: &ready},
	}
	if diff := cmp.Diff(want, tell(n, n.addressing()).status); diff != "" {
		t.Errorf("status of a node that runs (-want +got):\n%s", diff)
	}
}

// TestFactsOfAnotherHost proves that what is remembered of an earlier host isn't told of the present one.
func TestFactsOfAnotherHost(t *testing.T) {
	n := aNode(claims(v1alpha1.ClaimBound, v1alpha1.ReasonBound, ""), holds)
	n.hostClaim.Status.Host = &v1alpha1.HostFacts{Namespace: "infra", Name: "r7-u99", Serial: "OTHER", Model: "R999"}
	want := &platform.NodeHost{Kind: "RedfishHost", Namespace: "infra", Name: "r7-u12", Serial: "ABC123"}
	if diff := cmp.Diff(want, n.boundTo()); diff != "" {
		t.Errorf("host (-want +got):\n%s", diff)
	}
}

func TestSinceOf(t *testing.T) {
	cs := []xpv2.Condition{
		is(xpv2.TypeReady, corev1.ConditionTrue, "A", "", 1),
		is(v1alpha1.ConditionBound, corev1.ConditionTrue, "B", "", 2),
		// A BMC that was away is Available again, as the machine was all the time.
		is(v1alpha1.ConditionReachable, corev1.ConditionTrue, "A", "", 3),
		is(v1alpha1.ConditionHealthy, corev1.ConditionTrue, "C", "", 4),
	}
	for reason, want := range map[xpv2.ConditionReason]int{"A": 1, "B": 2, "C": 1, "D": 1} {
		if got := sinceOf(cs, reason); got == nil || got.Minute() != want {
			t.Errorf("sinceOf(%q) is %v, not minute %d", reason, got, want)
		}
	}
	if got := sinceOf(nil, "A"); got != nil {
		t.Errorf("sinceOf without conditions is %v", got)
	}
}
