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
	// Yield ends the read that is under way, once somebody has waited long enough
	// for the BMC; nil: nobody's waiting does.
	Yield context.Context //nolint:containedctx // It's a signal, and not what is called with.
	// Wanted says whether somebody waits for the BMC; nil: nobody ever does.
	Wanted func() bool

	// Slowest is how long the slowest read took that was answered.
	Slowest time.Duration
	// Cut says that the last read was broken off by Read, and Yielded that it was
	// by Yield.
	Cut, Yielded bool
	// Wrote says that something else than a read was sent.
	Wrote bool

	// refused is the log-in that was refused.
	refused error
}

type patienceKey struct{}

// WithPatience returns a context with p for the requests that are made with it.
func WithPatience(ctx context.Context, p *Patience) context.Context {
	return context.WithValue(ctx, patienceKey{}, p)
}

var (
	// errHurry ends a read that took longer than Patience.Read.
	errHurry = errors.New("no answer in the time for one read")
	// errYield ends a read that somebody waits for.
	errYield = errors.New("broken off, since somebody waits for the BMC")
)

// hurried is r with the patience of its context, and what must be called once
// its answer was read, or failed.
func hurried(r *http.Request) (bounded *http.Request, done func()) {
	p, ok := r.Context().Value(patienceKey{}).(*Patience)
	if !ok {
		return r, func() {}
	}
	if r.Method != http.MethodGet {
		p.Wrote = true

		return r, func() {}
	}
	p.Cut, p.Yielded = false, false
	began, ctx, over := time.Now(), r.Context(), func() {}
	if p.Read > 0 {
		ctx, over = context.WithTimeoutCause(ctx, p.Read, errHurry)
	}
	if p.Yield != nil {
		ctx, over = yielding(ctx, p.Yield, over)
	}

	return r.WithContext(ctx), func() {
		p.Cut, p.Yielded = errors.Is(context.Cause(ctx), errHurry), errors.Is(context.Cause(ctx), errYield)
		if !p.Cut && !p.Yielded {
			p.Slowest = max(p.Slowest, time.Since(began))
		}
		over()
	}
}

// yielding is a context that ends with another one's signal, too, and what must
// be called in place of before once it isn't needed any more.
func yielding(ctx, signal context.Context, before func()) (bounded context.Context, over func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(signal, func() { cancel(errYield) })

	return ctx, func() {
		stop()
		cancel(nil)
		before()
	}
}

// wanted says whether somebody waits for the BMC.
func wanted(ctx context.Context) bool {
	p, ok := ctx.Value(patienceKey{}).(*Patience)

	return ok && p.Wanted != nil && p.Wanted()
}

// yielded says whether the last read was broken off for somebody who waits.
func yielded(ctx context.Context) bool {
	p, ok := ctx.Value(patienceKey{}).(*Patience)

	return ok && p.Yielded
}

// Hurried says whether the last read with ctx was broken off by its Patience: that
// says nothing about the BMC.
func Hurried(ctx context.Context) bool {
	p, ok := ctx.Value(patienceKey{}).(*Patience)

	return ok && (p.Cut || p.Yielded)
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

// unhurried lets what is read until its result is called take as long as any request
// may: what is asked only once is answered late by some.
func unhurried(ctx context.Context) (over func()) {
	p, ok := ctx.Value(patienceKey{}).(*Patience)
	if !ok {
		return func() {}
	}
	read, slowest := p.Read, p.Slowest
	p.Read = 0

	return func() { p.Read, p.Slowest = read, slowest }
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
