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
	mu sync.Mutex
	// waiting is closed after the next look; nil: nobody waits. under are those of one that has begun: Run's alone.
	waiting chan struct{}
	under   []chan struct{}
	ended   bool
}

// ask gives what is closed after such a look; nil: nobody looks any more.
func (l *looks) ask() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil
	}
	if l.waiting == nil {
		l.waiting = make(chan struct{})
	}
	return l.waiting
}

// any says whether somebody waits for a look that hasn't begun.
func (l *looks) any() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting != nil
}

// take begins a look for those who wait.
func (l *looks) take() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting != nil {
		l.under = append(l.under, l.waiting)
		l.waiting = nil
	}
}

// answer tells those of whom a look was.
func (l *looks) answer() {
	for _, c := range l.under {
		close(c)
	}
	l.under = nil
}

// end tells all that nobody looks any more.
func (l *looks) end() {
	l.take()
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.answer()
}

func (l *looks) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// Reread waits until what the folder holds now is what is served, and says whether a machine's plan is still the one that it was. Who uses a grant asks before:
// that somebody has stopped an install may stand in a file for a while before it's read, of a large folder, or of a host that was asleep.
func (s *Source) Reread(ctx context.Context, p *boot.Plan) bool {
	ctx, cancel := context.WithTimeout(ctx, rereadFor)
	defer cancel()
	looked := s.looks.ask()
	if looked == nil {
		return false
	}
	s.wake()
	select {
	case <-looked:
	case <-ctx.Done():
		return false
	}
	st := s.state.Load()
	if st == nil || s.looks.over() {
		return false
	}
	now, ok := st.ByEntry(boot.KeyOf(p.EntryUID))
	return ok && now.InstallGeneration == p.InstallGeneration && now.Digest() == p.Digest()
}
