package gate

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// livePerSecond is how often one machine's requests may ask the API, liveBurst how often at once. An install needs a dozen;
	// what all bootds together may ask is for whole racks.
	livePerSecond = 4
	liveBurst     = 32
	// maxPaced machines are remembered.
	maxPaced = 4096
)

// ErrPace says that a machine asks too often.
var ErrPace = errors.New("this machine asks more often than a boot needs")

// paces bound how often each machine makes bootd ask the API: whoever runs on one has its token, and mustn't use up what the
// installs of others need.
type paces struct {
	mu sync.Mutex
	of map[boot.EntryKey]*rate.Limiter
}

// take gives ErrPace to a machine that has asked too often.
func (p *paces) take(k boot.EntryKey, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.of[k]
	if l == nil {
		if len(p.of) >= maxPaced {
			clear(p.of) // It costs at worst another burst of each.
		}
		l = rate.NewLimiter(livePerSecond, liveBurst)
		p.of[k] = l
	}
	if !l.AllowN(now, 1) {
		return ErrPace
	}
	return nil
}

// paced comes before each step that asks the API.
func (g *Gate) paced(c Caller) error { return g.pace.take(c.Claims.Entry, g.o.Now()) }
