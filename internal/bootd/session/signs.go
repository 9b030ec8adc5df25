package session

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Signs speak for an install whose installer never says that it's done. None of them is enough: all together, in this order, and a machine
// that stays where it is for soonAfter are.
type Signs struct {
	// Given is when the boot that used the grant had its user data whole.
	Given time.Time
	// SentToDisk is when the newest boot since then was sent to its disk; zero while it's on its way to being told.
	SentToDisk time.Time
	// System is when a system asked for an address since then.
	System time.Time
	// Returns counts how often the machine came back to the network after it was sent to its disk.
	Returns int64
}

// inferred is what a session says of an install that nobody reported.
const inferred = "its installer doesn't report; the machine had its user data, began again, was sent to its disk, and a system stayed there"

// given notes data that the boot which used the grant was given whole.
func given(s boot.Session, p *Progress, x Sighting) {
	if x.Silent && situationOf(s) == installing && x.GrantID == s.Consumed.GrantID && p.Signs.Given.IsZero() {
		p.Signs.Given = x.At
	}
}

// see takes one sighting of a machine into account whose install hasn't ended. A boot that begins undoes what was seen of the one before: a
// machine that is sent to an empty disk comes back, again and again, and is never taken for an installed one. What is older than what
// it would undo, since another bootd wrote it late, undoes nothing; and what is older than being sent to the disk is no sign of it.
func (s Signs) see(x Sighting) Signs {
	switch x.Kind { //nolint:exhaustive // The others say nothing of a disk.
	case SawFirmwareDHCP:
		if s.SentToDisk.IsZero() || x.At.Before(s.SentToDisk) {
			return s
		}
		s.SentToDisk, s.System = time.Time{}, time.Time{}
		s.Returns++
	case SawScript:
		if x.At.Before(s.SentToDisk) || !s.SentToDisk.IsZero() && !x.Exchange.IsZero() && !x.Exchange.After(s.SentToDisk) {
			return s // By the second: it's the script that sent it there, asked for again. A machine that came back has asked for an address before.
		}
		s.SentToDisk, s.System = time.Time{}, time.Time{}
		if x.Disk && x.Reason == boot.DecidedConsumed && !s.Given.IsZero() && x.At.After(s.Given) {
			s.SentToDisk = x.At
		}
	case SawSystemDHCP:
		if s.System.IsZero() && !s.SentToDisk.IsZero() && x.At.After(s.SentToDisk) {
			s.System = x.At
		}
	}
	return s
}

// reason says where such a machine is, in the place of what it was last told.
func (s Signs) reason(told string) string {
	switch {
	case s.Returns >= loopReturns:
		return boot.DecidedBootLoop
	case !s.SentToDisk.IsZero():
		return boot.ReasonSentToDisk
	}
	return told
}

// settlesAt says when an install of a silent installer counts as done, if nothing else is seen until then; false: nothing speaks for it.
func settlesAt(r Record) (time.Time, bool) {
	s := r.Progress.Signs
	if r.Session.Revocation != "" || situationOf(r.Session) != installing || s.Given.IsZero() || s.SentToDisk.IsZero() || s.System.IsZero() {
		return time.Time{}, false
	}
	return s.System.Add(soonAfter), true
}

// stay is how long a machine has stayed where it is, by this bootd's own clock: since it has known these signs.
type stay struct {
	signs Signs
	since time.Time
}

// same compares times as instants: those of a session are read with another location.
func (s Signs) same(o Signs) bool {
	return s.Given.Equal(o.Given) && s.SentToDisk.Equal(o.SentToDisk) && s.System.Equal(o.System) && s.Returns == o.Returns
}

// watches begins to count how long a machine stays, or goes on, and says from when on its install counts as done. A bootd that has just
// started has listened to nobody, and begins. The caller holds the lock.
func (m *Manager) watches(n boot.Name, s Signs) time.Time {
	x, ok := m.stays[n]
	if !ok || !x.signs.same(s) {
		x = stay{signs: s, since: m.o.Now()}
		m.stays[n] = x
	}
	return x.since.Add(soonAfter)
}

// stayed says whether this bootd has listened for long enough since it knows the signs of a record, and nothing came.
func (m *Manager) stayed(r Record) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	x, ok := m.stays[r.Name]
	return ok && x.signs.same(r.Progress.Signs) && m.o.Now().Sub(x.since) >= soonAfter
}

// unsure begins to count anew: the API couldn't be asked, and another bootd may have seen what nobody could write.
func (m *Manager) unsure(n boot.Name) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x, ok := m.stays[n]
	if !ok {
		return
	}
	x.since = m.o.Now()
	m.stays[n] = x
	if c, ok := m.chores[n]; ok && c.settles {
		c.due = x.since.Add(soonAfter)
		m.chores[n] = c
	}
}

// conclude ends an install by its signs, once it's time.
func conclude(r Record, now time.Time) Record {
	at, ok := settlesAt(r)
	if !ok || now.Before(at) {
		return r
	}
	c, p := r.Session.Consumed, &r.Progress
	r.Session.Installed = &boot.Result{GrantID: c.GrantID, Generation: c.Generation, PlanDigest: c.PlanDigest, At: p.Signs.System, Message: inferred}
	p.Timeline.Installed, p.Timeline.BootedFromDisk = p.Signs.System, p.Signs.System
	p.Stage, p.Reason = boot.StageBootedFromDisk, boot.DecidedInstalled
	return r
}
