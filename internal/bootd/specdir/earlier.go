package specdir

import (
	"maps"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// An earlier life of this bootd knew machines by files that can't be read now: its snapshot has their plans. They keep their addresses and
// boot their disks, until the files can be read; nothing is installed by them.

// before is what is served up to now: at a start what an earlier life served.
func (s *Source) before() served {
	b := served{
		plans: make(map[string]boot.Ref, s.world.plans.Len()), packed: s.world.plans, data: s.world.data, earlier: s.world.earlier, before: s.world.before, segments: s.segments, unserved: s.world.unserved,
		since: s.sinceWhen(s.o.Now()), recorded: s.recorded,
	}
	if len(s.world.came) > 0 {
		b.data = maps.Clone(b.data) // Others read it.
		maps.Copy(b.data, s.world.came)
	}
	for i, p := range s.world.plans.Scan() {
		b.plans[p.EntryUID] = s.world.plans.Ref(i)
		if s.taken { // Since when it's there an earlier life knew.
			s.since.note(p.EntryUID, p.Since)
		}
	}
	for _, p := range s.world.more {
		b.plans[p.EntryUID] = boot.RefTo(p)
	}
	if s.o.Before == nil {
		return b
	}
	b.earlier, b.segments = map[string]bool{}, s.o.Before.Segments
	b.packed = s.o.Before.Packed()
	for i, p := range b.packed.Scan() {
		b.plans[p.EntryUID], b.earlier[p.EntryUID] = b.packed.Ref(i), true
	}
	b.before = b.earlier
	b.unserved.MACs, b.unserved.Addresses = s.o.Before.Unserved()
	s.segments, s.o.Before = b.segments, nil
	return b
}

// settles says, once, that the folder hasn't changed for long enough after a start: what isn't in it now isn't on its way.
func (s *Source) settles() bool {
	if !s.folder.settling || s.folder.lost || s.state.Load() == nil || time.Since(s.changed) < settled*s.o.Still {
		return false
	}
	s.folder.settling = false
	return !s.taken // Then nothing is missing: all files are there that an earlier life read.
}

// sayEarlier says once that machines are served which no file names, since the folder may be half copied, and once that it isn't.
func (s *Source) sayEarlier() {
	n := 0
	if s.folder.settling && !s.folder.lost && len(s.folder.blind()) == 0 { // Else that is said.
		n = len(s.world.earlier)
	}
	switch {
	case n > 0 && s.missed == 0:
		s.o.Logger.Warn("no file names machines that were served before bootd started; they're served, and not installed, until the folder of specs hasn't changed for a while: it may be half copied",
			"machines", n, "for", settled*s.o.Still)
	case n == 0 && s.missed > 0:
		s.o.Logger.Info("machines that were served before bootd started are named by files again, or gone with them", "were", s.missed)
	}
	s.missed = n
}

// remember adds the machines and segments of an earlier life that no file names that can be read.
func (w *world) remember(p parts, plans []*boot.Plan, before served) []*boot.Plan {
	for _, g := range before.segments {
		if _, there := p.networks[g.Name]; !there {
			w.segments = append(w.segments, g)
		}
	}
	there := map[string]bool{}
	for _, x := range p.entries {
		there[uidOf(x.name)] = true
	}
	for _, uid := range slices.Sorted(maps.Keys(before.earlier)) {
		if there[uid] {
			continue
		}
		if old := before.plans[uid].Plan(); old != nil {
			plans, w.earlier[uid], w.before[uid] = append(plans, old), true, true
		}
	}
	return plans
}
