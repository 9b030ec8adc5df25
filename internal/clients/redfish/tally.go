package redfish

import (
	"context"
	"errors"
	"net/http"
)

// Outcome is how a request to a BMC ended, in a word.
type Outcome string

// The outcomes.
const (
	// Answered: the BMC answered, and refused nothing.
	Answered Outcome = "Answered"
	// Denied: it refused the request (4xx).
	Denied Outcome = "Refused"
	// Failed: it couldn't (5xx).
	Failed Outcome = "Failed"
	// NoAnswer: there was none, none in time, or nobody who may be asked.
	NoAnswer Outcome = "NoAnswer"
	// BrokenOff: somebody else waited for the BMC.
	BrokenOff Outcome = "BrokenOff"
)

type tallyKey struct{}

// WithTally returns a context whose requests are told to tally once they end,
// one call for each. It may be called from several goroutines.
func WithTally(ctx context.Context, tally func(Outcome)) context.Context {
	return context.WithValue(ctx, tallyKey{}, tally)
}

// count tells how a request ended.
func count(ctx context.Context, resp *http.Response, err error) {
	if tally, ok := ctx.Value(tallyKey{}).(func(Outcome)); ok {
		tally(outcomeOf(ctx, resp, err))
	}
}

func outcomeOf(ctx context.Context, resp *http.Response, err error) Outcome {
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errYield):
		return BrokenOff
	case err != nil:
		return NoAnswer
	case resp.StatusCode >= http.StatusInternalServerError:
		return Failed
	case resp.StatusCode >= http.StatusBadRequest:
		return Denied
	default:
		return Answered
	}
}
