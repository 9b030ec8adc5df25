package boot

import (
	"errors"
	"time"
)

// MaxOpens is how many install scripts one grant serves before it ends in BootLoop.
const MaxOpens = 5

// A Grant is the permission for one destructive boot.
type Grant struct {
	ID         string
	HostUID    string
	EntryUID   string
	Generation int64
	PlanDigest string
	Expires    time.Time
}

// An Opened is one install script that was served, or asked for after the last one, by the nonce of the token in it.
type Opened struct {
	Nonce string
	At    time.Time
	By    string
}

// A Consumption says who used a grant, before the first destructive byte.
type Consumption struct {
	GrantID    string
	HostUID    string
	EntryUID   string
	Generation int64
	PlanDigest string
	Nonce      string
	At         time.Time
	By         string
}

// Covers says whether a session's consumption used a grant up: that grant, or another of its generation or an earlier one,
// which a restored provider may have issued anew under a new id.
func (c *Consumption) Covers(g *Grant) bool {
	return c != nil && (c.GrantID == g.ID || c.EntryUID == g.EntryUID && c.Generation >= g.Generation)
}

// A Result is how an install ended, by the machine's own report.
type Result struct {
	GrantID    string
	Generation int64
	PlanDigest string
	At         time.Time
	Message    string
}

// A Session is the record of one machine's boots: the provider's half (Grant, Revocation) and bootd's.
type Session struct {
	UID      string
	EntryUID string
	// Revision is the record's resourceVersion.
	Revision   string
	Grant      *Grant
	Revocation string

	OpenedGrantID string
	// Opened are the scripts that were served for it, and, as one more than MaxOpens, the boot that asked for another one: those before it have ended.
	Opened       []Opened
	Consumed     *Consumption
	Installed    *Result
	Failed       *Result
	Acknowledged string
}

// Refusals of a transition. Each is final for the token that was used.
var (
	// ErrRevoked says that the session was closed.
	ErrRevoked = errors.New("the session was revoked")
	// ErrNoGrant says that nothing is granted to this token.
	ErrNoGrant = errors.New("nothing is granted to this boot")
	// ErrExpired says that the grant came too late.
	ErrExpired = errors.New("the grant has expired")
	// ErrSuperseded says that a newer script was served, whose token counts.
	ErrSuperseded = errors.New("a newer boot script was served; this token counts no more")
	// ErrConsumed says that another boot used the grant.
	ErrConsumed = errors.New("the grant was used already")
	// ErrBootLoop says that the grant served too many scripts.
	ErrBootLoop = errors.New("the grant has served its last script")
)

// Open records that an install script with nonce, asked for by the token of exchange x, is about to be served for the session's grant. Where the grant has
// served its last one the session it gives beside ErrBootLoop is to be kept, too: the machine has begun again, and the boot before counts no more.
func Open(s Session, nonce string, x Exchange, by string, now time.Time) (Session, error) {
	switch {
	case s.Revocation != "":
		return s, ErrRevoked
	case s.Grant == nil:
		return s, ErrNoGrant
	case s.Consumed.Covers(s.Grant):
		return s, ErrConsumed
	case !now.Before(s.Grant.Expires):
		return s, ErrExpired
	case Outdated(s, nonce, x, now):
		return s, ErrSuperseded
	}
	opened := s.Opened
	if s.OpenedGrantID != s.Grant.ID {
		opened = nil
	}
	if len(opened) > MaxOpens {
		return s, ErrBootLoop
	}
	s.OpenedGrantID = s.Grant.ID
	s.Opened = append(append([]Opened(nil), opened...), Opened{Nonce: nonce, At: now, By: by})
	if len(s.Opened) > MaxOpens {
		return s, ErrBootLoop
	}
	return s, nil
}

// Served are the scripts of OpenedGrantID that went out.
func (s *Session) Served() []Opened { return s.Opened[:min(len(s.Opened), MaxOpens)] }

// Owns says whether a boot token is of the boot that used a grant of this session, and may go on.
func Owns(s Session, t Claims) error {
	switch {
	case s.Revocation != "":
		return ErrRevoked
	case s.Consumed == nil || s.Consumed.GrantID != t.GrantID || t.GrantID == "":
		return ErrNoGrant
	case s.Consumed.Nonce != t.Nonce:
		return ErrConsumed
	}
	return nil
}

// Heard says whether the boot of token t is heard: it used the grant, and no boot of a newer grant has begun since. Once one has, the machine isn't that
// boot any more, and what comes in its name is late, or somebody repeats it. A grant of an earlier generation isn't newer: a backup of etcd put it back.
func Heard(s Session, t Claims) error {
	if err := Owns(s, t); err != nil {
		return err
	}
	if g := s.Grant; g != nil && g.ID != t.GrantID && s.OpenedGrantID == g.ID && g.Generation >= s.Consumed.Generation {
		return ErrNoGrant
	}
	return nil
}

// Consume uses the session's grant for the boot of token t. Used by the same boot already, it changes
// nothing. Since grant and consumption are one object, written by compare-and-swap, revoking and
// consuming can't both win.
func Consume(s Session, t Claims, by string, now time.Time) (Session, error) {
	err := Owns(s, t)
	if !errors.Is(err, ErrNoGrant) {
		return s, err
	}
	switch {
	case s.Grant == nil || s.Grant.ID != t.GrantID || s.OpenedGrantID != s.Grant.ID || len(s.Opened) == 0:
		return s, ErrNoGrant
	case s.Consumed.Covers(s.Grant):
		return s, ErrConsumed
	case !now.Before(s.Grant.Expires):
		return s, ErrExpired
	case len(s.Opened) > MaxOpens:
		return s, ErrBootLoop
	case s.Opened[len(s.Opened)-1].Nonce != t.Nonce:
		return s, ErrSuperseded
	}
	g := s.Grant
	s.Consumed = &Consumption{
		GrantID: g.ID, HostUID: g.HostUID, EntryUID: g.EntryUID, Generation: g.Generation,
		PlanDigest: g.PlanDigest, Nonce: t.Nonce, At: now, By: by,
	}
	s.Failed = nil
	return s, nil
}

// Report records how the install of token t ended: installed, or failed with a message.
func Report(s Session, t Claims, installed bool, message string, now time.Time) (Session, error) {
	if err := Heard(s, t); err != nil {
		return s, err
	}
	if s.Installed != nil && s.Installed.GrantID == t.GrantID {
		return s, nil // Said already; a late failure doesn't unsay it.
	}
	c := s.Consumed
	r := &Result{GrantID: c.GrantID, Generation: c.Generation, PlanDigest: c.PlanDigest, At: now, Message: message}
	if installed {
		s.Installed, s.Failed = r, nil
		return s, nil
	}
	s.Failed = r
	return s, nil
}

// Reported says whether the boot that used a grant has said how its install ended.
func Reported(s Session, grantID string) bool {
	return s.Installed != nil && s.Installed.GrantID == grantID || s.Failed != nil && s.Failed.GrantID == grantID
}

// Restore writes a consumption that bootd's own log knows into a session that lacks it: the session
// comes from a restored etcd. It reports whether anything changed.
func Restore(s Session, log []Consumption) (Session, bool) {
	known := s.Consumed
	for _, c := range log { // In no order: what other bootds consumed comes when it's seen.
		if c.EntryUID == s.EntryUID && !newer(s.Consumed, c) {
			s.Consumed = &c
		}
	}
	return s, s.Consumed != known
}

// newer says whether what a session knows is c itself or later. Of one machine the generation tells, which never falls: the
// clocks of several bootds may differ.
func newer(known *Consumption, c Consumption) bool {
	switch {
	case known == nil:
		return false
	case known.GrantID == c.GrantID:
		return true
	case known.HostUID == c.HostUID && known.Generation != c.Generation:
		return known.Generation > c.Generation
	}
	return !known.At.Before(c.At)
}

// Acknowledge records that bootd has seen the revocation. It reports whether anything changed.
func Acknowledge(s Session) (Session, bool) {
	if s.Revocation == "" || s.Acknowledged == s.Revocation {
		return s, false
	}
	s.Acknowledged = s.Revocation
	return s, true
}
