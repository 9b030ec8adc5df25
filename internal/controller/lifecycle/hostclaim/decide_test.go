package hostclaim

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func TestBoot(t *testing.T) {
	check(t, map[string]decideCase{
		"Hold": {
			"Entry and addresses are held before anything is started.",
			world(func(in *inputs) { in.entry.Finalizers = nil }),
			want{act: actHold, phase: v1alpha1.ClaimBound, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"HoldAddress": {
			"Each address by itself: one that was made later, too.",
			world(func(in *inputs) { in.addresses[0].Finalizers = nil }),
			want{act: actHold, phase: v1alpha1.ClaimBound, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"AddressGoing": {
			"One that goes can't be held any more; that keeps nobody waiting for ever.",
			world(func(in *inputs) {
				in.addresses[0].Finalizers, in.addresses[0].DeletionTimestamp = nil, &metav1.Time{Time: noon}
			}),
			want{act: actRecordBoot, phase: v1alpha1.ClaimPoweringOn, reason: v1alpha1.ReasonWaitingForPowerOn},
		},
		"PlanOfOtherHost": {
			"A plan of the host of an earlier binding is none.",
			world(func(in *inputs) { in.entry.Status.AtProvider.Plan.HostUID = "earlier" }),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForBootEntry, says: "no plan yet"},
		},
		"PlanOfOtherEntry": {
			"Nor one that was restored with the status of an earlier entry.",
			world(func(in *inputs) { in.entry.Status.AtProvider.Plan.EntryUID = "earlier" }),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForBootEntry, says: "no plan yet"},
		},
		"RecordOfOtherEntry": {
			"What was started for an earlier entry wasn't for this one.",
			world(power(v1alpha1.PoweredOn), applied(v1alpha1.PoweredOn, 1), func(in *inputs) {
				note(in.claim, v1alpha1.AnnotationBoot, v1alpha1.BootRecord{EntryUID: "earlier", HostUID: "host", Generation: 1, Once: 1})
			}),
			want{act: actApply, phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 1}},
		},
		"RecordOfOtherHost": {
			"Nor on an earlier host object.",
			world(power(v1alpha1.PoweredOn), applied(v1alpha1.PoweredOn, 1), func(in *inputs) {
				note(in.claim, v1alpha1.AnnotationBoot, v1alpha1.BootRecord{EntryUID: "entry", HostUID: "earlier", Generation: 1, Once: 1})
			}),
			want{act: actApply, phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForPowerOff, wish: wish{v1alpha1.PoweredOff, 1}},
		},
		"GrantOfOtherHost": {
			"No power by a grant for another host object.",
			world(func(in *inputs) { in.entry.Status.AtProvider.Grant.HostUID = "earlier" }),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForBootEntry},
		},
		"GrantOfOtherGeneration": {
			"Nor for another generation.",
			world(func(in *inputs) { in.entry.Status.AtProvider.Grant.Generation = 2 }),
			want{phase: v1alpha1.ClaimPreparing, reason: v1alpha1.ReasonWaitingForBootEntry},
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
		"ImageAway": {
			"It's held because its image can't be had: that is said, and it goes on by itself when it can.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), stage(v1alpha1.StageScript), func(in *inputs) {
				in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonArtifactUnavailable, "its server is away"))
			}),
			want{phase: v1alpha1.ClaimBooting, reason: v1alpha1.ReasonArtifactUnavailable, says: "its server is away"},
		},
		"Installing": {
			"It installs.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), stage(v1alpha1.StageInstalling)),
			want{phase: v1alpha1.ClaimInstalling, reason: v1alpha1.ReasonWaitingForInstall},
		},
		"Overdue": {
			"It takes longer than its profile says, and a person must look; it's left alone.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), stage(v1alpha1.StageInstalling), func(in *inputs) {
				in.entry.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonInstallOverdue, "it takes long"))
			}),
			want{phase: v1alpha1.ClaimInstalling, reason: v1alpha1.ReasonInstallOverdue},
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
			want{phase: v1alpha1.ClaimInstalled, reason: v1alpha1.ReasonWaitingForDiskBoot, says: "waiting for host r7-u12 to boot from its disk"},
		},
		"InstalledOverIPv6": {
			"What no request for an address tells, the system must, and a person that it must.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), installed, func(in *inputs) {
				in.entry.Status.AtProvider.Plan.Network.Address = "fd00:77::11/64"
			}),
			want{phase: v1alpha1.ClaimInstalled, reason: v1alpha1.ReasonWaitingForDiskBoot, says: "over IPv6 its system must say itself, by reporting booted"},
		},
		"InstalledStatic": {
			"Nor does a system ask that was told its address.",
			world(started, applied(v1alpha1.PoweredOn, 1), power(v1alpha1.PoweredOn), installed, func(in *inputs) {
				in.entry.Status.AtProvider.Plan.Network.Interface = &v1alpha1.EntryInterface{Addressing: v1alpha1.AddressingStatic}
			}),
			want{phase: v1alpha1.ClaimInstalled, reason: v1alpha1.ReasonWaitingForDiskBoot, says: "a system with a static address must say itself"},
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
