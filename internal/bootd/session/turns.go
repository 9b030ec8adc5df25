package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// turn waits for a change's turn among those of its session and then among all, for half of its time: who has it later has none left to read and write.
func (m *Manager) turn(ctx context.Context, n boot.Name) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, patience/2)
	defer cancel()
	unlock, err := m.locks.lock(ctx, n)
	if err == nil {
		select {
		case m.slots <- struct{}{}:
			return func() { <-m.slots; unlock() }, nil
		case <-ctx.Done():
			unlock()
		}
	}
	err = ErrBusy
	if errors.Is(ctx.Err(), context.Canceled) {
		err = ctx.Err() // Whoever asked has gone.
	}
	return nil, fmt.Errorf("cannot write boot session %s: %w", n, err)
}

// locks are one lock for each session in use; waiting for one ends with its context.
type locks struct {
	mu   sync.Mutex
	held map[boot.Name]chan struct{}
}

func (l *locks) lock(ctx context.Context, n boot.Name) (unlock func(), err error) {
	if unlock, ok := l.take(ctx.Done(), n); ok {
		return unlock, nil
	}
	return nil, ctx.Err()
}

// take waits for its turn until it's given up; nil: for as long as it takes.
func (l *locks) take(givenUp <-chan struct{}, n boot.Name) (unlock func(), ok bool) {
	for {
		l.mu.Lock()
		wait, taken := l.held[n]
		if !taken {
			mine := make(chan struct{})
			l.held[n] = mine
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				delete(l.held, n)
				l.mu.Unlock()
				close(mine)
			}, true
		}
		l.mu.Unlock()
		select {
		case <-wait:
		case <-givenUp:
			return nil, false
		}
	}
}
