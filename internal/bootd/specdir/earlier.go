package specdir

import (
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// An earlier life of this bootd knew machines by files that can't be read now: its snapshot has their plans. They keep their addresses and
// boot their disks, until the files can be read; nothing is installed by them.

// before is what is served up to now: at a start what an earlier life served.
func (s *Source) before() served {
	b := served{
		plans: map[string]boot.Plan{}, data: s.world.data, earlier: s.world.earlier, segments: s.segments,
		since: s.sinceWhen(s.o.Now()), recorded: s.recorded,
	}
	for _, p := range s.world.plans {
		b.plans[p.EntryUID] = p
	}
	if s.o.Before == nil {
		return b
	}
	b.earlier, b.segments = map[string]bool{}, s.o.Before.Segments
	for _, p := range s.o.Before.Plans() {
		b.plans[p.EntryUID], b.earlier[p.EntryUID] = *p, true
	}
	s.segments, s.o.Before = b.segments, nil
	return b
}

// remember adds the machines and segments of an earlier life that no file names that can be read.
func (w *world) remember(p parts, plans []boot.Plan, before served) []boot.Plan {
	for _, g := range before.segments {
		if _, there := p.networks[g.Name]; !there {
			w.segments = append(w.segments, g)
		}
	}
	there := map[string]bool{}
	for _, x := range p.entries {
		there[UIDOf(x.entry)] = true
	}
	for _, uid := range slices.Sorted(maps.Keys(before.earlier)) {
		if old, ok := before.plans[uid]; ok && !there[uid] {
			plans, w.earlier[uid] = append(plans, old), true
		}
	}
	return plans
}
