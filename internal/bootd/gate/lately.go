package gate

import (
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// still is for how long a file that was there counts as there, for machines that netboot each time: they all boot the same few, and
	// each look at one is a call of the kernel. It's looked at again before it's sent.
	still = 100 * time.Millisecond
	// maxLately files are remembered.
	maxLately = 1024
)

// lately remembers which files were there a moment ago. No grant rests on it: an install looks anew.
type lately struct {
	mu sync.Mutex
	at map[boot.Artifact]time.Time
}

func (l *lately) there(a boot.Artifact, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.at[a]
	past := now.Sub(at)
	return ok && past >= 0 && past < still
}

func (l *lately) saw(a boot.Artifact, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.at) >= maxLately {
		clear(l.at)
	}
	l.at[a] = now
}
