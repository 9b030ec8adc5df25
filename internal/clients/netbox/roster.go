package netbox

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

// rosterPage is how many records are read by their numbers in one call: NetBox answers 400, in HTML, to a URL of more than 4 kB.
const rosterPage = 200

// A roster is what a connection lately saw of the records of one kind, as far as there's room for it. It reads many at a time by their numbers:
// what ten thousand addresses are assigned to costs as many requests as it fills pages, not one for each address.
type roster[V weighty] struct {
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
	// closed has nothing remembered any more.
	closed bool
}

// weighty is what says about how much memory it takes, in bytes.
type weighty interface{ weight() int64 }

// A rosterEntry is a record as it was, or that it wasn't shown.
type rosterEntry[V weighty] struct {
	value V
	shown bool
	at    time.Time
}

// weight is in bytes, with its place in a map.
func (e rosterEntry[V]) weight() int64 { return 100 + e.value.weight() }

func newRoster[V weighty](now func() time.Time, room *lodger) *roster[V] {
	return &roster[V]{now: now, room: room, slot: newSlot(), known: map[int64]rosterEntry[V]{}}
}

// rosters are one of each kind of holder, of it or of its interfaces.
func rosters[V weighty](now func() time.Time, room *lodger) map[HolderKind]*roster[V] {
	out := map[HolderKind]*roster[V]{}
	for _, k := range holderKinds() {
		out[k] = newRoster[V](now, room)
	}
	return out
}

// put notes what NetBox said of one record by itself.
func (r *roster[V]) put(number int64, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(number, rosterEntry[V]{value: v, shown: true, at: r.now()})
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

func (r *roster[V]) get(number int64, maxAge time.Duration) (e rosterEntry[V], ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok = r.known[number]
	return e, ok && r.now().Sub(e.at) < maxAge
}

// look returns a record as it was at some moment of the last maxAge, or reads it together with others that will soon be asked for.
func (r *roster[V]) look(
	ctx context.Context, number int64, maxAge time.Duration, others func() []int64, k call, read func(context.Context, call) (map[int64]V, error),
) (v V, shown bool, err error) {
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
	began := r.now()
	numbers := []int64{number}
	if maxAge > 0 {
		numbers = r.stale(number, maxAge, others())
	}
	k.query["id"] = nil
	for _, n := range numbers {
		k.query.Add("id", strconv.FormatInt(n, 10))
	}
	found, err := read(ctx, k)
	if err != nil {
		return v, false, err
	}
	r.note(numbers, found, began)
	if e, _ := r.get(number, maxAge); e.at.After(began) {
		return e.value, e.shown, nil
	}
	v, shown = found[number]
	return v, shown, nil
}

// stale lists a page of numbers, the first among them: others that are known no better.
func (r *roster[V]) stale(first int64, maxAge time.Duration, others []int64) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []int64{first}
	if r.now().Before(r.full) {
		return out
	}
	slices.Sort(others)
	for _, n := range slices.Compact(others) {
		if len(out) == rosterPage {
			break
		}
		e, ok := r.known[n]
		if n != first && (!ok || r.now().Sub(e.at) >= maxAge/2) {
			out = append(out, n)
		}
	}
	return out
}

// note takes over what a call showed that began then, and forgets what nobody has asked for in a long time.
func (r *roster[V]) note(asked []int64, found map[int64]V, began time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, e := range r.known {
		if began.Sub(e.at) > 2*fieldTTL {
			r.drop(n)
		}
	}
	for _, n := range asked {
		if e, ok := r.known[n]; ok && e.at.After(began) {
			continue // Somebody read it by itself meanwhile.
		}
		v, shown := found[n]
		if !r.keep(n, rosterEntry[V]{value: v, shown: shown, at: began}) {
			r.full = began.Add(fieldTTL)
		}
	}
}

// byNumber makes a map of a list.
func byNumber[V any](all []V, number func(V) int64) map[int64]V {
	out := make(map[int64]V, len(all))
	for _, v := range all {
		out[number(v)] = v
	}
	return out
}

// weight is about how much memory it takes, in bytes.
func (h Holder) weight() int64 {
	// The record itself, and the map of its seats with one of them.
	const plain, seats, seat = 150, 320, 80
	n := plain + len(h.Name) + len(h.Site) + len(h.Serial) + len(h.ETag)
	if h.Seated != nil {
		n += seats
	}
	for _, s := range h.Seated {
		n += seat + len(s.Address) + len(s.URL)
	}
	return int64(n)
}

// weight is about how much memory it takes, in bytes.
func (i Interface) weight() int64 {
	const plain, address = 120, 16
	n := plain + i.texts()
	for _, m := range i.MACs {
		n += address + len(m)
	}
	return int64(n)
}
