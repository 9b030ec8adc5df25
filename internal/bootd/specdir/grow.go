package specdir

import (
	"maps"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// grow takes in what came to the folder where that is all that happened: entries, and Secrets, that have nothing to do with anything that
// was there. It costs what came, and not what is there. false: everything must be resolved anew. What it makes is what resolve would; what is
// in doubt, or known to any record, is never taken in here.
func (s *Source) grow() bool {
	n, st := s.folder.news, s.state.Load()
	if n.more || st == nil || s.world.blind != "" || s.folder.lost {
		return false
	}
	secrets := map[boot.Name]found{}
	var entries []found
	for _, x := range n.came {
		switch {
		case x.isEntry():
			entries = append(entries, x)
		case x.secret != nil && s.unasked(x.name):
			if _, twice := secrets[x.name]; twice {
				return false
			}
			secrets[x.name] = x
		default:
			return false
		}
	}
	g := growth{parts: s.world.parts, added: map[uint64]bool{}}
	if len(secrets) > 0 { // What is there keeps its own, should this come to nothing.
		g.parts.secrets, g.parts.kinds = maps.Clone(g.parts.secrets), maps.Clone(g.parts.kinds)
		for _, x := range secrets {
			g.parts.add(x)
		}
	}
	for _, x := range entries {
		if !s.takes(&g, x) {
			return false
		}
	}
	since := s.sinceWhen(s.o.Now())
	for _, p := range g.plans {
		p.Since = since(p.EntryUID)
	}
	s.grown(&g, st)
	return true
}

// growth is what came.
type growth struct {
	parts parts
	plans []*boot.Plan
	data  map[string]map[string][]byte
	added map[uint64]bool // Its mentions.
}

// unasked says whether a Secret is one that nothing can have asked for: it's new, and nothing that is there lacks anything.
func (s *Source) unasked(n boot.Name) bool {
	_, known := s.world.parts.secrets[n]
	return !known && len(s.world.problems) == 0 && len(s.world.parts.doubtful) == 0
}

// takes makes the plan of an entry that came; false: it's in doubt, wrong, wants what something else has or wants, or a record knows its machine.
func (s *Source) takes(g *growth, x found) bool {
	e := x.machine()
	uid := UIDOf(e)
	if why, _ := idle(e); why != "" || g.parts.inDoubt(e) || s.world.kept[uid] || s.world.earlier[uid] {
		return false
	}
	p, data, prob := g.parts.resolve(e, uid)
	if prob != nil {
		return false
	}
	own := map[uint64]bool{}
	for _, m := range ofPlan(ofEntry(e), p) {
		h := m.hash()
		if own[h] = true; g.added[h] || s.world.known.has(m) {
			return false
		}
	}
	maps.Copy(g.added, own)
	if s.session(p.Entry) != nil || s.site.remembers(p) {
		return false
	}
	if len(data) > 0 {
		if g.data == nil {
			g.data = map[string]map[string][]byte{}
		}
		g.data[p.UserDataSecret] = data
	}
	g.parts.share(p)
	g.plans = append(g.plans, p)
	return true
}

// remembers says whether a record knows anything of a machine.
func (s *site) remembers(p *boot.Plan) bool {
	known := s.records(p)
	for _, r := range []remembered{known.state, known.spec} {
		if r.granted != nil || r.installed != nil {
			return true
		}
	}
	for _, j := range []*journal{s.state, s.spec} {
		if j != nil && len(j.elsewhereOf(p.EntryUID, p.MACs)) > 0 {
			return true
		}
	}
	return false
}

// grown publishes what came to a state. Grants are none of its business: they wait until the folder has been still, and then all is published.
func (s *Source) grown(g *growth, st *boot.State) {
	upToDate := s.mark() == s.marked
	s.world.parts = g.parts
	s.world.more = append(s.world.more, g.plans...)
	s.world.asking = s.world.asking || slices.ContainsFunc(g.plans, wantsInstall)
	maps.Copy(s.world.known.later, g.added)
	if len(g.data) > 0 {
		s.world.came = maps.Clone(s.world.came) // Somebody may be reading it.
		if s.world.came == nil {
			s.world.came = map[string]map[string][]byte{}
		}
		maps.Copy(s.world.came, g.data)
		s.data.Store(s.world.given())
	}
	s.changed = time.Now()
	s.version++
	next, ok := st.With(g.plans)
	if !ok {
		s.unpublished = true
		return // So many have come that all are indexed anew, at the next turn.
	}
	if upToDate {
		s.marked = s.mark()
	}
	s.state.Store(next)
	s.onNew(next)
}
