package bootentry

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// observation is what the boot plane says of the machine.
func observation(in inputs, d decision, now time.Time) v1alpha1.BootEntryObservation {
	o := v1alpha1.BootEntryObservation{Plan: d.kept, InstalledGeneration: installedGeneration(in)}
	if d.plan != nil {
		o.Plan = bootspec.PlanStatus(*d.plan)
	}
	o.Installed = installedObservation(in)
	s := in.session
	if s == nil || s.Spec.EntryUID != string(in.entry.UID) {
		o.Stage = v1alpha1.StageWaiting
		return o
	}
	if g := s.Spec.Grant; g != nil && s.Spec.Revocation == nil && g.Generation > o.InstalledGeneration {
		o.Grant = g.DeepCopy()
		o.GrantConsumed = s.Status.Consumed != nil && s.Status.Consumed.GrantID == g.ID
	}
	tell(&o, in, now)
	return o
}

// installedObservation says what is on the disk: by the session that just saw it, else by the entry's own record.
func installedObservation(in inputs) *v1alpha1.InstalledObservation {
	r := v1alpha1.ReadRecord[v1alpha1.InstalledRecord](in.entry.Annotations, v1alpha1.AnnotationInstalled)
	if s := in.session; s != nil && s.Spec.EntryUID == string(in.entry.UID) && s.Status.Installed != nil && (r == nil || r.Generation <= s.Status.Installed.Generation) {
		i := s.Status.Installed
		at := metav1.NewTime(i.At.UTC().Truncate(time.Second))
		return &v1alpha1.InstalledObservation{Generation: i.Generation, PlanDigest: i.PlanDigest, At: &at}
	}
	if r == nil || r.EntryUID != string(in.entry.UID) {
		return nil
	}
	o := &v1alpha1.InstalledObservation{Generation: r.Generation, PlanDigest: r.PlanDigest}
	if at, err := time.Parse(time.RFC3339, r.At); err == nil {
		o.At = &metav1.Time{Time: at}
	}
	return o
}

// conditions of an entry beside Synced, all derived from what was read just now.
func conditions(in inputs, d decision, now time.Time) []xpv2.Condition {
	planned := v1alpha1.NewCondition(v1alpha1.ConditionPlanned, true, v1alpha1.ReasonAvailable, "")
	if d.problem != nil {
		planned = v1alpha1.NewCondition(v1alpha1.ConditionPlanned, false, d.problem.reason, d.problem.message)
	}
	served := servedCondition(in, d, now)
	installed := installedCondition(in, d, now)
	ready := xpv2.Available()
	for _, c := range []xpv2.Condition{planned, askCondition(in, d), served} {
		if c.Status == corev1.ConditionFalse {
			ready = xpv2.Unavailable()
			ready.Reason, ready.Message = c.Reason, c.Message
			break
		}
	}
	return []xpv2.Condition{planned, served, installed, bootedCondition(in), currentCondition(in, d), ready}
}

func askCondition(in inputs, d decision) xpv2.Condition {
	if !d.asks() {
		return v1alpha1.NewCondition(xpv2.TypeReady, true, v1alpha1.ReasonAvailable, "")
	}
	return v1alpha1.NewCondition(xpv2.TypeReady, false, v1alpha1.ReasonNeedsConfirmation, questionText(in, d.issue.Reason))
}

// questionText asks in one sentence: what was found, and what a person can do.
func questionText(in inputs, reason string) string {
	host, serial := "the machine", ""
	if in.host != nil {
		host, serial = in.host.Name, in.host.Status.AtProvider.Identity.Serial
	}
	found := map[string]string{
		boot.IssueHostOn:        "was found powered on without a record of what runs on it",
		boot.IssueForeignRecord: "carries records of another boot entry, as after a restored backup",
		boot.IssueMissingRecord: "lacks one of the two records of its last grant, which its host and this entry are to carry both,",
		boot.IssueSessionLost:   "was granted an install whose BootSession is gone",
		boot.IssueGrantLost:     "was granted an install that its BootSession no longer knows",
	}[reason]
	if in.host == nil {
		return fmt.Sprintf("%s %s; nothing is installed: delete this entry and make a new one, with install.generation 0 to leave the machine as it is, or above %d to install it", host, found, in.entry.Spec.ForProvider.Install.Generation)
	}
	if serial == "" {
		return fmt.Sprintf("%s %s; nothing is installed until a person has looked, and its BMC tells no serial number to confirm it by: its operator must power it off, and remove annotations %s and %s from the host and the entry",
			host, found, v1alpha1.AnnotationGranted, v1alpha1.AnnotationInstalled)
	}
	seen := ""
	if q := question(in.entry); q != nil && q.Seen != "" {
		seen = " (the present value was there before the question: remove it first)"
	}
	return fmt.Sprintf("%s %s; nothing is installed until a person has looked: to go on with this machine set confirm.serial to %q%s",
		host, found, serial, seen)
}

// servedCondition says whether a live boot server of the network has seen what it must serve.
func servedCondition(in inputs, d decision, now time.Time) xpv2.Condition {
	if d.plan == nil && d.kept == nil {
		return v1alpha1.NewCondition(v1alpha1.ConditionServed, false, v1alpha1.ReasonWaitingForBootEntry, "there is no plan to serve yet")
	}
	if in.network == nil {
		return v1alpha1.NewCondition(v1alpha1.ConditionServed, false, v1alpha1.ReasonNotFound, "the machine's BootNetwork isn't there")
	}
	need := neededRevision(in)
	live := 0
	for _, s := range in.servers {
		if !serves(s, in.network) || !s.Live(now) {
			continue
		}
		live++
		if revision(s.Status.SyncedRevision) >= need {
			return v1alpha1.NewCondition(v1alpha1.ConditionServed, true, v1alpha1.ReasonAvailable, "")
		}
	}
	msg := fmt.Sprintf("no boot server of BootNetwork %q has answered in the last %s; see that bootd runs on a node of that segment",
		in.network.Namespace+"/"+in.network.Name, v1alpha1.BootServerLife)
	if live > 0 {
		msg = fmt.Sprintf("no boot server of BootNetwork %q has seen the newest grant yet", in.network.Namespace+"/"+in.network.Name)
	}
	return v1alpha1.NewCondition(v1alpha1.ConditionServed, false, v1alpha1.ReasonWaitingForBootServer, msg)
}

func serves(s v1alpha1.BootServer, n *v1alpha1.BootNetwork) bool {
	for _, x := range s.Status.Networks {
		if x.Namespace == n.Namespace && x.Name == n.Name {
			return true
		}
	}
	return false
}

// neededRevision is the one at which the session first held the live grant; before that, the one at which the grant was decided: a
// boot server that has come so far knows whether the generation was used, and only then is a machine switched off for it. Revisions
// of one cluster compare as integers.
func neededRevision(in inputs) uint64 {
	r := decided(in)
	if in.session == nil || r == nil || r.EntryUID != string(in.entry.UID) || r.SessionUID != string(in.session.UID) {
		return 0 // A record of another cluster, as after a restore, holds revisions of that one.
	}
	held := in.session.Spec.Grant != nil && r.GrantID == in.session.Spec.Grant.ID
	switch {
	case held && r.State != v1alpha1.GrantIssued, held && r.Revision == "":
		return revision(in.session.ResourceVersion)
	case held, r.State != v1alpha1.GrantIssued:
		return revision(r.Revision)
	}
	return 0
}

func revision(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// raised is the field by which a person asks for an install: the claim's, where there is one to be asked by.
func raised(in inputs) string {
	if in.entry.Spec.ForProvider.Machine.HostClaimRef == nil {
		return "install.generation"
	}
	return "installGeneration"
}

func installedCondition(in inputs, d decision, now time.Time) xpv2.Condition {
	want := in.entry.Spec.ForProvider.Install.Generation
	if have := installedGeneration(in); have > 0 && have >= want {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, true, v1alpha1.ReasonAvailable, fmt.Sprintf("generation %d is installed", have))
	}
	if want == 0 {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, "NothingAsked", "install.generation is 0: the machine boots from its disk")
	}
	if d.asks() {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonNeedsConfirmation, questionText(in, d.issue.Reason))
	}
	if d.issue.Reason == boot.IssueGrantExpired {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonGrantExpired,
			fmt.Sprintf("the grant of generation %d expired before the machine used it; raise %s to ask again", want, raised(in)))
	}
	if usedAlready(in, want) && in.session.Status.Consumed.Nonce == "" {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonInstalledBefore, fmt.Sprintf(
			"the machine was installed for an earlier entry of its MACs, by generation %d, and no new entry installs it again: raise %s above that to have it installed", in.session.Status.Consumed.Generation, raised(in)))
	}
	if usedAlready(in, want) {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonInterrupted, fmt.Sprintf(
			"an install of generation %d was begun once and isn't known to have ended; nothing is installed twice by itself: raise %s to %d to install again", want, raised(in), want+1))
	}
	if d.issue.Reason == boot.IssuePowerUnknown {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonWaitingForHost,
			fmt.Sprintf("generation %d isn't granted yet: waiting for the BMC to say whether the machine is off", want))
	}
	if d.issue.Reason == boot.IssueHostNotOff {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, v1alpha1.ReasonWaitingForPowerOff,
			fmt.Sprintf("generation %d is granted once the machine was seen off", want))
	}
	return installing(in, want, d.timeout(), now)
}

// usedAlready says whether the generation was used by another grant than the one that stands, if any: no boot server honours that one.
func usedAlready(in inputs, want int64) bool {
	s := in.session
	if s == nil || s.Status.Consumed == nil {
		return false
	}
	c, g := s.Status.Consumed, s.Spec.Grant
	return c.EntryUID == string(in.entry.UID) && c.Generation >= want && (g == nil || g.ID != c.GrantID)
}

// installing says where an install is that has been granted, or how it ended. One that takes longer than limit, if that isn't 0, is
// said to, and nothing else: whoever writes a disk isn't disturbed.
func installing(in inputs, want int64, limit time.Duration, now time.Time) xpv2.Condition {
	c := func(r xpv2.ConditionReason, format string, args ...any) xpv2.Condition {
		return v1alpha1.NewCondition(v1alpha1.ConditionInstalled, false, r, fmt.Sprintf(format, args...))
	}
	s := in.session
	if s == nil || s.Spec.Grant == nil || s.Spec.Grant.Generation != want {
		return c(v1alpha1.ReasonWaitingForBootEntry, "generation %d isn't granted yet", want)
	}
	used := s.Status.Consumed != nil && s.Status.Consumed.GrantID == s.Spec.Grant.ID
	switch {
	case used && s.Status.Failed != nil && s.Status.Failed.GrantID == s.Spec.Grant.ID:
		return c(v1alpha1.ReasonInstallFailed, "the machine says that its install failed: %s; mend the cause and raise %s to %d", s.Status.Failed.Message, raised(in), want+1)
	case used && s.Status.StageReason == boot.DecidedConsumed:
		return c(v1alpha1.ReasonInterrupted, "the machine was reset after its install began, and isn't installed twice by itself; raise %s to %d to install again", raised(in), want+1)
	case used && s.Status.StageReason == boot.DecidedBootLoop:
		return c(v1alpha1.ReasonBootLoop, "the machine was sent to its disk again and again after its install began, and came back to the network each time: look at its console, and whether localBoot suits its firmware; then raise %s to %d to install again",
			raised(in), want+1)
	case used && limit > 0 && now.Sub(s.Status.Consumed.At.Time) > limit:
		return c(v1alpha1.ReasonInstallOverdue, "generation %d has been installing since %s, longer than the %s of its profile: look at the machine's console; it may still end, else raise %s to %d to install again",
			want, s.Status.Consumed.At.UTC().Format(time.RFC3339), limit, raised(in), want+1)
	case used && s.Status.StageReason == boot.ReasonSentToDisk:
		return c(v1alpha1.ReasonWaitingForDiskBoot, "the machine began again after its install, whose installer doesn't report, and was sent to its disk: generation %d counts as installed once a system was seen there that stays", want)
	case used:
		return c(v1alpha1.ReasonWaitingForInstall, "generation %d is being installed", want)
	case s.Status.OpenedGrantID == s.Spec.Grant.ID && len(s.Status.Opened) >= boot.MaxOpens:
		return c(v1alpha1.ReasonBootLoop, "the machine asked for its install script %d times and never began; last stage %s: look at its console, then raise %s to %d",
			boot.MaxOpens, s.Status.Stage, raised(in), want+1)
	case in.host == nil && s.Status.Consumed == nil && s.Status.StageReason == boot.DecidedConsumed:
		return c(v1alpha1.ReasonInstalledBefore, "when it booted last, the machine was known to have been installed for an earlier entry of its MACs, and no new entry installs it again: raise %s above the generation that it had then to have it installed", raised(in))
	case overtaken(in):
		return c(v1alpha1.ReasonWaitingForDHCP, "generation %d was granted anew after the machine had loaded its boot script, which counts no more: it installs when it boots from the network again; reset it if it doesn't by itself", want)
	case slices.Contains(unservable, xpv2.ConditionReason(s.Status.StageReason)):
		return c(xpv2.ConditionReason(s.Status.StageReason), "%s", s.Status.LastReport)
	}
	return c(v1alpha1.ReasonWaitingForDHCP, "generation %d is granted; waiting for the machine to boot from the network", want)
}

// unservable are bootd's reasons for holding a machine whose files it can't serve. Its last report says which, and what to do.
var unservable = []xpv2.ConditionReason{ //nolint:gochecknoglobals // A list of words.
	v1alpha1.ReasonDigestMismatch, v1alpha1.ReasonArtifactUnavailable, v1alpha1.ReasonArtifactNotAllowed,
}

// overtaken says whether the machine, since it was powered on, was given a script of another grant than the one that stands.
func overtaken(in inputs) bool {
	o, g := bootspec.Session(in.session).Served(), in.session.Spec.Grant
	if len(o) == 0 || in.session.Status.OpenedGrantID == g.ID || in.host == nil || in.host.Status.AtProvider.PoweredOnAt == nil {
		return false
	}
	return o[len(o)-1].At.After(in.host.Status.AtProvider.PoweredOnAt.Time)
}

func bootedCondition(in inputs) xpv2.Condition {
	s := in.session
	if s == nil || s.Status.Timeline.BootedFromDisk == nil {
		return v1alpha1.NewCondition(v1alpha1.ConditionBooted, false, v1alpha1.ReasonWaitingForDiskBoot, "the machine has not been seen booting from its disk")
	}
	return v1alpha1.NewCondition(v1alpha1.ConditionBooted, true, v1alpha1.ReasonAvailable, "")
}

func currentCondition(in inputs, d decision) xpv2.Condition {
	r := installRecord(in.entry.Annotations)
	if r == nil || r.EntryUID != string(in.entry.UID) || d.plan == nil || r.PlanDigest == d.plan.Digest() {
		return v1alpha1.NewCondition(v1alpha1.ConditionCurrent, true, v1alpha1.ReasonAvailable, "")
	}
	return v1alpha1.NewCondition(v1alpha1.ConditionCurrent, false, v1alpha1.ReasonOutdated, fmt.Sprintf(
		"generation %d was installed from another plan than what is written now; raise %s to %d to apply it", r.Generation, raised(in), in.entry.Spec.ForProvider.Install.Generation+1))
}
