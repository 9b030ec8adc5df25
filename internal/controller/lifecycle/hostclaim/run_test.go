package hostclaim

import (
	"testing"
	"time"

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
				in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonWaitingForHost, "waiting for the BMC"))
			}),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonUnreachable, says: "its BMC doesn't answer"},
		},
	})
}

// awaitsOff is an entry whose second generation is decided, and given once its machine, which runs the first, is off.
func awaitsOff(in *inputs) {
	installed(in)
	bootedFromDisk(in)
	started(in)
	applied(v1alpha1.PoweredOn, 1)(in)
	power(v1alpha1.PoweredOn)(in)
	r := v1alpha1.GrantRecord{EntryUID: "entry", HostUID: "host", Generation: 2, GrantID: "g2", SessionUID: "session", State: v1alpha1.GrantIssuing}
	note(in.entry, v1alpha1.AnnotationGranted, r)
	note(in.host, v1alpha1.AnnotationGranted, r)
	in.entry.Spec.ForProvider.Install.Generation = 2
	in.entry.Status.AtProvider.Grant = nil
	in.session.Spec.Grant = nil
	in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonWaitingForPowerOff, ""))
}

// TestOffFirst holds when a machine that runs is switched off for an install that isn't granted yet.
func TestOffFirst(t *testing.T) {
	preparing := v1alpha1.ClaimPreparing
	consumed := func(in *inputs) {
		in.session.Status.Consumed = &v1alpha1.Consumption{EntryUID: "entry", HostUID: "host", Generation: 2, GrantID: "g0"}
	}
	check(t, map[string]decideCase{
		"On": {
			"It's switched off once the grant is decided and nothing can be used.",
			world(awaitsOff),
			want{act: actApply, phase: preparing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 1}},
		},
		"NotServed": {
			"Not before a boot server has compared it with its log: what is asked for may be installed already, and etcd restored.",
			world(awaitsOff, func(in *inputs) {
				in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionServed, false, v1alpha1.ReasonWaitingForBootServer, "none"))
			}),
			want{phase: preparing, reason: v1alpha1.ReasonWaitingForBootServer},
		},
		"NoPlan": {
			"Nor for what can't be installed.",
			world(awaitsOff, func(in *inputs) {
				in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionPlanned, false, v1alpha1.ReasonNotFound, "no profile"))
			}),
			want{phase: preparing, reason: v1alpha1.ReasonNotFound},
		},
		"GrantThere": {
			"Nor while a grant could be used: the entry takes it back first.",
			world(awaitsOff, func(in *inputs) { in.session.Spec.Grant = &v1alpha1.Grant{ID: "g1"} }),
			want{phase: preparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"Used": {
			"Nor where the generation was used, as a boot server's log just told.",
			world(awaitsOff, consumed),
			want{phase: preparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"Issued": {
			"Nor by an entry's status that is older than the grant.",
			world(awaitsOff, func(in *inputs) {
				note(in.host, v1alpha1.AnnotationGranted, v1alpha1.GrantRecord{EntryUID: "entry", HostUID: "host", Generation: 2, GrantID: "g2", State: v1alpha1.GrantIssued})
			}),
			want{phase: preparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"Revoked": {
			"Nor with a session that is closed.",
			world(awaitsOff, revoked(true)),
			want{phase: preparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"OtherGeneration": {
			"Nor by the record of another generation.",
			world(awaitsOff, func(in *inputs) { in.entry.Spec.ForProvider.Install.Generation = 3 }),
			want{phase: preparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"Off": {
			"Off, the entry's turn has come.",
			world(awaitsOff, applied(v1alpha1.PoweredOff, 1), power(v1alpha1.PoweredOff)),
			want{phase: preparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"OffByItself": {
			"A machine that is to be on comes on again: its being off at this moment isn't enough.",
			world(awaitsOff, power(v1alpha1.PoweredOff)),
			want{act: actApply, phase: preparing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 1}},
		},
		"Unknown": {
			"A BMC that doesn't answer is waited for.",
			world(awaitsOff, power(""), bmcDead),
			want{phase: preparing, reason: v1alpha1.ReasonUnreachable},
		},
		"UsedBySession": {
			"A machine that has begun isn't reset, though its entry's status doesn't know yet and our own record is gone.",
			world(applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), func(in *inputs) {
				in.session.Spec.Grant = &v1alpha1.Grant{ID: "g"}
				in.session.Status.Consumed = &v1alpha1.Consumption{GrantID: "g"}
			}),
			want{phase: v1alpha1.ClaimBooting, reason: v1alpha1.ReasonWaitingForDHCP},
		},
	})
}

// TestTold holds how often a claim on its way tells where it is.
func TestTold(t *testing.T) {
	waiting := at(v1alpha1.ClaimBooting, v1alpha1.ReasonWaitingForDHCP, "")
	cases := map[string]struct {
		reason string
		v      verdict
		after  time.Duration
		told   bool
	}{
		"Soon":     {"A step a second after another isn't told by itself.", waiting, time.Second, false},
		"Later":    {"After two it is.", waiting, 2 * time.Second, true},
		"Ready":    {"The end is told at once.", at(v1alpha1.ClaimReady, v1alpha1.ReasonAvailable, ""), time.Second, true},
		"Trouble":  {"So is what a person should act on.", at(v1alpha1.ClaimPending, v1alpha1.ReasonReserved, ""), time.Second, true},
		"Asks":     {"All the more a question.", at(v1alpha1.ClaimNeedsConfirmation, v1alpha1.ReasonNeedsConfirmation, ""), time.Second, true},
		"Releases": {"A release is told step by step: its events are all that the claim still says.", at(v1alpha1.ClaimReleasing, v1alpha1.ReasonWaitingForPowerOff, ""), time.Second, true},
		"ClockSet": {"A clock that was set back silences nobody.", waiting, -time.Hour, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			known := &told{}
			if onTheWay(waiting) && known.lately("claim", noon) {
				t.Fatal("the first word of a claim is always told")
			}
			known.at("claim", noon)
			if got := !onTheWay(tc.v) || !known.lately("claim", noon.Add(tc.after)); got != tc.told {
				t.Errorf("%s\ntold: %t", tc.reason, got)
			}
		})
	}
}
