package fastlane

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// A presence is the context of a request: it ends with its answer, or when the client goes. Only who asks for that has somebody look: a handler that
// waits for nothing needs nobody to, and its context serves the next request, too.
type presence struct {
	context.Context //nolint:containedctx // It's one.

	mu sync.Mutex
	// lane of the request; nil: there's none now.
	lane *lane
	done chan struct{}
	err  error
	// known says that somebody asked whether it has ended.
	known bool
	// looked is closed once nobody looks any more.
	looked chan struct{}
}

// begin makes it that of a request; false: somebody has asked meanwhile whether the one before has ended.
func (p *presence) begin(v *lane) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known {
		return false
	}
	p.Context, p.lane = v.where, v
	return true
}

// Done is closed at the end.
func (p *presence) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = true
	if p.done != nil {
		return p.done
	}
	p.done = make(chan struct{})
	if p.lane == nil || p.err != nil {
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
	p.known = true
	if p.lane == nil {
		return context.Canceled
	}
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

// end ends it, as the answer does. false: nobody asked for that, so that nobody hears of the end of another request.
func (p *presence) end() (asked bool) {
	p.mu.Lock()
	v, looked, known := p.lane, p.looked, p.known
	if known {
		p.canceled() // From here on nobody begins to look.
	} else {
		p.Context, p.lane = context.Background(), nil
	}
	p.mu.Unlock()
	if !known {
		return false
	}
	if looked != nil {
		_ = v.c.SetReadDeadline(past())
		<-looked
		v.until = time.Time{}
	}
	return true
}

func (p *presence) cancel() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.canceled()
}

// canceled is cancel for who holds the lock.
func (p *presence) canceled() {
	if p.err != nil {
		return
	}
	p.err = context.Canceled
	if p.done != nil {
		close(p.done)
	}
}
