package kubesource

import (
	"maps"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// A table holds what one watch delivers, converted, by name. It's a store of client-go's reflector, not
// an informer's: the reflector calls it in the order of revisions, one at a time, so that a revision is
// known to be worked in when the call returns.
type table[T any] struct {
	// convert gives what is kept of an object; false: nothing.
	convert func(client.Object) (T, bool)
	// seen is called with each object before its revision counts. An error, which the reflector only
	// logs, keeps the revision back until a fresh list.
	seen func(client.Object) error
	// gone is called with the name of each object that went.
	gone func(boot.Name)
	// changed is called after each change.
	changed func()

	mu       sync.Mutex
	rows     map[boot.Name]T
	revision uint64
	listed   bool
	stuck    bool
}

func newTable[T any](convert func(client.Object) (T, bool), changed func()) *table[T] {
	return &table[T]{
		convert: convert, changed: changed, rows: map[boot.Name]T{},
		seen: func(client.Object) error { return nil }, gone: func(boot.Name) {},
	}
}

// Add is the reflector's.
func (t *table[T]) Add(o any) error { return t.Update(o) }

// Update is the reflector's.
func (t *table[T]) Update(o any) error {
	x, ok := o.(client.Object)
	if !ok {
		return nil
	}
	err := t.seen(x)
	row, keep := t.convert(x)
	t.mu.Lock()
	t.stuck = t.stuck || err != nil
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
	x, ok := o.(client.Object)
	if !ok {
		return nil
	}
	t.gone(nameOf(x))
	t.mu.Lock()
	delete(t.rows, nameOf(x))
	t.mu.Unlock()
	t.changed()
	return nil
}

// Replace is the reflector's: a fresh list.
func (t *table[T]) Replace(list []any, revision string) error {
	rows := map[boot.Name]T{}
	names := map[boot.Name]bool{}
	for _, o := range list {
		x, ok := o.(client.Object)
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
	t.rows, t.revision, t.listed, t.stuck = rows, session.Revision(revision), true, false
	t.mu.Unlock()
	for n := range before {
		if !names[n] {
			t.gone(n)
		}
	}
	t.changed()
	return nil
}

// Resync is the reflector's; there is nothing to do.
func (t *table[T]) Resync() error { return nil }

// UpdateResourceVersion is the reflector's, after each event and bookmark: up to there everything was delivered.
func (t *table[T]) UpdateResourceVersion(revision string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stuck {
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

func nameOf(o client.Object) boot.Name {
	return boot.Name{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// isStuck says that an object couldn't be worked in: the revision stays where it is.
func (t *table[T]) isStuck() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stuck
}
