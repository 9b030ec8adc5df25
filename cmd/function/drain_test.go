package main

import (
	"context"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// slow answers when it's released.
type slow struct {
	fnv1.FunctionRunnerServiceServer

	asked, release chan struct{}
}

func (s slow) RunFunction(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	s.asked <- struct{}{}
	<-s.release
	return &fnv1.RunFunctionResponse{}, nil
}

func TestDrain(t *testing.T) {
	const patience = 30 * time.Second
	cases := map[string]struct {
		reason string
		// answer says that what is asked gets its answer, and after how long.
		answer, answered bool
		patience         time.Duration
	}{
		"Idle":      {reason: "nobody was ever asked: it ends at once", patience: patience},
		"Answering": {reason: "whoever is being answered gets the answer", answer: true, answered: true, patience: patience},
		"Stuck":     {reason: "an answer that doesn't come doesn't keep the pod", answer: true, patience: 100 * time.Millisecond},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := slow{asked: make(chan struct{}), release: make(chan struct{})}
			d, done := &draining{FunctionRunnerServiceServer: s}, make(chan struct{})
			if tc.answer {
				go func() {
					defer close(done)
					if _, err := d.RunFunction(t.Context(), nil); err != nil {
						t.Error(err)
					}
				}()
				<-s.asked
			}
			if tc.answered {
				time.AfterFunc(50*time.Millisecond, func() { close(s.release) })
			}
			start := time.Now()
			d.drain(20*time.Millisecond, tc.patience)
			if took := time.Since(start); took >= patience {
				t.Errorf("%s: it took %s", tc.reason, took)
			}
			if tc.answered {
				select {
				case <-done:
				default:
					t.Errorf("%s: it ended before the answer", tc.reason)
				}
			} else if tc.answer {
				close(s.release)
				<-done
			}
		})
	}
}
