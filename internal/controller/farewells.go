package controller

import (
	"context"
	"errors"
	"sync"
)

// farewells are what is to be done once all reconcilers have stopped.
type farewells struct {
	mu  sync.Mutex
	fns []func(context.Context) error
}

func (f *farewells) add(fn func(context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fns = append(f.fns, fn)
}

// run does it, all at once: one BMC that doesn't answer mustn't keep the others' sessions open.
func (f *farewells) run(ctx context.Context) error {
	f.mu.Lock()
	fns := f.fns
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	errs := make([]error, len(fns))
	var wg sync.WaitGroup
	for i, fn := range fns {
		wg.Go(func() { errs[i] = fn(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
