package gate

import (
	"strings"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// liveDigits of a plan's digest stand in the token of a live boot where the grant's id is otherwise.
const liveDigits = 16

// LiveID ties the token of a live boot to the plan that it was made for.
func LiveID(p *boot.Plan) string { return strings.TrimPrefix(p.Digest(), "sha256:")[:liveDigits] }

// maxLive machines' ids are remembered.
const maxLive = 16384

// liveIDs remembers LiveID, which takes longer than all else of a live machine's script, and is asked for at each of its requests. A plan
// that changes is another one, by its pointer.
type liveIDs struct {
	mu sync.Mutex
	of map[boot.EntryKey]liveID
}

type liveID struct {
	plan *boot.Plan
	id   string
}

func (l *liveIDs) get(k boot.EntryKey, p *boot.Plan) string {
	l.mu.Lock()
	x := l.of[k]
	l.mu.Unlock()
	if x.plan == p {
		return x.id
	}
	x = liveID{p, LiveID(p)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.of) >= maxLive {
		clear(l.of)
	}
	l.of[k] = x
	return x.id
}
