package fastlane

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// A presence is the context of a request: it ends with its answer, or when the client goes. Only who asks for that has somebody look: a handler that
// waits for nothing needs nobody to.
type presence struct {
	context.Context //nolint:containedctx // It's one.

	lane *lane

	mu   sync.Mutex
	done chan struct{}
	err  error
	// looked is closed once nobody looks any more.
	looked chan struct{}
}

// Done is closed at the end.
func (p *presence) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done != nil {
		return p.done
	}
	p.done = make(chan struct{})
	if p.err != nil {
		close(p.done)
		return p.done
	}
	p.looked = make(chan struct{})
	_ = p.lane.c.SetReadDeadline(time.Time{})
	go p.look()
	return p.done
}

// Err says whether it has ended.
func (p *presence) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// look waits for the client's next word, which is for after this answer, or its end.
func (p *presence) look() {
	defer close(p.looked)
	b := make([]byte, 1)
	n, err := p.lane.c.Read(b)
	if n > 0 {
		p.lane.early = b
	} else if !errors.Is(err, os.ErrDeadlineExceeded) {
		p.cancel()
	}
}

// end ends it, as the answer does.
func (p *presence) end() {
	p.cancel()
	p.mu.Lock()
	looked := p.looked
	p.mu.Unlock()
	if looked == nil {
		return
	}
	_ = p.lane.c.SetReadDeadline(past())
	<-looked
	p.lane.until = time.Time{}
}

func (p *presence) cancel() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.err = context.Canceled
	if p.done != nil {
		close(p.done)
	}
}
