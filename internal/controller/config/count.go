package config

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// countsApart is how long after a count the next one is, for each user: to count looks at all of them, and the usages of ten thousand are recorded for
// minutes. A config of a few is counted whenever somebody comes or goes.
const countsApart = time.Millisecond

// counts are how many use each config, as they were counted last. They're safe for concurrent use.
type counts struct {
	mu sync.Mutex
	of map[types.UID]count
}

// A count holds until then.
type count struct {
	users int64
	until time.Time
}

// known gives a count that still holds; false: it's to be counted.
func (s *counts) known(config types.UID, now time.Time) (count, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.of[config]
	return n, ok && now.Before(n.until)
}

func (s *counts) keep(config types.UID, n count) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[types.UID]count{}
	}
	s.of[config] = n
}

func (s *counts) forget(config types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, config)
}

// number is how many use a config, and when they're to be counted again, since somebody may have come or gone: 0: whenever somebody does.
func (r *reconciler) number(ctx context.Context, c config) (users int64, again time.Duration, err error) {
	now := r.now()
	if n, ok := r.counts.known(c.object().GetUID(), now); ok {
		return n.users, n.until.Sub(now), nil
	}
	all, err := r.users(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	users = int64(len(all))
	r.counts.keep(c.object().GetUID(), count{users, now.Add(time.Duration(users) * countsApart)})
	return users, 0, nil
}
