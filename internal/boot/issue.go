package boot

import "time"

// A GrantRecord is the provider's own memory of the newest grant, kept on entry and host where a backup
// that loses status keeps it.
type GrantRecord struct {
	EntryUID   string
	HostUID    string
	Generation int64
	GrantID    string
	SessionUID string
	// Issuing is set before the grant is written and cleared after it.
	Issuing bool
}

// An InstallRecord is the provider's own memory of what is installed.
type InstallRecord struct {
	EntryUID   string
	HostUID    string
	Generation int64
	PlanDigest string
	Serial     string
}

// IssueFacts are all that the provider's next step about a grant rests on.
type IssueFacts struct {
	Now      time.Time
	EntryUID string
	HostUID  string
	Serial   string
	// Raw says that the machine is named by its MACs: there's no host to keep a record or a power state.
	Raw bool
	// Generation that is asked for, and PlanDigest of what would be installed; "" while incomplete.
	Generation int64
	PlanDigest string
	// Installs says that the plan's mode is Install.
	Installs bool
	// Closing says that the claim is being released, or isn't bound.
	Closing bool

	Session        *Session
	EntryGranted   *GrantRecord
	HostGranted    *GrantRecord
	EntryInstalled *InstallRecord
	HostInstalled  *InstallRecord

	// HostOn and HostOff are what the BMC said; both false where it isn't known. A host that is Off, but
	// is asked to be on, is neither.
	HostOn  bool
	HostOff bool
	// PoweredOn says that the host was powered on for this generation.
	PoweredOn bool
	// Answered says that a person confirmed the machine's serial number since the question arose.
	Answered bool
}

// An IssueStep is the provider's next step about a grant: one write, or none.
type IssueStep string

// Values of IssueStep.
const (
	// StepNone: nothing is to be done.
	StepNone IssueStep = "None"
	// StepWait: something that isn't ours is missing.
	StepWait IssueStep = "Wait"
	// StepAsk: only a person can go on.
	StepAsk IssueStep = "Ask"
	// StepCreateSession makes the session.
	StepCreateSession IssueStep = "CreateSession"
	// StepRecordHost writes a new GrantRecord, Issuing, on the host: with it the grant is decided.
	StepRecordHost IssueStep = "RecordHost"
	// StepRecordEntry copies the host's GrantRecord to the entry.
	StepRecordEntry IssueStep = "RecordEntry"
	// StepWithdraw takes an unused grant out of the session, before its machine is switched off for another.
	StepWithdraw IssueStep = "Withdraw"
	// StepGrant writes the recorded grant into the session.
	StepGrant IssueStep = "Grant"
	// StepIssued clears Issuing on the host, or on the entry where there's none.
	StepIssued IssueStep = "Issued"
	// StepRecordInstalled writes the session's install to entry and host.
	StepRecordInstalled IssueStep = "RecordInstalled"
	// StepAdopt writes the host's install, confirmed by a person, as this entry's own.
	StepAdopt IssueStep = "Adopt"
	// StepClear takes a used grant out of the session.
	StepClear IssueStep = "Clear"
	// StepReopen takes back the revocation of a session whose entry is bound again.
	StepReopen IssueStep = "Reopen"
)

// Reasons of a step.
const (
	IssueGranted           = "Granted"
	IssueInstalled         = "Installed"
	IssueInstalling        = "Installing"
	IssueNothingAsked      = "NothingAsked"
	IssueGrantExpired      = "GrantExpired"
	IssueHostOn            = "HostOn"
	IssueHostNotOff        = "HostNotOff"
	IssuePowerUnknown      = "PowerUnknown"
	IssueForeignRecord     = "ForeignRecord"
	IssueMissingRecord     = "MissingRecord"
	IssueSessionLost       = "SessionLost"
	IssueGrantLost         = "GrantLost"
	IssueGenerationLowered = "GenerationLowered"
)

// An Issue is a step, and why.
type Issue struct {
	Step   IssueStep
	Reason string
}

// NextIssue decides the provider's next step about a grant. It grants once for a generation that was
// raised, on a machine whose records say that it's ours or that is new and off; all else asks.
func NextIssue(f IssueFacts) Issue {
	if installedHere(f) {
		if next := settleInstalled(f); next.Step != StepNone {
			return next
		}
	}
	switch {
	case f.Closing || !f.Installs || f.Generation == 0 || f.PlanDigest == "":
		return Issue{StepNone, IssueNothingAsked}
	case f.Session != nil && f.Session.Revocation != "":
		return Issue{StepReopen, IssueGranted}
	case recordInstalled(f):
		return Issue{StepNone, IssueInstalled}
	case ours(f.HostGranted, f) && f.HostGranted.Issuing && f.HostGranted.Generation == f.Generation &&
		(f.EntryGranted == nil || f.EntryGranted.GrantID != f.HostGranted.GrantID):
		return Issue{StepRecordEntry, IssueGranted}
	}
	next := nextByRecord(f)
	if next.Step == StepAsk && f.Answered {
		return answered(f)
	}
	return next
}

// installedHere says whether the session knows an install of this entry on this host. Of the host of an
// earlier binding it says nothing about this one's disk.
func installedHere(f IssueFacts) bool {
	s := f.Session
	return s != nil && s.Installed != nil && s.EntryUID == f.EntryUID && (s.Consumed == nil || s.Consumed.HostUID == f.HostUID)
}

// settleInstalled brings the records up to what the session knows as installed. The host's is written
// before the entry's: a host that lacks what its entry has was given back since, and isn't written to.
func settleInstalled(f IssueFacts) Issue {
	i := f.Session.Installed
	recorded := recordOfEntry(f)
	stale := recorded == nil || recorded.Generation < i.Generation ||
		!f.Raw && f.HostInstalled != nil && f.HostInstalled.EntryUID == f.EntryUID && f.HostInstalled.Generation < i.Generation
	if !f.Closing && f.HostUID != "" && stale {
		return Issue{StepRecordInstalled, IssueInstalled}
	}
	if g := f.Session.Grant; g != nil && g.Generation <= i.Generation {
		return Issue{StepClear, IssueInstalled}
	}
	return Issue{StepNone, IssueInstalled}
}

// recordOfEntry is the entry's record of an install of its own on this host.
func recordOfEntry(f IssueFacts) *InstallRecord {
	if r := f.EntryInstalled; r != nil && r.EntryUID == f.EntryUID && r.HostUID == f.HostUID {
		return r
	}
	return nil
}

// recordInstalled needs both halves: a host that has none was given back, and may have been another's.
func recordInstalled(f IssueFacts) bool {
	r := recordOfEntry(f)
	return r != nil && r.Generation >= f.Generation &&
		(f.Raw || f.HostInstalled != nil && f.HostInstalled.EntryUID == f.EntryUID)
}

func ours(r *GrantRecord, f IssueFacts) bool {
	return r != nil && r.EntryUID == f.EntryUID && r.HostUID == f.HostUID
}

// foreign says that a host carries a record of another entry, or of what was another host.
func foreign(f IssueFacts) bool {
	return f.HostGranted != nil && !ours(f.HostGranted, f) || f.HostInstalled != nil && f.HostInstalled.EntryUID != f.EntryUID
}

func nextByRecord(f IssueFacts) Issue {
	rec := f.EntryGranted
	host := f.HostGranted
	if f.Raw {
		host = rec
	}
	switch {
	case rec == nil && !f.Raw && foreign(f):
		return Issue{StepAsk, IssueForeignRecord}
	case rec == nil && (host != nil || f.HostInstalled != nil && !f.Raw || f.EntryInstalled != nil):
		return Issue{StepAsk, IssueMissingRecord}
	case rec == nil:
		return nextNew(f)
	case !ours(rec, f), host != nil && !ours(host, f):
		return Issue{StepAsk, IssueForeignRecord}
	case host == nil:
		return Issue{StepAsk, IssueMissingRecord}
	case rec.Generation > f.Generation:
		return Issue{StepWait, IssueGenerationLowered}
	case rec.Generation < f.Generation:
		return decideGrant(f)
	}
	return nextOfGeneration(f, rec)
}

// nextNew is for a machine without any record: it's new, if it's off.
func nextNew(f IssueFacts) Issue {
	switch {
	case f.Raw || f.HostOff:
		return decideGrant(f)
	case f.HostOn:
		return Issue{StepAsk, IssueHostOn}
	}
	return Issue{StepWait, IssuePowerUnknown}
}

// decideGrant is reached once a grant may be decided: it needs a session to go to.
func decideGrant(f IssueFacts) Issue {
	if f.Session == nil {
		return Issue{StepCreateSession, IssueGranted}
	}
	return Issue{StepRecordHost, IssueGranted}
}

func nextOfGeneration(f IssueFacts, rec *GrantRecord) Issue {
	s := f.Session
	if s == nil || s.UID != rec.SessionUID {
		return Issue{StepAsk, IssueSessionLost}
	}
	issuing := rec.Issuing
	if !f.Raw && f.HostGranted.GrantID == rec.GrantID {
		issuing = f.HostGranted.Issuing // The host's record decides; the entry's may lag.
	}
	used := s.Consumed != nil && s.Consumed.EntryUID == f.EntryUID && s.Consumed.Generation >= f.Generation
	holds := s.Grant != nil && s.Grant.ID == rec.GrantID
	switch {
	case issuing && !holds && !used:
		return place(f)
	case issuing:
		return Issue{StepIssued, IssueGranted}
	case used:
		return Issue{StepNone, IssueInstalling}
	case !holds:
		return Issue{StepAsk, IssueGrantLost}
	case !f.Now.Before(s.Grant.Expires) && f.PoweredOn:
		return Issue{StepWait, IssueGrantExpired}
	case s.Grant.PlanDigest != f.PlanDigest, !f.Now.Before(s.Grant.Expires):
		return decideGrant(f)
	}
	return Issue{StepNone, IssueGranted}
}

// loading is how long a machine may take from its boot script to the first use of its grant.
const loading = 15 * time.Minute

// place puts a decided grant into its session once the host is off: a machine that happens to boot just
// then would open it, and be cut off in its install when it's switched off. Another grant that is still
// there goes first, so that it can't be used up meanwhile either. A host that was started for this very
// generation isn't switched off again, unless it may be loading by a script that counts no more.
func place(f IssueFacts) Issue {
	s := f.Session
	switch {
	case f.Raw || f.HostOff || f.PoweredOn && !inScript(s, f.Now):
		return Issue{StepGrant, IssueGranted}
	case s.Grant != nil:
		return Issue{StepWithdraw, IssueHostNotOff}
	}
	return Issue{StepWait, IssueHostNotOff}
}

// inScript says whether a machine was given an install script so lately that it may still run it. One
// that was given it long ago may run anything by now, and isn't reset for it.
func inScript(s *Session, now time.Time) bool {
	served := s.Served()
	return len(served) > 0 && now.Sub(served[len(served)-1].At) < loading
}

// answered goes on after a person confirmed the machine. A machine that is known to hold an install of
// this generation is taken over as it is: a confirmation says which machine is meant, and isn't consent
// to lose what runs on it. Raising the generation is.
func answered(f IssueFacts) Issue {
	for _, r := range []*InstallRecord{f.EntryInstalled, f.HostInstalled} {
		if r != nil && r.Serial == f.Serial && r.Generation >= f.Generation {
			return Issue{StepAdopt, IssueInstalled}
		}
	}
	return decideGrant(f)
}
