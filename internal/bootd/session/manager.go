package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Options of a Manager.
type Options struct {
	Store Store
	Log   *Log
	// Name of this bootd's BootServer, which signs what it writes.
	Name   string
	Now    func() time.Time
	Logger *slog.Logger
	// Crash is called at points where a test may want the process to die: bootd-before-consume,
	// bootd-after-log, bootd-after-consume.
	Crash func(point string)
	// Consumed is called after each consumption that this bootd wrote.
	Consumed func()
	// Stands says whether nothing stands in the way of a grant's use, or of a kernel that destroys. It's asked last of all, right before that is written
	// down, which may have waited for the disk or the API. Nil: nothing ever does.
	Stands func(*boot.Plan) bool
	// ByMachine says that what a machine named by its MACs has used stands against each entry of it: there's no other record of the machine.
	ByMachine bool
	// Brisk is the least time between two writes of one machine's stages; 0: a tenth of a second.
	Brisk time.Duration
}

// A Manager writes sessions: one change at a time for each of them, each by compare-and-swap on a live
// read, so that of several bootds and the provider's revocation exactly one wins.
type Manager struct {
	o     Options
	locks locks
	// slots are taken by changes that ask the API: each asks twice, and if all of a hall had asked once before any asked again none would have the
	// time to end.
	slots chan struct{}

	mu      sync.Mutex
	sighted map[boot.Name]*sightings
	// unwritten are those of them that hold something, and sweep is when the others are looked through next.
	unwritten map[boot.Name]*sightings
	sweep     time.Time
	failed    time.Time // When it was last told that a session couldn't be written.
	chores    map[boot.Name]chore
	started   map[boot.Name]time.Time // When the firmware was last seen to start.
	sent      map[boot.Name]int64     // Bytes that are yet to be written down.
	unsaid    map[boot.Name]string    // Grants whose use this bootd began to write, and hasn't told of.
	stays     map[boot.Name]stay      // Of machines whose install is known by its signs, as the watch has shown them.
	wake      chan struct{}
}

// New makes a manager. Its Run writes what needn't be written at once.
func New(o Options) *Manager {
	if o.Crash == nil {
		o.Crash = func(string) {}
	}
	if o.Consumed == nil {
		o.Consumed = func() {}
	}
	if o.Stands == nil {
		o.Stands = func(*boot.Plan) bool { return true }
	}
	if o.Brisk == 0 {
		o.Brisk = brisk
	}
	return &Manager{
		o: o, locks: locks{held: map[boot.Name]chan struct{}{}}, slots: make(chan struct{}, atOnce),
		sighted: map[boot.Name]*sightings{}, unwritten: map[boot.Name]*sightings{}, chores: map[boot.Name]chore{}, started: map[boot.Name]time.Time{}, sent: map[boot.Name]int64{}, unsaid: map[boot.Name]string{}, stays: map[boot.Name]stay{},
		wake: make(chan struct{}, 1),
	}
}

const (
	// tries of a compare-and-swap. Those who compete are a few bootds and the provider.
	tries = 8
	// patience with the API for one change; the machine that waits has about as much.
	patience = 5 * time.Second
	// atOnce is how many changes ask the API at once: half of what bootd asks it in a second.
	atOnce = 100
)

// Logged gives what this bootd's own log knows of an entry, for boot.Decide.
func (m *Manager) Logged(entryUID, hostUID string) []boot.Consumption {
	if !m.o.ByMachine {
		return m.o.Log.For(entryUID)
	}
	return m.o.Log.OfMachine(entryUID, hostUID)
}

// loggedOf a session's grant.
func (m *Manager) loggedOf(s boot.Session) []boot.Consumption {
	if s.Grant == nil {
		return m.o.Log.For(s.EntryUID)
	}
	return m.Logged(s.EntryUID, s.Grant.HostUID)
}

// lacking puts what the log knows into a session that lacks it. What a machine that's named by its MACs used for an earlier entry is said, too,
// as far as it stands against the grant: another bootd's log may have been begun since, or that one wasn't there to hear of it.
func (m *Manager) lacking(s boot.Session) (boot.Session, bool) {
	s, lacked := lacking(s, m.o.Log.For(s.EntryUID))
	g := s.Grant
	if lacked || !m.o.ByMachine || s.Revocation != "" || g == nil || s.Consumed != nil && covers(*s.Consumed, g) {
		return s, lacked
	}
	var most *boot.Consumption // A generation above it installs, which is what a person is told to raise to.
	for _, c := range m.o.Log.OfMachine(s.EntryUID, g.HostUID) {
		if covers(c, g) && (most == nil || c.Generation > most.Generation) {
			most = &c
		}
	}
	if most == nil {
		return s, false
	}
	most.Nonce = "" // No boot goes on with it: that was another entry's.
	s.Consumed = most
	return s, true
}

// Open records that the install script of boot token t is about to be served for its grant, to who asks by the token of exchange x. A repeat
// with the nonce that was opened last changes nothing. The errors are boot's refusals, or say that the API
// couldn't be asked; in either case the script must not be served.
func (m *Manager) Open(ctx context.Context, p *boot.Plan, t boot.Claims, x boot.Exchange) error {
	return m.change(ctx, p.Entry, func(r Record) (Record, error) {
		if r.Session.EntryUID != p.EntryUID {
			return r, boot.ErrNoGrant
		}
		return m.opened(r, t, x)
	}, noLoss)
}

func (m *Manager) opened(r Record, t boot.Claims, x boot.Exchange) (Record, error) {
	now := m.o.Now()
	s, err := open(r.Session, m.loggedOf(r.Session), t, x, m.o.Name, now)
	if errors.Is(err, boot.ErrBootLoop) {
		r.Session = s // No script is served, and the one before counts no more.
	}
	if err != nil || len(s.Opened) == len(r.Session.Opened) && s.OpenedGrantID == r.Session.OpenedGrantID {
		return r, err
	}
	r.Progress = opened(r.Progress, s.OpenedGrantID != r.Session.OpenedGrantID, now)
	r.Progress.Boot.Server = m.o.Name
	r.Session = s
	return r, nil
}

// Consume uses the grant for the boot of token t. It returns nil only when this boot owns the grant, by
// the API and by the log on this machine's disk, so that the first destructive byte may be served.
func (m *Manager) Consume(ctx context.Context, p *boot.Plan, t boot.Claims) error {
	return m.consume(ctx, p, t, func(r Record) (Record, error) { return r, nil })
}

// OpenAndConsume does both in one write, for a kernel that destroys without asking again. A repeat may have its script
// again until its kernel was asked for (Deliver): later it's a machine that was reset, however alike its requests look.
func (m *Manager) OpenAndConsume(ctx context.Context, p *boot.Plan, t boot.Claims, x boot.Exchange) error {
	return m.consume(ctx, p, t, func(r Record) (Record, error) {
		if boot.Owns(r.Session, t) == nil {
			if !r.Progress.Timeline.Kernel.IsZero() || m.o.Log.Delivered(*r.Session.Consumed) {
				return r, boot.ErrConsumed
			}
			return r, nil
		}
		next, err := m.opened(r, t, x)
		if err == nil {
			next.Progress.Timeline.Kernel = time.Time{}
		}
		return next, err
	})
}

// Deliver records that the boot of token t, which used the grant, is about to be given a kernel that destroys without
// asking again. It returns nil only when that's in the session, and in the log: an etcd that is put back to before it doesn't
// make it undone.
func (m *Manager) Deliver(ctx context.Context, p *boot.Plan, t boot.Claims) error {
	var used boot.Consumption
	err := m.change(ctx, p.Entry, func(r Record) (Record, error) {
		if err := owns(r, p, t); err != nil {
			return r, err
		}
		if boot.Reported(r.Session, t.GrantID) {
			return r, boot.ErrConsumed // It doesn't begin again.
		}
		if r.Progress.Timeline.Kernel.IsZero() {
			if p.Method != boot.MethodScript && !m.o.Stands(p) { // A script of somebody's own follows the use of its grant at once.
				return r, ErrHeld
			}
			r.Progress.Timeline.Kernel = m.o.Now()
		}
		used = *r.Session.Consumed
		return r, nil
	}, noLoss)
	if err != nil {
		return err
	}
	return m.o.Log.Deliver(used)
}

func (m *Manager) consume(ctx context.Context, p *boot.Plan, t boot.Claims, first func(Record) (Record, error)) error {
	var intent, used *boot.Consumption
	err := m.change(ctx, p.Entry, func(r Record) (Record, error) {
		intent = nil
		next, err := m.consumption(r, p, t, first)
		if err != nil {
			return next, err
		}
		used = next.Session.Consumed
		if used == r.Session.Consumed {
			// Another bootd's, or our own whose answer was lost and taken for a conflict.
			return next, m.o.Log.Add(*used)
		}
		m.o.Crash("bootd-before-consume")
		// On the disk before the API hears of it: the other way round a power cut in between would
		// leave a consumption that a restored etcd could make undone.
		if err := m.o.Log.Add(*used); err != nil {
			return r, err
		}
		intent = used
		m.uses(p.Entry, used.GrantID)
		m.o.Crash("bootd-after-log")
		return next, nil
	}, func() error {
		// A conflict is certain: nothing was written. What was logged must go, or the retry would
		// take it for something that a restored etcd has lost.
		if intent == nil {
			return nil
		}
		return m.o.Log.Withdraw(*intent)
	})
	if err != nil {
		return err
	}
	if intent != nil {
		m.o.Crash("bootd-after-consume")
	}
	m.tell(p, *used)
	return nil
}

func (m *Manager) consumption(r Record, p *boot.Plan, t boot.Claims, first func(Record) (Record, error)) (Record, error) {
	if r.Session.EntryUID != p.EntryUID || boot.KeyOf(p.EntryUID) != t.Entry {
		return r, boot.ErrNoGrant
	}
	before := r.Session.Consumed
	r, err := first(r)
	if err != nil {
		return r, err
	}
	if g := r.Session.Grant; boot.Owns(r.Session, t) != nil && g != nil && g.ID == t.GrantID && g.PlanDigest != p.Digest() {
		return r, boot.ErrNoGrant // The plan changed since its script was served: what is granted isn't what would be given.
	}
	now := m.o.Now()
	s, err := consume(r.Session, m.loggedOf(r.Session), t, m.o.Name, now)
	switch {
	case err != nil || s.Consumed == before:
		return r, err
	case !m.o.Stands(p):
		return r, ErrHeld
	}
	r.Session, r.Progress = s, began(r.Progress, now)
	return r, nil
}

// change reads a session live, applies f and what waited to be written about the session, and writes it
// if anything changed. A consumption that the log knows and the session lacks is written back first: the
// session comes from a restored etcd, and f must not see it as it is. After a conflict lost is called,
// and all starts again.
func (m *Manager) change(ctx context.Context, n boot.Name, f func(Record) (Record, error), lost func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	leave, err := m.turn(ctx, n)
	if err != nil {
		return err
	}
	defer leave()
	for range tries {
		err := m.try(ctx, n, f)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		if err := lost(); err != nil {
			return err
		}
	}
	return fmt.Errorf("cannot write boot session %s: others wrote it %d times in between", n, tries)
}

func noLoss() error { return nil }

func (m *Manager) try(ctx context.Context, n boot.Name, f func(Record) (Record, error)) error {
	old, err := m.o.Store.Get(ctx, n)
	if err != nil {
		return err
	}
	if old, err = m.restore(ctx, old); err != nil {
		return err
	}
	r, waiting := old, m.waiting(n)
	for _, x := range waiting {
		x.Server = m.o.Name
		r = advance(r, x)
	}
	reported := r.Session.Installed
	if m.stayed(r) {
		r = conclude(r, m.o.Now())
	}
	known := r.Session.Installed
	r.Session, _ = boot.Acknowledge(r.Session)
	next, refused := f(r)
	if refused != nil && !errors.Is(refused, boot.ErrBootLoop) {
		next = r // The notes are worth writing all the same.
	}
	if differs(old, next) {
		bytes := m.counted(n)
		next.Progress.Boot.Bytes += bytes
		if _, err := m.o.Store.Update(ctx, next); err != nil {
			return err
		}
		m.count(n, -bytes)
		if known != reported {
			m.o.Logger.Info("an install ended by its signs", "session", n.String(), "grant", known.GrantID, "why", known.Message)
		}
	}
	m.written(n, len(waiting))
	return refused
}

func (m *Manager) restore(ctx context.Context, r Record) (Record, error) {
	s, lacked := m.lacking(r.Session)
	if !lacked {
		return r, nil
	}
	r.Session = s
	if s.Consumed.Nonce != "" { // Else nothing of this entry has begun.
		r.Progress = began(r.Progress, s.Consumed.At)
	}
	r, err := m.o.Store.Update(ctx, r)
	if err == nil {
		m.o.Logger.Warn("a session lacked a consumption that this bootd's log knows; written back",
			"session", r.Name.String(), "grant", s.Consumed.GrantID)
	}
	return r, err
}

// differs says whether bootd's half of a record changed. The pure transitions never change what a
// pointer points to, so that comparing pointers is enough.
func differs(a, b Record) bool {
	x, y := a.Session, b.Session
	return a.Progress != b.Progress || x.OpenedGrantID != y.OpenedGrantID || !slices.Equal(x.Opened, y.Opened) ||
		x.Consumed != y.Consumed || x.Installed != y.Installed || x.Failed != y.Failed || x.Acknowledged != y.Acknowledged
}
