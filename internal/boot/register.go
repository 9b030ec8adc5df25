package boot

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot/numbered"
)

// A register finds plans by what machines have, and by what tokens say: by their numbers in a Packed. It holds no pointer that the collector of
// memory would have to follow for each machine.
type register struct {
	byMAC   *numbered.Map[uint32]
	byEntry *numbered.Map[entryAt]
	// odd are those by MACs that are written in another way than ParseMAC writes them.
	odd map[MAC]uint32
	// byPort are those of machines that are named by a port; nil: none is.
	byPort map[portAt]uint32
}

// entryAt is a plan's number behind its entry's key, of which the first octets are where it's found. The rest is compared.
type entryAt struct {
	rest [4]byte
	at   uint32
}

// number of a key: it's a part of a digest.
func (k EntryKey) number() uint64 { return binary.LittleEndian.Uint64(k[:]) }

func (k EntryKey) rest() [4]byte { return [4]byte(k[8:]) }

// ofEntry finds a plan by its entry.
func (x *register) ofEntry(k EntryKey) (int, bool) {
	if i := x.byEntry.At(k.number()); i != nil && i.rest == k.rest() {
		return int(i.at), true
	}
	return 0, false
}

// number is a MAC that ParseMAC wrote, as a number; false: it's written in another way.
func (m MAC) number() (n uint64, ok bool) {
	if len(m) != len("52:54:00:00:00:01") {
		return 0, false
	}
	for i := range len(m) {
		c := m[i]
		switch {
		case i%3 == 2:
			if c != ':' {
				return 0, false
			}
		case c >= '0' && c <= '9':
			n = n<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

func (x *register) ofMAC(m MAC) (int, bool) {
	n, ok := m.number()
	if !ok {
		i, ok := x.odd[m]
		return int(i), ok
	}
	if i := x.byMAC.At(n); i != nil {
		return int(*i), true
	}
	return 0, false
}

// taken gives the plan whose UID or port, or one of whose MACs, a plan has, too.
func (x *register) taken(key EntryKey, p *Plan) (int, bool) {
	// Tokens, sessions and grants are found by UID: of two entries with one, each machine would be installed by the other's grant.
	if i := x.byEntry.At(key.number()); i != nil { // Of two keys that begin alike one is found.
		return int(i.at), true
	}
	for _, m := range p.MACs {
		if i, taken := x.ofMAC(m); taken {
			return i, true
		}
	}
	if at, ok := portOf(p); ok {
		i, taken := x.byPort[at]
		return int(i), taken
	}
	return 0, false
}

func (x *register) add(key EntryKey, p *Plan, number int) {
	i := uint32(number) //nolint:gosec // There are fewer plans.
	if at, ok := portOf(p); ok {
		if x.byPort == nil {
			x.byPort = map[portAt]uint32{}
		}
		x.byPort[at] = i
	}
	for _, m := range p.MACs {
		if n, ok := m.number(); ok {
			x.byMAC.Set(n, i)
			continue
		}
		if x.odd == nil {
			x.odd = map[MAC]uint32{}
		}
		x.odd[m] = i
	}
	x.byEntry.Set(key.number(), entryAt{key.rest(), i})
}

// place indexes the plans in their order, and gives the numbers of those that aren't served, since one before has a MAC, the port or the UID of theirs.
func (s *State) place() (refused []int) {
	n := s.plans.Len()
	s.register = register{byMAC: &numbered.Map[uint32]{}, byEntry: &numbered.Map[entryAt]{}}
	s.plain, s.newest = true, time.Time{}
	var p, other Plan
	for i := range n {
		s.plans.own(i, &p)
		s.note(&p)
		key := KeyOf(p.EntryUID)
		if at, taken := s.register.taken(key, &p); taken {
			s.plans.own(at, &other)
			s.Refused[p.EntryUID] = other.Entry
			refused = append(refused, i)
			continue
		}
		s.register.add(key, &p, i)
	}
	return refused
}

// sorted gives the plans in the order in which they may choose their MACs.
func (k *Packed) sorted() *Packed {
	before, p := &Plan{}, &Plan{}
	for i := range k.Len() {
		k.own(i, p)
		if i > 0 && precedes(p, before) {
			return k.sort()
		}
		before, p = p, before
	}
	return k
}

func (k *Packed) sort() *Packed {
	type place struct {
		bound bool
		since time.Time
		uid   string
		at    int
	}
	all := make([]place, k.Len())
	var p Plan
	for i := range all {
		k.own(i, &p)
		all[i] = place{p.Bound, p.Since, p.EntryUID, i}
	}
	slices.SortStableFunc(all, func(x, y place) int {
		return order(&Plan{Bound: x.bound, Since: x.since, EntryUID: x.uid}, &Plan{Bound: y.bound, Since: y.since, EntryUID: y.uid})
	})
	out := &Packed{rows: make([]string, len(all)), shape: make([]uint32, len(all)), shapes: k.shapes}
	for i, x := range all {
		out.rows[i], out.shape[i] = k.rows[x.at], k.shape[x.at]
	}
	return out
}

// without gives the plans but for some, by their numbers, which are sorted.
func (k *Packed) without(some []int) *Packed {
	out := &Packed{shapes: k.shapes}
	for i := range k.rows {
		if len(some) > 0 && some[0] == i {
			some = some[1:]
			continue
		}
		out.rows, out.shape = append(out.rows, k.rows[i]), append(out.shape, k.shape[i])
	}
	return out
}

// With gives the plans, some of them others now, by their numbers, and more. Nobody changes those any more.
func (k *Packed) With(others map[int]*Plan, more []*Plan) *Packed {
	if len(others)+len(more) == 0 {
		return k
	}
	if k == nil {
		k = &Packed{}
	}
	n := NewPacker(len(others)+len(more), k)
	out := &Packed{rows: slices.Clone(k.rows), shape: slices.Clone(k.shape)}
	base := uint32(len(k.shapes)) //nolint:gosec // There are fewer shapes.
	for i, p := range others {
		n.Add(p)
		last := n.to.Len() - 1
		out.rows[i], out.shape[i] = n.to.rows[last], base+n.to.shape[last]
	}
	for _, p := range more {
		n.Add(p)
		last := n.to.Len() - 1
		out.rows, out.shape = append(out.rows, n.to.rows[last]), append(out.shape, base+n.to.shape[last])
	}
	out.shapes = slices.Concat(k.shapes, n.to.shapes)
	return out
}
