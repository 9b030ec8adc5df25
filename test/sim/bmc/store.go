package bmc

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// store is one BMC's state: its tree, and copies of what was written to.
// Guarded by BMC.mu.
type store struct {
	base *Tree
	own  map[string]*resource
}

func newStore(t *Tree) *store { return &store{base: t, own: map[string]*resource{}} }

// get returns a resource, nil where there is none. It mustn't be changed.
func (s *store) get(uri string) *resource {
	k := treeKey(uri)
	if r, ok := s.own[k]; ok {
		return r
	}

	return s.base.resources[k]
}

// body returns a resource's, nil where it has none. It mustn't be changed.
func (s *store) body(uri string) object {
	if r := s.get(uri); r != nil {
		return r.body
	}

	return nil
}

// put adds or replaces a resource.
func (s *store) put(uri string, body object) {
	body["@odata.id"] = uri
	s.own[treeKey(uri)] = &resource{uri: uri, body: body}
}

// remove takes a resource away.
func (s *store) remove(uri string) { s.own[treeKey(uri)] = nil }

// change edits a copy of a resource's body, which has another ETag then.
func (s *store) change(uri string, edit func(body object)) {
	was := s.get(uri)
	if was == nil || was.body == nil {
		return
	}
	now := &resource{uri: was.uri, body: copied(was.body), etag: was.etag, revision: was.revision + 1}
	edit(now.body)
	if now.body["@odata.etag"] != nil {
		now.body["@odata.etag"] = now.currentETag()
	}
	s.own[treeKey(uri)] = now
}

// currentETag is that of the first revision with a number before its last quote:
// it stays as weak or strong as it was. "" where the resource tells none.
func (r *resource) currentETag() string {
	if r.etag == "" || r.revision == 0 {
		return r.etag
	}
	opaque, quoted := strings.CutSuffix(r.etag, `"`)
	opaque += "-" + strconv.Itoa(r.revision)
	if quoted {
		opaque += `"`
	}

	return opaque
}

// bytes are the answer: as captured, as long as nothing was written.
func (r *resource) bytes() []byte {
	if r.raw != nil {
		return r.raw
	}
	out, _ := json.Marshal(r.body) //nolint:errchkjson // Decoded JSON and our own maps of strings marshal.

	return out
}

// children are the paths one segment below uri, sorted.
func (s *store) children(uri string) []string {
	prefix := treeKey(uri) + "/"
	all := maps.Clone(s.base.resources)
	maps.Copy(all, s.own)
	var out []string
	for k, r := range all {
		if rest, ok := strings.CutPrefix(k, prefix); ok && r != nil && !strings.Contains(rest, "/") {
			out = append(out, r.uri)
		}
	}
	slices.Sort(out)

	return out
}

// copied is a deep copy of decoded JSON, and of what is made here.
func copied(in object) object {
	out := make(object, len(in))
	for k, v := range in {
		out[k] = copiedValue(v)
	}

	return out
}

func copiedValue(v any) any {
	switch x := v.(type) {
	case object:
		return copied(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = copiedValue(x[i])
		}

		return out
	default:
		return v
	}
}

// at follows names through objects, without case; nil where one is missing.
func at(v any, names ...string) any {
	for _, name := range names {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[nameIn(o, name)]
	}

	return v
}

// nameIn is a property's name as the object spells it, or as it was asked for.
func nameIn(o object, name string) string {
	if _, ok := o[name]; ok {
		return name
	}
	for k := range o {
		if strings.EqualFold(k, name) {
			return k
		}
	}

	return name
}

// textAt is the string at a path of names, "" for everything else.
func textAt(v any, names ...string) string {
	s, _ := at(v, names...).(string)

	return s
}

// textsAt are the strings of the list at a path of names.
func textsAt(v any, names ...string) []string {
	var out []string
	switch list := at(v, names...).(type) {
	case []string:
		return list
	case []any:
		for _, x := range list {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
	}

	return out
}

// linkAt is where the link at a path of names leads, as an object or a string.
func linkAt(v any, names ...string) string {
	x := at(v, names...)
	if s, ok := x.(string); ok {
		return s
	}

	return textAt(x, "@odata.id")
}

// linksAt are those of a list of links.
func linksAt(v any, names ...string) []string {
	var out []string
	switch list := at(v, names...).(type) {
	case []object:
		for _, x := range list {
			out = append(out, linkAt(x))
		}
	case []any:
		for _, x := range list {
			if uri := linkAt(x); uri != "" {
				out = append(out, uri)
			}
		}
	}

	return out
}
