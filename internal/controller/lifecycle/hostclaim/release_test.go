package hostclaim

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestRelease(t *testing.T) {
	releasing := v1alpha1.ClaimReleasing
	off := func(in *inputs) { applied(v1alpha1.PoweredOff, 1)(in); power(v1alpha1.PoweredOff)(in) }
	recorded := func(in *inputs) {
		note(in.host, v1alpha1.AnnotationInstalled, v1alpha1.InstalledRecord{EntryUID: "entry"})
	}
	check(t, map[string]decideCase{
		"RevokeFirst": {
			"Before anything else nothing is granted any more.",
			world(deleted),
			want{act: actRevoke, phase: releasing, reason: v1alpha1.ReasonWaitingForRevocation},
		},
		"WaitForBootd": {
			"A live boot server says that it has seen it.",
			world(deleted, revoked(false)),
			want{phase: releasing, reason: v1alpha1.ReasonWaitingForRevocation},
		},
		"WaitForOtherBootd": {
			"Also that of the network which the machine came to later.",
			world(deleted, revoked(false), func(in *inputs) {
				in.session.Spec.Network = "infra/rack-6"
				in.entry.Status.AtProvider.Plan.Network.Namespace = "infra"
			}),
			want{phase: releasing, reason: v1alpha1.ReasonWaitingForRevocation},
		},
		"NoBootd": {
			"One that is gone is not waited for: it can't consume either.",
			world(deleted, revoked(false), func(in *inputs) { in.now = noon.Add(time.Minute) }),
			want{act: actApply, phase: releasing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 0}},
		},
		"PowerOff": {
			"Then the machine is powered off.",
			world(deleted, revoked(true), applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn)),
			want{act: actApply, phase: releasing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 1}},
		},
		"NotSeen": {
			"And seen off, after it was asked for.",
			world(deleted, revoked(true), off, func(in *inputs) { in.host.Generation = 4 }),
			want{phase: releasing, reason: v1alpha1.ReasonWaitingForPowerOff},
		},
		"BMCDead": {
			"A dead BMC is waited for, and the way out is said.",
			world(deleted, revoked(true), off, bmcDead),
			want{phase: releasing, reason: v1alpha1.ReasonWaitingForPowerOff, says: "kubectl annotate hostclaim -n team-a web-1 baremetal.m.crossplane.io/force-release="},
		},
		"Clear": {
			"Its records go before its binding.",
			world(deleted, revoked(true), off, recorded),
			want{act: actClear, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"SessionGoing": {
			"A session that is being deleted may still be honoured.",
			world(deleted, func(in *inputs) { in.session.DeletionTimestamp = &metav1.Time{Time: noon} }),
			want{act: actRevoke, phase: releasing, reason: v1alpha1.ReasonWaitingForRevocation},
		},
		"UnacknowledgedElsewhere": {
			"An acknowledgement of an earlier revocation is none.",
			world(deleted, revoked(false), func(in *inputs) { in.session.Status.AcknowledgedRevocation = "earlier" }),
			want{phase: releasing, reason: v1alpha1.ReasonWaitingForRevocation},
		},
		"GrantedClear": {
			"The record of a grant goes as that of an install does.",
			world(deleted, revoked(true), off, func(in *inputs) { note(in.host, v1alpha1.AnnotationGranted, v1alpha1.GrantRecord{}) }),
			want{act: actClear, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"Unclaim": {
			"The claim's half of the binding goes first.",
			world(deleted, revoked(true), off),
			want{act: actUnclaim, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"HostsHalfLost": {
			"A free host whose claim still has its half was never given back: it's held again, and switched off.",
			world(deleted, revoked(true), func(in *inputs) { in.host.Spec.ClaimRef = nil }),
			want{act: actBindHost, phase: releasing, reason: v1alpha1.ReasonWaitingForPowerOff},
		},
		"HostTakenAway": {
			"One that its operator took away isn't switched off under his hands; its addresses stay, since it may run.",
			world(deleted, revoked(true), func(in *inputs) {
				in.host.Spec.ClaimRef, in.host.Spec.ForProvider.Unschedulable = nil, true
			}),
			want{act: actKeepAddresses, phase: releasing, reason: v1alpha1.ReasonNeedsConfirmation},
		},
		"Unbind": {
			"Then it's free.",
			world(deleted, revoked(true), off, func(in *inputs) { in.claim.Spec.Bound = nil }),
			want{act: actUnbind, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"LetGo": {
			"Only then its entry and addresses may go.",
			world(deleted, revoked(true), unbound),
			want{act: actLetGo, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"Finish": {
			"And the claim.",
			world(deleted, revoked(true), unbound, func(in *inputs) {
				in.entry.Finalizers, in.addresses[0].Finalizers = nil, nil
			}),
			want{act: actFinish, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"NeverBound": {
			"A claim that never had a machine goes at once; its host's other claim isn't touched.",
			world(deleted, func(in *inputs) {
				in.claim.Spec.Bound = nil
				in.host.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-b", Name: "db", UID: "x"}
				in.entry.Finalizers, in.addresses[0].Finalizers = nil, nil
			}),
			want{act: actFinish, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"RestoredUnconfirmed": {
			"A machine of before a restore that nobody confirmed isn't powered off, and keeps its addresses: it may be running.",
			world(deleted, revoked(true), func(in *inputs) { in.host.Spec.ClaimRef.UID = "earlier" }),
			want{act: actKeepAddresses, phase: releasing, reason: v1alpha1.ReasonNeedsConfirmation, says: "stay in NetBox"},
		},
		"HostMadeAnew": {
			"Nor is one whose host object was made anew.",
			world(deleted, revoked(true), func(in *inputs) { in.host.UID, in.host.Spec.ClaimRef = "anew", nil }),
			want{act: actKeepAddresses, phase: releasing, reason: v1alpha1.ReasonNeedsConfirmation, says: "stay in NetBox"},
		},
		"RestoredKept": {
			"Then the claim goes.",
			world(deleted, revoked(true), func(in *inputs) {
				in.host.Spec.ClaimRef.UID = "earlier"
				in.addresses[0].Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			}),
			want{act: actLetGo, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"ForceMarks": {
			"A machine that is given up is marked, and its addresses are held.",
			world(deleted, revoked(true), off, bmcDead, forced),
			want{act: actQuarantine, phase: releasing, reason: v1alpha1.ReasonQuarantined},
		},
		"ForceUnbinds": {
			"Then it's unbound unseen.",
			world(deleted, revoked(true), off, bmcDead, forced, func(in *inputs) {
				in.host.Annotations = map[string]string{v1alpha1.AnnotationQuarantined: "burnt"}
				in.addresses[0].Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			}),
			want{act: actUnclaim, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"KindGoes": {
			"Who deletes HostClaim itself says nothing about the machine: it goes on, as it's granted, and the way out is said.",
			world(deleted, kindGoes),
			want{phase: releasing, reason: v1alpha1.ReasonKindDeleted, says: "kubectl annotate hostclaim -n team-a web-1 baremetal.m.crossplane.io/force-release="},
		},
		"KindGoesForce": {
			"An operator's word gives it up as it runs.",
			world(deleted, kindGoes, revoked(true), power(v1alpha1.PoweredOn), forced),
			want{act: actQuarantine, phase: releasing, reason: v1alpha1.ReasonQuarantined},
		},
		"KindGoesReleased": {
			"A claim that was released already waits for nothing.",
			world(deleted, kindGoes, func(in *inputs) { in.claim.Finalizers = nil }),
			want{phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"ForceNotNeeded": {
			"A machine that was seen off is released as any other.",
			world(deleted, revoked(true), off, forced),
			want{act: actUnclaim, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"HostGone": {
			"A bound host whose object is gone was never seen off: its addresses are held.",
			world(deleted, func(in *inputs) { in.host, in.session = nil, nil }),
			want{act: actKeepAddresses, phase: releasing, reason: v1alpha1.ReasonNeedsConfirmation, says: "stay in NetBox"},
		},
		"HostGoneKept": {
			"And then nothing holds the claim back.",
			world(deleted, func(in *inputs) {
				in.host, in.session = nil, nil
				in.addresses[0].Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			}),
			want{act: actLetGo, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"HostGoneReleased": {
			"One that was given back may go before its claim, as a tenant's own does.",
			world(deleted, func(in *inputs) { in.host, in.session, in.claim.Spec.Bound = nil, nil, nil }),
			want{act: actLetGo, phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
		"Gone": {
			"Released already.",
			world(deleted, func(in *inputs) { in.claim.Finalizers = nil }),
			want{phase: releasing, reason: v1alpha1.ReasonReleasing},
		},
	})
}
