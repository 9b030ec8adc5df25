package bootentry

import (
	"net/netip"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// step is one write of an entry's client.
type step string

const (
	stepNone     step = ""
	stepCopyData step = "CopyData"
	// stepQuestion opens, renews or closes the question behind NeedsConfirmation.
	stepQuestion step = "Question"
	stepIssue    step = "Issue"
	// stepDeclined tells of an address that the machine declined.
	stepDeclined step = "Declined"
)

// decision is what an entry serves, and its client's next step.
type decision struct {
	// plan that is served; kept from before where problem says that it can't be made anew.
	plan    *boot.Plan
	kept    *v1alpha1.Plan
	problem *problem

	step     step
	issue    boot.Issue
	question *v1alpha1.QuestionRecord
	// declined is what is to be told of.
	declined *v1alpha1.DeclinedAddress
}

// asks says whether only a person can go on.
func (d decision) asks() bool { return d.issue.Step == boot.StepAsk }

// decide is pure: inputs in, the plan and the next step out.
func decide(in inputs, now time.Time) decision {
	d := decision{}
	d.plan, d.problem = resolve(in)
	if d.problem != nil {
		d.kept = keptPlan(in, *d.problem)
	}
	facts := issueFacts(in, d.plan, now)
	d.issue = boot.NextIssue(facts)
	if asked := d.issue; asked.Step == boot.StepAsk {
		here := answered(in, asked.Reason)
		facts.Answered = here || claimAnswered(in, asked.Reason)
		d.issue = boot.NextIssue(facts)
		if !here && d.issue.Step != boot.StepAdopt {
			d.issue = asked // Which machine is meant was told to the claim, but nobody said that it may be installed.
		}
	}
	d.question = nextQuestion(in, d)
	switch {
	case d.problem == nil && !copiedWell(in):
		d.step = stepCopyData
	case !sameQuestion(question(in.entry), d.question):
		d.step = stepQuestion
	case d.issue.Step != boot.StepNone && d.issue.Step != boot.StepWait && d.issue.Step != boot.StepAsk:
		d.step = stepIssue
	case untold(in) != nil:
		d.step, d.declined = stepDeclined, untold(in)
	}
	return d
}

// keptPlan goes on serving a machine that is still the entry's own, while something that only an
// install needs is missing. It never installs: nothing is asked for by it. What another has isn't kept.
func keptPlan(in inputs, lost problem) *v1alpha1.Plan {
	old := in.entry.Status.AtProvider.Plan
	if old == nil || old.EntryUID != string(in.entry.UID) || old.HostUID != hostUID(in) ||
		slices.Contains(old.MACs, lost.mac) || lost.address != "" && slices.Contains(addressesIn(old.Network), lost.address) {
		return nil
	}
	if in.entry.Spec.ForProvider.Machine.HostClaimRef != nil && !bound(in) {
		return nil
	}
	p := old.DeepCopy()
	if !stillNamed(in, p.Network.Address) {
		return nil
	}
	if six := p.Network.IPv6; six != nil && !stillNamed(in, six.Address) {
		p.Network.IPv6 = nil
	}
	switch g := installedGeneration(in); {
	case g < p.InstallGeneration:
		p.Otherwise = v1alpha1.OtherwiseHold
	case g > 0 && g >= in.entry.Spec.ForProvider.Install.Generation:
		p.Otherwise = in.entry.Spec.ForProvider.Otherwise // A plan that was kept while its install still ran says Hold.
	}
	p.InstallGeneration = 0
	if lost.port != nil && p.Port != nil && *p.Port == *lost.port {
		if p.Port = nil; len(p.MACs) == 0 {
			return nil
		}
	}
	return p
}

// stillNamed says whether an address of an earlier plan is one that the entry names now. Another one that's still to come changes nothing.
func stillNamed(in inputs, address string) bool {
	was, err := netip.ParsePrefix(address)
	return err == nil && slices.ContainsFunc(addressTexts(in), func(s string) bool {
		is, prob := bootspec.Address(s)
		return prob == nil && is.Addr() == was.Addr()
	})
}

func issueFacts(in inputs, plan *boot.Plan, now time.Time) boot.IssueFacts {
	e := in.entry
	f := boot.IssueFacts{
		Now: now, EntryUID: string(e.UID), HostUID: hostUID(in), Generation: e.Spec.ForProvider.Install.Generation,
		Raw:          e.Spec.ForProvider.Machine.HostClaimRef == nil,
		EntryGranted: grantRecord(e.Annotations), EntryInstalled: installRecord(e.Annotations),
		Closing: closing(in),
	}
	if s := in.session; s != nil && s.Spec.EntryUID == string(e.UID) && s.DeletionTimestamp == nil {
		f.Session = bootspec.Session(s)
	}
	if plan != nil {
		f.PlanDigest, f.Installs = plan.Digest(), plan.Mode == boot.ModeInstall
	}
	if h := in.host; h != nil {
		f.Serial = h.Status.AtProvider.Identity.Serial
		f.HostGranted, f.HostInstalled = grantRecord(h.Annotations), installRecord(h.Annotations)
		f.HostOn = h.Status.AtProvider.Power == v1alpha1.PoweredOn
		f.HostOff = h.Status.AtProvider.Power == v1alpha1.PoweredOff && h.Spec.ForProvider.Power != v1alpha1.PoweredOn && seen(h)
	}
	if in.claim != nil {
		r := v1alpha1.ReadRecord[v1alpha1.BootRecord](in.claim.Annotations, v1alpha1.AnnotationBoot)
		f.PoweredOn = r != nil && r.EntryUID == f.EntryUID && r.HostUID == f.HostUID && r.Generation >= f.Generation
	}
	return f
}

// seen says whether the BMC was asked since the host's spec last changed, which the binding does. What a status said before is no
// evidence of a machine that is off: it may be from a restored backup, or older than a switch on the machine's front.
func seen(h *v1alpha1.RedfishHost) bool {
	s := h.GetCondition(xpv2.TypeSynced)
	return s.Status == corev1.ConditionTrue && s.ObservedGeneration >= h.Generation &&
		h.GetCondition(v1alpha1.ConditionReachable).Status == corev1.ConditionTrue
}

// closing says whether nothing may be granted: entry or claim are going, or the claim isn't bound.
func closing(in inputs) bool {
	if in.entry.DeletionTimestamp != nil {
		return true
	}
	if in.entry.Spec.ForProvider.Machine.HostClaimRef == nil {
		return false
	}
	return !bound(in) || in.claim.DeletionTimestamp != nil || in.host.DeletionTimestamp != nil
}

func question(e *v1alpha1.BootEntry) *v1alpha1.QuestionRecord {
	return v1alpha1.ReadRecord[v1alpha1.QuestionRecord](e.Annotations, v1alpha1.AnnotationQuestion)
}

// answered says whether a person confirmed the machine since the question arose. A confirmation that
// was there before, such as one restored with the entry, doesn't count.
func answered(in inputs, reason string) bool {
	if in.host == nil {
		return false
	}
	serial := in.host.Status.AtProvider.Identity.Serial
	c, q := in.entry.Spec.ForProvider.Confirm, question(in.entry)
	return serial != "" && c != nil && c.Serial == serial && q != nil && q.OwnerUID == string(in.entry.UID) &&
		q.Generation == in.entry.Spec.ForProvider.Install.Generation && q.Reason == reason && q.Seen != c.Serial
}

// claimAnswered says whether the claim of a restored pair has asked already which machine is meant, and was told.
func claimAnswered(in inputs, reason string) bool {
	if in.host == nil || in.claim == nil || reason != boot.IssueForeignRecord {
		return false
	}
	q, serial := v1alpha1.ReadRecord[v1alpha1.QuestionRecord](in.claim.Annotations, v1alpha1.AnnotationQuestion), in.host.Status.AtProvider.Identity.Serial
	return serial != "" && q != nil && q.OwnerUID == string(in.claim.UID) && q.Answered == serial
}

// nextQuestion is the question that should stand on the entry. An answered one stands until the step
// that it allowed has been taken.
func nextQuestion(in inputs, d decision) *v1alpha1.QuestionRecord {
	old := question(in.entry)
	confirmed := ""
	if c := in.entry.Spec.ForProvider.Confirm; c != nil {
		confirmed = c.Serial
	}
	if !d.asks() {
		if old != nil && answeredStep(d.issue.Step) {
			return old
		}
		return nil
	}
	q := &v1alpha1.QuestionRecord{
		OwnerUID: string(in.entry.UID), Generation: in.entry.Spec.ForProvider.Install.Generation,
		Reason: d.issue.Reason, Seen: confirmed,
	}
	if old == nil || old.OwnerUID != q.OwnerUID || old.Generation != q.Generation || old.Reason != q.Reason {
		return q
	}
	if confirmed != "" {
		q.Seen = old.Seen
	}
	return q
}

// timeout is how long the profile gives an install; 0: as long as it takes.
func (d decision) timeout() time.Duration {
	switch {
	case d.plan != nil:
		return d.plan.InstallTimeout
	case d.kept != nil:
		return time.Duration(d.kept.InstallTimeoutSeconds) * time.Second
	}
	return 0
}

func answeredStep(s boot.IssueStep) bool {
	switch s {
	case boot.StepCreateSession, boot.StepRecordHost, boot.StepRecordEntry, boot.StepAdopt:
		return true
	case boot.StepNone, boot.StepWait, boot.StepAsk, boot.StepWithdraw, boot.StepGrant, boot.StepIssued, boot.StepRecordInstalled,
		boot.StepClear, boot.StepReopen:
	}
	return false
}

func sameQuestion(a, b *v1alpha1.QuestionRecord) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
