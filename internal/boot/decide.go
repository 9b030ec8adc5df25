package boot

import "time"

// An Answer is what a machine is told to boot.
type Answer string

// Values of Answer.
const (
	// AnswerHold makes the machine wait and ask again.
	AnswerHold Answer = "Hold"
	// AnswerLocalDisk sends the machine to its disk.
	AnswerLocalDisk Answer = "LocalDisk"
	// AnswerInstall serves the install script, which opens the grant.
	AnswerInstall Answer = "Install"
	// AnswerLive serves the script of a machine that netboots each time.
	AnswerLive Answer = "Live"
)

// Reasons of a decision: one word for status, logs and metrics.
const (
	DecidedUnknown     = "UnknownMachine"
	DecidedLive        = "Live"
	DecidedNoSession   = "NoSession"
	DecidedRevoked     = "Revoked"
	DecidedInstalled   = "Installed"
	DecidedDisk        = "BootsFromDisk"
	DecidedNoGrant     = "NoGrant"
	DecidedStale       = "StaleGrant"
	DecidedExpired     = "GrantExpired"
	DecidedConsumed    = "GrantConsumed"
	DecidedBootLoop    = "BootLoop"
	DecidedClockSkew   = "ClockSkew"
	DecidedNotSynced   = "NotSynced"
	DecidedNoArtifacts = "NoArtifacts"
	DecidedGranted     = "Granted"
	// DecidedSuperseded: the token is of an earlier DHCP exchange than what the grant counts for. A new exchange makes one that's good.
	DecidedSuperseded = "Superseded"
	// DecidedPlaceOnly: its machine is named by its switch port alone, by which nothing is installed.
	DecidedPlaceOnly = "NamedByPortAlone"
)

// ReasonSentToDisk is of a machine whose installer never reports, that has begun again since and was sent to its disk: whether a system is
// there will be seen.
const ReasonSentToDisk = "SentToDisk"

// Facts are all that a decision at serve time rests on.
type Facts struct {
	Now     time.Time
	Plan    *Plan
	Session *Session
	// Log is what this bootd saw consumed, from its own fsynced log.
	Log []Consumption
	// Synced says that the API answers, and that every live BootServer of the network has compared
	// the session with its log. Without it no new install starts.
	Synced bool
	// Skewed says that Now isn't what time it is for others: nobody knows then by it whether a grant has expired.
	Skewed bool
	Arch   Arch
}

// A Decision is the answer, and why.
type Decision struct {
	Answer Answer
	Reason string
}

// Decide says what a machine is told. Only a live, unconsumed grant for exactly this host, entry,
// generation and plan gives Install; whatever is missing, stale or in doubt gives the disk or hold.
func Decide(f Facts) Decision {
	if f.Plan == nil {
		return Decision{AnswerHold, DecidedUnknown}
	}
	if f.Session != nil && f.Session.Revocation != "" {
		return Decision{AnswerHold, DecidedRevoked}
	}
	if f.Plan.Mode == ModeLive {
		return decideLive(f)
	}
	if f.Plan.InstallGeneration == 0 {
		return otherwise(f.Plan, DecidedDisk)
	}
	return decideInstall(f)
}

func decideLive(f Facts) Decision {
	if _, ok := f.Plan.For(f.Arch); !ok {
		return Decision{AnswerHold, DecidedNoArtifacts}
	}
	return Decision{AnswerLive, DecidedLive}
}

func decideInstall(f Facts) Decision {
	p, s := f.Plan, f.Session
	if p.PlacedAlone() {
		return Decision{AnswerHold, DecidedPlaceOnly} // No such plan is made: this is the last door.
	}
	if p.InstalledGeneration >= p.InstallGeneration {
		return Decision{AnswerLocalDisk, DecidedInstalled}
	}
	if s == nil {
		return Decision{AnswerHold, DecidedNoSession}
	}
	if s.Installed != nil && s.Installed.Generation >= p.InstallGeneration {
		return Decision{AnswerLocalDisk, DecidedInstalled}
	}
	g := s.Grant
	if g == nil {
		return otherwise(p, DecidedNoGrant)
	}
	if consumed(g, s, f.Log) {
		return otherwise(p, DecidedConsumed)
	}
	if g.HostUID != p.HostUID || g.EntryUID != p.EntryUID || g.Generation != p.InstallGeneration || g.PlanDigest != p.Digest() {
		return Decision{AnswerHold, DecidedStale}
	}
	if f.Skewed {
		return Decision{AnswerHold, DecidedClockSkew}
	}
	if !f.Now.Before(g.Expires) {
		return otherwise(p, DecidedExpired)
	}
	if s.OpenedGrantID == g.ID && len(s.Opened) >= MaxOpens {
		return Decision{AnswerHold, DecidedBootLoop}
	}
	if _, ok := p.For(f.Arch); !ok {
		return Decision{AnswerHold, DecidedNoArtifacts}
	}
	if !f.Synced {
		return Decision{AnswerHold, DecidedNotSynced}
	}
	return Decision{AnswerInstall, DecidedGranted}
}

// consumed says whether a grant was used, by the session or by this bootd's own log. The log knows a
// generation as well as an id: a restored provider may grant the same generation anew.
func consumed(g *Grant, s *Session, log []Consumption) bool {
	if s.Consumed.Covers(g) {
		return true
	}
	for _, c := range log {
		if c.GrantID == g.ID || c.HostUID == g.HostUID && c.EntryUID == g.EntryUID && c.Generation >= g.Generation {
			return true
		}
	}
	return false
}

func otherwise(p *Plan, reason string) Decision {
	if p.Otherwise == OtherwiseHold {
		return Decision{AnswerHold, reason}
	}
	return Decision{AnswerLocalDisk, reason}
}
