package controller

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// readyPatience is within the second that a probe waits by default.
const readyPatience = 500 * time.Millisecond

// A syncer is a cache that says whether it has heard of all that is watched so far.
type syncer interface {
	WaitForCacheSync(ctx context.Context) bool
}

// synced is a check that passes once all that is watched was heard of. One that isn't the leader watches little, and so is ready too: a
// rollout waits for it before the leader goes.
func synced(c syncer) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), readyPatience)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return errors.New("not all that is watched was heard of yet")
		}
		return nil
	}
}
