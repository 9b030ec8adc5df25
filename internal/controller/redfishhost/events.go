package redfishhost

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
)

// A Listener listens to one BMC's events; gate.Stream implements it.
type Listener interface {
	Listen(ctx context.Context, opened func(), heard func(events int)) error
}

// A Streamer makes Listeners, by sessions that are open; Gates implements it. A
// Gatekeeper that isn't one has nobody listened to.
type Streamer interface {
	Stream(ctx context.Context, t gate.Target) (Listener, error)
}

// Stream implements Streamer.
func (g Gates) Stream(ctx context.Context, t gate.Target) (Listener, error) {
	s, err := g.Gates.Stream(ctx, t)
	if err != nil {
		return nil, err
	}

	return s, nil
}

const (
	// eventPause is the unit of all that has to do with time here.
	eventPause = 5 * time.Second
	// opensASecond is how many connections are opened in a second, to all BMCs
	// together: two thousand are a minute's and a half's.
	opensASecond = 20
)

// streams listen to what BMCs tell of changes, beside the reconciles: no worker
// waits for it. What is told is a hint to look at a host, and nothing else; who
// isn't listened to is looked at by the next poll. There's one connection for each
// BMC, by the session that looks at its hosts have opened: nobody logs in for it. It
// is safe for concurrent use.
type streams struct {
	from   Streamer // nil: nobody can be listened to
	hints  *hints
	unit   time.Duration
	opens  *rate.Limiter
	random func() float64
	log    logging.Logger
	// tallies count what is asked.
	tallies *tallies
	ctx     context.Context //nolint:containedctx // It ends with the process.
	stop    context.CancelFunc

	mu sync.Mutex
	// of are the streams by BMC, and at the BMCs by host.
	of map[string]*stream
	at map[types.UID]string
	// barred are hosts that are paused. A look may be under way when they are.
	barred map[types.UID]bool
}

// stream is one BMC's.
type stream struct {
	// hosts that are behind the BMC, and the one whose settings are used.
	hosts map[types.UID]types.NamespacedName
	owner types.UID
	// target is how the last good look at that one talked to the BMC.
	target gate.Target
	end    context.CancelFunc
	// looked is told of each good look at its hosts, unless it has still to hear of one.
	looked chan struct{}
	// heard counts what it was told.
	heard int
	// up is since when it's open; the zero time: it isn't. lost is when one that had
	// lasted was; the zero time: none was.
	up, lost time.Time
	// why the last one has ended, or couldn't be opened; nil: that isn't known yet.
	why error
}

// newStreams returns what listens by a Gatekeeper, if that can. wake has a host
// looked at.
func newStreams(by Gatekeeper, t *tallies, unit time.Duration, wake func(types.UID, types.NamespacedName)) *streams {
	if unit == 0 {
		unit = eventPause
	}
	ctx, stop := context.WithCancel(context.Background())
	from, _ := by.(Streamer) // Nil where it can't.

	return &streams{
		from: from, hints: newHints(unit, wake), unit: unit, opens: rate.NewLimiter(opensASecond, opensASecond), random: rand.Float64,
		log: logging.NewNopLogger(), tallies: t, ctx: ctx, stop: stop, of: map[string]*stream{}, at: map[types.UID]string{}, barred: map[types.UID]bool{},
	}
}

// refresh has a host's BMC listened to, as t says. A host that is looked at with
// other settings than before is listened to anew.
func (l *streams) refresh(host *v1alpha1.RedfishHost, t gate.Target) {
	bmc, err := redfish.Endpoint(t.Address)
	if err != nil || l.from == nil {
		return
	}
	t.Lane = gate.Inventory
	uid := host.GetUID()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.barred[uid] {
		return
	}
	if was, ok := l.at[uid]; ok && was != bmc {
		l.leave(uid)
	}
	l.replace(uid, nameOfHost(host), bmc)
	s := l.of[bmc]
	switch {
	case s == nil:
		s = l.start(bmc, uid, t, map[types.UID]types.NamespacedName{})
	case s.owner == "", s.owner == uid && !s.target.Same(t):
		s.end()
		s = l.start(bmc, uid, t, s.hosts)
	}
	s.hosts[uid], l.at[uid] = nameOfHost(host), bmc
	select {
	case s.looked <- struct{}{}:
	default:
	}
}

// replace takes out who had a host's name at its BMC before it was made anew: nobody
// may have told of that. Called with the lock held.
func (l *streams) replace(uid types.UID, name types.NamespacedName, bmc string) {
	s := l.of[bmc]
	if s == nil {
		return
	}
	for other, n := range s.hosts {
		if other != uid && n == name {
			l.leave(other)
		}
	}
}

// start listens to a BMC. Called with the lock held.
func (l *streams) start(bmc string, owner types.UID, t gate.Target, hosts map[types.UID]types.NamespacedName) *stream {
	ctx, end := context.WithCancel(l.ctx)
	s := &stream{hosts: hosts, owner: owner, target: t, end: end, looked: make(chan struct{}, 1)}
	l.of[bmc] = s
	go l.run(ctx, s)

	return s
}

// forget a host that is gone, in trouble, or isn't to be listened to. With its last
// host a BMC isn't any more.
func (l *streams) forget(host types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(host)
}

// bar has nobody listened to for a host, whatever is looked at, or not any more.
func (l *streams) bar(host types.UID, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.barred, host)
	if is {
		l.barred[host] = true
	}
}

// leave takes a host out. Called with the lock held.
func (l *streams) leave(host types.UID) {
	bmc, ok := l.at[host]
	if !ok {
		return
	}
	delete(l.at, host)
	l.hints.forget(host)
	s := l.of[bmc]
	delete(s.hosts, host)
	if s.owner == host {
		// Its password isn't for others: the next one that is looked at has its own.
		s.end()
		s.owner, s.up = "", time.Time{}
	}
	if len(s.hosts) == 0 {
		delete(l.of, bmc)
	}
}
