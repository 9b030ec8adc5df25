package specdir

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// turn does what is due about grants, and publishes what came of it.
func (s *Source) turn() {
	s.note()
	s.site.look()
	why, installs := s.site.installs()
	if s.state.Load() == nil && len(s.folder.files) == 0 && s.said[""] != "" {
		s.confirm(s.said[""])
		return // Nothing was read yet: what an earlier life knew is served.
	}
	confirmed := s.confirm(why)
	quiet := !s.stale && time.Since(s.changed) >= s.o.Still
	s.rests(quiet, installs)
	began := quiet && !s.quiet
	s.quiet = quiet
	if s.mark() == s.marked && !began && !confirmed && time.Since(s.turned) < regularly {
		return
	}
	s.recall()
	if installs && quiet {
		if s.unpublished { // Grants may take the disk long, and who uses one meanwhile is told of what is served.
			s.publish()
			s.tell()
		}
		s.grant()
	}
	mark := s.mark() // What comes in while a state is made is in the next one.
	if mark != s.marked || confirmed || len(s.uncompared) > 0 {
		s.publish()
	} else {
		s.onNew(s.state.Load()) // Who is told may have to do with the time, too.
	}
	s.marked, s.turned = mark, time.Now()
}

// rests notes, and says once, that the folder changes so often that nothing is ever granted by it.
func (s *Source) rests(quiet, installs bool) {
	if quiet || s.quiet || s.calmed.IsZero() {
		s.calmed = time.Now()
	}
	restless := !quiet && time.Since(s.calmed) > settled*s.o.Still
	s.restless.Store(restless)
	waits := restless && installs && s.world.asking
	if waits && !s.unrested {
		s.o.Logger.Warn("no grant is made, since the folder of specs goes on changing", "do", s.unrest())
	}
	s.unrested = waits
}

func (s *Source) unrest() string {
	return fmt.Sprintf("who writes it must leave it as it is for %s", s.o.Still)
}

// grant takes what is due about all grants.
func (s *Source) grant() {
	if !s.world.asking && s.store.Len() == 0 && len(s.said)+len(s.asked) == 0 {
		return // Nothing is asked for, and there's nothing to be taken back.
	}
	for i, p := range s.world.scan() {
		if asks(p) == 0 && s.asked[p.EntryUID] != "" && !s.world.kept[p.EntryUID] {
			delete(s.asked, p.EntryUID) // Nothing is to be answered any more.
			s.version++
		}
		if r, ok := s.store.Find(p.Entry); (!ok || r.Session.Grant == nil) && asks(p) == 0 && len(s.said) == 0 {
			continue // As for most: nothing is asked for, and nothing is to be taken back.
		}
		if s.overtaken() {
			return // It isn't still any more, and goes on once it has been.
		}
		p = s.world.numbered(i)
		why, err := "", error(nil)
		if !s.world.kept[p.EntryUID] { // What is in doubt takes nothing back either: it's held, and goes on once it's right again.
			err = s.withdraw(p)
			if err == nil && asks(p) == 1 {
				err = s.settle(p)
			}
			if err == nil {
				err = s.disown(p)
			}
		}
		if errors.Is(err, session.ErrConflict) {
			continue // Who wrote it in between has it looked at again.
		}
		if err != nil {
			why = err.Error()
		}
		if why != "" || len(s.said) > 0 {
			s.say(grants+p.EntryUID, why)
		}
	}
}

// mark changes when anything does that a plan or a grant rests on.
func (s *Source) mark() string {
	fence, _ := s.site.installs()
	return fmt.Sprint(s.version, s.store.Writes(), s.site.lines(), fence)
}

// granted is a grant, and the revision of its session that was compared.
type granted struct {
	id         string
	generation int64
	revision   uint64
}

func (s *Source) publish() {
	k := compared{grants: map[string]granted{}, doubtful: maps.Clone(s.asked), held: maps.Clone(s.world.kept), idle: s.world.idle, asked: maps.Clone(s.asked)}
	others := map[int]*boot.Plan{} // Than in the world, by their numbers there.
	var sessions []boot.Session
	before := s.uncompared
	s.uncompared = map[string]bool{}
	s.world.plans, s.world.more = s.world.plans.With(nil, s.world.more), nil
	for i, p := range s.world.plans.Scan() {
		willAsk := false
		if !s.asItIs(p) {
			full := s.world.plans.Ref(i).Plan()
			next := s.coming(full)
			others[i] = s.planned(full, next)
			willAsk = next.Step == boot.StepAsk
		}
		r := s.session(p.Entry)
		if (willAsk || s.unvouched(p, r)) && k.doubtful[p.EntryUID] == "" {
			k.doubtful[p.EntryUID] = undecided
		}
		if r == nil || r.Session.EntryUID != p.EntryUID {
			continue
		}
		if s.seen[r.Name] != r.Session.Revision {
			if err := s.sessions.Seen(*r); err != nil {
				if !before[p.EntryUID] { // It's tried again all the time.
					s.o.Logger.Error("a session can't be compared with the log; no install starts until it can", "entry", p.Entry.String(), "error", err.Error())
				}
				k.doubtful[p.EntryUID], s.uncompared[p.EntryUID] = uncompared, true
				sessions = append(sessions, r.Session) // What it says was used is so all the same, and its machine boots its disk.
				continue
			}
			s.seen[r.Name] = r.Session.Revision
		}
		if g := r.Session.Grant; g != nil {
			k.grants[p.EntryUID] = granted{g.ID, g.Generation, session.Revision(r.Session.Revision)}
		}
		sessions = append(sessions, r.Session)
	}
	st := boot.PackedState(s.world.segments, s.world.plans.With(others, nil), sessions)
	s.world.withhold(st)
	s.data.Store(s.world.given())
	s.known.Store(&k)
	s.state.Store(st)
	s.unpublished = false
	s.onNew(st)
}
