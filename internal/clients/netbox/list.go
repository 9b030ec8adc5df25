package netbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"strconv"
)

const (
	// pageSize keeps a page of full records well below maxBody.
	pageSize = 200
	// maxPages bounds a list that never ends.
	maxPages = 25
	// listMost and listItems bound a list whose pages are large or many, which anybody's server may give: a provider has 512 MiB for all its
	// connections. What of that lists may take is a Room's.
	listMost  = 96 << 20
	listItems = 200_000
)

// list performs one list call and decodes its page.
func list[T any](ctx context.Context, c *Client, k call, item func([]byte) (T, error)) (page[T], error) {
	a, err := c.do(ctx, k)
	if err != nil {
		return page[T]{}, err
	}
	return readPage(k, a, item)
}

// readPage words what is wrong with a page, unless an item has its own words for it.
func readPage[T any](k call, a answer, item func([]byte) (T, error)) (page[T], error) {
	p, err := decodePage(a.body, item)
	if e, ok := errors.AsType[*Error](err); ok {
		return page[T]{}, e
	}
	if err != nil {
		return page[T]{}, k.failed(KindUnexpected, "its answer isn't a list of what was asked for; check the URL", err)
	}
	return p, nil
}

// readIn is readPage of a page that counted as it came, and does so as long as it's decoded; of what it has each item counts by itself.
func readIn[T any](k call, a answer, item func([]byte) (T, error)) (page[T], error) {
	p, err := readPage(k, a, item)
	if k.in != nil {
		k.in.page(0)
	}
	return p, err
}

// weighed counts each item of a list by about what it takes in memory.
func weighed[T any](in *reading, item func([]byte) (T, error)) func([]byte) (T, error) {
	const plain = 300 // What an item takes beside its texts.
	return func(b []byte) (T, error) {
		v, err := item(b)
		if err != nil {
			return v, err
		}
		n := int64(plain + len(b))
		if w, ok := any(v).(weighty); ok {
			n = w.weight()
		}
		return v, in.add(n)
	}
}

// listAll reads a list of full records.
func listAll[T any](ctx context.Context, c *Client, k call, item func([]byte) (T, error)) ([]T, error) {
	in := &reading{k: k, l: c.room}
	defer in.end()
	return listPages(ctx, c, k, bound{size: pageSize, pages: maxPages, bytes: listMost, in: in}, weighed(in, item))
}

// A bound is how much a list may be: so many records on a page, so many pages, and so many bytes in all as they come.
type bound struct {
	size, pages int
	bytes       int64
	// in is told of each page as it's read; nil isn't.
	in *reading
}

// listPages follows pages by offset, never by the link that the server gives, which names any host.
func listPages[T any](ctx context.Context, c *Client, k call, most bound, item func([]byte) (T, error)) ([]T, error) {
	var all []T
	read := int64(0)
	k.in, k.most = most.in, k.limit()
	for range most.pages {
		k.query = paged(k.query, most.size, len(all))
		a, err := c.do(ctx, k)
		if err != nil {
			return nil, err
		}
		if read += int64(len(a.body)); read > most.bytes {
			return nil, k.failed(KindUnexpected, fmt.Sprintf("its list is larger than %d MiB", most.bytes>>20), nil)
		}
		p, err := readIn(k, a, item)
		if err != nil {
			return nil, err
		}
		if len(p.Items) > most.size || len(all)+len(p.Items) > listItems {
			return nil, k.failed(KindUnexpected, fmt.Sprintf("its list has more than %d on a page, which is what was asked for, or more than %d in all",
				most.size, listItems), nil)
		}
		all = append(all, p.Items...)
		if !p.More || len(p.Items) == 0 {
			return all, nil
		}
		c.short(len(p.Items), most.size)
	}
	return nil, k.failed(KindUnexpected, "its list doesn't end", nil)
}

// short notes that a page, behind which there are others, has fewer records than were asked for: NetBox lists no more at once.
func (c *Client) short(has, asked int) {
	if has < asked {
		c.cut.Store(int64(has))
	}
}

// paged asks for one page. By number, what is made meanwhile comes last: in most other orders it would shift what was still to be read.
func paged(q url.Values, limit, offset int) url.Values {
	q = maps.Clone(q)
	if q == nil {
		q = url.Values{}
	}
	if !q.Has("ordering") {
		q.Set("ordering", "id")
	}
	q.Set("limit", strconv.Itoa(limit))
	q.Set("offset", strconv.Itoa(offset))
	return q
}

// A page is one page of a list. Count is -1 where NetBox gives none (cursor paging).
type page[T any] struct {
	Count int
	More  bool
	Items []T
}

// decodePage insists on "results": an object without it isn't an empty list. Nothing behind the first item that fails is decoded.
func decodePage[T any](b []byte, item func([]byte) (T, error)) (page[T], error) {
	w := struct {
		Count   *int       `json:"count"`
		Next    text       `json:"next"`
		Results results[T] `json:"results"`
	}{Results: results[T]{item: item}}
	if err := json.Unmarshal(b, &w); err != nil || !w.Results.there {
		return page[T]{}, errors.New("answer isn't a list")
	}
	if w.Results.err != nil {
		return page[T]{}, w.Results.err
	}
	p := page[T]{Count: -1, More: w.Next != "", Items: w.Results.items}
	if w.Count != nil {
		p.Count = *w.Count
	}
	return p, nil
}

// results are a page's items, each decoded as it's read: two bytes of JSON can be an item, and as one list of texts they would take twenty
// times as much memory.
type results[T any] struct {
	item  func([]byte) (T, error)
	there bool
	items []T
	err   error
}

// UnmarshalJSON never fails: err says what was wrong with an item, or that there are more than any page that we ask for has.
func (r *results[T]) UnmarshalJSON(b []byte) error {
	r.there, r.items, r.err = len(b) > 0 && b[0] == '[', nil, nil
	for raw := range elements(b) {
		var v T
		if v, r.err = r.item(raw); r.err != nil {
			break
		}
		if r.items = append(r.items, v); len(r.items) > lookPage {
			r.err = errors.New("page has more than the most that a NetBox puts on one")
			break
		}
	}
	return nil
}

// elements are those of an array, which must be JSON without space around it; of anything else there are none. They are parts of b: a Decoder
// keeps another copy of the largest one, and more than that of place for the next.
func elements(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(b) == 0 || b[0] != '[' {
			return
		}
		depth, quoted, from := 0, false, 1
		for i := 1; i < len(b); i++ {
			switch c := b[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '[', c == '{':
				depth++
			case depth > 0 && (c == ']' || c == '}'):
				depth--
			case depth == 0 && (c == ',' || c == ']'):
				if raw := bytes.TrimSpace(b[from:i]); len(raw) > 0 && !yield(raw) || c == ']' {
					return
				}
				from = i + 1
			}
		}
	}
}
