package specdir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

const (
	// every is how often the folder is looked at, or less often where that takes long: at least once a second.
	every = 100 * time.Millisecond
	calm  = 10
	// still is how long the folder must not have changed before anything is granted by it: a file that is being written may say
	// generation 1 of 12 for a moment, and half a folder that is being copied says other things than all of it.
	still = 2 * time.Second
	// settled is how many times as long it must not have changed after a start until what isn't there is taken for deleted. Until then what an
	// earlier life served is, and nothing is installed by it: a folder may be half copied, by somebody who was half a minute away.
	settled = 15
	// debounce is the least time between two states, rest how many times as long as a state took to make it takes until the next.
	debounce = 20 * time.Millisecond
	rest     = 4
	// longest is how long it rests at most: a turn that stood still, as by a disk or a host that did, isn't one that took so much work, and
	// what is written meanwhile may be to stop an install.
	longest = 2 * time.Second
	// regularly is how often all is looked at anew though nothing has changed: a step may have failed.
	regularly = 5 * time.Second
)

// Sessions are told of each session as it is, before it counts; in production a session.Manager.
type Sessions interface {
	// Seen compares a session with this bootd's log.
	Seen(r session.Record) error
	// Synced lowers a revision to what was compared.
	Synced(revision uint64) uint64
	// Logged are the used grants of an entry's machine that this bootd's log knows of.
	Logged(entryUID, hostUID string) []boot.Consumption
}

// A Source serves a folder of specs. Run fills it.
type Source struct {
	o        Options
	site     *site
	store    *session.Files
	folder   *folder
	sessions Sessions
	onNew    func(*boot.State)

	state atomic.Pointer[boot.State]
	data  atomic.Pointer[[2]map[string]map[string][]byte]
	known atomic.Pointer[compared]
	poke  chan struct{}
	looks looks

	mu sync.Mutex
	// elsewhere are the servers, by entry UID, whose offer a machine took. unnoted are those that aren't in the records yet.
	elsewhere map[string][]string
	unnoted   []elsewhereLine

	// What follows is Run's alone.
	world    world
	segments []boot.Segment // Of an earlier life.
	since    sinces
	asked    map[string]string
	said     map[string]string
	seen     map[boot.Name]string // Revisions that the log was compared with.
	changed  time.Time
	missed   int // Machines that only an earlier life has read, while that's said.
	// version counts what was read, and what is in doubt. The rest is how things were at the last turn.
	version int
	marked  string
	quiet   bool
	turned  time.Time
	// calmed is when the folder was last still, and restless says that it hasn't been for so long that whoever waits for a grant is told.
	calmed   time.Time
	restless atomic.Bool
	unrested bool // It was said.
	stale    bool // The folder has changed, and wasn't resolved since.
	// unpublished says that it was resolved, and what came of it isn't served yet.
	unpublished bool
	// looked is when the last look for somebody ended, and took how long that was.
	looked time.Time
	took   time.Duration
	// uncompared are the entries, by UID, whose session couldn't be compared with the log.
	uncompared map[string]bool
	// settles says that it's only stale since nothing that's missing comes any more.
	settled bool
	// taken says that the world is still what an earlier life has kept, with what came since. kept is the last state that was looked at for that.
	taken bool
	kept  *boot.State
	// nothing says that the folder holds nothing to serve anybody by, which is said once.
	nothing bool
}

// compared are the grants, by entry UID, whose session was compared with the log, and the entries that are in doubt.
type compared struct {
	grants map[string]granted
	// doubtful says why, of those whose grant, if they have one, counts for nothing.
	doubtful map[string]string
	// held are those that nothing is installed by, though their grants stand.
	held map[string]bool
	// idle says why, of those whose own entry has it so.
	idle map[string]string
	// asked are the reasons for which a person has to do something.
	asked map[string]string
}

// Open opens a folder and its records. Use comes next, then Run, which closes them.
func Open(o Options) (*Source, error) {
	if o.Still == 0 {
		o.Still = still
	}
	s := &Source{
		o: o, folder: newFolder(o.Dir, o.Logger), poke: make(chan struct{}, 1), since: sinces{},
		elsewhere: map[string][]string{}, asked: map[string]string{}, said: map[string]string{}, seen: map[boot.Name]string{},
	}
	if err := os.MkdirAll(filepath.Join(o.StateDir, confirmFolder), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder of confirmations: %w", err)
	}
	s.folder.expects = o.Before != nil && o.Before.Len() > 0
	s.folder.settling = s.folder.expects
	var err error
	if s.site, err = openSite(o); err != nil {
		return nil, err
	}
	store, damaged, err := session.OpenFiles(filepath.Join(o.StateDir, "sessions"), s.site.consumed, s.wake)
	if err != nil {
		s.site.close()
		return nil, err
	}
	if len(damaged) > 0 {
		s.o.Kept = nil
	}
	for _, d := range damaged {
		o.Logger.Error("a session is damaged; its machine isn't installed until a person has looked at it", "error", d.Error())
	}
	s.store = store
	return s, nil
}

// Store of the sessions.
func (s *Source) Store() *session.Files { return s.store }

// Consumed are the consumptions that the record beside the specs knows: a state folder that was put back to before them must not make
// them undone. They belong into the log before anything is served.
func (s *Source) Consumed() []boot.Consumption {
	if s.site.spec == nil {
		return nil
	}
	return s.site.spec.consumed
}

// Use says who is told of sessions, and of each new state, one at a time.
func (s *Source) Use(m Sessions, onState func(*boot.State)) {
	if onState == nil {
		onState = func(*boot.State) {}
	}
	s.sessions, s.onNew = m, onState
}

// State is what the folder holds; nil before it was read.
func (s *Source) State() *boot.State { return s.state.Load() }

// Keys of tokens.
func (s *Source) Keys() [][]byte { return s.o.Keys.Keys() }

// Ready says whether the folder was read.
func (s *Source) Ready() bool { return s.State() != nil }

// Lag is always 0: a folder is read as it is.
func (s *Source) Lag() float64 { return 0 }

// Synced says whether a grant of a plan may be opened: its session was compared with the log of what was consumed, its records don't
// contradict each other, and this bootd may install at all.
func (s *Source) Synced(p *boot.Plan) bool {
	if _, ok := s.site.installs(); !ok {
		return false
	}
	k := s.known.Load()
	if k == nil || k.doubtful[p.EntryUID] != "" || s.answeredElsewhere(p.EntryUID) {
		return false
	}
	r, ok := s.store.Find(p.Entry)
	if !ok || r.Session.Grant == nil {
		return false
	}
	g, seen := k.grants[p.EntryUID]
	return seen && g.id == r.Session.Grant.ID && g.revision <= s.sessions.Synced(g.revision)
}

// Data gives what a machine is given, by its name.
func (s *Source) Data(_ context.Context, name string) (map[string][]byte, error) {
	if all := s.data.Load(); all != nil {
		for _, some := range all {
			if d, ok := some[name]; ok {
				return d, nil
			}
		}
	}
	return nil, fmt.Errorf("its data aren't known: its own file, or that of its Secret, was wrong or gone when this bootd began, and is still; they're given once it's right (%s)", name)
}

// rests says for how long nothing is done after a turn.
func rests(took time.Duration) time.Duration { return min(rest*took, longest) }

// Run serves the folder until ctx ends. What only came is served at once; all that takes longer rests in between.
func (s *Source) Run(ctx context.Context) error {
	defer s.site.close()
	defer s.keep(0)
	defer s.note() // What was heard since the last turn.
	go s.watch(ctx)
	go s.o.Keys.Run(ctx)
	s.resume(ctx)
	var rested time.Time
	defer s.looks.end()
	for {
		began := time.Now()
		read := s.lookFor()
		took := time.Since(began)
		if now := time.Now(); !now.Before(rested) {
			s.resolve()
			s.turn()
			s.folder.shed()
			s.keep(s.o.Still)
			rested = time.Now().Add(rests(time.Since(now)))
		}
		if read {
			s.tell()
		}
		next := max(every, min(calm*took, time.Second))
		// Once a large file was read, the next look isn't as long.
		if !pause(ctx, max(debounce, min(rest*took, time.Second)), nil) || !pause(ctx, next, s.poke) {
			return nil
		}
	}
}

// pause waits, or ends early where something comes in; false once ctx has ended.
func pause(ctx context.Context, d time.Duration, early <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-early:
	case <-t.C:
	}
	return true
}

func (s *Source) wake() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// look reads the folder, where it changed, and takes in what it found.
func (s *Source) look() {
	s.read()
	s.resolve()
}

// read reads the folder, where it changed. What only came is taken in at once. false: it can't be read.
func (s *Source) read() bool {
	changed, err := s.folder.look()
	if err != nil {
		s.say("", err.Error())
		return false
	}
	s.say("", "")
	if s.folder.moving {
		s.changed = time.Now() // Also where nothing of it could be taken in.
	}
	switch {
	case changed && !s.stale && s.grow():
	case changed:
		s.stale, s.settled, s.changed = true, false, time.Now()
	case !s.stale && (s.settles() || s.state.Load() == nil):
		s.stale, s.settled = true, s.state.Load() != nil
	}
	return true
}

// resolve takes in what the folder holds, if it's another than before.
func (s *Source) resolve() {
	if !s.stale {
		return
	}
	s.stale, s.unpublished = false, true
	s.world, s.taken = s.folder.resolve(s.o.Node, s.before()), false
	if !s.settled { // Nothing was written: whatever is granted needn't wait again.
		s.changed = time.Now()
	}
	s.version++
	s.sayEarlier()
	nothing := s.world.plans.Len() == 0 && len(s.world.segments) == 0 && len(s.world.problems) == 0
	if nothing && !s.nothing {
		s.o.Logger.Warn("the folder of specs holds no network and no entry that could be served: nobody is answered", "folder", s.o.Dir)
	}
	s.nothing = nothing
	for what := range s.said {
		if _, still := s.world.problems[what]; !still && what != "" {
			s.say(what, "")
		}
	}
	for what, why := range s.world.problems {
		s.say(what, why)
	}
}

// say tells a problem once, and once that it's over.
func (s *Source) say(what, why string) {
	before := s.said[what]
	switch {
	case before == why:
	case why == "":
		delete(s.said, what)
		s.o.Logger.Info("it's right again", "was", before)
	default:
		s.said[what] = why
		s.complain(what, why)
	}
}
