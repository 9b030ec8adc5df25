package redfish

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Patience bounds the reads that are made with a context, and tells how they
// went. Who shares a few workers between many BMCs can't wait for each read as
// long as RequestTimeout allows. Writes are never broken off by it: nobody knows
// what became of one that is. Like a Client it isn't safe for concurrent use.
type Patience struct {
	// Read is how long one read may take; 0: RequestTimeout alone counts.
	Read time.Duration
	// Reads is how many reads, the first ones, Read is for; 0: all.
	Reads int

	// Slowest is how long the slowest read took that was answered.
	Slowest time.Duration
	// Cut says that the last read was broken off by Read.
	Cut bool
	// Wrote says that something else than a read was sent.
	Wrote bool

	reads int
	// refused is the log-in that was refused.
	refused error
}

type patienceKey struct{}

// WithPatience returns a context with p for the requests that are made with it.
func WithPatience(ctx context.Context, p *Patience) context.Context {
	return context.WithValue(ctx, patienceKey{}, p)
}

// errHurry ends a read that took longer than Patience.Read.
var errHurry = errors.New("no answer in the time for one read")

// hurried is r with the patience of its context, and what must be called once
// its answer was read, or failed.
func hurried(r *http.Request) (bounded *http.Request, over func()) {
	p, ok := r.Context().Value(patienceKey{}).(*Patience)
	if !ok {
		return r, func() {}
	}
	if r.Method != http.MethodGet {
		p.Wrote = true

		return r, func() {}
	}
	p.Cut = false
	p.reads++
	began, ctx, cancel := time.Now(), r.Context(), func() {}
	if p.Read > 0 && (p.Reads == 0 || p.reads <= p.Reads) {
		ctx, cancel = context.WithTimeoutCause(ctx, p.Read, errHurry)
	}

	return r.WithContext(ctx), func() {
		p.Cut = errors.Is(context.Cause(ctx), errHurry)
		if !p.Cut {
			p.Slowest = max(p.Slowest, time.Since(began))
		}
		cancel()
	}
}

// changesNothing keeps what is sent until its result is called from counting as
// a write: log-ins and log-outs change nothing of the machine.
func changesNothing(ctx context.Context) (over func()) {
	p, ok := ctx.Value(patienceKey{}).(*Patience)
	if !ok {
		return func() {}
	}
	wrote := p.Wrote

	return func() { p.Wrote = wrote }
}

// refuseTurn has no other log-in tried with a context's Patience. One that wasn't
// answered may be: a BMC that starts opens sessions last.
func refuseTurn(ctx context.Context, err error) {
	if p, ok := ctx.Value(patienceKey{}).(*Patience); ok && !IsUnreachable(err) {
		p.refused = err
	}
}

// refusedInTurn is the log-in that was refused to a context's Patience, or nil.
func refusedInTurn(ctx context.Context) error {
	if p, ok := ctx.Value(patienceKey{}).(*Patience); ok {
		return p.refused
	}

	return nil
}
