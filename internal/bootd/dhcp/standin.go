package dhcp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

const (
	// standsFor is how long after the last answer under a relay's name that name is ours: longer than any exchange, and than a relay's restart.
	standsFor   = time.Hour
	maxStandIns = 1024
	// standInsRest is the least time between two times that they're written down.
	standInsRest = 100 * time.Millisecond
)

// StandIns are the server identifiers that relays have machines told in the place of ours (82.11, RFC 5107 §4), each on the network where that was. Two relays
// of one link pass on each broadcast of a machine both: who takes the offer that came through one of them names that relay, also to the other one, and to a
// bootd on the link itself. They're written down, since bootd may end between an offer and what the machine says to it.
type StandIns struct {
	path string
	// news has something in it where there's something to be written down.
	news chan struct{}

	mu   sync.RWMutex
	last map[string]time.Time // by standIn
}

// OpenStandIns reads a file; it need not be there. An error says that it can't be read, and nothing is known.
func OpenStandIns(path string) (*StandIns, error) {
	s := &StandIns{path: path, news: make(chan struct{}, 1), last: map[string]time.Time{}}
	var all map[string]time.Time
	if _, err := durable.ReadJSON(path, &all); err != nil {
		return s, fmt.Errorf("cannot read which relays stand in the server's place: %w", err)
	}
	for key, at := range all {
		if len(s.last) < maxStandIns {
			s.last[key] = at
		}
	}
	return s, nil
}

// standIn is a server identifier on a network.
func standIn(network boot.Name, server netip.Addr) string {
	return network.String() + " " + server.String()
}

func (s *StandIns) has(network boot.Name, server netip.Addr, now time.Time) bool {
	age, ok := s.age(standIn(network, server), now)
	return ok && age < standsFor
}

// age is how long ago one was noted; false: it wasn't.
func (s *StandIns) age(key string, now time.Time) (time.Duration, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.last[key]
	return now.Sub(at), ok
}

// answered takes note of the name that a machine of ours was given its address under: the relay's own, or one of its network, which no client's own option 82 can
// make another's elsewhere. Where there are too many, one that isn't noted is another server's: that's said, and installs nothing.
func (s *StandIns) answered(a *Answer, now time.Time) {
	name := a.Facts.Relay.ServerID
	if s == nil || !name.IsValid() || a.Plan == nil || a.Packet == nil || a.Reason != Offered && a.Reason != Acknowledged {
		return // Where a network's mode is Proxy, another server gives the addresses.
	}
	if name != a.Facts.Relay.Address && !a.Plan.Network.Address.Contains(name) {
		return
	}
	key := standIn(a.Plan.Network.Name, name)
	age, known := s.age(key, now)
	if known && age < standsFor/2 {
		return // As of nearly all packets.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !known && len(s.last) >= maxStandIns {
		maps.DeleteFunc(s.last, func(_ string, at time.Time) bool { return now.Sub(at) >= standsFor })
		if len(s.last) >= maxStandIns {
			return
		}
	}
	s.last[key] = now
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// ours says whether what a machine says to another server is about what we gave it, under the name of a relay that passes on its broadcasts beside the one that this
// copy came through: it's the planned address that it takes. One that it declines counts, whichever copy comes first.
func (s *Server) ours(a *Answer, now time.Time) bool {
	f := &a.Facts
	if s.cfg.StandIns == nil || a.Reason != SilentOtherServer || a.Plan == nil || f.Requested != a.Plan.Network.Address.Addr() ||
		!s.cfg.StandIns.has(a.Plan.Network.Name, f.Server, now) {
		return false
	}
	if f.Type == wire.Decline {
		a.Reason = Declined
	}
	return true
}

// Run writes down each new name at once, until ctx ends.
func (s *StandIns) Run(ctx context.Context, log *slog.Logger) error {
	for said := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-s.news:
		}
		s.mu.RLock()
		all := maps.Clone(s.last)
		s.mu.RUnlock()
		err := durable.WriteJSON(s.path, all)
		if err != nil && !said {
			log.Warn("which relays stand in the server's place can't be written down, and a restart would forget it", "error", err.Error())
		}
		said = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(standInsRest):
		}
	}
}
