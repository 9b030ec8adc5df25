package netbox

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// A version is what this NetBox had before a change, and until when.
type version struct {
	until time.Time
	state state
}

// lagging is how reads are answered from what was.
type lagging struct {
	// by is how far they are behind; 0: not at all. One of every so many reads is.
	by    time.Duration
	every int
	// past are the versions of the last while, oldest first.
	past []version
	// reads were asked for meanwhile, of which so many were answered from a copy, and so many of those by one that was behind.
	reads, copied, behind int
}

// Lag has one of every so many reads answered as this NetBox was so long ago, from now on, as by a copy of its database that is behind; writes
// always see what there is. 0 ends that. What was changed before the first call isn't known, so such a read goes back as far at most.
func (s *Server) Lag(by time.Duration, every int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lag.by, s.lag.every = by, max(1, every)
	if by == 0 {
		s.lag.past = nil
	}
}

// Lagged counts the reads that were answered from a copy so far, and those of them whose copy was behind.
func (s *Server) Lagged() (copied, behind int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lag.copied, s.lag.behind
}

// at has a request see what it's to see, until seen.
func (s *Server) at(r *http.Request) (seen func()) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return s.keep()
	}
	if s.lag.by == 0 {
		return func() {}
	}
	s.lag.reads++
	if s.lag.reads%s.lag.every != 0 {
		return func() {}
	}
	s.lag.copied++
	s.outlive()
	if len(s.lag.past) == 0 {
		return func() {}
	}
	now, was := s.state, s.lag.past[0].state
	if len(was.changes) < len(now.changes) {
		s.lag.behind++
	}
	s.state = was.clone() // Whatever answering it notes isn't of then.
	return func() { s.state = now }
}

// keep what there is before a change, for reads that lag; kept is to be called once it's made. The caller holds the lock.
func (s *Server) keep() (kept func()) {
	if s.lag.by == 0 {
		return func() {}
	}
	was := s.state.clone()
	return func() {
		s.outlive()
		s.lag.past = append(s.lag.past, version{until: s.now(), state: was})
	}
}

// outlive lets versions go that no read sees any more.
func (s *Server) outlive() {
	oldest := s.now().Add(-s.lag.by)
	s.lag.past = slices.DeleteFunc(s.lag.past, func(v version) bool { return !v.until.After(oldest) })
}

// clone is a state that stays as it is. What a record holds is never changed in place.
func (s *state) clone() state {
	out := *s
	out.tokens, out.vrfs, out.prefixes, out.ranges = slices.Clone(s.tokens), slices.Clone(s.vrfs), slices.Clone(s.prefixes), slices.Clone(s.ranges)
	out.choices, out.fields, out.hooks = slices.Clone(s.choices), slices.Clone(s.fields), slices.Clone(s.hooks)
	out.machines, out.interfaces, out.macs, out.vlans = slices.Clone(s.machines), slices.Clone(s.interfaces), slices.Clone(s.macs), slices.Clone(s.vlans)
	out.named, out.addresses, out.next = maps.Clone(s.named), maps.Clone(s.addresses), maps.Clone(s.next)
	out.changes = slices.Clip(s.changes) // It only grows.
	return out
}
