package redfish

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Bounds on what one inventory may take.
const (
	maxInventoryReads = 400
	maxInventoryBytes = 32 << 20
	// maxStalls is how many reads in a row may be without an answer. It's less than
	// what it takes for a BMC to be left alone: a resource that hangs doesn't make
	// it one that doesn't answer.
	maxStalls = 2
)

// A Walk reads the inventory of one System, resource by resource. It isn't tied
// to a Client, so that others have their turns in between. Not safe for
// concurrent use.
type Walk struct {
	system System
	memory *Memory
	raw    inventory.Raw
	// tasks are what is still to be read, the next one first; later comes after
	// what the machine's MACs are in.
	tasks, later []task
	// deep says that the latter are being read.
	deep     bool
	seen     map[string]bool
	requests int
	// sent is when the newest request was.
	sent time.Time
	// same is how many resources were as they had been.
	same   int
	bytes  int
	stalls int
	// unnamed is how often what the machine does differently couldn't be told.
	unnamed     int
	quirks      []string
	begun, done bool
	// stranger says that another machine answers than the one that was looked at.
	stranger bool
	// ofChassis says that the chassis have PCIe devices.
	ofChassis bool
	// retries are tried once more in the end, which final says has come.
	retries []task
	final   bool
	// last lists what is read once all the rest is.
	last func(w *Walk)
	// expands says that the BMC puts members into collections.
	expands bool
}

// task is a resource to be read.
type task struct {
	handler

	uri string
	// part that is missing something where the resource isn't shown.
	part string
	// again says that it wasn't answered once, and yields how often it was broken
	// off for others.
	again  bool
	yields int
	// when says whether it's still of use; nil is yes.
	when func(w *Walk) bool
	// instead is done where the BMC doesn't answer it, for that reason; nil: the
	// part is missing.
	instead func(w *Walk, err error)
}

// handler is what becomes of a resource.
type handler struct {
	// decode is what is kept of its body; nil where that isn't what it should be.
	decode func(body []byte) any
	// fits says whether what was kept of a resource is of this handler's kind.
	fits func(v any) bool
	// take what was kept. It may add tasks.
	take func(w *Walk, uri string, v any)
}

// NewWalk begins an inventory of a System. m is what its BMC said last time; nil
// is nothing, and remembers nothing.
func NewWalk(s System, m *Memory) *Walk {
	m.turn(time.Now())

	return &Walk{system: s, memory: m, seen: map[string]bool{}}
}

// Walk goes on with w for n requests at most, or until somebody waits for the BMC,
// and says whether that was all. A resource that isn't answered is tried again in
// the end, and then passed over, unless several in a row are: then there's no use
// in going on, as Stuck says.
func (c *Client) Walk(ctx context.Context, w *Walk, n int) (done bool, err error) {
	w.begin(c)
	c.system = w.system.path
	answered := false
	for ; n > 0; n-- {
		if wanted(ctx) {
			return false, nil
		}
		t, ok := w.next()
		if !ok {
			err := c.finish(ctx, w)

			return err == nil, err
		}
		w.requests++
		last := w.memory.last(t)
		w.sent = time.Now()
		a, err := c.getUnless(ctx, t.uri, last.etag)
		switch {
		case err == nil:
			w.stalls, answered = 0, true
			w.got(t, a, last)
			if w.stranger {
				return false, failf(Protocol, "another machine answers than the one that was looked at")
			}
		case skippable(err):
			w.stalls, answered = 0, true
			w.missed(t, err)
		case yielded(ctx):
			w.yielded(t, err)

			return false, err
		default:
			w.stalled(t, err)
			if answered && IsUnreachable(err) {
				return false, nil // It's this resource: the BMC answered a moment ago.
			}

			return false, err
		}
	}

	return false, nil
}

// got takes what was read, or what was read last time and is still the same.
func (w *Walk) got(t task, a answer, last remembered) {
	v := last.v
	if a.same {
		w.same++
	} else {
		w.bytes += len(a.body)
		v, last.etag = t.decode(a.body), a.header.Get("ETag")
	}
	if v == nil {
		w.raw.Refuse(t.part)

		return
	}
	w.memory.keep(t, remembered{etag: last.etag, v: v})
	t.take(w, t.uri, v)
}

// Addresses says whether all places were read that a machine's MACs are in, and
// none of them is to be asked once more.
func (w *Walk) Addresses() bool {
	open := w.retries
	if w.final {
		open = slices.Concat(w.tasks, w.retries)
	}

	return w.begun && (w.deep || len(w.tasks) == 0) && !slices.ContainsFunc(open, task.hasMACs)
}

// hasMACs says whether a machine's MACs are read there, or found by it.
func (t task) hasMACs() bool { return t.part == inventory.PartMACs || t.part == inventory.PartSystem }

// Inventory is what was read.
func (w *Walk) Inventory() Inventory {
	inv := inventory.Merge(&w.raw)
	inv.Quirks, inv.Requests, inv.Unchanged = w.quirks, w.requests, w.same
	// A place of MACs that wasn't answered yet is missing in the list.
	inv.Partial = inv.Partial || slices.ContainsFunc(slices.Concat(w.tasks, w.later, w.retries), task.hasMACs)

	return inv
}

// next takes the next task, within the bounds.
func (w *Walk) next() (task, bool) {
	for {
		if len(w.tasks) == 0 {
			w.tasks, w.later, w.deep = w.later, nil, true
		}
		if len(w.tasks) == 0 && w.last != nil {
			last := w.last
			w.last = nil
			last(w)
			w.tasks, w.later = w.later, nil
		}
		if len(w.tasks) == 0 && len(w.retries) > 0 {
			w.tasks, w.retries, w.final = w.retries, nil, true
		}
		if len(w.tasks) == 0 {
			return task{}, false
		}
		if when := w.tasks[0].when; when == nil || when(w) {
			break
		}
		w.tasks = w.tasks[1:]
	}
	t := w.tasks[0]
	if w.requests >= maxInventoryReads || w.bytes >= maxInventoryBytes {
		for _, t := range slices.Concat(w.tasks, w.later, w.retries) {
			w.raw.Refuse(t.part)
		}
		w.tasks, w.later, w.retries, w.last = nil, nil, nil, nil

		return task{}, false
	}
	w.tasks = w.tasks[1:]

	return t, true
}

// asked says whether a resource was asked for on behalf of a part before.
func (w *Walk) asked(t task) bool { return t.uri == "" || w.seen[t.key()] }

// known is asked, and from now on it was.
func (w *Walk) known(t task) bool {
	if w.asked(t) {
		return true
	}
	w.seen[t.key()] = true

	return false
}

// key of a resource and a part.
func (t task) key() string {
	return t.part + " " + strings.ToLower(strings.TrimRight(t.uri, "/"))
}

// now reads resources before all others, in their order.
func (w *Walk) now(tasks ...task) {
	tasks = slices.DeleteFunc(tasks, w.known)
	w.tasks = append(tasks, w.tasks...)
}

// then reads resources after all others.
func (w *Walk) then(tasks ...task) {
	w.later = append(w.later, slices.DeleteFunc(tasks, w.known)...)
}

// eachOf reads a collection's members, page by page, and lets h have them.
func eachOf(uri, part string, h handler) task { return pageOf(uri, part, h, 1, 0) }

func pageOf(uri, part string, h handler, number, listed int) task {
	return readAs(uri, part, func(w *Walk, _ string, b collectionBody) {
		var tasks []task
		for _, m := range b.Members {
			listed++
			if listed <= maxMembers {
				tasks = append(tasks, task{uri: m, part: part, handler: h})
			}
		}
		next := b.NextLink
		if next == "" {
			next = b.Next
		}
		if number < maxPages && next != "" && listed < maxMembers {
			tasks = append(tasks, pageOf(string(next), part, h, number+1, listed))
		}
		w.now(tasks...)
	})
}

// readAs is a task that decodes its resource.
func readAs[T any](uri, part string, take func(w *Walk, uri string, b T)) task {
	return task{uri: uri, part: part, handler: takeAs(take)}
}

// takeAs decodes a resource leniently for take.
func takeAs[T any](take func(w *Walk, uri string, b T)) handler {
	return handler{
		decode: func(body []byte) any {
			var b T
			if lenient.Decode(body, &b) != nil {
				return nil
			}

			return b
		},
		fits: func(v any) bool {
			_, ok := v.(T)

			return ok
		},
		take: func(w *Walk, uri string, v any) {
			if b, ok := v.(T); ok {
				take(w, uri, b)
			}
		},
	}
}

// readRaw is a task that takes its resource as it was sent.
func readRaw(uri, part string, take func(w *Walk, body []byte)) task {
	h := takeAs(func(w *Walk, _ string, body []byte) { take(w, body) })
	h.decode = func(body []byte) any { return body }
	h.fits = func(any) bool { return false } // It's too big to be remembered.

	return task{uri: uri, part: part, handler: h}
}

// skippable says whether a resource may be passed over: missing ones are, and
// those that only this BMC can't show (BlueField answers 500 for some).
func skippable(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok && e.login {
		return false // All the others would find the same.
	}
	k := KindOf(err)

	return k == NotFound || k == Refused || k == Forbidden || k == Protocol
}
