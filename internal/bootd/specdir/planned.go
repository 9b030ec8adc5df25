package specdir

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// planned is a plan with what is known of its machine's disk, and of the step that comes next about its grant. One that is kept from before asks for nothing,
// and none does where nothing is installed: its machine boots its disk, unless its entry says otherwise.
func (s *Source) planned(p *boot.Plan, next boot.Issue) *boot.Plan {
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
	kept, asks := s.world.kept[p.EntryUID], questions[s.asked[p.EntryUID]] != "" || installs && next.Step == boot.StepAsk
	stops := kept || !installs || next.Step == boot.StepWait
	switch {
	case s.heldBefore(p) && s.finished(out, p.InstalledGeneration):
		out.InstallGeneration = out.InstalledGeneration // An earlier life held it, and what was granted is installed by now.
	case out.InstalledGeneration >= out.InstallGeneration:
	case s.world.idle[p.EntryUID] != "":
		out.InstallGeneration = out.InstalledGeneration // Nothing is in doubt: what it boots meanwhile its entry says.
	case (asks && !kept || stops && (p.Otherwise != boot.OtherwiseHold || !s.again(out))) && s.touched(p):
		out.Otherwise, out.InstallGeneration = boot.OtherwiseLocalDisk, 0
	case kept, asks:
		out.Otherwise, out.InstallGeneration = boot.OtherwiseHold, 0 // Nothing is known to be on its disk: it waits, and a grant that it has isn't used.
	}
	return out
}

// coming is the step about a machine's grant that is due once the folder is still: until then nothing is decided about grants.
func (s *Source) coming(p *boot.Plan) boot.Issue {
	const some = "sha256:" // What is asked doesn't depend on which it is, and a hall's digests take longer than all else.
	return next(s.facts(p, s.session(p.Entry), some))
}

// unvouched says whether a machine's session has an unused grant that the records don't both know as the last one they gave: nobody of this site put it there,
// or one of them is gone, of before it, or of another life. That's so whatever its entry asks for by now.
func (s *Source) unvouched(p *boot.Plan, r *session.Record) bool {
	if r == nil || r.Session.EntryUID != p.EntryUID || r.Session.Grant == nil || r.Session.Consumed.Covers(r.Session.Grant) {
		return false
	}
	known := s.site.records(p)
	return slices.ContainsFunc([]*grantLine{known.state.granted, known.spec.granted}, func(g *grantLine) bool {
		return g == nil || g.GrantID != r.Session.Grant.ID
	})
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
	return known.state.installed != nil || known.spec.installed != nil || p.Otherwise != boot.OtherwiseHold && s.used(p)
}

// used says whether a machine has used a grant, by the record beside the specs, by its session, or by the log.
func (s *Source) used(p *boot.Plan) bool {
	logged := s.sessions.Logged(p.EntryUID, p.HostUID) // Of a folder's log it's what the entry used, be it for another machine.
	if s.site.used(p) || slices.ContainsFunc(logged, func(c boot.Consumption) bool { return c.HostUID == p.HostUID }) {
		return true
	}
	r := s.session(p.Entry)
	return r != nil && r.Session.Consumed != nil && r.Session.Consumed.EntryUID == p.EntryUID && r.Session.Consumed.HostUID == p.HostUID
}
