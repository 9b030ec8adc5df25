package netbox

import (
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// lookRetry is how long a failed look stands for all who would look. One that failed after a while stands as long as that took, and lookRest
	// at most.
	lookRetry = 2 * time.Second
	lookRest  = 30 * time.Second
	// longestRest is how long NetBox is left alone at most after a look that took long.
	longestRest = 2 * time.Minute
	// largeFor is how long a page is believed to be too large that was, and desperateAfter how many looks fail with the least one before it's
	// asked whether NetBox answers anything else.
	largeFor       = time.Hour
	desperateAfter = 3
)

// A view is what a connection last saw of the addresses whose markers begin as ours do.
type view struct {
	now  func() time.Time
	room *lodger
	// field is the marker's.
	field string
	// setBack is told, before anybody else knows what a look saw, that this shows NetBox's clock or its data to have been set back.
	setBack func()

	mu   sync.Mutex
	seen map[int64]sighting
	// hosts are the addresses of what was seen.
	hosts hosts
	// weight of what was seen, in bytes.
	weight int64
	// under is the look that is under way; nil while none is. begun counts looks, and whole is the number of the last that saw all.
	under        *looking
	begun, whole int
	// looked is when the last whole look began, and took how long it lasted.
	looked time.Time
	took   time.Duration
	// news are what was seen or gone while a look is under way, which it may not have seen; nil while none is.
	news map[int64]sighting
	// changed are the markers of those that a look showed to be other than before, or didn't show any more, since somebody last asked: what
	// they are, and were.
	changed map[int64][]string
	// unfit says until when looks aren't tried, and unfitWhy: NetBox doesn't answer them as it should, or there's no room.
	unfit    time.Time
	unfitWhy error
	// size of the pages that the next look asks for, and seenBy of those that the last whole one did, if no other has failed since; 0 else. Pages
	// of large are too large, until then. vain are the looks in a row that failed over the least page.
	size, seenBy, large int
	largeUntil          time.Time
	vain                int
	// failed is why the last look failed, believed until then.
	failed      error
	failedUntil time.Time
	// closed has no look begin any more.
	closed bool
}

// A sighting is a record as it was, or that it was gone.
type sighting struct {
	ip   IPAddress
	at   time.Time
	gone bool
}

// A looking is a look at all addresses that is under way. Nobody's time is its own: who asked for it may be gone by its end.
type looking struct {
	number int
	began  time.Time
	// size of the pages that it asks for; tooMuch says that it failed, and that such a page may have been too large.
	size    int
	tooMuch bool
	// done is closed at its end.
	done chan struct{}
}

// A wish is what somebody asks a view: for a record as it was at some moment of the last maxAge, or with 0 as a look shows it that begins
// after so many others did. No record has the number 0: that's for all of them.
type wish struct {
	number int64
	maxAge time.Duration
	after  int
}

// A found is what a view knows. ok is false where only a read of the one record can tell; why says so where looks don't help.
type found struct {
	ip  IPAddress
	ok  bool
	err error
	why error
}

// errClosed says that nobody is to use a connection any more.
var errClosed = errors.New("this connection isn't used any more: its settings have changed, or the provider ends")

func newView(now func() time.Time, room *lodger, field string) *view {
	return &view{now: now, room: room, field: field, setBack: func() {}, size: lookPage, seen: map[int64]sighting{}, hosts: hosts{}, changed: map[int64][]string{}}
}

// put notes what NetBox said of one record by itself.
func (v *view) put(s sighting) {
	s.at = v.now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.keep(s) {
		s = sighting{ip: IPAddress{ID: s.ip.ID}, at: s.at, gone: true}
	}
	if v.news != nil {
		v.news[s.ip.ID] = s
	}
}

// keep what is newest of a record, where there's room for it. Else nothing is known of it, and it's read by itself.
func (v *view) keep(s sighting) (kept bool) {
	without := v.weight
	if was, there := v.seen[s.ip.ID]; there {
		without -= was.ip.weight()
		delete(v.seen, s.ip.ID)
		v.hosts.drop(was.ip)
	}
	is := without
	if !s.gone && !v.closed {
		is += s.ip.weight()
	}
	if is > without && is-without <= mostRecord && v.room.swap(v.weight, is) {
		v.seen[s.ip.ID], v.weight = s, is
		v.hosts.put(s.ip)
		return true
	}
	v.room.swap(v.weight, without)
	v.weight = without
	return false
}

// drop all that is known.
func (v *view) drop() {
	v.room.swap(v.weight, 0)
	v.weight = 0
	clear(v.seen)
	clear(v.hosts)
}

// close has nothing kept, and no look begin any more.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	v.drop()
	clear(v.changed)
}

// wish words what is asked for.
func (v *view) wish(number int64, maxAge time.Duration) wish {
	v.mu.Lock()
	defer v.mu.Unlock()
	return wish{number: number, maxAge: maxAge, after: v.begun}
}

// answer says what is known, or which look is to be waited for. It begins with that one where begins says so: whoever asked makes it.
func (v *view) answer(w wish) (f found, under *looking, begins bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f, ok := v.known(w); ok {
		return f, nil, false
	}
	if v.under != nil {
		return found{}, v.under, false
	}
	v.begun++
	v.under = &looking{number: v.begun, began: v.now(), size: v.size, done: make(chan struct{})}
	v.news = map[int64]sighting{}
	return found{}, v.under, true
}

// known is what can be said without a look. While one is under way, what was good enough as it began still is: who waited for a slow one
// would know no more until its end.
func (v *view) known(w wish) (f found, ok bool) {
	now, age := v.now(), v.age(w.maxAge)
	fresh := func(at time.Time, slow bool) bool {
		return now.Sub(at) < age || slow && v.under != nil && v.under.began.Sub(at) < 2*age
	}
	s, there := v.seen[w.number]
	switch {
	case w.maxAge == 0 && v.whole > w.after, w.maxAge > 0 && there && fresh(s.at, true):
		return found{ip: s.ip, ok: there}, true
	case v.closed:
		return found{why: errClosed}, true
	case w.maxAge > 0 && fresh(v.looked, w.number != 0):
		return found{}, true
	case now.Before(v.failedUntil):
		return found{err: v.failed}, true
	case now.Before(v.unfit):
		return found{why: v.unfitWhy}, true
	}
	return found{}, false
}

// age is how old what is known may be where maxAge is asked for: no look is begun sooner after the last one's end than that one took, or
// longestRest where it took longer. A NetBox that is slow, or has many addresses, isn't asked for them all the time; and who waited for a look
// goes by what it showed.
func (v *view) age(maxAge time.Duration) time.Duration {
	return max(maxAge, v.took+min(v.took, longestRest))
}

// finish takes over what a look saw, or that it failed, for all who wait for it.
func (v *view) finish(l *looking, p *pile, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer close(l.done)
	news := v.news
	v.under, v.news = nil, nil
	if v.closed {
		return
	}
	if err == nil && !v.room.swap(v.weight, p.weight) {
		err = p.full("there's no room for it beside what other provider configs have")
	}
	if err != nil {
		v.fail(l, err)
		return
	}
	before := v.seen
	if olderIn(before, p.seen, news) {
		v.setBack()
	}
	v.seen, v.hosts, v.weight = p.seen, hostsOf(p.seen), p.weight
	if !v.looked.IsZero() { // What appears was marked by hand, came with a backup, or was made by a POST without an answer.
		for id, is := range v.seen {
			if _, was := before[id]; !was {
				v.changes(is.ip)
			}
		}
	}
	for id, was := range before {
		is, there := v.seen[id]
		switch {
		case !there:
			v.changes(was.ip)
		case is.ip.LastUpdated != was.ip.LastUpdated:
			v.changes(was.ip, is.ip)
		}
	}
	for id, s := range news { // Known already, and newer than what the look saw.
		delete(v.changed, id)
		v.keep(s)
	}
	v.whole, v.looked, v.took = l.number, l.began, v.now().Sub(l.began)
	v.failedUntil, v.unfit = time.Time{}, time.Time{}
	v.larger(l.size)
}

// fail notes that a look failed. Where looks can't be made, what was seen by itself is kept anew.
func (v *view) fail(l *looking, err error) {
	now := v.now()
	smaller := l.tooMuch && v.smaller(l.size)
	switch {
	case errors.Is(err, errNoTurn):
		v.unfit, v.unfitWhy = now.Add(turnPatience), err
	case smaller:
		v.failed, v.failedUntil = err, now.Add(lookRetry)
	case Unfit(err):
		v.unfit, v.unfitWhy, v.looked = now.Add(fieldTTL), err, time.Time{}
		v.drop()
	default:
		v.failed, v.failedUntil = err, now.Add(min(max(now.Sub(l.began), lookRetry), lookRest))
	}
}

// changes notes whose a record was, and is.
func (v *view) changes(states ...IPAddress) {
	for _, ip := range states {
		if m := ip.Marker(v.field); !slices.Contains(v.changed[ip.ID], m) {
			v.changed[ip.ID] = append(v.changed[ip.ID], m)
		}
	}
}

// tell returns those that looks showed to have changed since it was last called: their numbers and their markers, of which nothing is missing
// where all else of them was dropped.
func (v *view) tell() []IPAddress {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []IPAddress
	for id, markers := range v.changed {
		for _, m := range markers {
			out = append(out, IPAddress{ID: id, CustomFields: map[string]any{v.field: m}})
		}
	}
	clear(v.changed)
	return out
}
