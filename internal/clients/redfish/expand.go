package redfish

import (
	"encoding/json"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// expandMembers asks for a collection with its members in it (DSP0266, 7.3.1).
const expandMembers = "?$expand=."

// expansion is what a service root says of $expand.
type expansion struct {
	Query struct {
		NoLinks lenient.Flag
	} `json:"ExpandQuery"`
}

// manyOf is eachOf for a collection that nothing is written by and no address is
// in: it's read in one request where the BMC says that it can do that. Some drop
// properties then (AMI), so one member is read by itself: where that tells
// more, all are.
func (w *Walk) manyOf(uri, part string, h handler) task {
	plain := eachOf(uri, part, h)
	if !w.expands || uri == "" || strings.ContainsAny(uri, "?#") {
		return plain
	}
	t := readRaw(uri+expandMembers, part, func(w *Walk, body []byte) {
		members, whole := expanded(body)
		if !whole {
			w.now(oneByOne(part, h, members)...)

			return
		}
		w.now(proof(part, h, members))
	})
	t.instead = plain.handlerOf(uri)

	return t
}

// handlerOf is how a collection is read without an expansion that the BMC
// refused.
func (t task) handlerOf(uri string) func(w *Walk) {
	return func(w *Walk) { w.now(task{uri: uri, part: t.part, handler: t.handler}) }
}

// member is one of an expanded collection.
type member struct {
	uri  string
	body json.RawMessage
	has  map[string]json.RawMessage
}

// expanded are the members of a collection, and whether each is there with its
// properties. A collection with more pages isn't worth the trouble.
func expanded(body []byte) (members []member, whole bool) {
	var b struct {
		Members  []json.RawMessage
		NextLink ref `json:"Members@odata.nextLink"`
		Next     ref `json:"@odata.nextLink"`
	}
	if decode(body, &b) != nil {
		return nil, false
	}
	whole = b.NextLink == "" && b.Next == "" && len(b.Members) > 2
	for _, raw := range b.Members[:min(maxMembers, len(b.Members))] {
		var self struct {
			ID  text `json:"Id"`
			URI text `json:"@odata.id"`
		}
		m := member{body: raw}
		if decode(raw, &self) != nil || json.Unmarshal(raw, &m.has) != nil || self.URI == "" {
			continue
		}
		m.uri = string(self.URI)
		members, whole = append(members, m), whole && self.ID != ""
	}

	return members, whole
}

// oneByOne reads members by themselves.
func oneByOne(part string, h handler, members []member) []task {
	tasks := make([]task, 0, len(members))
	for _, m := range members {
		tasks = append(tasks, task{uri: m.uri, part: part, handler: h})
	}

	return tasks
}

// proof reads the first member by itself: the others are as they were expanded
// where that one was.
func proof(part string, h handler, members []member) task {
	return readRaw(members[0].uri, part, func(w *Walk, body []byte) {
		if v := h.decode(body); v != nil {
			h.take(w, members[0].uri, v)
		}
		var alone map[string]json.RawMessage
		_ = json.Unmarshal(body, &alone)
		for name := range alone {
			if _, there := members[0].has[name]; !there && !strings.Contains(name, "@") {
				w.now(oneByOne(part, h, members[1:])...)

				return
			}
		}
		for _, m := range members[1:] {
			if v := h.decode(m.body); v != nil {
				h.take(w, m.uri, v)
			}
		}
	})
}
