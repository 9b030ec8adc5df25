package session

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// sightings wait to be written to one session.
type sightings struct {
	items []Sighting
	// urgent says that one of them may be a new stage.
	urgent bool
	due    time.Time
	// again is when something urgent may be written next, by the clock that timers have.
	again time.Time
	// absent says that there's no session to write them to, as far as was known until due.
	absent bool
}

// holds says whether a sighting waits already that a further one adds nothing to: a machine that asks for its script again and again, and
// is told the same. Of the first alone the time counts, but where an install is told by its signs.
func (w *sightings) holds(x Sighting) bool {
	if x.Kind != SawScript || x.Silent || len(w.items) == 0 {
		return false
	}
	x.At = w.items[len(w.items)-1].At
	return w.items[len(w.items)-1] == x
}

// missed says whether a script, or its firmware's DHCP, is of a machine that had no session a moment ago. Other signs are rare, and each is looked at.
func (w *sightings) missed(x Sighting) bool {
	left := w.due.Sub(x.At)
	return w.absent && (x.Kind == SawScript || x.Kind == SawFirmwareDHCP) && left > 0 && left <= missing // Clocks may be put back.
}

// chore is something that the watch found to be done to a session.
type chore struct {
	// lacks is the revision at which the session lacks a consumption; 0 if it doesn't.
	lacks uint64
	due   time.Time
	// settles says that it's the end of an install by its signs alone.
	settles bool
	// seen is the revision that it was found at; a later one may ask for more.
	seen string
}

const (
	// calm is how often reports alone are written to one session.
	calm = time.Second
	// brisk is how often stages are: a machine that begins to boot a thousand times a second must not use up what the API
	// takes of all bootds.
	brisk = 100 * time.Millisecond
	// missing is for how long a machine that has no session isn't looked up again for its firmware's DHCP or a script: one that netboots each time has none. The
	// watch tells of a new one at once.
	missing = 10 * time.Second
	// rests is how many times as long as looking for what is due it waits with looking again. Ten thousand machines that boot at once wake
	// it each time.
	rests = 10
	// restsFor is what looking takes at most, for that: nothing else makes a stage wait.
	restsFor = 5 * time.Millisecond
	// maxWaiting sightings of one session; during a long outage the oldest are dropped.
	maxWaiting = 32
	// writers at once.
	writers = 8
	// failingAgain is how often it's told that sessions can't be written.
	failingAgain = 10 * time.Minute
	// farewell is how long a bootd that stops goes on writing what waits.
	farewell = 2 * time.Second
)

// Sight takes a sighting, to be written soon: a stage at once, but ten times a second at most, mere reports once a second. It
// never blocks. What the machine said is cleaned. Of a machine that certainly has no session, as one that netboots each time, nothing waits:
// there's nowhere to write it, and no consumption that its boot could be a later one than.
func (m *Manager) Sight(n boot.Name, x Sighting) {
	if m.none(n) {
		return
	}
	x.Message = Clean(x.Message)
	if m.waits(n, x) {
		m.poke()
	}
}

// waits puts a sighting behind those that wait; false: it isn't one to wake anybody for.
func (m *Manager) waits(n boot.Name, x Sighting) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.Kind == SawFirmwareDHCP {
		m.started[n] = x.At
		delete(m.sent, n) // That was another boot.
	}
	w := m.sighted[n]
	switch {
	case w == nil:
		w = &sightings{}
		m.sighted[n] = w
	case w.missed(x), w.holds(x):
		return false
	}
	if len(w.items) == maxWaiting {
		w.items = append(w.items[:0:0], w.items[1:]...)
	}
	w.items, w.absent = append(w.items, x), false
	w.urgent = w.urgent || x.Kind != SawReport
	m.unwritten[n] = w
	return true
}

// Seen takes a session as the watch delivered it, in order. Somebody else's consumption goes into the
// log before Seen returns; what must be written to the session is done by Run. Until it is, Synced
// stays below the session's revision.
func (m *Manager) Seen(r Record) error {
	if c := r.Session.Consumed; c != nil {
		if err := m.o.Log.Add(*c); err != nil {
			return err
		}
	}
	_, lacks := m.lacking(r.Session)
	_, unheard := boot.Acknowledge(r.Session)
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.sighted[r.Name]; w != nil && w.absent {
		delete(m.sighted, r.Name)
	}
	settles, pending := settlesAt(r)
	if !pending {
		delete(m.stays, r.Name)
	} else if own := m.watches(r.Name, r.Progress.Signs); own.After(settles) {
		settles = own
	}
	if !lacks && !unheard && !pending {
		delete(m.chores, r.Name)
		return nil
	}
	c := chore{seen: r.Session.Revision}
	if lacks {
		c.lacks = Revision(r.Session.Revision)
	}
	if !lacks && !unheard {
		c.due, c.settles = settles, true
	}
	m.chores[r.Name] = c
	m.poke()
	return nil
}

// Gone forgets a session that was deleted.
func (m *Manager) Gone(n boot.Name) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.chores, n)
	delete(m.sighted, n)
	delete(m.unwritten, n)
	delete(m.started, n)
	delete(m.stays, n)
	delete(m.sent, n)
	delete(m.unsaid, n)
}

// Synced lowers a revision to what may be announced as compared with the log: below every session that
// still lacks what the log knows.
func (m *Manager) Synced(revision uint64) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.chores {
		if c.lacks > 0 && c.lacks <= revision {
			revision = c.lacks - 1
		}
	}
	return revision
}

// Revision reads a resourceVersion. Those of one cluster are comparable as integers; 0 for anything else.
func Revision(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (m *Manager) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Run writes sightings and does chores until ctx ends.
func (m *Manager) Run(ctx context.Context) error {
	for {
		began := time.Now()
		due, next := m.due(m.o.Now())
		took := time.Since(began)
		g := errgroup.Group{}
		g.SetLimit(writers)
		for _, n := range due {
			g.Go(func() error {
				m.write(ctx, n)
				return nil
			})
		}
		_ = g.Wait()
		if len(due) > 0 {
			continue
		}
		t := time.NewTimer(next)
		select {
		case <-ctx.Done():
			t.Stop()
			m.flush(context.WithoutCancel(ctx))
			return nil
		case <-m.wake:
			time.Sleep(rests * min(took, restsFor))
		case <-t.C:
		}
		t.Stop()
	}
}

// flush writes what waits still, as far as that's soon: it's known to nobody else, and a bootd that is updated mustn't take with
// it that a machine was seen to boot from its disk.
func (m *Manager) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	g := errgroup.Group{}
	g.SetLimit(writers)
	for _, n := range m.rest() {
		g.Go(func() error {
			m.write(ctx, n)
			return nil
		})
	}
	_ = g.Wait()
}

// rest names the sessions that anything waits for.
func (m *Manager) rest() []boot.Name {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.unwritten))
}

// due names the sessions to write now, and says when to look again. They aren't due a second time until
// a second has passed, unless something urgent comes.
func (m *Manager) due(now time.Time) (names []boot.Name, next time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next = calm
	if t := time.Now(); t.After(m.sweep) {
		m.sweep = t.Add(calm)
		maps.DeleteFunc(m.sighted, func(_ boot.Name, w *sightings) bool { return len(w.items) == 0 && now.After(w.due) })
	}
	for n, w := range m.unwritten {
		switch {
		case w.urgent && time.Now().Before(w.again):
			next = min(next, time.Until(w.again))
		case w.urgent, !now.Before(w.due):
			names = append(names, n)
			w.urgent, w.due, w.again = false, now.Add(calm), time.Now().Add(m.o.Brisk)
		default:
			next = min(next, w.due.Sub(now))
		}
	}
	for n, c := range m.chores {
		if now.Before(c.due) {
			next = min(next, c.due.Sub(now))
			continue
		}
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
		c.due = now.Add(calm)
		m.chores[n] = c
	}
	return names, next
}

// write brings a session up to date. A failure is tried again in a second: what waited still waits.
func (m *Manager) write(ctx context.Context, n boot.Name) {
	m.mu.Lock()
	before := m.chores[n].seen
	m.mu.Unlock()
	err := m.change(ctx, n, func(r Record) (Record, error) { return r, nil }, noLoss)
	switch {
	case err == nil:
		m.mu.Lock()
		if c := m.chores[n]; c.seen == before && !c.settles { // What settles waits for its time, whatever else is written; its end is seen.
			delete(m.chores, n)
		}
		m.mu.Unlock()
	case errors.Is(err, ErrNotFound):
		m.Gone(n)
		m.mu.Lock()
		m.sighted[n] = &sightings{absent: true, due: m.o.Now().Add(missing)}
		m.mu.Unlock()
	case ctx.Err() == nil:
		m.unsure(n)
		m.o.Logger.Log(ctx, m.failing(m.o.Now()), "a boot session can't be written; it's tried again, as are others", "session", n.String(), "error", err.Error())
	}
}

// failing says how loud a write that failed is told: once, and every ten minutes. While the API is away each machine that was seen has one
// that's tried each second.
func (m *Manager) failing(now time.Time) slog.Level {
	m.mu.Lock()
	defer m.mu.Unlock()
	if since := now.Sub(m.failed); !m.failed.IsZero() && since >= 0 && since < failingAgain {
		return slog.LevelDebug
	}
	m.failed = now
	return slog.LevelInfo
}

// waiting gives a copy of what waits to be written.
func (m *Manager) waiting(n boot.Name) []Sighting {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.sighted[n]; w != nil {
		return append([]Sighting(nil), w.items...)
	}
	return nil
}

// written drops the first count of what waited.
func (m *Manager) written(n boot.Name, count int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.sighted[n]; w != nil {
		w.items = append([]Sighting(nil), w.items[min(count, len(w.items)):]...)
		if len(w.items) == 0 {
			w.urgent = false
			delete(m.unwritten, n)
		}
	}
}
