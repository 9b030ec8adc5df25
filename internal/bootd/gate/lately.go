package gate

import (
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// still is for how long files that were there count as there, for machines that netboot each time: they all boot the same few, and
	// each look at one is a call of the kernel. It's looked at again before it's sent.
	still = 100 * time.Millisecond
	// maxLately boots are remembered.
	maxLately = 1024
)

// lately remembers of which boots all files were there a moment ago. No grant rests on it: an install looks anew.
type lately struct {
	mu sync.Mutex
	at map[load]time.Time
}

// A load is what a firmware boots. Plans of one shape have the same.
type load struct {
	files *boot.Artifacts // nil: nothing
	pi    bool
}

func loadOf(p *boot.Plan, fw boot.Firmware) load {
	if f := p.Listed(fw.Arch); f != nil {
		return load{f, fw.Kind == boot.FirmwareRaspberryPi}
	}
	return load{}
}

func (l *lately) there(x load, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.at[x]
	past := now.Sub(at)
	return ok && past >= 0 && past < still
}

func (l *lately) saw(x load, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.at) >= maxLately {
		clear(l.at)
	}
	l.at[x] = now
}
