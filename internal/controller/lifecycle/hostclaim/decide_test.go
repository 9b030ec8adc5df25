package hostclaim

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

type want struct {
	act    act
	phase  v1alpha1.HostClaimPhase
	reason xpv2.ConditionReason
	wish   wish
	says   string
}

type decideCase struct {
	reason string
	in     inputs
	want   want
}

func check(t *testing.T, cases map[string]decideCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := decide(tc.in)
			got := want{v.act, v.phase, v.reason, v.wish, ""}
			says := tc.want.says
			if v.act != actApply {
				got.wish = tc.want.wish
			}
			tc.want.says = ""
			if got != tc.want {
				t.Errorf("%s\ndecide(...)\n got %+v\nwant %+v\n(%s)", tc.reason, got, tc.want, v.message)
			}
			if !strings.Contains(v.message, says) {
				t.Errorf("%s\nmessage %q doesn't contain %q", tc.reason, v.message, says)
			}
		})
	}
}

func unbound(in *inputs) { in.claim.Spec.Bound, in.host.Spec.ClaimRef = nil, nil }

func TestBind(t *testing.T) {
	pending := v1alpha1.ClaimPending
	check(t, map[string]decideCase{
		"Finalizer": {
			"A claim is guarded before it holds anything.",
			world(func(in *inputs) { in.claim.Finalizers = nil }),
			want{act: actFinalize, phase: pending, reason: v1alpha1.ReasonWaitingForHost},
		},
		"HostFirst": {
			"The host's half comes first: of two claims one wins it.",
			world(unbound),
			want{act: actBindHost, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"ClaimSecond": {
			"A crash between the halves is healed from the host's.",
			world(func(in *inputs) { in.claim.Spec.Bound = nil }),
			want{act: actBindClaim, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"HostLostItsHalf": {
			"Or from the claim's.",
			world(func(in *inputs) { in.host.Spec.ClaimRef = nil }),
			want{act: actBindHost, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"NoHost": {
			"A host that isn't there is named.",
			world(unbound, func(in *inputs) { in.host = nil }),
			want{phase: pending, reason: v1alpha1.ReasonNotFound, says: `"infra/r7-u12" isn't there`},
		},
		"NotAllowed": {
			"A host is claimed only by whom it allows.",
			world(unbound, func(in *inputs) { in.host.Spec.AllowedNamespaces = nil }),
			want{phase: pending, reason: v1alpha1.ReasonNotAllowed, says: "may not be claimed"},
		},
		"NotAllowedAnyMore": {
			"A bound machine isn't taken away when the permission goes.",
			world(func(in *inputs) { in.host.Spec.AllowedNamespaces = nil }),
			want{act: actRecordBoot, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn},
		},
		"Reserved": {
			"Another's machine stays theirs, and they aren't named.",
			world(unbound, func(in *inputs) {
				in.host.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-b", Name: "db", UID: "x"}
			}),
			want{phase: pending, reason: v1alpha1.ReasonReserved, says: "another claim;"},
		},
		"EarlierWord": {
			"What an operator said about an earlier claim isn't taken for a word about this one.",
			world(unbound, func(in *inputs) {
				in.host.Annotations = map[string]string{v1alpha1.AnnotationForceRelease: "gone"}
			}),
			want{act: actForget, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"Forsaken": {
			"A machine whose claim went without a release isn't taken, and it's said whose turn it is.",
			world(unbound, func(in *inputs) {
				in.host.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-b", Name: "db", UID: "x"}
				in.forsaken = true
			}),
			want{phase: pending, reason: v1alpha1.ReasonReserved, says: "a claim that is gone"},
		},
		"RestoredClaim": {
			"A claim that was applied again has another UID: a person must look.",
			world(func(in *inputs) { in.claim.UID = "restored" }),
			want{act: actQuestion, phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation, says: `confirm.serial to "ABC123"`},
		},
		"RestoredWithConfirmation": {
			"A confirmation that came with the restored claim is no answer.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				in.claim.Spec.Confirm = &v1alpha1.Confirmation{Serial: "ABC123"}
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim", Seen: "ABC123"})
			}),
			want{phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation, says: "remove it first"},
		},
		"Answered": {
			"One that came after the question is noted.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				in.claim.Spec.Confirm = &v1alpha1.Confirmation{Serial: "ABC123"}
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim"})
			}),
			want{act: actQuestion, phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation},
		},
		"AnsweredWrongly": {
			"The serial of another machine answers nothing.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				in.claim.Spec.Confirm = &v1alpha1.Confirmation{Serial: "XYZ"}
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim"})
			}),
			want{phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation},
		},
		"AnswerNoted": {
			"Then the machine is taken over.",
			world(func(in *inputs) {
				in.claim.UID = "restored"
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim", Answered: "ABC123"})
			}),
			want{act: actBindHost, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"AnswerForBoth": {
			"One answer is enough where claim and host were both restored.",
			world(func(in *inputs) {
				in.claim.UID, in.host.UID = "restored", "restored-host"
				in.host.Spec.ClaimRef.UID = "restored"
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "restored", Reason: "BoundToEarlierClaim", Answered: "ABC123"})
			}),
			want{act: actBindClaim, phase: pending, reason: v1alpha1.ReasonWaitingForBinding},
		},
		"RestoredHost": {
			"A host object that was made anew isn't the one we were bound to.",
			world(func(in *inputs) { in.host.UID, in.host.Spec.ClaimRef = "restored", nil }),
			want{act: actQuestion, phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation},
		},
		"SwappedBoard": {
			"A machine that says another serial number isn't touched.",
			world(func(in *inputs) { in.host.Status.AtProvider.Identity.Serial = "XYZ" }),
			want{phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonIdentityChanged, says: `"ABC123"`},
		},
		"Quarantined": {
			"A machine that was given up isn't claimed.",
			world(unbound, func(in *inputs) {
				in.host.Annotations = map[string]string{v1alpha1.AnnotationQuarantined: "burnt"}
			}),
			want{phase: pending, reason: v1alpha1.ReasonQuarantined},
		},
		"Maintenance": {
			"Nor one in maintenance.",
			world(unbound, func(in *inputs) {
				in.host.Spec.ForProvider.Maintenance = &v1alpha1.HostMaintenance{Reason: "DIMM"}
			}),
			want{phase: pending, reason: v1alpha1.ReasonMaintenance},
		},
		"Unschedulable": {
			"Nor one that was cordoned.",
			world(unbound, func(in *inputs) { in.host.Spec.ForProvider.Unschedulable = true }),
			want{phase: pending, reason: v1alpha1.ReasonMaintenance},
		},
		"WrongPassword": {
			"The tenant learns what is wrong, and nothing of the BMC.",
			world(unbound, func(in *inputs) {
				in.host.Status.AtProvider.Identity.SystemURI = ""
				in.host.SetConditions(xpv2.Condition{
					Type: v1alpha1.ConditionReachable, Status: corev1.ConditionFalse,
					Reason: v1alpha1.ReasonUnauthorized, Message: "10.0.7.12 refused user root",
				})
			}),
			want{phase: pending, reason: v1alpha1.ReasonUnauthorized, says: "its BMC refused the credentials"},
		},
	})
}

func TestBoot(t *testing.T) {
	check(t, map[string]decideCase{
		"Hold": {
			"Entry and addresses are held before anything is started.",
			world(func(in *inputs) { in.entry.Finalizers = nil }),
			want{act: actHold, phase: v1alpha1.ClaimBound, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"NoEntry": {
			"Without an entry there's nothing to boot.",
			world(func(in *inputs) { in.entry = nil }),
			want{phase: v1alpha1.ClaimBound, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"NoPlan": {
			"What the entry misses is what the claim says.",
			world(func(in *inputs) {
				in.entry.Status.AtProvider.Plan = nil
				in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionPlanned, false, v1alpha1.ReasonExhausted, "prefix full"))
			}),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonExhausted, says: "prefix full"},
		},
		"NoGrant": {
			"No power before the grant.",
			world(func(in *inputs) { in.entry.Status.AtProvider.Grant = nil }),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"OldGrant": {
			"Nor by a grant of another plan.",
			world(func(in *inputs) { in.entry.Status.AtProvider.Grant.PlanDigest = "sha256:old" }),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"NotServed": {
			"No power before a boot server has seen the grant.",
			world(func(in *inputs) {
				in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionServed, false, v1alpha1.ReasonWaitingForBootServer, "none"))
			}),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForBootServer},
		},
		"Asks": {
			"An entry that asks keeps the power as it is.",
			world(power(v1alpha1.PoweredOn), func(in *inputs) {
				c := xpv2.Unavailable()
				c.Reason, c.Message = v1alpha1.ReasonNeedsConfirmation, "found on"
				in.entry.SetConditions(c)
			}),
			want{phase: v1alpha1.ClaimNeedsConfirmation, reason: v1alpha1.ReasonNeedsConfirmation, says: "found on"},
		},
		"Record": {
			"A machine that is off: for which generation it's started is written first.",
			world(),
			want{act: actRecordBoot, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn},
		},
		"Start": {
			"Then boot-once and power are applied as one.",
			world(started),
			want{act: actApply, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn, wish: wish{v1alpha1.PoweredOn, 1}},
		},
		"OffFirst": {
			"A machine that is on is powered off first.",
			world(power(v1alpha1.PoweredOn)),
			want{act: actApply, phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 0}},
		},
		"OffAsked": {
			"And waited for.",
			world(power(v1alpha1.PoweredOn), applied(v1alpha1.PoweredOff, 0)),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForPowerOff},
		},
		"OffNotSeenYet": {
			"An Off that was read before it was asked for isn't taken for the answer.",
			world(applied(v1alpha1.PoweredOn, 0), power(v1alpha1.PoweredOff)),
			want{act: actApply, phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 0}},
		},
		"UnknownPower": {
			"A BMC that doesn't answer says neither.",
			world(power(""), bmcDead),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonUnreachable},
		},
		"Waiting": {
			"On, and silent so far.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn)),
			want{phase: v1alpha1.ClaimBooting, reason: v1alpha1.ReasonWaitingForDHCP, says: "first DHCP request on rack-7"},
		},
		"Loading": {
			"It loads its installer.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), stage(v1alpha1.StageKernel)),
			want{phase: v1alpha1.ClaimBooting, reason: v1alpha1.ReasonWaitingForInstaller},
		},
		"Installing": {
			"It installs.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), stage(v1alpha1.StageInstalling)),
			want{phase: v1alpha1.ClaimInstalling, reason: v1alpha1.ReasonWaitingForInstall},
		},
		"RecordLost": {
			"A machine that installs isn't reset because our own record is gone.",
			world(applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), stage(v1alpha1.StageInstalling), func(in *inputs) {
				in.entry.Status.AtProvider.GrantConsumed = true
			}),
			want{phase: v1alpha1.ClaimInstalling, reason: v1alpha1.ReasonWaitingForInstall},
		},
		"Interrupted": {
			"What failed is said, and left alone.",
			world(started, applied(v1alpha1.PoweredOn, 1), func(in *inputs) {
				in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonInterrupted, "raise it"))
			}),
			want{phase: v1alpha1.ClaimFailed, reason: v1alpha1.ReasonInterrupted, says: "raise it"},
		},
		"InstalledOnly": {
			"A machine's word alone isn't Ready.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), installed),
			want{phase: v1alpha1.ClaimInstalled, reason: v1alpha1.ReasonWaitingForDiskBoot},
		},
		"Ready": {
			"Installed and seen from its disk is.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), installed, bootedFromDisk),
			want{phase: v1alpha1.ClaimReady, reason: v1alpha1.ReasonAvailable},
		},
		"ReadyByRecord": {
			"A machine whose install is known by its record alone isn't doubted: its session was lost, or it was adopted.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), recorded),
			want{phase: v1alpha1.ClaimReady, reason: v1alpha1.ReasonAvailable},
		},
		"AnswerForgotten": {
			"An answer doesn't outlive what it was about.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), installed, bootedFromDisk, func(in *inputs) {
				note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "claim", Answered: "ABC123"})
			}),
			want{act: actQuestion, phase: v1alpha1.ClaimReady, reason: v1alpha1.ReasonAvailable},
		},
		"ReadyBMCDead": {
			"Ready doesn't flap with the BMC.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), installed, bootedFromDisk, bmcDead),
			want{phase: v1alpha1.ClaimReady, reason: v1alpha1.ReasonAvailable},
		},
		"Raised": {
			"A raised generation resets a running machine once: off first.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), installed, bootedFromDisk, func(in *inputs) {
				in.entry.Spec.ForProvider.Install.Generation = 2
				in.entry.Status.AtProvider.Grant.Generation = 2
			}),
			want{act: actApply, phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 1}},
		},
		"GenerationZero": {
			"Generation 0 powers on, without a network boot.",
			world(func(in *inputs) { in.entry.Spec.ForProvider.Install.Generation = 0 }),
			want{act: actApply, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn, wish: wish{v1alpha1.PoweredOn, 0}},
		},
		"Stop": {
			"A weekend off.",
			world(installed, power(v1alpha1.PoweredOn), func(in *inputs) { in.claim.Spec.Power = v1alpha1.PoweredOff }),
			want{act: actApply, phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 0}},
		},
		"Stopped": {
			"Off as asked is Ready, by another name.",
			world(installed, applied(v1alpha1.PoweredOff, 0), func(in *inputs) { in.claim.Spec.Power = v1alpha1.PoweredOff }),
			want{phase: v1alpha1.ClaimStopped, reason: v1alpha1.ReasonStopped},
		},
		"LiveStart": {
			"A live machine boots from the network each time it's powered on.",
			world(func(in *inputs) {
				in.entry.Status.AtProvider.Plan.Mode = v1alpha1.BootModeLive
				in.host.Status.AtProvider.Boot.OnceGeneration = 4
			}),
			want{act: actApply, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn, wish: wish{v1alpha1.PoweredOn, 5}},
		},
		"LiveOn": {
			"And is Ready when it's on.",
			world(applied(v1alpha1.PoweredOn, 5), power(v1alpha1.PoweredOn), func(in *inputs) { in.entry.Status.AtProvider.Plan.Mode = v1alpha1.BootModeLive }),
			want{phase: v1alpha1.ClaimReady, reason: v1alpha1.ReasonAvailable},
		},
	})
}
