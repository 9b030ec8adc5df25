package bmc

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sort"
	"strings"
)

// patch changes what may be changed, all of it or nothing.
func (b *BMC) patch(w http.ResponseWriter, r *http.Request, path string) {
	powered := b.powerStates()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sync(powered)
	res := b.store.get(path)
	if res == nil || res.body == nil {
		b.fail(w, http.StatusNotFound, problem{message: msgMissing})

		return
	}
	target := b.writable(path)
	if target == nil {
		w.Header().Set("Allow", b.allow(path))
		b.fail(w, http.StatusMethodNotAllowed, problem{message: msgNotAllowed})

		return
	}
	body, bad := bodyOf(r)
	if bad.message != "" {
		b.fail(w, http.StatusBadRequest, bad)

		return
	}
	if status := target.precondition(r.Header.Get("If-Match"), b.etagOf(res)); status != 0 {
		message := "PreconditionFailed"
		if status == http.StatusPreconditionRequired {
			message = "PreconditionRequired"
		}
		b.fail(w, status, problem{message: message})

		return
	}
	if target.blocked() {
		b.fail(w, http.StatusBadRequest, problem{message: msgInUse})

		return
	}
	changes, problems := target.check(body)
	if len(problems) > 0 {
		b.fail(w, statusOf(problems), problems...)

		return
	}
	b.apply(target, changes)
	b.counters.Patches++
	if target.promised != nil {
		promise(w, target.behaviour.Password.Async, target.promised, b.showTask(target.promised))

		return
	}
	b.done(w, target.behaviour)
}

// bodyOf reads a JSON object.
func bodyOf(r *http.Request) (object, problem) {
	var body object
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(&body); errors.Is(err, io.EOF) || err == nil && len(body) == 0 {
		return nil, problem{message: "EmptyJSON"}
	} else if err != nil {
		return nil, problem{message: msgMalformed}
	}

	return body, problem{}
}

// precondition compares If-Match with the ETag: 412 where it differs, 428 where
// one must come and none did, 0 to go on.
func (t *writeTarget) precondition(ifMatch, etag string) int {
	rule := t.behaviour.IfMatch
	if ifMatch == "" && rule == IfMatchRequired {
		return http.StatusPreconditionRequired
	}
	if ifMatch == "" || ifMatch == "*" || rule == IfMatchIgnored {
		return 0
	}
	if rule == IfMatchStrong && len(etag) > 2 && etag[:2] == "W/" {
		etag = etag[2:]
	}
	if ifMatch != etag {
		return http.StatusPreconditionFailed
	}

	return 0
}

// change is one property's new value.
type change struct {
	path  []string
	value any
}

// check looks at every property of a PATCH, in the order of their names.
func (t *writeTarget) check(body object) ([]change, []problem) {
	var (
		changes  []change
		problems []problem
		walk     func(v object, path []string)
	)
	walk = func(v object, path []string) {
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			below := append(slices.Clone(path), name)
			rule, ok := t.rules[pointer(below)]
			inner, isObject := v[name].(object)
			switch {
			case ok:
				if p := rule(v[name]); p.message != "" {
					p.property = pointer(below)
					problems = append(problems, p)
				}
				changes = append(changes, change{path: below, value: v[name]})
			case isObject && len(inner) > 0 && t.has(below):
				walk(inner, below)
			case t.has(below):
				problems = append(problems, problem{message: "PropertyNotWritable", property: pointer(below)})
			default:
				problems = append(problems, problem{message: "PropertyUnknown", property: pointer(below)})
			}
		}
	}
	walk(body, nil)
	if len(problems) == 0 {
		problems = t.together(changes)
	}

	return changes, problems
}

// has says whether the resource shows a property, in this spelling.
func (t *writeTarget) has(path []string) bool {
	v := any(t.body)
	for _, name := range path {
		o, ok := v.(object)
		if !ok {
			return false
		}
		if v, ok = o[name]; !ok {
			return false
		}
	}

	return true
}

func pointer(path []string) string { return strings.Join(path, "/") }

// apply writes the changes, and keeps what isn't shown of them.
func (b *BMC) apply(t *writeTarget, changes []change) {
	s := t.system
	if t.bios {
		s.staged(changes)
	}
	b.store.change(t.uri, func(body object) {
		for _, c := range changes {
			o := body
			for _, name := range c.path[:len(c.path)-1] {
				next, ok := o[name].(object)
				if !ok {
					next = object{}
					o[name] = next
				}
				o = next
			}
			name, value := c.path[len(c.path)-1], c.value
			switch name {
			case propTarget, propEnabled:
				value = s.keeps(name, value, t.behaviour)
			case propMode:
				if t.behaviour.Mode == ModeAtBoot && value != o[name] {
					s.mode, _ = value.(string)

					continue
				}
			case propSecureBoot:
				if t.behaviour.SecureBootAtBoot {
					s.secureBoot = value

					continue
				}
			}
			o[name] = value
		}
		if t.after != nil {
			t.after(body)
		}
	})
}

// keeps is what a property of an override is stored as.
func (s *system) keeps(name string, value any, by Behaviour) any {
	if name == propEnabled {
		if by.Lasts {
			return "Continuous"
		}

		return value
	}
	s.meant, _ = value.(string)
	if as := by.StoredAs[s.meant]; as != "" {
		return as
	}

	return value
}
