package kubesource

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// saidAgain is how often it's said that something goes on being so.
const saidAgain = 10 * time.Minute

// due says whether something that goes on is to be said, where it was said last then; zero: it wasn't.
func due(said, now time.Time) bool { return said.IsZero() || now.Sub(said) >= saidAgain }

// An outage is a time without the API, by the heartbeats that failed: said when it begins, every ten minutes, and when it's over.
type outage struct {
	log         *slog.Logger
	now         func() time.Time
	since, said time.Time
}

// after a heartbeat, which may have failed.
func (o *outage) after(err error) {
	now := o.now()
	switch {
	case err == nil && o.since.IsZero():
	case err == nil:
		o.log.Info("the API takes heartbeats again", "for_seconds", int(now.Sub(o.since).Seconds()))
		o.since, o.said = time.Time{}, time.Time{}
	case due(o.said, now):
		if o.since.IsZero() {
			o.since = now
		}
		o.said = now
		o.log.Warn("the API takes no heartbeat of this bootd: no install starts, addresses and boots from disk go on; it's tried each second", "since", o.since.UTC().Format(time.RFC3339), "error", err.Error())
	default:
		o.log.Debug("a heartbeat failed", "error", err.Error())
	}
}

// unanswered is how long an API may take at first until it's told that it doesn't answer: a connection that's taken, and never served, fails by
// nothing else.
const unanswered = 15 * time.Second

// await says what a bootd waits for that has started and isn't told what there is.
func (s *Source) await(ctx context.Context, t *tables) {
	for wait := unanswered; pause(ctx, wait); wait = saidAgain {
		kinds := t.unlisted()
		if len(kinds) == 0 {
			return
		}
		s.o.Logger.Warn("the API hasn't said yet what there is: no install starts, what the snapshot knew is served; it's asked until it does",
			"kinds", strings.Join(kinds, ", "))
	}
}

// trouble is what keeps a kind from being listed or watched: said once, and every ten minutes.
type trouble struct {
	kind string
	log  *slog.Logger
	now  func() time.Time
	said time.Time
}

// after an attempt that failed. A watch that ended, or that the API can't go on with from where it was, is begun anew, and isn't told.
func (t *trouble) after(ctx context.Context, err error) {
	if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return
	}
	level, now := slog.LevelDebug, t.now()
	if due(t.said, now) {
		level, t.said = slog.LevelWarn, now
	}
	t.log.Log(ctx, level, "the API doesn't say what there is of a kind; what was known before is served, and it's asked again and again", "kind", t.kind, "error", err.Error())
}
