package netbox

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// rosterPage is how many records are read by their numbers in one call: NetBox answers 400, in HTML, to a URL of more than 4 kB.
const rosterPage = 200

// A roster is what a connection lately saw of the records of one kind. It reads many at a time by their numbers: what ten thousand
// addresses are assigned to costs as many requests as it fills pages, not one for each address.
type roster[V any] struct {
	now func() time.Time
	// slot lets one call at a time be made.
	slot slot

	mu    sync.Mutex
	known map[int64]rosterEntry[V]
}

// A rosterEntry is a record as it was, or that it wasn't shown.
type rosterEntry[V any] struct {
	value V
	shown bool
	at    time.Time
}

func newRoster[V any](now func() time.Time) *roster[V] {
	return &roster[V]{now: now, slot: newSlot(), known: map[int64]rosterEntry[V]{}}
}

// put notes what NetBox said of one record by itself.
func (r *roster[V]) put(number int64, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[number] = rosterEntry[V]{value: v, shown: true, at: r.now()}
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
	e, _ := r.get(number, maxAge)
	return e.value, e.shown, nil
}

// stale lists a page of numbers, the first among them: others that are known no better.
func (r *roster[V]) stale(first int64, maxAge time.Duration, others []int64) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []int64{first}
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
	maps.DeleteFunc(r.known, func(_ int64, e rosterEntry[V]) bool { return began.Sub(e.at) > 2*fieldTTL })
	for _, n := range asked {
		if e, ok := r.known[n]; ok && e.at.After(began) {
			continue // Somebody read it by itself meanwhile.
		}
		v, shown := found[n]
		r.known[n] = rosterEntry[V]{value: v, shown: shown, at: began}
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
