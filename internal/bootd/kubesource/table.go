package kubesource

import (
	"maps"
	"slices"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// A table holds what one watch delivers, converted, by name. It's a store of client-go's reflector, not
// an informer's: the reflector calls it in the order of revisions, one at a time, so that a revision is
// known to be worked in when the call returns.
type table[T any] struct {
	// convert gives what is kept of an object; false: nothing.
	convert func(Object) (T, bool)
	// seen is called with each object before its revision counts, one at a time. An error, which the
	// reflector only logs, keeps the revision back until retry or a fresh list succeeds.
	seen func(Object) error
	// gone is called with the name of each object that went.
	gone func(boot.Name)
	// relisted is called with the names of a fresh list.
	relisted func(names map[boot.Name]bool)
	// changed is called after each change.
	changed func()

	order sync.Mutex // Held while seen is called.

	mu       sync.Mutex
	rows     map[boot.Name]T
	revision uint64
	listed   bool
	late     map[boot.Name]Object // Those that seen failed with.
	held     uint64               // The revision that they keep back.
}

func newTable[T any](convert func(Object) (T, bool), changed func()) *table[T] {
	return &table[T]{
		convert: convert, changed: changed, rows: map[boot.Name]T{}, late: map[boot.Name]Object{},
		seen: func(Object) error { return nil }, gone: func(boot.Name) {}, relisted: func(map[boot.Name]bool) {},
	}
}

// Add is the reflector's.
func (t *table[T]) Add(o any) error { return t.Update(o) }

// Update is the reflector's.
func (t *table[T]) Update(o any) error {
	x, ok := o.(Object)
	if !ok {
		return nil
	}
	t.order.Lock()
	defer t.order.Unlock()
	err := t.seen(x)
	row, keep := t.convert(x)
	t.mu.Lock()
	if err != nil {
		t.late[nameOf(x)] = x
	} else {
		delete(t.late, nameOf(x))
	}
	if keep {
		t.rows[nameOf(x)] = row
	} else {
		delete(t.rows, nameOf(x))
	}
	t.mu.Unlock()
	t.changed()
	return err
}

// Delete is the reflector's.
func (t *table[T]) Delete(o any) error {
	x, ok := o.(Object)
	if !ok {
		return nil
	}
	t.order.Lock()
	defer t.order.Unlock()
	t.gone(nameOf(x))
	t.mu.Lock()
	delete(t.rows, nameOf(x))
	delete(t.late, nameOf(x))
	t.mu.Unlock()
	t.changed()
	return nil
}

// Replace is the reflector's: a fresh list.
func (t *table[T]) Replace(list []any, revision string) error {
	t.order.Lock()
	defer t.order.Unlock()
	rows := map[boot.Name]T{}
	names := map[boot.Name]bool{}
	for _, o := range list {
		x, ok := o.(Object)
		if !ok {
			continue
		}
		if err := t.seen(x); err != nil {
			return err
		}
		names[nameOf(x)] = true
		if row, keep := t.convert(x); keep {
			rows[nameOf(x)] = row
		}
	}
	t.mu.Lock()
	before := t.rows
	t.rows, t.revision, t.listed = rows, session.Revision(revision), true
	t.late, t.held = map[boot.Name]Object{}, 0
	t.mu.Unlock()
	for n := range before {
		if !names[n] {
			t.gone(n)
		}
	}
	t.relisted(names)
	t.changed()
	return nil
}

// Resync is the reflector's; there is nothing to do.
func (t *table[T]) Resync() error { return nil }

// UpdateResourceVersion is the reflector's, after each event and bookmark: up to there everything was delivered.
func (t *table[T]) UpdateResourceVersion(revision string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.late) > 0 {
		t.held = max(t.held, session.Revision(revision))
		return
	}
	t.revision = max(t.revision, session.Revision(revision))
}

func (t *table[T]) all() []T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.rows))
}

func (t *table[T]) get(n boot.Name) (T, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	row, ok := t.rows[n]
	return row, ok
}

// at says up to which revision everything was delivered, and whether it was listed at all.
func (t *table[T]) at() (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.revision, t.listed
}

func nameOf(o Object) boot.Name {
	return boot.Name{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// isStuck says that an object couldn't be worked in: the revision stays where it is.
func (t *table[T]) isStuck() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.late) > 0
}

// retry works in what couldn't be before: a full disk may have room again.
func (t *table[T]) retry() {
	if !t.isStuck() {
		return
	}
	t.order.Lock()
	defer t.order.Unlock()
	t.mu.Lock()
	late := maps.Clone(t.late)
	t.mu.Unlock()
	for n, x := range late {
		if t.seen(x) == nil {
			delete(late, n)
		}
	}
	t.mu.Lock()
	t.late = late
	if len(late) == 0 {
		t.revision, t.held = max(t.revision, t.held), 0
	}
	t.mu.Unlock()
	t.changed()
}
