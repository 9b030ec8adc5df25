package bootentry

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     inputs
		step   step
		issue  boot.IssueStep
	}{
		"CopyFirst":      {"What the machine is given is in place before it's granted.", world(withUserData), stepCopyData, boot.StepRecordHost},
		"New":            {"A new machine that is off is granted.", world(), stepIssue, boot.StepRecordHost},
		"OffUnseen":      {"A status from before the binding, such as a restored one, is no evidence of off.", world(func(in *inputs) { in.host.Generation = 4 }), stepNone, boot.StepWait},
		"OffUnreachable": {"Nor is what a BMC said that doesn't answer now.", world(unreachable), stepNone, boot.StepWait},
		"BoundAgain":     {"A machine that was given back and bound again isn't taken for installed.", world(granted, installed, poweredOn, func(in *inputs) { in.host.Annotations = nil }), stepQuestion, boot.StepAsk},
		"OnBySpec":       {"A machine that is to be on isn't taken for off, whatever its BMC says at this moment.", world(granted, installed, raisedTo2, func(in *inputs) { in.host.Spec.ForProvider.Power = v1alpha1.PoweredOn }), stepNone, boot.StepWait},
		"RaisedOff":      {"Off, and to be off, it's granted.", world(granted, installed, raisedTo2), stepIssue, boot.StepGrant},
		"Granted":        {"Granted, there's nothing to do.", world(granted), stepNone, boot.StepNone},
		"On":             {"A machine found on asks; the question is written first.", world(poweredOn), stepQuestion, boot.StepAsk},
		"Asked":          {"Asked, it waits.", world(poweredOn, askedWhyOn("")), stepNone, boot.StepAsk},
		"Answered":       {"A confirmation after the question goes on.", world(poweredOn, askedWhyOn(""), confirmed("ABC123")), stepIssue, boot.StepRecordHost},
		"AnsweredBefore": {"One that was there before the question doesn't.", world(poweredOn, askedWhyOn("ABC123"), confirmed("ABC123")), stepNone, boot.StepAsk},
		"Removed":        {"Once it's removed it may be set again.", world(poweredOn, askedWhyOn("ABC123")), stepQuestion, boot.StepAsk},
		"OtherSerial":    {"Another machine's serial is no answer.", world(poweredOn, askedWhyOn(""), confirmed("XYZ")), stepNone, boot.StepAsk},
		"OtherQuestion":  {"An answer to one question is none to the next.", world(granted, askedWhyOn(""), confirmed("ABC123"), func(in *inputs) { in.session.Spec.Grant = nil }), stepQuestion, boot.StepAsk},
		"Closed":         {"A question that doesn't arise any more is taken away.", world(granted, askedWhyOn("")), stepQuestion, boot.StepNone},
		"ClaimGoing":     {"A claim that is going is granted nothing.", world(func(in *inputs) { in.claim.DeletionTimestamp = &metav1.Time{Time: noon} }), stepNone, boot.StepNone},
		"HostGoing":      {"Nor is one whose host is.", world(func(in *inputs) { in.host.DeletionTimestamp = &metav1.Time{Time: noon} }), stepNone, boot.StepNone},
		"RestoredEntry":  {"An entry with another UID than its records asks.", world(granted, func(in *inputs) { in.entry.UID = "restored" }), stepQuestion, boot.StepAsk},
		"ClaimConfirmed": {"What the claim was told of the same machine counts for its entry.", world(granted, installed, func(in *inputs) {
			in.entry.UID, in.session = "restored", nil
			note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "claim", Answered: "ABC123"})
		}), stepIssue, boot.StepAdopt},
		"ClaimConfirmedNoInstall": {"It says which machine is meant; that nothing on it is worth keeping is asked of the entry's owner.", world(granted, poweredOn, func(in *inputs) {
			in.entry.UID, in.session = "restored", nil
			note(in.claim, v1alpha1.AnnotationQuestion, v1alpha1.QuestionRecord{OwnerUID: "claim", Answered: "ABC123"})
		}), stepQuestion, boot.StepAsk},
		"ForeignSession":   {"A session of an earlier entry of this name isn't ours.", world(func(in *inputs) { in.session.Spec.EntryUID = "earlier" }), stepIssue, boot.StepCreateSession},
		"SessionGone":      {"A granted session that is gone asks.", world(granted, func(in *inputs) { in.session = nil }), stepQuestion, boot.StepAsk},
		"InstalledForgets": {"An installed machine needs no session.", world(granted, installed, poweredOn, func(in *inputs) { in.session = nil }), stepNone, boot.StepNone},
		"Settled":          {"Installed and recorded.", world(granted, installed, poweredOn), stepNone, boot.StepNone},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := decide(tc.in, noon)
			if d.step != tc.step || d.issue.Step != tc.issue {
				t.Errorf("%s\ndecide(...) = %q, %q (%s; problem %+v), want %q, %q", tc.reason, d.step, d.issue.Step, d.issue.Reason, d.problem, tc.step, tc.issue)
			}
		})
	}
}

func unreachable(in *inputs) {
	in.host.SetConditions(v1alpha1.NewCondition(v1alpha1.ConditionReachable, false, v1alpha1.ReasonUnreachable, ""))
}

func TestKeptPlan(t *testing.T) {
	published := func(in *inputs) { in.entry.Status.AtProvider.Plan = bootspec.PlanStatus(plan()) }
	noProfile := func(in *inputs) { in.profile = nil }
	keptBefore := func(in *inputs) {
		p := in.entry.Status.AtProvider.Plan
		p.Otherwise, p.InstallGeneration = v1alpha1.OtherwiseHold, 0
	}
	dual := alsoSix(new("fd00:77::11/64"))
	bothPublished := func(in *inputs) {
		p, prob := resolve(world(dual))
		if prob != nil {
			t.Fatal(prob.message)
		}
		in.entry.Status.AtProvider.Plan = bootspec.PlanStatus(*p)
	}
	cases := map[string]struct {
		reason    string
		in        inputs
		kept      bool
		otherwise v1alpha1.Otherwise
	}{
		"Installed":          {"A machine that runs keeps its lease and its disk when its profile goes.", world(granted, installed, published, noProfile), true, ""},
		"NotInstalled":       {"One that was never installed is held.", world(granted, published, noProfile), true, v1alpha1.OtherwiseHold},
		"InstalledMeanwhile": {"One whose install ended while its profile was gone is held no longer.", world(granted, installed, published, noProfile, keptBefore), true, ""},
		"StillInstalling":    {"Before that it is.", world(granted, published, noProfile, keptBefore), true, v1alpha1.OtherwiseHold},
		"RaisedMeanwhile": {"One that waits for its next install is held, as it was.",
			world(granted, installed, published, noProfile, keptBefore, func(in *inputs) { in.entry.Spec.ForProvider.Install.Generation = 2 }), true, v1alpha1.OtherwiseHold},
		"Unbound":   {"One that is no longer ours gets nothing.", world(granted, installed, published, noProfile, func(in *inputs) { in.host.Spec.ClaimRef = nil }), false, ""},
		"OtherHost": {"Nor does another machine.", world(granted, installed, published, noProfile, func(in *inputs) { in.host.UID, in.claim.Spec.Bound.UID = "h2", "h2" }), false, ""},
		"Moved":     {"Nor one whose address changed.", world(granted, installed, published, noProfile, func(in *inputs) { in.addresses[0].Status.AtProvider.Address = "10.77.0.12/24" }), false, ""},
		"PartOfIt": {"An address that NetBox keeps with the mask of a part of the segment is the same one.",
			world(granted, installed, published, noProfile, func(in *inputs) { in.addresses[0].Status.AtProvider.Address = "10.77.0.11/26" }), true, ""},
		"SecondToCome":    {"One that asks for a second address keeps its first until that is there.", world(granted, installed, published, alsoSix(nil)), true, ""},
		"SecondOfAnother": {"Also where that can't be had.", world(granted, installed, published, alsoSix(new("fd00:78::11/64"))), true, ""},
		"Both":            {"One with two addresses keeps both.", world(granted, installed, dual, bothPublished, noProfile), true, ""},
		"FirstMoved": {"But not where the first one is another.",
			world(granted, installed, dual, bothPublished, noProfile, func(in *inputs) { in.addresses[0].Status.AtProvider.Address = "10.77.0.12/24" }), false, ""},
		"NeverServed": {"What was never served isn't kept.", world(noProfile), false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := decide(tc.in, noon)
			if (d.kept != nil) != tc.kept {
				t.Fatalf("%s\nkept %v, want %t", tc.reason, d.kept, tc.kept)
			}
			if d.kept != nil && (d.kept.InstallGeneration != 0 || d.kept.Otherwise != tc.otherwise) {
				t.Errorf("%s\nkept plan asks for generation %d, otherwise %q", tc.reason, d.kept.InstallGeneration, d.kept.Otherwise)
			}
			if d.step == stepIssue && d.issue.Step == boot.StepGrant {
				t.Errorf("%s\na kept plan is granted", tc.reason)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     inputs
		now    time.Time
		want   map[string]string // type to reason of False, "" for True
	}{
		"Granted":       {"A granted machine is planned and served, and waits.", world(granted), noon, map[string]string{"Ready": "", "Served": "", "Planned": "", "Installed": "WaitingForDHCP"}},
		"Lagging":       {"A boot server that hasn't seen the grant doesn't serve it.", world(granted, func(in *inputs) { in.servers[0].Status.SyncedRevision = "109" }), noon, map[string]string{"Served": "WaitingForBootServer", "Ready": "WaitingForBootServer"}},
		"Silent":        {"One that is silent doesn't either.", world(granted), noon.Add(time.Minute), map[string]string{"Served": "WaitingForBootServer"}},
		"Raised":        {"A raised generation waits for its machine to be off, and says so.", world(granted, installed, poweredOn, raisedTo2), noon, map[string]string{"Installed": "WaitingForPowerOff", "Served": ""}},
		"RaisedLagging": {"It isn't switched off before a boot server has compared what was decided with its log.", world(granted, installed, poweredOn, raisedTo2, func(in *inputs) { in.servers[0].Status.SyncedRevision = "114" }), noon, map[string]string{"Served": "WaitingForBootServer"}},
		"Elsewhere":     {"Nor one of another network.", world(granted, func(in *inputs) { in.servers[0].Status.Networks[0].Name = "rack-8" }), noon, map[string]string{"Served": "WaitingForBootServer"}},
		"Asks":          {"NeedsConfirmation is Ready's reason.", world(poweredOn), noon, map[string]string{"Ready": "NeedsConfirmation", "Installed": "NeedsConfirmation"}},
		"BoundAgain":    {"A machine that was given back and bound again isn't said to be installed.", world(granted, installed, poweredOn, func(in *inputs) { in.host.Annotations = nil }), noon, map[string]string{"Ready": "NeedsConfirmation", "Installed": "NeedsConfirmation"}},
		"Unseen":        {"A BMC that doesn't answer is waited for, and said so.", world(unreachable), noon, map[string]string{"Installed": "WaitingForHost"}},
		"UsedBefore":    {"A generation that another grant used up isn't waited for.", world(granted, consumed, func(in *inputs) { in.session.Spec.Grant.ID = "g2" }), noon, map[string]string{"Installed": "Interrupted"}},
		"Used":          {"The install runs.", world(granted, consumed), noon, map[string]string{"Installed": "WaitingForInstall"}},
		"Before": {"A machine that was installed for an entry that's gone isn't waited for.", world(granted, func(in *inputs) {
			in.host, in.claim, in.entry.Spec.ForProvider.Machine = nil, nil, v1alpha1.MachineSelector{MACs: []string{"52:54:00:00:00:01"}}
			in.session.Status.StageReason = boot.DecidedConsumed
			r := v1alpha1.GrantRecord{EntryUID: "entry", HostUID: hostUID(*in), Generation: 1, GrantID: "g", SessionUID: "session", State: v1alpha1.GrantIssued}
			note(in.entry, v1alpha1.AnnotationGranted, r)
			in.session.Spec.Grant.HostUID = r.HostUID
		}), noon, map[string]string{"Installed": "InstalledBefore"}},
		"BeforeTold": {"Nor once a boot server has said so, before it boots.", world(granted, consumed, func(in *inputs) {
			in.host, in.claim, in.entry.Spec.ForProvider.Machine = nil, nil, v1alpha1.MachineSelector{MACs: []string{"52:54:00:00:00:01"}}
			r := v1alpha1.GrantRecord{EntryUID: "entry", HostUID: hostUID(*in), Generation: 1, GrantID: "g2", SessionUID: "session", State: v1alpha1.GrantIssued}
			note(in.entry, v1alpha1.AnnotationGranted, r)
			in.session.Spec.Grant.ID, in.session.Spec.Grant.HostUID, in.session.Status.Consumed.HostUID, in.session.Status.Consumed.Nonce = "g2", r.HostUID, r.HostUID, ""
		}), noon, map[string]string{"Installed": "InstalledBefore"}},
		"BeforeOfHost": {"A raised generation of a host is waited for, whatever was said of the one before.", world(granted, func(in *inputs) { in.session.Status.StageReason = boot.DecidedConsumed }), noon, map[string]string{"Installed": "WaitingForDHCP"}},
		"Interrupted":  {"A machine that was reset in its install is said so.", world(granted, consumed, func(in *inputs) { in.session.Status.StageReason = boot.DecidedConsumed }), noon, map[string]string{"Installed": "Interrupted"}},
		"SentToDisk":   {"Of an installer that doesn't report the disk is awaited.", world(granted, consumed, func(in *inputs) { in.session.Status.StageReason = boot.ReasonSentToDisk }), noon, map[string]string{"Installed": "WaitingForDiskBoot"}},
		"DiskLoop":     {"One that never gets to its disk is a loop.", world(granted, consumed, func(in *inputs) { in.session.Status.StageReason = boot.DecidedBootLoop }), noon, map[string]string{"Installed": "BootLoop"}},
		"Failed": {"A machine's own word of failure.", world(granted, consumed, func(in *inputs) {
			in.session.Status.Failed = &v1alpha1.BootResult{GrantID: "g", Message: "disk is full"}
		}), noon, map[string]string{"Installed": "InstallFailed"}},
		"Loop": {"Five scripts and no begin.", world(granted, func(in *inputs) {
			in.session.Status.OpenedGrantID = "g"
			in.session.Status.Opened = make([]v1alpha1.Opened, 5)
		}), noon, map[string]string{"Installed": "BootLoop"}},
		"Digest":   {"Wrong bytes.", world(granted, func(in *inputs) { in.session.Status.StageReason = "DigestMismatch" }), noon, map[string]string{"Installed": "DigestMismatch"}},
		"Away":     {"An image that can't be had.", world(granted, func(in *inputs) { in.session.Status.StageReason = "ArtifactUnavailable" }), noon, map[string]string{"Installed": "ArtifactUnavailable"}},
		"Refused":  {"One that may not be asked for.", world(granted, func(in *inputs) { in.session.Status.StageReason = "ArtifactNotAllowed" }), noon, map[string]string{"Installed": "ArtifactNotAllowed"}},
		"Done":     {"Installed.", world(granted, installed, poweredOn), noon, map[string]string{"Ready": "", "Installed": "", "Current": ""}},
		"Outdated": {"An edit shows, and does nothing.", world(granted, installed, poweredOn, func(in *inputs) { in.entry.Spec.ForProvider.Hostname = "web-2" }), noon, map[string]string{"Installed": "", "Current": "Outdated", "Ready": ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cs := conditions(tc.in, decide(tc.in, tc.now), tc.now)
			for _, c := range cs {
				if c.LastTransitionTime.IsZero() || c.Reason == "" {
					t.Errorf("%s\n%s has no time or no reason, which the API server refuses", tc.reason, c.Type)
				}
			}
			for typ, reason := range tc.want {
				c := conditionOf(cs, typeOf(typ))
				if (reason == "") != (c.Status == "True") || reason != "" && string(c.Reason) != reason {
					t.Errorf("%s\n%s is %s (%s: %s), want reason %q", tc.reason, typ, c.Status, c.Reason, c.Message, reason)
				}
			}
		})
	}
}

func TestEarlierSession(t *testing.T) {
	cases := map[string]struct {
		reason string
		owners []metav1.OwnerReference
		says   string
	}{
		"Owned":    {"It goes with its owner.", []metav1.OwnerReference{{Name: "web-1"}}, "waiting for it to go"},
		"Restored": {"Nobody takes it away but a person.", nil, "kubectl delete bootsession -n team-a web-1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha1.BootSession{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-1", OwnerReferences: tc.owners}}
			if got := earlierText(s); !strings.Contains(got, tc.says) {
				t.Errorf("%s\nearlierText(...) = %q, want %q in it", tc.reason, got, tc.says)
			}
		})
	}
}

func TestWhatToRaise(t *testing.T) {
	interrupted := func(in *inputs) { in.session.Status.StageReason = boot.DecidedConsumed }
	cases := map[string]struct {
		reason string
		change func(*inputs)
		want   string
	}{
		"Claim": {"The claim's own field, under the name that it has there.", func(*inputs) {}, "raise installGeneration to 2"},
		"Raw":   {"An entry without a claim is edited itself.", func(in *inputs) { in.entry.Spec.ForProvider.Machine.HostClaimRef = nil }, "raise install.generation to 2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := installing(world(granted, consumed, interrupted, tc.change), 1, 0, noon).Message; !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nwant %q in %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestBootLoopText holds that what's said of a loop stays what it was when the machine's next boot, which gets nothing, is noted.
func TestBootLoopText(t *testing.T) {
	for _, boots := range []int{boot.MaxOpens, boot.MaxOpens + 1} {
		in := world(granted, func(in *inputs) {
			in.session.Status.OpenedGrantID, in.session.Status.Opened = "g", make([]v1alpha1.Opened, boots)
		})
		const want = "asked for its install script 5 times"
		if got := installing(in, 1, 0, noon).Message; !strings.Contains(got, want) {
			t.Errorf("of %d boots: want %q in %q", boots, want, got)
		}
	}
}

// TestNeededRevision holds which revision a boot server must have synced: revisions of another cluster say nothing.
func TestNeededRevision(t *testing.T) {
	record := func(change func(*v1alpha1.GrantRecord)) func(*inputs) {
		return func(in *inputs) {
			r := v1alpha1.ReadRecord[v1alpha1.GrantRecord](in.entry.Annotations, v1alpha1.AnnotationGranted)
			r.Revision = "50000000"
			change(r)
			note(in.entry, v1alpha1.AnnotationGranted, *r)
			delete(in.host.Annotations, v1alpha1.AnnotationGranted)
		}
	}
	cases := map[string]struct {
		reason string
		in     inputs
		want   uint64
	}{
		"Decided":        {"It has seen the generation decided.", world(decidedOnly), 90},
		"AnotherEntry":   {"A record of before a restore.", world(decidedOnly, record(func(r *v1alpha1.GrantRecord) { r.EntryUID = "earlier" })), 0},
		"AnotherSession": {"So is this one.", world(decidedOnly, record(func(r *v1alpha1.GrantRecord) { r.SessionUID = "earlier" })), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := neededRevision(tc.in); got != tc.want {
				t.Errorf("%s\nneededRevision(...) = %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestOverdue holds that an install which takes too long is said to, by the profile's own measure, and that nothing else changes.
func TestOverdue(t *testing.T) {
	begun := func(in *inputs) { in.session.Status.Consumed.At = metav1.NewMicroTime(noon) }
	cases := map[string]struct {
		reason string
		limit  time.Duration
		after  time.Duration
		want   xpv2.ConditionReason
	}{
		"InTime":  {"It has until then.", 30 * time.Minute, 30 * time.Minute, v1alpha1.ReasonWaitingForInstall},
		"Overdue": {"A person must look.", 30 * time.Minute, 31 * time.Minute, v1alpha1.ReasonInstallOverdue},
		"NoLimit": {"A profile that sets none has none.", 0, 100 * time.Hour, v1alpha1.ReasonWaitingForInstall},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := installing(world(granted, consumed, begun), 1, tc.limit, noon.Add(tc.after))
			if c.Reason != tc.want {
				t.Errorf("%s\nwant reason %q, got %q", tc.reason, tc.want, c.Reason)
			}
			if overdue := strings.Contains(c.Message, "longer than the 30m0s"); overdue != (tc.want == v1alpha1.ReasonInstallOverdue) {
				t.Errorf("%s\nthe message is %q", tc.reason, c.Message)
			}
		})
	}
}

// TestInstalledGeneration holds what counts as installed on this host, for this entry.
func TestInstalledGeneration(t *testing.T) {
	otherHost := func(in *inputs) { in.session.Status.Consumed.HostUID = "earlier" }
	noRecords := func(in *inputs) { in.entry.Annotations, in.host.Annotations = nil, nil }
	cases := map[string]struct {
		reason string
		in     inputs
		want   int64
	}{
		"Recorded":   {"Both records say so.", world(installed), 1},
		"Reported":   {"The session's word counts before it's recorded.", world(consumed, installed, noRecords), 1},
		"Elsewhere":  {"Its word about an earlier host doesn't.", world(consumed, installed, noRecords, otherHost), 0},
		"HostForgot": {"A host that was given back since may have been another's.", world(installed, func(in *inputs) { in.host.Annotations = nil }), 0},
		"HostOfOther": {"All the more one that carries another's.", world(installed, func(in *inputs) {
			note(in.host, v1alpha1.AnnotationInstalled, v1alpha1.InstalledRecord{EntryUID: "other", HostUID: "host", Generation: 1})
		}), 0},
		"Nothing": {"Nobody says anything.", world(), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := installedGeneration(tc.in); got != tc.want {
				t.Errorf("%s\ninstalledGeneration(...) = %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestQuestionText holds that a question can be answered by what it says.
func TestQuestionText(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     inputs
		says   string
	}{
		"Serial":   {"By its serial number.", world(), `set confirm.serial to "ABC123"`},
		"NoSerial": {"A machine without one can't be confirmed by it.", world(func(in *inputs) { in.host.Status.AtProvider.Identity.Serial = "" }), "its operator must"},
		"Raw":      {"Nor can raw MACs.", world(func(in *inputs) { in.host = nil }), "delete this entry and make a new one, with install.generation 0 to leave the machine as it is, or above 1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := questionText(tc.in, boot.IssueForeignRecord); !strings.Contains(got, tc.says) {
				t.Errorf("%s\nquestionText(...) = %q, want %q in it", tc.reason, got, tc.says)
			}
		})
	}
}

// raisedTo2 is an entry whose second generation is decided and not granted yet.
func raisedTo2(in *inputs) {
	in.entry.Spec.ForProvider.Install.Generation = 2
	r := v1alpha1.GrantRecord{EntryUID: "entry", HostUID: "host", Generation: 2, GrantID: "g2", SessionUID: "session", State: v1alpha1.GrantIssuing, Revision: "115"}
	note(in.entry, v1alpha1.AnnotationGranted, r)
	note(in.host, v1alpha1.AnnotationGranted, r)
}

// TestTell holds what of a boot is told, and when.
func TestTell(t *testing.T) {
	at := func(ago time.Duration) *metav1.MicroTime { return &metav1.MicroTime{Time: noon.Add(-ago)} }
	before := func(in *inputs) { in.entry.Status.AtProvider = observation(*in, decide(*in, noon), noon) }
	stage := func(s v1alpha1.BootStage, tl v1alpha1.BootTimeline, report string) func(*inputs) {
		return func(in *inputs) {
			in.session.Status.Stage, in.session.Status.Timeline, in.session.Status.LastReport = s, tl, report
		}
	}
	cases := map[string]struct {
		reason string
		in     inputs
		stage  v1alpha1.BootStage
		report string
	}{
		"Passed":  {"A step of this moment is soon over.", world(granted, before, stage(v1alpha1.StageScript, v1alpha1.BootTimeline{Script: at(time.Second)}, "")), v1alpha1.StageWaiting, ""},
		"Stays":   {"One that a machine stays at is told.", world(granted, before, stage(v1alpha1.StageScript, v1alpha1.BootTimeline{Script: at(2 * time.Second)}, "")), v1alpha1.StageScript, ""},
		"Ahead":   {"So is one of a boot server whose clock is ahead.", world(granted, before, stage(v1alpha1.StageScript, v1alpha1.BootTimeline{Script: at(-time.Hour)}, "")), v1alpha1.StageScript, ""},
		"First":   {"Where nothing was told yet everything is.", world(granted, stage(v1alpha1.StageDHCP, v1alpha1.BootTimeline{DHCP: at(0)}, "")), v1alpha1.StageDHCP, ""},
		"Begins":  {"The begin of an install is told at once.", world(granted, before, consumed, stage(v1alpha1.StageInstalling, v1alpha1.BootTimeline{Began: at(0)}, "10%")), v1alpha1.StageInstalling, "10%"},
		"Reports": {"What is reported on the way is the session's to tell.", world(granted, consumed, stage(v1alpha1.StageInstalling, v1alpha1.BootTimeline{Began: at(0)}, "10%"), before, stage(v1alpha1.StageInstalling, v1alpha1.BootTimeline{Began: at(0)}, "20%")), v1alpha1.StageInstalling, "10%"},
		"Fails":   {"The last word of an install is told.", world(granted, consumed, stage(v1alpha1.StageInstalling, v1alpha1.BootTimeline{Began: at(0)}, "10%"), before, stage(v1alpha1.StageFailed, v1alpha1.BootTimeline{Began: at(0)}, "no disk")), v1alpha1.StageFailed, "no disk"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := observation(tc.in, decide(tc.in, noon), noon)
			if o.Stage != tc.stage || o.LastReport != tc.report {
				t.Errorf("%s\nobservation(...) tells %q, %q: want %q, %q", tc.reason, o.Stage, o.LastReport, tc.stage, tc.report)
			}
		})
	}
}
