package specdir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

const (
	// grantLife is how long a grant waits for its machine.
	grantLife = 24 * time.Hour
	// maxSteps about one machine at once. A new one takes five.
	maxSteps = 12
)

// next decides the next step about a grant, by the rules of a cluster: the state folder's record is the host's, that beside the specs
// is the entry's, and whether a machine is on nobody knows. Records that say different things are asked about, unless the state folder's
// is of a grant that is still on its way.
func next(f boot.IssueFacts) boot.Issue {
	h, e := f.HostGranted, f.EntryGranted
	decided := boot.NextIssue(f)
	switch decided.Step {
	case boot.StepRecordInstalled, boot.StepClear, boot.StepAsk, boot.StepWait:
		return decided
	case boot.StepNone:
		if decided.Reason != boot.IssueGranted {
			return decided
		}
	case boot.StepCreateSession, boot.StepRecordHost, boot.StepRecordEntry, boot.StepWithdraw, boot.StepGrant, boot.StepIssued, boot.StepAdopt,
		boot.StepReopen:
	}
	onItsWay := h != nil && h.Issuing && h.Generation == f.Generation
	if h != nil && e != nil && h.GrantID != e.GrantID && !onItsWay {
		return boot.Issue{Step: boot.StepAsk, Reason: boot.IssueForeignRecord}
	}
	return decided
}

// facts of a machine, as far as a folder knows them; digest is its plan's.
func (s *Source) facts(p *boot.Plan, r *session.Record, digest string) boot.IssueFacts {
	known := s.site.records(p)
	f := boot.IssueFacts{
		Now: s.o.Now(), EntryUID: p.EntryUID, HostUID: p.HostUID, Serial: p.Serial, HostOff: true,
		Generation: p.InstallGeneration, PlanDigest: digest, Installs: p.Mode == boot.ModeInstall,
		HostGranted: known.state.granted.record(), HostInstalled: known.state.installed.record(),
		EntryGranted: known.spec.granted.record(), EntryInstalled: known.spec.installed.record(),
	}
	if r != nil && r.Session.EntryUID == p.EntryUID {
		f.Session = &r.Session
	}
	return f
}

// installed is the generation that is known to be on a machine's disk, by either record or by the session. One is enough to send it
// there: that never installs anything.
func (s *Source) installed(p *boot.Plan, r *session.Record) (generation int64) {
	known := s.site.records(p)
	for _, i := range []*installLine{known.state.installed, known.spec.installed} {
		if i != nil && i.EntryUID == p.EntryUID && i.HostUID == p.HostUID {
			generation = max(generation, i.Generation)
		}
	}
	if r == nil || r.Session.EntryUID != p.EntryUID || r.Session.Installed == nil {
		return generation
	}
	if c := r.Session.Consumed; c != nil && c.HostUID != p.HostUID {
		return generation
	}
	return max(generation, r.Session.Installed.Generation)
}

// settle takes the steps that are due about one machine's grant.
func (s *Source) settle(p *boot.Plan) error {
	for range maxSteps {
		r := s.session(p.Entry)
		d := next(s.facts(p, r, p.Digest()))
		s.asks(p, r, d)
		if d.Step == boot.StepNone || d.Step == boot.StepWait || d.Step == boot.StepAsk {
			return nil
		}
		if err := s.take(p, r, d.Step); err != nil {
			return fmt.Errorf("cannot take step %s about the grant of %s: %w", d.Step, p.Entry, err)
		}
	}
	return nil
}

// withdraw takes an unused grant out of the session of an entry that doesn't ask for it any more: whoever lowers a generation, or makes the
// profile one that's live, means that nothing is to be installed, also not by a boot that has its script already.
func (s *Source) withdraw(p *boot.Plan) error {
	r := s.session(p.Entry)
	if r == nil || r.Session.EntryUID != p.EntryUID || r.Session.Grant == nil {
		return nil
	}
	g := r.Session.Grant
	if g.Generation <= p.InstallGeneration && p.Mode == boot.ModeInstall || r.Session.Consumed != nil && r.Session.Consumed.GrantID == g.ID {
		return nil
	}
	s.o.Logger.Warn("a grant that isn't asked for any more is taken back", "entry", p.Entry.String(), "reason", boot.IssueGenerationLowered,
		"granted", g.Generation, "asked", p.InstallGeneration)
	_, err := s.store.Grant(*r, nil)
	return err
}

// disown takes an unused grant out of a session that its records don't know, once all that is due about it was done.
func (s *Source) disown(p *boot.Plan) error {
	r := s.session(p.Entry)
	if !s.unvouched(p, r) {
		return nil
	}
	s.o.Logger.Warn("a grant that its records don't know is taken back", "entry", p.Entry.String(), "granted", r.Session.Grant.Generation, "asked", p.InstallGeneration)
	_, err := s.store.Grant(*r, nil)
	return err
}

// session gives an entry's session; nil where it has none.
func (s *Source) session(n boot.Name) *session.Record {
	if r, ok := s.store.Find(n); ok {
		return &r
	}
	return nil
}

// take does one step: one write, or one to each record.
func (s *Source) take(p *boot.Plan, r *session.Record, step boot.IssueStep) error {
	var err error
	state := s.site.records(p).state.granted
	switch step {
	case boot.StepCreateSession:
		if r != nil {
			return errors.New("the session of that name is of an earlier entry; remove its file")
		}
		_, err = s.store.Create(p.Entry, p.EntryUID, uuid.NewString())
	case boot.StepRecordHost:
		id, ierr := newID()
		if ierr != nil {
			return ierr
		}
		err = s.site.state.append(line{Granted: s.grantOf(p, id, r.Session.UID, true)})
	case boot.StepRecordEntry:
		err = s.site.writeSpec(line{Granted: s.grantOf(p, state.GrantID, state.SessionUID, false)})
	case boot.StepGrant:
		_, err = s.store.Grant(*r, &boot.Grant{
			ID: state.GrantID, HostUID: p.HostUID, EntryUID: p.EntryUID, Generation: p.InstallGeneration,
			PlanDigest: p.Digest(), Expires: s.o.Now().Add(grantLife),
		})
	case boot.StepIssued:
		err = s.site.state.append(line{Granted: s.grantOf(p, state.GrantID, state.SessionUID, false)})
	case boot.StepRecordInstalled:
		i := r.Session.Installed
		err = s.site.write(line{Installed: s.installOf(p, i.Generation, i.PlanDigest, i.At)})
	case boot.StepClear, boot.StepWithdraw:
		_, err = s.store.Grant(*r, nil)
	case boot.StepReopen, boot.StepAdopt, boot.StepNone, boot.StepWait, boot.StepAsk:
		err = errors.New("it's none that a folder knows of")
	}
	return err
}

func (s *Source) grantOf(p *boot.Plan, id, sessionUID string, issuing bool) *grantLine {
	return &grantLine{
		Entry: p.Entry.String(), EntryUID: p.EntryUID, HostUID: p.HostUID, MACs: p.MACs, Generation: p.InstallGeneration,
		GrantID: id, SessionUID: sessionUID, Issuing: issuing, At: s.o.Now().UTC(),
	}
}

func (s *Source) installOf(p *boot.Plan, generation int64, digest string, at time.Time) *installLine {
	return &installLine{
		Entry: p.Entry.String(), EntryUID: p.EntryUID, HostUID: p.HostUID, MACs: p.MACs, Generation: generation,
		PlanDigest: digest, Serial: p.Serial, At: at.UTC(),
	}
}

// newID of a grant: 16 hexadecimal digits.
func newID() (string, error) {
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("cannot make the id of a grant: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// asks keeps what only a person can decide, says it once, and takes an unused grant out of the session that is in doubt.
func (s *Source) asks(p *boot.Plan, r *session.Record, d boot.Issue) {
	before := s.asked[p.EntryUID]
	if d.Step != boot.StepAsk {
		if d.Step == boot.StepWait && before != d.Reason {
			s.o.Logger.Warn("nothing is granted", "entry", p.Entry.String(), "reason", d.Reason, "why", waits[d.Reason])
			s.asked[p.EntryUID] = d.Reason
			s.version++
			return
		}
		if d.Step != boot.StepWait && before != "" {
			delete(s.asked, p.EntryUID)
			s.version++
		}
		return
	}
	if r != nil && r.Session.Grant != nil && (r.Session.Consumed == nil || r.Session.Consumed.GrantID != r.Session.Grant.ID) {
		if _, err := s.store.Grant(*r, nil); err != nil {
			s.o.Logger.Error("a grant that is in doubt can't be taken back", "entry", p.Entry.String(), "error", err.Error())
		}
	}
	if before == d.Reason {
		return
	}
	s.asked[p.EntryUID] = d.Reason
	s.version++
	s.o.Logger.Warn("NeedsConfirmation: nothing is installed on this machine until a person has looked at it", "entry", p.Entry.String(),
		"reason", d.Reason, "why", questions[d.Reason], "do", confirmDo(p))
}

// questions are what was found, by the reason of a step.
var questions = map[string]string{ //nolint:gochecknoglobals // A table of sentences.
	boot.IssueForeignRecord: "its records are of another machine or entry, or say different things, as after a restored folder, or where a generation was raised after bootd was killed, or had a full disk, while it noted a grant",
	boot.IssueMissingRecord: "one of its two records of grants is gone, as after a lost state folder or a folder of specs that was made anew, or was never written, as where a disk was full or bootd was killed meanwhile",
	boot.IssueSessionLost:   "it was granted an install whose session is gone",
	boot.IssueGrantLost:     "it was granted an install that its session no longer knows, as where install.generation was lowered and put back",
}

var waits = map[string]string{ //nolint:gochecknoglobals // A table of sentences.
	boot.IssueGenerationLowered: "install.generation was lowered below what was granted; put it back, or raise it",
	boot.IssueGrantExpired:      "the grant has expired; raise install.generation",
}
