package bmc

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// get answers with a resource of the tree.
func (b *BMC) get(w http.ResponseWriter, r *http.Request) {
	if b.monitor(w, r.URL.Path) {
		return
	}
	powered := b.powerStates()
	b.mu.Lock()
	b.sync(powered)
	answer := b.answer(w, r)
	b.mu.Unlock()
	answer() // Without the lock: a client may be slow to read, or never do.
}

// answer finds out what to answer, and returns how. Called with the lock held.
func (b *BMC) answer(w http.ResponseWriter, r *http.Request) func() {
	path := r.URL.Path
	res := b.store.get(path)
	w.Header().Set("Allow", b.allow(path))
	switch {
	case res == nil && b.resettable(path) != nil:
		return func() { b.fail(w, http.StatusMethodNotAllowed, problem{message: msgNotAllowed}) }
	case res == nil:
		return func() { b.fail(w, http.StatusNotFound, problem{message: msgMissing}) }
	case b.behaviour.Redirect && path != res.uri && treeKey(path) == treeKey(res.uri):
		elsewhere := url.URL{Path: res.uri, RawQuery: r.URL.RawQuery}
		w.Header().Set("Location", elsewhere.String())

		return func() { w.WriteHeader(http.StatusPermanentRedirect) }
	}
	query, bad := b.queryOf(r.URL.Query())
	switch {
	case bad.message != "":
		return func() { b.fail(w, http.StatusNotImplemented, bad) }
	case query.expands() && res.body != nil:
		query.left = maxExpanded
		body := b.expanded(res.body, &query, query.levels)

		return func() { reply(w, http.StatusOK, body) }
	}
	etag := b.etagOf(res)
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	if etag != "" && slices.Contains(strings.Split(r.Header.Get("If-None-Match"), ", "), etag) {
		return func() { w.WriteHeader(http.StatusNotModified) }
	}
	body := b.dated(res)

	return func() {
		headers(w)
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body)
	}
}

// etagOf is what the header says of a resource; "" is nothing.
func (b *BMC) etagOf(res *resource) string {
	if b.behaviour.ETags == ETagsInHeader && res.etag == "" {
		made := resource{etag: `"` + treeKey(res.uri) + `"`, revision: res.revision}

		return made.currentETag()
	}

	return res.currentETag()
}

// query is what a client asks for besides the resource itself.
type query struct {
	// links are the members and other links to follow: those of the resource's
	// own properties, and those below Links.
	own, links bool
	levels     int
	// left bounds how many resources are put in.
	left int
}

// maxExpanded bounds one answer: links lead in circles.
const maxExpanded = 2000

func (q query) expands() bool { return q.own || q.links }

// queryOf reads a $expand as the service root says that it may be (DSP0266,
// 7.3); every other parameter with a $ is refused, and the rest ignored.
func (b *BMC) queryOf(values url.Values) (query, problem) {
	var q query
	for name, v := range values {
		if !strings.HasPrefix(name, "$") {
			continue
		}
		refused := problem{message: "QueryNotSupported", value: name}
		if name != "$expand" || len(v) != 1 {
			return query{}, refused
		}
		var ok bool
		if q, ok = b.expandOf(v[0]); !ok {
			return query{}, refused
		}
	}

	return q, problem{}
}

// expandOf reads one: *, . or ~, and how deep.
func (b *BMC) expandOf(v string) (query, bool) {
	offers := at(b.store.body(pathRoot), "ProtocolFeaturesSupported", "ExpandQuery")
	what, levels, deep := strings.Cut(strings.TrimSuffix(v, ")"), "($levels=")
	kinds := map[string]struct {
		offer string
		query query
	}{
		"*": {"ExpandAll", query{own: true, links: true, levels: 1}},
		".": {"NoLinks", query{own: true, levels: 1}},
		"~": {"Links", query{links: true, levels: 1}},
	}
	k, known := kinds[what]
	if yes, _ := at(offers, k.offer).(bool); !known || !yes {
		return query{}, false
	}
	if !deep {
		return k.query, true
	}
	may, _ := at(offers, "Levels").(bool)
	most := numberAt(offers, "MaxLevels")
	k.query.levels = numberAt(object{"levels": json.Number(levels)}, "levels")

	return k.query, may && k.query.levels > 0 && k.query.levels <= max(most, 1)
}

// numberAt is the number at a path of names, 0 for everything else.
func numberAt(v any, names ...string) int {
	switch x := at(v, names...).(type) {
	case json.Number:
		n, _ := x.Int64()

		return int(n)
	case int:
		return x
	default:
		return 0
	}
}

// expanded is a body with the resources that it links in the place of the
// links, and theirs, down to a level.
func (b *BMC) expanded(body object, q *query, levels int) object {
	out := copied(body)
	if levels == 0 {
		return out
	}
	for name, v := range out {
		if name == "Links" && !q.links || name != "Links" && !q.own || strings.HasPrefix(name, "@") {
			continue
		}
		out[name] = b.expandedValue(v, q, levels)
	}

	return out
}

func (b *BMC) expandedValue(v any, q *query, levels int) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = b.expandedValue(x[i], q, levels)
		}
	case []object:
		out := make([]any, 0, len(x))
		for _, o := range x {
			out = append(out, b.expandedValue(o, q, levels))
		}

		return out
	case object:
		uri, isLink := x["@odata.id"].(string)
		if !isLink || len(x) > 1 {
			for name := range x {
				x[name] = b.expandedValue(x[name], q, levels)
			}

			return x
		}
		target := b.store.body(uri)
		if target == nil || q.left == 0 {
			return x
		}
		q.left--
		member := b.expanded(target, q, levels-1)
		for _, name := range b.behaviour.ExpandDrops {
			delete(member, name)
		}

		return member
	}

	return v
}
