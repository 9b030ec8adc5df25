package netbox

import (
	"net/http"
	"sync"
	"time"
)

// tolerated is by how much a NetBox's times may go back though nobody set its clock, nor its data, back: several servers and what stands in front of
// them tell the time, each by its own clock. It's much less than slack, so that what has changed isn't missed for it.
const tolerated = time.Minute

// wentBack says of two times that a NetBox told of the same thing, one after the other, that its clock was set back in between, or its data: by a
// backup that was restored. The zero time says nothing.
func wentBack(was, is time.Time) bool {
	return !was.IsZero() && !is.IsZero() && was.Sub(is) > tolerated
}

// A face is what a NetBox's clock shows: the latest date that it told, and when that came. Only how long ago that is counts of our own clock.
type face struct {
	mu       sync.Mutex
	date, at time.Time
	// held is until when a later date isn't believed, after an earlier one was: where several servers answer in turn whose clocks differ by more than
	// is tolerated, it's the earliest of them that all changes come after. Else each answer of that would have everything read anew.
	held time.Time
}

// reads is a date that NetBox told at a moment of ours, and says whether its clock was set back since it told one before.
func (f *face) reads(date, at time.Time) (back bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.date.IsZero() {
		f.date, f.at = date, at
		return false
	}
	due := f.date.Add(at.Sub(f.at))
	back = wentBack(due, date)
	if back {
		f.held = at.Add(wholeAge)
	}
	if back || date.After(due) && !at.Before(f.held) {
		f.date, f.at = date, at
	}
	return back
}

// shows what it must show at a moment of ours; ok is false where NetBox never told a date.
func (f *face) shows(at time.Time) (date time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.date.Add(at.Sub(f.at)), !f.date.IsZero()
}

// come says of a time at which something was changed that it has come by NetBox's own clock, or when that is now: a record may be of before that was
// set back, and what is changed from then on is earlier. In tests our clock may be another one than the servers': this goes by theirs.
func (f *face) come(t time.Time) time.Time {
	if now, ok := f.shows(time.Now()); ok && t.After(now) {
		return now
	}
	return t
}

// Date is what NetBox's own clock shows now, or that of what stands in front of it; ok is false where it never told.
func (c *Client) Date() (date time.Time, ok bool) { return c.face.shows(time.Now()) }

// dated has what is known by what NetBox says has changed read anew, where an answer's date shows that its clock was set back: what is changed from
// then on is earlier than what was changed before.
func (c *Client) dated(h http.Header, at time.Time) {
	if date, err := http.ParseTime(h.Get("Date")); err == nil && c.face.reads(date, at) {
		c.distrust()
	}
}

// distrust forgets what addresses are assigned to: it's read anew, all of it.
func (c *Client) distrust() {
	for _, k := range holderKinds() {
		c.holders[k].distrust()
		c.interfaces[k].distrust()
	}
	c.lags.distrust()
}

// distrust forgets all that is known, and what is being read of before that.
func (r *roster[V]) distrust() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.renounce()
}

func (r *roster[V]) renounce() {
	r.turn++
	r.mark, r.from = time.Time{}, time.Time{}
	for n := range r.known {
		r.drop(n)
	}
}

// shownLate is by how much a copy of NetBox's database that answers reads may be behind, at most: what shows something as it was before it was read or
// written so lately says nothing of NetBox's clock.
const shownLate = 10 * time.Second

// older says whether some of what was read now was changed later when it was read before, by more than a copy is behind.
func (r *roster[V]) older(found []V, began time.Time) bool {
	for _, v := range found {
		if e, ok := r.known[v.number()]; ok && e.shown && began.Sub(e.read) > shownLate && wentBack(e.value.changed(), v.changed()) {
			return true
		}
	}
	return false
}

// olderIn says that of a look at all addresses: of those that nobody has read or written by itself since it began, or shortly before.
func olderIn(before, seen, news map[int64]sighting) bool {
	for id, is := range seen {
		was, there := before[id]
		if _, newer := news[id]; !there || newer || was.ip.LastUpdated == is.ip.LastUpdated {
			continue
		}
		if is.at.Sub(was.at) > shownLate && wentBack(changedAt(was.ip.LastUpdated), changedAt(is.ip.LastUpdated)) {
			return true
		}
	}
	return false
}

// changedAt reads NetBox's last_updated; the zero time where it's none.
func changedAt(lastUpdated string) time.Time {
	t, _ := time.Parse(time.RFC3339, lastUpdated)
	return t
}
