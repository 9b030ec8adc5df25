package specdir

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// keep keeps what is known of the folder beside the state that is served, once for each, so that the next life needn't read files again that
// haven't changed. It waits until the folder hasn't changed for so long: a file that's added costs no more than it did.
func (s *Source) keep(still time.Duration) {
	st := s.state.Load()
	if s.o.Keep == nil || st == nil || st == s.kept || s.stale || len(s.uncompared) > 0 || time.Since(s.changed) < still || s.marked != s.mark() {
		return
	}
	s.kept = st
	by := s.by()
	if by == "" || !s.plain(st) {
		return
	}
	if text, ok := s.folder.keptText(by, s.world.known); ok {
		s.o.Keep(st, text)
	}
}

// plain says whether all that is served is machines with an address and a boot that installs nothing: no install, no Secret, no doubt and nothing wrong in
// the folder, and nothing remembered of any machine. What isn't is read at each start. The world is asked too, which may ask for installs that
// nobody here grants.
func (s *Source) plain(st *boot.State) bool {
	w := &s.world
	switch {
	case len(s.said)+len(s.folder.said)+len(s.asked)+len(w.problems)+len(w.kept)+len(w.earlier)+len(w.claims)+len(w.parts.doubtful) > 0,
		w.blind != "", s.folder.lost, len(w.data)+len(w.came)+len(w.parts.secrets) > 0, !s.untouched(), !servesAll(st):
		return false
	}
	for _, g := range w.segments {
		if w.parts.networks[g.Name] == nil {
			return false // Of an earlier life.
		}
	}
	var b breath
	n := 0
	for _, p := range w.scan() {
		b.take()
		if !p.Plain() {
			return false
		}
		n++
	}
	return n == st.Len()
}

// servesAll says whether a state serves all that it holds, and knows of no session.
func servesAll(st *boot.State) bool { return len(st.Sessions) == 0 && len(st.Refused) == 0 }

// untouched says whether nothing is remembered of any machine: no session, no record at either place, no other server; nor can anything be
// that can't be read.
func (s *Source) untouched() bool {
	s.mu.Lock()
	heard := len(s.elsewhere) + len(s.unnoted)
	s.mu.Unlock()
	switch why, _ := s.site.installs(); why {
	case "", fenceNoInstall, fenceReadOnly:
		return heard == 0 && s.site.state != nil && s.site.lines() == 0 && s.store.Len() == 0
	}
	return false
}
