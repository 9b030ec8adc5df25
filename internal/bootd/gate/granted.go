package gate

import (
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// maxGranted plans are remembered.
const maxGranted = 4096

// granted remembers plans as their scripts were served: who edits a profile while it's being installed mustn't change
// which image the rest of a broken transfer is of.
type granted struct {
	mu    sync.Mutex
	plans map[boot.EntryKey]*boot.Plan
}

func (g *granted) remember(k boot.EntryKey, p *boot.Plan) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.plans) >= maxGranted {
		clear(g.plans) // It costs at worst installs whose profile is edited meanwhile.
	}
	g.plans[k] = p.Kept() // Without what is noted beside it.
}

// plan gives an entry's plan of a digest: the present one, or the one that was remembered; nil where neither is.
func (g *granted) plan(k boot.EntryKey, present *boot.Plan, digest string) *boot.Plan {
	if present.Digest() == digest {
		return present
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.plans[k]; p != nil && p.Digest() == digest {
		return p
	}
	return nil
}
