package netbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

const (
	// byNumber is how many records are read by their numbers in one call, in so many bytes of its URL at most: NetBox answers 400, in HTML, to one
	// of more than 4 kB.
	byNumber, byNumberURL = 300, 3000
	// fewer is how many times fewer are asked for where the answer was too large: three more calls come to a single one.
	fewer = 8
	// wholeAge is how long a record that was read is believed to be so but for what NetBox says has changed: what is written there past its models,
	// or long before others see it, doesn't show by its time; nor does what a backup took back, where NetBox's clock wasn't.
	wholeAge = 20 * time.Minute
	// idleAge is how long one is remembered that nobody asks for.
	idleAge = 2 * time.Hour
	// slack is by how much longer ago than what was seen last changes are asked for: a change has the time at which it was written, and is seen by
	// others when its request ends, which NetBox lets take two minutes.
	slack = 3 * time.Minute
	// mostChanged is how many pages of changes are read. Where there are more, all is read anew.
	mostChanged = 5
)

// A batch is what is asked for at once: records by their numbers, or where to isn't 0 all whose numbers are from one to another.
type batch struct {
	numbers  []int64
	from, to int64
}

// stale is a batch in which the first one is, with others that are known no better: those near it where these are more than can be named.
func (r *roster[V]) stale(first int64, maxAge time.Duration, others []int64) batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	p := batch{numbers: []int64{first}, from: (first-1)/lookPage*lookPage + 1}
	if now.Before(r.full) {
		return batch{numbers: p.numbers}
	}
	p.to = p.from + lookPage - 1
	slices.Sort(others)
	var rest []int64
	for _, n := range slices.Compact(others) {
		if e, ok := r.known[n]; n == first || ok && now.Sub(e.at) < maxAge*3/4 {
			continue
		}
		if rest = append(rest, n); n >= p.from && n <= p.to {
			p.numbers = append(p.numbers, n)
		}
	}
	if those := fitting(first, rest); now.Before(r.unranged) || len(p.numbers) <= len(those) {
		return batch{numbers: those}
	}
	return p
}

// fitting are as many numbers as a URL can name, the first among them.
func fitting(first int64, rest []int64) []int64 {
	out, size := []int64{first}, 0
	for _, n := range rest {
		if size += len("&id=") + len(strconv.FormatInt(n, 10)); size > byNumberURL || len(out) == byNumber {
			break
		}
		out = append(out, n)
	}
	return out
}

// roomFor is how many of some values a URL can name as those of one parameter, of which there is one at least.
func roomFor(parameter string, values []string) int {
	n, size := 0, 0
	for n < len(values) {
		if size += len("&=") + len(parameter) + len(url.QueryEscape(values[n])); n > 0 && size > byNumberURL {
			break
		}
		n++
	}
	return n
}

// ask for a part, and say for which numbers that was. A NetBox that doesn't know what numbers in a row are, or takes too long for so many, is asked by
// their numbers, for as many as can be named; for fewer where the answer is larger than one may be, as that of trunks with many VLANs each.
func (r *roster[V]) ask(ctx context.Context, p batch, k call, read readFn[V]) (asked []int64, found []V, err error) {
	if p.to != 0 {
		row := k.with("id__gte", strconv.FormatInt(p.from, 10)).with("id__lte", strconv.FormatInt(p.to, 10))
		stray := func(v V) bool { return v.number() < p.from || v.number() > p.to }
		found, whole, err := read(ctx, row, maxPages, stray)
		switch {
		case err == nil && whole && !slices.ContainsFunc(found, stray):
			return p.numbers, found, nil
		case err != nil && !refused(err):
			return nil, nil, err
		}
		r.mu.Lock()
		r.unranged = r.now().Add(largeFor)
		r.mu.Unlock()
		p.numbers = fitting(p.numbers[0], p.numbers[1:])
	}
	for {
		found, whole, err := read(ctx, k.with("id", decimals(p.numbers)...), maxPages, nil)
		if errors.Is(err, errTorn) && len(p.numbers) > 1 {
			p.numbers = p.numbers[:max(1, len(p.numbers)/fewer)] // The first one is who is asked about.
			continue
		}
		if err == nil && !whole {
			err = k.failed(KindUnexpected, "its list doesn't end", nil)
		}
		return p.numbers, found, err
	}
}

// decimals are numbers as a URL has them.
func decimals(numbers []int64) []string {
	out := make([]string, 0, len(numbers))
	for _, n := range numbers {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return out
}

// refused says that a question wasn't answered that may be by other filters: NetBox doesn't know it, or what is in front lets it not pass, or the list is
// larger than there's room for. What is forbidden or isn't there is so at its numbers, too, which says it then.
func refused(err error) bool {
	return tooMuch(err) || IsInvalid(err) || IsForbidden(err) || IsNotFound(err) || KindOf(err) == KindUnexpected
}

// since says from when on changes are to be asked for, where these tell how a record is by now that was read a while ago.
func (r *roster[V]) since(number int64, maxAge time.Duration) (mark time.Time, turn int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.known[number]
	now := r.now()
	ok = maxAge > 0 && known && e.shown && !r.mark.IsZero() && !e.at.Before(r.from) && now.Sub(e.read) < wholeAge && !now.Before(r.undated)
	return r.mark.Add(-slack), r.turn, ok
}

// update what is known by what has changed. Where the answer shows that NetBox's clock was set back, or its data, nothing is known any more.
func (r *roster[V]) update(ctx context.Context, since time.Time, turn int, k call, read readFn[V]) error {
	began := r.now()
	stray := func(v V) bool { return v.changed().Before(since.Truncate(time.Second)) }
	found, whole, err := read(ctx, k.with("last_updated__gte", since.UTC().Format(time.RFC3339)), mostChanged, stray)
	ignored := slices.ContainsFunc(found, stray)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil && !refused(err):
		return err
	case turn != r.turn:
		return nil
	case err != nil, ignored:
		r.undated = began.Add(largeFor)
		return nil
	case r.older(found, began):
		r.renounce()
		return nil
	}
	from := r.from
	r.mark = r.mark.Add(began.Sub(from)) // Both clocks went on.
	if latest := latestOf(found, began); latest.After(r.mark) {
		r.mark = latest
	}
	r.mark, r.from = r.face.come(r.mark), began
	if !whole {
		return nil // Whatever was read before now is read anew.
	}
	r.advance(found, from, began)
	return nil
}

// advance has all that was read since from, but for what has changed, be as it is at a moment.
func (r *roster[V]) advance(found []V, from, at time.Time) {
	for n, e := range r.known {
		if e.shown && !e.at.Before(from) && e.at.Before(at) && at.Sub(e.read) < wholeAge {
			e.at = at
			r.known[n] = e
		}
	}
	for _, v := range found {
		e, ok := r.known[v.number()]
		if ok && !e.read.After(at) {
			r.keep(v.number(), rosterEntry[V]{value: v, shown: true, at: at, read: e.read})
		}
	}
}

// latestOf is the latest time at which one of some records was changed, as they were shown about now. One that has yet to come was written by a
// clock that was wrong.
func latestOf[V resident](all []V, now time.Time) (latest time.Time) {
	for _, v := range all {
		if t := v.changed(); t.After(latest) && t.Before(now.Add(slack)) {
			latest = t
		}
	}
	return latest
}

// with is a call with one more filter.
func (k call) with(filter string, values ...string) call {
	q := url.Values{}
	maps.Copy(q, k.query)
	q[filter] = values
	k.query = q
	return k
}

// listSome reads so many pages of a list at most, up to one that has a stray, and says whether that's the whole of it.
func listSome[T any](ctx context.Context, c *Client, k call, pages int, item func([]byte) (T, error), stray func(T) bool) (all []T, whole bool, err error) {
	in := &reading{k: k, l: c.room}
	defer in.end()
	k.in, k.most, item = in, k.limit(), weighed(in, item)
	for range pages {
		k.query = paged(k.query, lookPage, len(all))
		a, err := c.do(ctx, k)
		if err != nil {
			return nil, false, err
		}
		p, err := readIn(k, a, item)
		if err != nil {
			return nil, false, err
		}
		all = append(all, p.Items...)
		switch {
		case stray != nil && slices.ContainsFunc(p.Items, stray):
			return all, false, nil
		case !p.More || len(p.Items) == 0:
			return all, true, nil
		}
	}
	return all, false, nil
}

// rosterCall lists records of a kind.
func rosterCall(what string, kind HolderKind, path string, shown url.Values) call {
	return call{
		op: fmt.Sprintf(what, kind), method: http.MethodGet, path: path, want: http.StatusOK, query: shown,
	}
}
