package dhcp

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// standsFor is how long after the last answer under a relay's name that name is ours: longer than any exchange, and than a relay's restart.
	standsFor   = time.Hour
	maxStandIns = 1024
)

// StandIns are the server identifiers that trusted relays have had machines told in the place of ours (82.11, RFC 5107 §4). Two relays of one link pass on
// each broadcast of a machine both: who takes the offer that came through one of them names that relay, also to the other one, and to a bootd on the
// link itself. That's no other server. The zero value has none.
type StandIns struct {
	mu   sync.RWMutex
	last map[netip.Addr]time.Time
}

// Has says whether a server identifier is one of theirs.
func (s *StandIns) Has(server netip.Addr, now time.Time) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.last[server]
	return ok && now.Sub(at) < standsFor
}

// answered takes note of the name that an answer was given under. Where there are too many, one that isn't noted is another server's: that's said, and
// installs nothing.
func (s *StandIns) answered(a *Answer, now time.Time) {
	name := a.Facts.Relay.ServerID
	if s == nil || a.Packet == nil || !name.IsValid() {
		return
	}
	s.mu.RLock()
	at, ok := s.last[name]
	s.mu.RUnlock()
	if ok && now.Sub(at) < standsFor/2 {
		return // As of nearly all packets.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[netip.Addr]time.Time{}
	}
	if !ok && len(s.last) >= maxStandIns {
		for n, at := range s.last {
			if now.Sub(at) >= standsFor {
				delete(s.last, n)
			}
		}
		if len(s.last) >= maxStandIns {
			return
		}
	}
	s.last[name] = now
}
