package netbox

import (
	"context"
	"sync"
	"time"
)

// A roster is what a connection lately saw of the records of one kind, as far as there's room for it. It reads many at a time, and after that
// only what has changed since: what ten thousand addresses are assigned to costs as many requests as it fills pages, and then one for all.
type roster[V resident] struct {
	now  func() time.Time
	room *lodger
	// slot lets one call at a time be made.
	slot slot

	mu    sync.Mutex
	known map[int64]rosterEntry[V]
	// weight of what is known.
	weight int64
	// full is until when records are read one at a time, after there was no room for one.
	full time.Time
	// mark is a time of NetBox's clock that had come by from, of ours: what was read since then is as it was, but for what NetBox says was
	// changed since mark. Zero where NetBox doesn't tell. turn counts how often that was set back: what was asked before then is of before.
	mark, from time.Time
	turn       int
	face       *face
	// unranged and undated are until when NetBox isn't asked for numbers in a row, and for what has changed, as it didn't answer that as it should.
	unranged, undated time.Time
	// closed has nothing remembered any more.
	closed bool
}

// weighty is what says about how much memory it takes, in bytes.
type weighty interface{ weight() int64 }

// A resident is a record of a roster, by its number. changed is when it was changed last by NetBox's clock; the zero time: it isn't said, or
// what is shown may change without it.
type resident interface {
	weighty
	number() int64
	changed() time.Time
}

// A readFn reads so many pages of a list at most, and says whether that's the whole of it. It stops at a page that has a stray, which shows that a filter
// was ignored; nil: none is.
type readFn[V resident] func(ctx context.Context, k call, pages int, stray func(V) bool) (found []V, whole bool, err error)

// A rosterEntry is a record as it was at some moment, or that it wasn't shown, and when it was read itself.
type rosterEntry[V resident] struct {
	value    V
	shown    bool
	at, read time.Time
}

// weight is in bytes, with its place in a map.
func (e rosterEntry[V]) weight() int64 { return 100 + e.value.weight() }

func newRoster[V resident](now func() time.Time, room *lodger, f *face) *roster[V] {
	return &roster[V]{now: now, room: room, slot: newSlot(), known: map[int64]rosterEntry[V]{}, face: f}
}

// rosters are one of each kind of holder, of it or of its interfaces.
func rosters[V resident](now func() time.Time, room *lodger, f *face) map[HolderKind]*roster[V] {
	out := map[HolderKind]*roster[V]{}
	for _, k := range holderKinds() {
		out[k] = newRoster[V](now, room, f)
	}
	return out
}

// put notes what NetBox said of one record by itself.
func (r *roster[V]) put(number int64, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if r.older([]V{v}, now) {
		r.renounce()
	}
	r.keep(number, rosterEntry[V]{value: v, shown: true, at: now, read: now})
}

// keep what is newest of a record, where there's room for it.
func (r *roster[V]) keep(number int64, e rosterEntry[V]) (kept bool) {
	r.drop(number)
	if r.closed || !r.room.swap(r.weight, r.weight+e.weight()) {
		return false
	}
	r.known[number] = e
	r.weight += e.weight()
	return true
}

func (r *roster[V]) drop(number int64) {
	e, ok := r.known[number]
	if !ok {
		return
	}
	delete(r.known, number)
	r.room.swap(r.weight, r.weight-e.weight())
	r.weight -= e.weight()
}

// close forgets all of it, and has nothing remembered any more.
func (r *roster[V]) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	clear(r.known)
	r.room.swap(r.weight, 0)
	r.weight = 0
}

// get what is known of a record, and whether that's good enough.
func (r *roster[V]) get(number int64, maxAge time.Duration) (e rosterEntry[V], ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok = r.known[number]
	return e, ok && r.now().Sub(e.at) < maxAge
}

// look returns a record as it was at some moment of the last maxAge: by what has changed since it was read, or together with others that will
// soon be asked for.
func (r *roster[V]) look(ctx context.Context, number int64, maxAge time.Duration, others func() []int64, k call, read readFn[V]) (v V, shown bool, err error) {
	if e, ok := r.get(number, maxAge); ok {
		return e.value, e.shown, nil
	}
	release, err := r.slot.hold(ctx, k)
	if err != nil {
		return v, false, err
	}
	defer release()
	if e, ok := r.get(number, maxAge); ok {
		return e.value, e.shown, nil
	}
	if since, turn, ok := r.since(number, maxAge); ok {
		if err := r.update(ctx, since, turn, k, read); err != nil {
			return v, false, err
		}
		if e, ok := r.get(number, maxAge); ok {
			return e.value, e.shown, nil
		}
	}
	began, turn := r.begin()
	p := batch{numbers: []int64{number}}
	if maxAge > 0 {
		p = r.stale(number, maxAge, others())
	}
	asked, found, err := r.ask(ctx, p, k, read)
	if err != nil {
		return v, false, err
	}
	r.note(asked, found, began, turn)
	if e, _ := r.get(number, maxAge); e.at.After(began) {
		return e.value, e.shown, nil
	}
	for _, f := range found {
		if f.number() == number {
			return f, true, nil
		}
	}
	return v, false, nil
}

// begin says when a call begins, and in which turn.
func (r *roster[V]) begin() (now time.Time, turn int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now(), r.turn
}

// note takes over what a call showed that began then, and forgets what nobody has asked for in a long time.
func (r *roster[V]) note(asked []int64, found []V, began time.Time, turn int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if turn != r.turn {
		return // Whoever asks next reads it.
	}
	if r.older(found, began) {
		r.renounce()
	}
	for n, e := range r.known {
		if began.Sub(e.read) > idleAge {
			r.drop(n)
		}
	}
	shown := make(map[int64]V, len(found))
	for _, v := range found {
		shown[v.number()] = v
	}
	for _, n := range asked {
		if e, ok := r.known[n]; ok && e.read.After(began) {
			continue // Somebody read it by itself meanwhile.
		}
		v, ok := shown[n]
		if !r.keep(n, rosterEntry[V]{value: v, shown: ok, at: began, read: began}) {
			r.full = began.Add(fieldTTL)
		}
	}
	if latest := r.face.come(latestOf(found, began)); r.mark.IsZero() && !latest.IsZero() {
		r.mark, r.from = latest, began
	}
}

// weight is about how much memory it takes, in bytes.
func (h Holder) weight() int64 {
	// The record itself, and the map of its seats with one of them.
	const plain, seats, seat = 150, 320, 80
	n := plain + len(h.Name) + len(h.Site) + len(h.Serial) + len(h.ETag) + len(h.LastUpdated)
	if h.Seated != nil {
		n += seats
	}
	for _, s := range h.Seated {
		n += seat + len(s.Address) + len(s.URL)
	}
	return int64(n)
}

func (h Holder) number() int64 { return h.ID }

func (h Holder) changed() time.Time { return changedAt(h.LastUpdated) }
