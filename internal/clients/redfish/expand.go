package redfish

import (
	"encoding/json"
	"slices"
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
// more, all are. What can't be understood is read as if it weren't expanded.
func (w *Walk) manyOf(uri, part string, h handler) task {
	plain := eachOf(uri, part, h)
	if !w.expands || uri == "" || strings.ContainsAny(uri, "?#") {
		return plain
	}
	unexpanded := plain.handlerOf(uri)
	t := readRaw(uri+expandMembers, part, func(w *Walk, body []byte) {
		members, told := expanded(body)
		if told == tooLittle {
			unexpanded(w, nil)

			return
		}
		// Others may have listed some of them: those are read already.
		members = slices.DeleteFunc(members, func(m member) bool { return w.asked(m.task(part, h)) })
		if told == justPlaces || len(members) == 0 {
			w.now(oneByOne(part, h, members)...)

			return
		}
		w.now(proof(part, h, members))
	})
	t.instead = unexpanded

	return t
}

// handlerOf is how a collection is read without an expansion that the BMC
// refused, or that makes no sense.
func (t task) handlerOf(uri string) func(w *Walk, err error) {
	return func(w *Walk, _ error) { w.now(task{uri: uri, part: t.part, handler: t.handler}) }
}

// member is one of an expanded collection.
type member struct {
	uri  string
	body json.RawMessage
	has  map[string]json.RawMessage
}

// task reads a member by itself.
func (m member) task(part string, h handler) task { return task{uri: m.uri, part: part, handler: h} }

// telling is how much an expanded collection tells.
type telling int

const (
	// tooLittle: some member may be missing.
	tooLittle telling = iota
	// justPlaces: all members are there, but their properties may not be.
	justPlaces
	// everything: all members with their properties, as far as one can see.
	everything
)

// expanded are the members of a collection, and how much it tells of them. A
// collection with more pages isn't worth the trouble, nor is one of which a
// member can't be found: whoever leaves that out may leave out more.
func expanded(body []byte) ([]member, telling) {
	var b struct {
		Members  []json.RawMessage
		NextLink ref `json:"Members@odata.nextLink"`
		Next     ref `json:"@odata.nextLink"`
	}
	if decode(body, &b) != nil || len(b.Members) == 0 || b.NextLink != "" || b.Next != "" {
		return nil, tooLittle
	}
	told := everything
	if len(b.Members) <= 2 {
		told = justPlaces // One of them would be read by itself anyway.
	}
	var members []member
	for _, raw := range b.Members[:min(maxMembers, len(b.Members))] {
		var self struct {
			ID  text `json:"Id"`
			URI text `json:"@odata.id"`
		}
		m := member{body: raw}
		if decode(raw, &self) != nil || json.Unmarshal(raw, &m.has) != nil || self.URI == "" {
			return nil, tooLittle
		}
		m.uri = string(self.URI)
		members = append(members, m)
		if self.ID == "" {
			told = justPlaces
		}
	}

	return members, told
}

// oneByOne reads members by themselves.
func oneByOne(part string, h handler, members []member) []task {
	tasks := make([]task, 0, len(members))
	for _, m := range members {
		tasks = append(tasks, m.task(part, h))
	}

	return tasks
}

// proof reads the first member by itself: the others, of which there may be
// none, are as they were expanded where that one was. Where it can't be read,
// nothing is proven.
func proof(part string, h handler, members []member) task {
	first, others := members[0], members[1:]
	t := readRaw(first.uri, part, func(w *Walk, body []byte) {
		w.takes(first.task(part, h), body)
		var alone map[string]json.RawMessage
		proven := json.Unmarshal(body, &alone) == nil
		for name := range alone {
			_, there := first.has[name]
			proven = proven && (there || strings.Contains(name, "@"))
		}
		if !proven {
			w.now(oneByOne(part, h, others)...)

			return
		}
		for _, m := range others {
			if t := m.task(part, h); !w.known(t) {
				w.takes(t, m.body)
			}
		}
	})
	t.instead = func(w *Walk, err error) {
		if !IsNotFound(err) {
			w.raw.Refuse(part)
		}
		w.now(oneByOne(part, h, others)...)
	}

	return t
}

// takes has a resource taken that came in another way than by its task.
func (w *Walk) takes(t task, body []byte) {
	v := t.decode(body)
	if v == nil {
		w.raw.Refuse(t.part)

		return
	}
	t.take(w, t.uri, v)
}
