package netbox

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A listing is one kind of records on their way to the client.
type listing[T any] struct {
	all    []T
	known  filters[T]
	id     func(T) int64
	order  func(a, b T) int
	render func(T) map[string]any
	// brief are the keys of a short record, beside id, url and display.
	brief []string
}

// list filters, sorts and pages.
func list[T any](c *exchange, l listing[T]) *response {
	l.known.numbers("id", l.id)
	found, res := sift(c, l.all, l.known)
	if res != nil {
		return res
	}
	byNumber := func(a, b T) int { return cmp.Compare(l.id(a), l.id(b)) }
	q := c.r.URL.Query()
	if q.Has("start") && c.s.traits.atLeast(4, 6) {
		slices.SortFunc(found, byNumber)
		return c.cursor(found2any(found, l.id), func(i int) map[string]any { return c.only(l.render(found[i]), l.brief) })
	}
	slices.SortFunc(found, func(a, b T) int { return cmp.Or(l.order(a, b), byNumber(a, b)) })
	switch q.Get("ordering") {
	case "id":
		slices.SortFunc(found, byNumber)
	case "-id":
		slices.SortFunc(found, func(a, b T) int { return byNumber(b, a) })
	}
	return c.page(len(found), func(i int) map[string]any { return c.only(l.render(found[i]), l.brief) })
}

func found2any[T any](all []T, id func(T) int64) []int64 {
	out := make([]int64, 0, len(all))
	for _, v := range all {
		out = append(out, id(v))
	}
	return out
}

// limit of a page: 50 unless it's said, at most 1000, 0 meaning that; garbage is 50 (283 to 286).
func limitOf(q url.Values) int {
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 0 {
		return 50
	}
	if limit == 0 || limit > 1000 {
		return 1000
	}
	return limit
}

// page answers a part of a list, and where the rest is.
func (c *exchange) page(count int, render func(i int) map[string]any) *response {
	q := c.r.URL.Query()
	limit := limitOf(q)
	offset, _ := strconv.Atoi(q.Get("offset"))
	offset = max(0, offset)
	from := min(offset, count)
	to := min(from+limit, count)
	results := []any{}
	for i := from; i < to; i++ {
		results = append(results, render(i))
	}
	m := map[string]any{"count": count, "next": nil, "previous": nil, "results": results}
	if to < count {
		m["next"] = c.link(q, limit, to)
	}
	if offset > 0 {
		m["previous"] = c.link(q, limit, max(0, offset-limit))
	}
	return answer(http.StatusOK, m)
}

// cursor answers the records from the number start on, without counting them (287).
func (c *exchange) cursor(ids []int64, render func(i int) map[string]any) *response {
	q := c.r.URL.Query()
	limit := limitOf(q)
	start, _ := strconv.ParseInt(q.Get("start"), 10, 64)
	from, _ := slices.BinarySearch(ids, start)
	to := min(from+limit, len(ids))
	results := []any{}
	for i := from; i < to; i++ {
		results = append(results, render(i))
	}
	m := map[string]any{"count": nil, "next": nil, "previous": nil, "results": results}
	if to < len(ids) {
		q.Set("limit", strconv.Itoa(limit))
		q.Set("start", strconv.FormatInt(ids[to-1]+1, 10))
		m["next"] = c.base + c.r.URL.Path + "?" + q.Encode()
	}
	return answer(http.StatusOK, m)
}

// link is absolute, as NetBox believes to be called.
func (c *exchange) link(q url.Values, limit, offset int) string {
	q.Set("limit", strconv.Itoa(limit))
	q.Set("offset", strconv.Itoa(offset))
	if offset == 0 {
		q.Del("offset")
	}
	return c.base + c.r.URL.Path + "?" + q.Encode()
}

// only keeps the keys that fields= or brief= ask for, and leaves out those of omit=.
func (c *exchange) only(m map[string]any, brief []string) map[string]any {
	var keep []string
	q := c.r.URL.Query()
	switch {
	case q.Get("fields") != "":
		keep = strings.Split(q.Get("fields"), ",")
	case q.Get("brief") != "":
		keep = append([]string{"id", "url", "display"}, brief...)
	case q.Get("omit") != "" && c.s.traits.atLeast(4, 5, 2):
		for k := range strings.SplitSeq(q.Get("omit"), ",") {
			delete(m, k)
		}
		return m
	default:
		return m
	}
	out := map[string]any{}
	for _, k := range keep {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	return out
}

// one answers a single object, with its ETag where the version has them.
func (c *exchange) one(status int, m map[string]any, tag string, brief []string) *response {
	res := answer(status, c.only(m, brief))
	if c.s.traits.etags() {
		res.header.Set("ETag", tag)
	}
	return res
}

// made is one, with the Location of a new object.
func (c *exchange) made(m map[string]any, tag string) *response {
	res := c.one(http.StatusCreated, m, tag, nil)
	res.header.Set("Location", fmt.Sprint(m["url"]))
	return res
}

// plain is a value as a query would write it.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// wholeOr is a number that came as JSON, or that a seed gave.
func wholeOr(v any, or int64) int64 {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case int64:
		return v
	case int:
		return int64(v)
	}
	return or
}
