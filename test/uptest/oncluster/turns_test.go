package oncluster

import (
	"slices"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/uptest"
)

// turns let cases run side by side unless both have the same object, as two examples have that show the same host.
type turns struct {
	lock sync.Mutex
	of   map[string]*sync.Mutex
}

// take waits until no other case has one of the objects or one of their BMCs, and returns what gives them back.
func (t *turns) take(objects uptest.Objects) (func(), error) {
	machines, err := objects.Machines()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, u := range objects {
		names = append(names, lab.RefOf(u).String())
	}
	for _, m := range machines {
		names = append(names, "the BMC at "+m.BMC.String())
	}
	// In the same order by all, or two would wait for each other.
	slices.Sort(names)
	names = slices.Compact(names)
	mine := make([]*sync.Mutex, 0, len(names))
	t.lock.Lock()
	if t.of == nil {
		t.of = map[string]*sync.Mutex{}
	}
	for _, n := range names {
		if t.of[n] == nil {
			t.of[n] = &sync.Mutex{}
		}
		mine = append(mine, t.of[n])
	}
	t.lock.Unlock()
	for _, m := range mine {
		m.Lock()
	}
	return func() {
		for _, m := range mine {
			m.Unlock()
		}
	}, nil
}
