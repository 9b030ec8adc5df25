package main

import (
	"context"
	"sync"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// A pod that is told to stop is still asked for as long as its Service lists it: quiet is how long nobody may have asked before it
// stops, and patience how long it waits for that.
const (
	quiet    = time.Second
	patience = 10 * time.Second
)

// A draining function knows when it was asked last. The SDK's server ends at once otherwise, and drops what it was asked.
type draining struct {
	fnv1.FunctionRunnerServiceServer

	mu   sync.Mutex
	now  int
	last time.Time
}

// RunFunction answers.
func (d *draining) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	d.count(1)
	defer d.count(-1)
	return d.FunctionRunnerServiceServer.RunFunction(ctx, req) //nolint:wrapcheck // It's the same server.
}

func (d *draining) count(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now += n
	d.last = time.Now()
}

// idle says whether nobody is being answered, or was within that time.
func (d *draining) idle(within time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now == 0 && time.Since(d.last) >= within
}

// drain waits until nobody has asked for a while, but not longer than asked.
func (d *draining) drain(quiet, patience time.Duration) {
	for end := time.Now().Add(patience); time.Now().Before(end) && !d.idle(quiet); {
		time.Sleep(quiet / 20)
	}
}
