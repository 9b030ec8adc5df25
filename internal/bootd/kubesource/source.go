// Package kubesource is bootd's source of plans where there is a Kubernetes API: watches of the boot
// kinds become one state, sessions are read live and written by compare-and-swap, and a heartbeat says
// how far this bootd has come.
package kubesource

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// Sessions are told what the watch delivers, in order.
type Sessions interface {
	// Seen compares a session with this bootd's log, before its revision is announced.
	Seen(r session.Record) error
	// Gone forgets a deleted one.
	Gone(n boot.Name)
	// Synced lowers a revision to what may be announced.
	Synced(revision uint64) uint64
}

// Options of a Source. All but Addresses, Networks' addresses, Cache, Warning and Node are required.
type Options struct {
	// Kube reads live and watches.
	Kube API
	// Name of this bootd's BootServer, and Namespace of it, of the token keys and of the machines' data.
	Name, Namespace string
	// Node holds the labels that BootNetworks' serveOn selects by.
	Node map[string]string
	// Version of this program.
	Version string
	// Advertise gives the address that a segment is served from, "" where that's decided per request.
	Advertise func(boot.Segment) string
	// Report says what there is to say of a segment; nil: nothing.
	Report func(boot.Segment) Report
	// Cache says what is kept of artifacts, on its way, and can't be had.
	Cache func() artifacts.Report
	// Warning is what people should know of how this bootd started; it's the message of its record while there's nothing worse.
	Warning string
	// Served is how many machines the snapshot has that this bootd began with.
	Served int
	// Now is the clock; it must be monotonic, as time.Now is.
	Now    func() time.Time
	Logger *slog.Logger
}

// A Source keeps the newest state. Run fills it.
type Source struct {
	o        Options
	sessions Sessions

	state atomic.Pointer[boot.State]
	keys  atomic.Pointer[[][]byte]
	t     atomic.Pointer[tables]
	onNew func(*boot.State)

	mu      sync.Mutex
	grants  map[boot.Name]granted
	servers map[boot.Name]heard
	own     uint64    // The revision of the last heartbeat.
	beaten  time.Time // When the API took it.
	// back is when it took one again after a time without; wrote are the times that the last known heartbeat and those tried
	// since said, and twin is when somebody else's was found in this bootd's record.
	back  time.Time
	wrote []metav1.MicroTime
	twin  time.Time

	published int // How many plans the newest state had; build's alone.

	came map[boot.Name]time.Time // When the networks came; zero: they were there at first.

	ahead []boot.Artifact // The files of profiles when one of these last changed.

	rebuild, beat chan struct{}
	// draining says that this bootd is stopping, off that this host's clock was wrong when that was looked at last.
	draining, off atomic.Bool
}

// granted says since which revision a session holds its grant, as far as this bootd knows.
type granted struct {
	session, grant, entry string // The entry by its UID.
	revision              uint64
	used                  bool // By a boot: what has begun goes on.
}

// tables of one life of the watches.
type tables struct {
	entries  *table[boot.Plan]
	networks *table[network]
	profiles *table[bootspec.ProfileFiles]
	sessions *table[session.Record]
	servers  *table[server]
	keys     *table[[][]byte]
	unserved unserved
}

// New makes a source. Sessions are told what it sees; onState, if not nil, gets each new state, one at a time.
func New(o Options, s Sessions, onState func(*boot.State)) *Source {
	if onState == nil {
		onState = func(*boot.State) {}
	}
	return &Source{
		o: o, sessions: s, onNew: onState, grants: map[boot.Name]granted{}, servers: map[boot.Name]heard{}, published: o.Served,
		rebuild: make(chan struct{}, 1), beat: make(chan struct{}, 1),
	}
}

// State is what is known now; nil before the first list.
func (s *Source) State() *boot.State { return s.state.Load() }

// Keys of tokens, the current one first; none before they were read.
func (s *Source) Keys() [][]byte {
	if k := s.keys.Load(); k != nil {
		return *k
	}
	return nil
}

// errRewound says that the API's revisions went back: etcd was put back to an older state, and watches
// from the future would wait for what never comes.
var errRewound = errors.New("the revisions of the API went back; was etcd restored?")

// Run watches until ctx ends. Where the API's revisions went back all is read anew.
func (s *Source) Run(ctx context.Context) error {
	for {
		err := s.run(ctx)
		if !errors.Is(err, errRewound) {
			return err
		}
		s.o.Logger.Error("reading everything anew", "error", err.Error())
		s.mu.Lock()
		s.grants, s.servers, s.own = map[boot.Name]granted{}, map[boot.Name]heard{}, 0
		s.beaten = time.Time{} // Nothing is granted before the API has taken a heartbeat again.
		s.mu.Unlock()
	}
}

const (
	// debounce is the least time between two states.
	debounce = 20 * time.Millisecond
	// resting is how many times as long as a state took to make it takes until the next: with ten thousand machines that all report
	// something, making states must leave the processor to answering them.
	resting = 4
)

// build makes states until ctx ends: at once after a quiet time, else every 20 ms, or less often where that's much work.
func (s *Source) build(ctx context.Context, t *tables) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.rebuild:
		}
		began := time.Now()
		if t.listed() {
			s.publish(t)
		}
		if !pause(ctx, max(debounce, resting*time.Since(began))) {
			return nil
		}
	}
}

func (s *Source) publish(t *tables) {
	plans := t.entries.all()
	st := boot.NewState(covering(t.segments(), plans), plans, sessionsOf(plans, t.sessions.all()))
	t.unserved.into(st)
	s.networksCame(st)
	s.state.Store(st)
	if s.published > 1 && len(plans) == 0 {
		s.o.Logger.Warn("no BootEntry is left, and their machines hear nothing any more: where nobody has deleted them all the API has lost them, and they must be put back", "were", s.published)
	}
	s.published = len(plans)
	s.onNew(st)
}

// sessionsOf drops sessions that speak for an entry of another name: an entry's own session has its name, and what somebody
// makes under another, or restored there, must neither hold the entry's machine nor grant it anything.
func sessionsOf(plans []boot.Plan, records []session.Record) []boot.Session {
	names := map[string]boot.Name{}
	for _, p := range plans {
		names[p.EntryUID] = p.Entry
	}
	var list []boot.Session
	for _, r := range records {
		if n, ok := names[r.Session.EntryUID]; !ok || n == r.Name {
			list = append(list, r.Session)
		}
	}
	return list
}

func compareNames(a, b boot.Name) int {
	switch x, y := a.String(), b.String(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (t *tables) listed() bool { return len(t.unlisted()) == 0 }

// unlisted names the kinds of which the API hasn't said yet what there is, and without which there is no state.
func (t *tables) unlisted() []string {
	var kinds []string
	for _, k := range []struct {
		kind string
		at   func() (uint64, bool)
	}{
		{v1alpha1.BootEntryKind, t.entries.at}, {v1alpha1.BootNetworkKind, t.networks.at}, {v1alpha1.BootSessionKind, t.sessions.at}, {v1alpha1.BootServerKind, t.servers.at},
	} {
		if _, listed := k.at(); !listed {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

// Ready says whether everything was listed and tokens can be made.
func (s *Source) Ready() bool {
	t := s.t.Load()
	return t != nil && t.listed() && s.State() != nil && len(s.Keys()) > 0
}

// Lag is how many seconds ago the API last took a heartbeat; -1 before the first.
func (s *Source) Lag() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.beaten.IsZero() {
		return -1
	}
	return s.o.Now().Sub(s.beaten).Seconds()
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
