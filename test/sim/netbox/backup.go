package netbox

// A Backup is what a NetBox had at some moment, and which numbers come next.
type Backup struct{ state state }

// Backup takes one.
func (s *Server) Backup() Backup {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Backup{s.state.clone()}
}

// Restore has the server be as it was, but for its tokens and webhooks: what came later was never there, and its numbers are given again. The clock
// goes on.
func (s *Server) Restore(b Backup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tokens, hooks := s.state.tokens, s.state.hooks
	s.state = b.state.clone()
	s.state.tokens, s.state.hooks = tokens, hooks
}
