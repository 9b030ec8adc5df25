package netbox

import (
	"maps"
	"slices"
)

// Next is the number that the next record of a kind gets, such as "address". What the recordings don't show took those before.
func (s *Server) Next(kind string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.next[kind] = id - 1
}

// Let changes the token with this name.
func (s *Server) Let(name string, change func(*Token)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.state.tokens {
		if s.state.tokens[i].Name == name {
			change(&s.state.tokens[i])
		}
	}
}

// Made counts the addresses that a user made by REST.
func (s *Server) Made(user string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.state.changes {
		if c.before == nil && c.by.user == user {
			n++
		}
	}
	return n
}

// HookBody is what webhooks are told of the latest change.
func (s *Server) HookBody() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hookBody(s.state.latest)
}

// Signature of a webhook's body.
func Signature(secret string, body []byte) string { return signature(secret, body) }

// Endpoints are those that are emulated: the first two parts of their paths below /api/.
func Endpoints() []string { return slices.Sorted(maps.Keys((&exchange{}).handlers())) }
