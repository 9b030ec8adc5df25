package specdir

import "github.com/crossplane-contrib/provider-baremetal/internal/boot"

// Held says that nothing may be installed by a plan now, though its grant may stand and its script may be out: its specs are gone, wrong or
// contested, its entry is paused, being deleted or only observed, its generation was lowered, its records contradict each other, another server answers it, or nothing is installed here at all.
func (s *Source) Held(p *boot.Plan) bool {
	if _, ok := s.site.installs(); !ok {
		return true
	}
	k := s.known.Load()
	if k == nil || k.held[p.EntryUID] || k.doubtful[p.EntryUID] != "" || s.answeredElsewhere(p.EntryUID) {
		return true
	}
	r, ok := s.store.Find(p.Entry)
	if !ok || r.Session.Grant == nil {
		return false // The session itself refuses.
	}
	g, used := r.Session.Grant, r.Session.Consumed
	if used != nil && used.GrantID == g.ID {
		return false
	}
	return g.Generation > p.InstallGeneration || p.Mode != boot.ModeInstall
}
