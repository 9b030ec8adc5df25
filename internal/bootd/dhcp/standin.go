package dhcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

const (
	// standsFor is how long after the last answer under a relay's name that name is ours: longer than any exchange, and than a relay's restart.
	standsFor   = time.Hour
	maxStandIns = 1024
	// standInsRest is the least time between two times that they're written down.
	standInsRest = 100 * time.Millisecond
)

// StandIns are the server identifiers that trusted relays have had machines told in the place of ours (82.11, RFC 5107 §4). Two relays of one link pass on
// each broadcast of a machine both: who takes the offer that came through one of them names that relay, also to the other one, and to a bootd on the
// link itself. That's no other server. They're written down, since bootd may end between an offer and what the machine says to it.
type StandIns struct {
	path string
	// news has something in it where there's something to be written down.
	news chan struct{}

	mu   sync.RWMutex
	last map[netip.Addr]time.Time
}

// OpenStandIns reads a file; it need not be there. An error says that it can't be read, and nothing is known.
func OpenStandIns(path string) (*StandIns, error) {
	s := &StandIns{path: path, news: make(chan struct{}, 1), last: map[netip.Addr]time.Time{}}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var all map[netip.Addr]time.Time
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return s, fmt.Errorf("cannot read which relays stand in the server's place: %w", err)
	}
	for a, at := range all {
		if len(s.last) < maxStandIns {
			s.last[a] = at
		}
	}
	return s, nil
}

// Has says whether a server identifier is one of theirs.
func (s *StandIns) Has(server netip.Addr, now time.Time) bool {
	if s == nil {
		return false
	}
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
	if !ok && len(s.last) >= maxStandIns {
		maps.DeleteFunc(s.last, func(_ netip.Addr, at time.Time) bool { return now.Sub(at) >= standsFor })
		if len(s.last) >= maxStandIns {
			return
		}
	}
	s.last[name] = now
	select {
	case s.news <- struct{}{}:
	default:
	}
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
		b, err := json.Marshal(s.last)
		s.mu.RUnlock()
		if err == nil {
			err = durable.Write(s.path, b)
		}
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
