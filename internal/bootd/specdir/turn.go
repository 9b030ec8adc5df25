package specdir

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
	if !s.world.asking && s.store.Len() == 0 && len(s.said) == 0 {
		return // Nothing is asked for, and there's nothing to be taken back.
	}
	for i, p := range s.world.scan() {
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

// planned is a plan with what is known of its machine's disk. One that is kept from before asks for nothing, and none does where nothing
// is installed: its machine boots its disk, unless its entry says otherwise.
func (s *Source) planned(p *boot.Plan) *boot.Plan {
	out := new(boot.Plan)
	*out = *p
	out.InstalledGeneration = s.installed(p, s.session(p.Entry))
	if s.o.NoInstall {
		if out.InstalledGeneration < out.InstallGeneration {
			out.InstallGeneration = 0 // Nobody here will ever grant it: waiting for that would be waiting for ever.
		}
		return out
	}
	_, installs := s.site.installs()
	switch {
	case s.heldBefore(p) && s.finished(out, p.InstalledGeneration):
		out.InstallGeneration = out.InstalledGeneration // An earlier life held it, and what was granted is installed by now.
	case out.InstalledGeneration >= out.InstallGeneration:
	case s.world.idle[p.EntryUID] != "":
		out.InstallGeneration = out.InstalledGeneration // Nothing is in doubt: what it boots meanwhile its entry says.
	case s.world.kept[p.EntryUID] && (!s.touched(p) || p.Otherwise == boot.OtherwiseHold && s.again(out)):
		out.Otherwise, out.InstallGeneration = boot.OtherwiseHold, 0
	case s.world.kept[p.EntryUID], s.touched(p) && (s.asked[p.EntryUID] != "" || (installs || p.Otherwise != boot.OtherwiseHold) && s.willAsk(p)):
		out.Otherwise, out.InstallGeneration = boot.OtherwiseLocalDisk, 0
	case s.waits(p):
		out.Otherwise, out.InstallGeneration = boot.OtherwiseHold, 0 // Nothing is known to be on its disk: it waits, and a grant that it has isn't used.
	}
	return out
}

// waits says whether a person is asked, or will be, about a machine whose session knows of no grant that it used. Where nothing is installed at all nobody is
// asked anew.
func (s *Source) waits(p *boot.Plan) bool {
	if r := s.session(p.Entry); r != nil && r.Session.Consumed != nil {
		return false
	}
	_, installs := s.site.installs()
	return questions[s.asked[p.EntryUID]] != "" || installs && s.willAsk(p)
}

// willAsk says whether a person is asked about a machine once the folder is still: until then nothing is decided about grants. That an install which its session
// knows is noted in the records comes before.
func (s *Source) willAsk(p *boot.Plan) bool {
	const some = "sha256:" // What is asked doesn't depend on which it is, and a hall's digests take longer than all else.
	r := s.session(p.Entry)
	f := s.facts(p, r, some)
	d := next(f)
	if d.Step == boot.StepRecordInstalled {
		i := s.installOf(p, r.Session.Installed.Generation, r.Session.Installed.PlanDigest, r.Session.Installed.At).record()
		f.HostInstalled, f.EntryInstalled = i, i
		d = next(f)
	}
	return d.Step == boot.StepAsk
}

// again says whether a plan's own entry had its machine installed, or granted that, so that what it asks for now is a reinstall. A machine that only
// another entry, or one of other MACs, knows of has nothing to wait for.
func (s *Source) again(p *boot.Plan) bool {
	return p.InstalledGeneration > 0 || slices.ContainsFunc(s.site.records(p).grants(), func(g *grantLine) bool { return g.isOf(p) })
}

// finished says whether more is installed than an earlier life knew of, and nothing newer was granted to a plan's entry and machine: what was held has ended.
func (s *Source) finished(p *boot.Plan, knew int64) bool {
	return p.InstalledGeneration > knew && !slices.ContainsFunc(s.site.records(p).grants(), func(g *grantLine) bool {
		return !g.isOf(p) || g.Generation > p.InstalledGeneration
	})
}

// heldBefore says whether a plan may be one that was kept in an earlier life, whose snapshot has it so. One that this life has read says itself what it asks for.
func (s *Source) heldBefore(p *boot.Plan) bool {
	return p.InstallGeneration == 0 && p.Otherwise == boot.OtherwiseHold && s.world.kept[p.EntryUID] && s.world.before[p.EntryUID]
}

// asItIs says whether a plan is planned as it is, as most are.
func (s *Source) asItIs(p *boot.Plan) bool {
	installed := s.installed(p, s.session(p.Entry))
	return installed == p.InstalledGeneration && p.InstallGeneration <= installed && !s.heldBefore(p)
}

// touched says whether a record knows of an install on one of the machine's MACs, by whatever entry, or of a grant that the machine used: while
// it's asked about, or its specs can't be read, that's what it boots, as it did before.
func (s *Source) touched(p *boot.Plan) bool {
	known := s.site.records(p)
	return known.state.installed != nil || known.spec.installed != nil || p.Otherwise != boot.OtherwiseHold && s.site.used(p)
}

// granted is a grant, and the revision of its session that was compared.
type granted struct {
	id         string
	generation int64
	revision   uint64
}

func (s *Source) publish() {
	k := compared{grants: map[string]granted{}, doubtful: map[string]bool{}, held: maps.Clone(s.world.kept), idle: s.world.idle, asked: maps.Clone(s.asked)}
	for uid := range s.asked {
		k.doubtful[uid] = true
	}
	others := map[int]*boot.Plan{} // Than in the world, by their numbers there.
	var sessions []boot.Session
	before := s.uncompared
	s.uncompared = map[string]bool{}
	s.world.plans, s.world.more = s.world.plans.With(nil, s.world.more), nil
	for i, p := range s.world.plans.Scan() {
		if !s.asItIs(p) {
			others[i] = s.planned(s.world.plans.Ref(i).Plan())
		}
		r := s.session(p.Entry)
		if r == nil || r.Session.EntryUID != p.EntryUID {
			continue
		}
		if s.seen[r.Name] != r.Session.Revision {
			if err := s.sessions.Seen(*r); err != nil {
				if !before[p.EntryUID] { // It's tried again all the time.
					s.o.Logger.Error("a session can't be compared with the log; no install starts until it can", "entry", p.Entry.String(), "error", err.Error())
				}
				k.doubtful[p.EntryUID], s.uncompared[p.EntryUID] = true, true
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
