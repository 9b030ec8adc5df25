package redfishhost

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// lookAge is how long a look at what is beside a System is believed where nothing
// is on its way.
const lookAge = 10 * time.Minute

// looks remember what was seen of each host beside its System, so that a host
// on which nothing is on its way isn't asked for it at each look. They are safe
// for concurrent use.
type looks[T any] struct {
	mu    sync.Mutex
	taken map[types.UID]taken[T]
}

// A glance is what is looked at, and when.
type glance struct {
	host types.UID
	// wanted is what it's looked at for; "" is nothing.
	wanted string
	at     time.Duration
	// power and lastReset are how the machine is then.
	power     redfish.Power
	lastReset time.Time
	// moving says that something may change by what we did.
	moving bool
}

// taken is one look, and what was seen.
type taken[T any] struct {
	glance

	seen *T
}

func newLooks[T any]() *looks[T] { return &looks[T]{taken: map[types.UID]taken[T]{}} }

// of returns what is seen: what was seen for the same wish a while ago, of a
// machine that hasn't been reset since, or else what read finds. That is kept
// where read says so. Nil where nothing is wanted.
func (l *looks[T]) of(g glance, read func() (seen *T, keep bool, err error)) (*T, error) {
	if g.wanted == "" {
		l.forget(g.host)

		return nil, nil
	}
	if seen, ok := l.known(g); ok {
		return seen, nil
	}
	seen, keep, err := read()
	if err == nil && keep {
		l.put(g, seen)
	}

	return seen, err
}

func (l *looks[T]) known(g glance) (*T, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.taken[g.host]
	same := k.wanted == g.wanted && k.power == g.power && k.lastReset.Sub(g.lastReset).Abs() <= jitter
	if !ok || !same || g.moving || g.at-k.at >= lookAge {
		return nil, false
	}

	return k.seen, true
}

func (l *looks[T]) put(g glance, seen *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken[g.host] = taken[T]{glance: g, seen: seen}
}

func (l *looks[T]) forget(host types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.taken, host)
}

// glance is a look of now at what is beside the System.
func (e *external) glance(wanted string, moving bool) glance {
	return glance{host: e.host, wanted: wanted, at: e.connector.watch.elapsed(), power: e.system.Power, lastReset: e.system.LastReset, moving: moving}
}

// skipped says whether an error is about one resource, so that the rest of a look
// goes on: the System answered a moment ago. A BMC that was only hurried isn't one
// that didn't answer.
func skipped(ctx context.Context, err error) bool {
	answers := statusOf(err) != 0 || (redfish.IsTimeout(err) || redfish.IsCut(err)) && !redfish.Hurried(ctx) && ctx.Err() == nil

	return redfish.IsOfOneResource(err) || redfish.IsUnreachable(err) && answers
}
