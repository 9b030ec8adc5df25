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
	// waiting is closed once what the next look finds is served; nil: nobody waits for one. under are those of looks that have begun: Run's alone.
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

// begin a look for those who wait, and say whether there's anybody.
func (l *looks) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting != nil {
		l.under = append(l.under, l.waiting)
		l.waiting = nil
	}
	return len(l.under) > 0
}

// release tells those for whom looks were made.
func (l *looks) release() {
	for _, c := range l.under {
		close(c)
	}
	l.under = nil
}

// end tells all that nobody looks any more.
func (l *looks) end() {
	l.begin()
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.release()
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
	return !s.looks.over() && s.serves(p)
}

// serves says whether a plan is what is served of its entry.
func (s *Source) serves(p *boot.Plan) bool {
	st := s.state.Load()
	return st != nil && st.Serves(p)
}

// Stands says whether nothing that is served stands in the way of a grant's use by now: after Reread it may have waited for the disk.
func (s *Source) Stands(p *boot.Plan) bool { return s.serves(p) && !s.Held(p) }

// lookFor looks at the folder for those who wait for that, and tells them where what it holds is served already. false: it can't be read.
func (s *Source) lookFor() bool {
	began := time.Now()
	s.folder.asked = s.looks.begin()
	read := s.read()
	s.looked = time.Now()
	s.took = s.looked.Sub(began)
	if read {
		s.tell()
	}
	return read
}

// tell those for whom the folder was looked at that what it held is served, if it is.
func (s *Source) tell() {
	if !s.stale && !s.unpublished {
		s.looks.release()
	}
}

// lookRest is how many times as long as a look took none is made between two grants: who waits has rereadFor.
const lookRest = 10

// overtaken looks at the folder between two grants where somebody waits for that, now and then: thousands of grants take as long as the disk does. What came
// is taken in and served, and who waits is told. It says whether what is granted by has changed meanwhile.
func (s *Source) overtaken() bool {
	if !s.looks.any() || time.Since(s.looked) < min(lookRest*s.took, rereadFor/4) {
		return false
	}
	version := s.version
	return !s.lookFor() || s.stale || s.version != version
}
