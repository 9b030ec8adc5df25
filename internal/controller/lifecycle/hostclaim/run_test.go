package hostclaim

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestStoppedBeforeItsInstall holds that a machine which its claim stopped before its install began boots from the network again.
func TestStoppedBeforeItsInstall(t *testing.T) {
	stopped := func(in *inputs) { applied(v1alpha1.PoweredOff, 1)(in); power(v1alpha1.PoweredOff)(in) }
	again := func(in *inputs) {
		note(in.claim, v1alpha1.AnnotationBoot, v1alpha1.BootRecord{EntryUID: "entry", HostUID: "host", Generation: 1, Once: 2})
	}
	check(t, map[string]decideCase{
		"Recorded": {
			"Its network boot may be used up: a new one is written down.",
			world(started, stopped),
			want{act: actRecordBoot, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn},
		},
		"Started": {
			"Then applied, once.",
			world(started, stopped, again),
			want{act: actApply, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn, wish: wish{v1alpha1.PoweredOn, 2}},
		},
		"Begun": {
			"An install that had begun isn't begun again.",
			world(started, stopped, func(in *inputs) { in.entry.Status.AtProvider.GrantConsumed = true }),
			want{act: actApply, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn, wish: wish{v1alpha1.PoweredOn, 1}},
		},
	})
	if got := nextOnce(world(started, stopped)); got != 2 {
		t.Errorf("the next network boot is %d, want 2", got)
	}
}

// TestGoingParts holds what is said, and that nothing is done, when a part of a bound claim is deleted and the claim isn't.
func TestGoingParts(t *testing.T) {
	gone := &metav1.Time{Time: noon}
	check(t, map[string]decideCase{
		"Host": {
			"A host that is removed is powered off by its own controller, and isn't powered on against it.",
			world(started, func(in *inputs) { in.host.DeletionTimestamp = gone }),
			want{phase: v1alpha1.ClaimReleasing, reason: v1alpha1.ReasonReleasing, says: "delete the claim"},
		},
		"Entry": {
			"An entry that is deleted alone stays until its machine is released.",
			world(started, func(in *inputs) { in.entry.DeletionTimestamp = gone }),
			want{phase: v1alpha1.ClaimReleasing, reason: v1alpha1.ReasonReleasing, says: "until the claim is deleted too"},
		},
		"Unseen": {
			"A grant that waits for the BMC says so, and what is wrong with it.",
			world(bmcDead, func(in *inputs) {
				in.entry.Status.AtProvider.Grant = nil
				in.entry.SetConditions(condition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonWaitingForHost, "waiting for the BMC"))
			}),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonUnreachable, says: "its BMC doesn't answer"},
		},
	})
}
