package specdir

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// rereadFor is how long who is about to use a grant waits for a look at the folder: much longer than a hall's specs take.
const rereadFor = 10 * time.Second

// looks are those who wait for a look at the folder that begins after they asked.
type looks struct {
	mu      sync.Mutex
	waiting []chan struct{}
}

// ask gives what is closed after such a look.
func (l *looks) ask() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{})
	l.waiting = append(l.waiting, c)
	return c
}

// take gives those who wait for the look that's about to begin.
func (l *looks) take() []chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.waiting
	l.waiting = nil
	return w
}

// Reread waits until what the folder holds now is what is served, and says whether a machine's plan is still the one that it was. Who uses a grant asks before:
// that somebody has stopped an install may stand in a file for a while before it's read, of a large folder, or of a host that was asleep.
func (s *Source) Reread(ctx context.Context, p *boot.Plan) bool {
	ctx, cancel := context.WithTimeout(ctx, rereadFor)
	defer cancel()
	looked := s.looks.ask()
	s.wake()
	select {
	case <-looked:
	case <-ctx.Done():
		return false
	}
	st := s.state.Load()
	if st == nil {
		return false
	}
	now, ok := st.ByEntry(boot.KeyOf(p.EntryUID))
	return ok && now.InstallGeneration == p.InstallGeneration && now.Digest() == p.Digest()
}
