// Package numbered finds what is known of machines by their numbers. Of a hall's machines nothing lies in a cache, and Go's map waits for memory three
// times before it has found one; here it's once.
package numbered

import "math/bits"

const (
	// shards of a Map. Each grows by itself, so that nobody waits until all of a hall has moved.
	shards    = 1 << shardBits
	shardBits = 6
	// least is how many places a shard begins with.
	least = 8
)

// A Map has values by numbers, each at the place that its number says or close behind that (open addressing, Knuth 6.4, algorithm L). Its zero value is an
// empty one. It has no pointers but those of its values.
type Map[V any] struct {
	all [shards]shard[V]
	n   int
}

type shard[V any] struct {
	places []place[V] // as many as a power of two
	n      int        // in use
}

type place[V any] struct {
	key   uint64 // the number and one; 0: it's free
	value V
}

// keyOf a number: 0 stands for none, so the two greatest numbers are one.
func keyOf(number uint64) uint64 { return min(number, 1<<64-2) + 1 }

// spread gives a key's shard, and what says its place there. Numbers may follow one another, as MACs of one maker do.
func spread(key uint64) (shard, at uint64) {
	hi, lo := bits.Mul64(key, 0x9e3779b97f4a7c15) // 2⁶⁴ by the golden ratio: Knuth 6.4.
	h := hi ^ lo
	return h >> (64 - shardBits), h
}

// find gives the place of a key, or the free one where the search for it ends.
func (s *shard[V]) find(key, h uint64) *place[V] {
	for i := h; ; i++ {
		if p := &s.places[i&uint64(len(s.places)-1)]; p.key == key || p.key == 0 { //nolint:gosec // There's one at least.
			return p
		}
	}
}

// At gives a number's value, which may be changed until the map is; nil: it has none.
func (m *Map[V]) At(number uint64) *V {
	key := keyOf(number)
	i, h := spread(key)
	s := &m.all[i]
	if len(s.places) == 0 {
		return nil
	}
	if p := s.find(key, h); p.key != 0 {
		return &p.value
	}
	return nil
}

// Near looks where a number's value is, if there's one: who does that for many waits once for the memory of all. What it gives means nothing.
func (m *Map[V]) Near(number uint64) byte {
	i, h := spread(keyOf(number))
	s := &m.all[i]
	if len(s.places) == 0 {
		return 0
	}
	return byte(s.places[h&uint64(len(s.places)-1)].key) //nolint:gosec // It means nothing.
}

// Set gives a number its value.
func (m *Map[V]) Set(number uint64, v V) {
	key := keyOf(number)
	i, h := spread(key)
	s := &m.all[i]
	if 16*(s.n+1) > 13*len(s.places) { // Numbers that follow one another fill all parts alike: fuller than that, each search would be long at once.
		s.resize(max(least, 2*len(s.places)))
	}
	p := s.find(key, h)
	if p.key == 0 {
		p.key = key
		s.n++
		m.n++
	}
	p.value = v
}

func (s *shard[V]) resize(to int) {
	before := s.places
	s.places = make([]place[V], to)
	for i := range before {
		if p := &before[i]; p.key != 0 {
			_, h := spread(p.key)
			*s.find(p.key, h) = *p
		}
	}
}

// Delete a number and its value. Those behind it, up to the next free place, that would no longer be found move up (Knuth 6.4, algorithm R).
func (m *Map[V]) Delete(number uint64) {
	key := keyOf(number)
	i, h := spread(key)
	s := &m.all[i]
	if len(s.places) == 0 {
		return
	}
	mask := uint64(len(s.places) - 1) //nolint:gosec // There's one at least.
	hole := h & mask
	for ; s.places[hole].key != key; hole = (hole + 1) & mask {
		if s.places[hole].key == 0 {
			return
		}
	}
	for at := (hole + 1) & mask; s.places[at].key != 0; at = (at + 1) & mask {
		if _, from := spread(s.places[at].key); (at-from)&mask >= (at-hole)&mask {
			s.places[hole] = s.places[at]
			hole = at
		}
	}
	s.places[hole] = place[V]{}
	s.n--
	m.n--
}

// DeleteFunc deletes all values of which old says so.
func (m *Map[V]) DeleteFunc(old func(v *V) bool) {
	for i := range m.all {
		s := &m.all[i]
		kept := 0
		for j := range s.places {
			p := &s.places[j]
			switch {
			case p.key == 0:
			case old(&p.value):
				p.key = 0
			default:
				kept++
			}
		}
		if kept == s.n {
			continue
		}
		m.n -= s.n - kept
		s.n = kept
		s.resize(len(s.places)) // Those that are left are found from where they belong.
	}
}

// Clear deletes everything, and keeps the memory for what comes.
func (m *Map[V]) Clear() {
	for i := range m.all {
		clear(m.all[i].places)
		m.all[i].n = 0
	}
	m.n = 0
}

// Len counts the values.
func (m *Map[V]) Len() int { return m.n }
