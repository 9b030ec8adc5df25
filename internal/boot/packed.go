package boot

import (
	"iter"
	"net/netip"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot/pieces"
)

// A Packed holds plans in little memory: of each its row, and once the shapes that they have. A plan is made of the two when it's asked for.
// It's never changed.
type Packed struct {
	rows []string
	// shape of each row, by its number in shapes.
	shape  []uint32
	shapes []*Plan
	// lately are plans as they were made: machines ask several times. nil: none is kept.
	lately []atomic.Pointer[made]
}

// maxLately is how many made plans are kept. It's a power of two.
const maxLately = 1 << 14

// made is a plan of a row, in one piece of memory, as most machines have one MAC.
type made struct {
	at int
	// note is who asks' own. It's found with the plan's first words: of ten thousand machines nothing is in a cache.
	note atomic.Value

	Plan //nolint:embeddedstructfieldcheck // As above.

	mac [1]MAC
}

// A Ref is a plan in little memory. Two that are == are of the same plan.
type Ref struct {
	row string
	// of is the shape of the row; without a row the plan itself.
	of *Plan
}

// near looks at what a decision reads of a plan, all at once: then what lies in no cache is waited for once, and not for each of it. Of ten thousand machines
// that ask for their scripts it's all of it.
//
//go:noinline
func (x *made) near() int {
	return len(x.EntryUID) ^ len(x.Network.Name.Name) ^ len(x.Mode) ^ len(x.Artifacts) ^ len(x.LocalBoot) ^ int(x.InstallTimeout)
}

func (r Ref) make(at int) *made {
	x := &made{Plan: *r.of, at: at}
	x.MACs = x.mac[:0]
	in := pieces.Of(r.row)
	readRow(&in, &x.Plan, nil)
	if len(x.MACs) == 0 {
		x.MACs = nil
	}
	return x
}

// keep makes room for plans as they were made.
func (k *Packed) keep() {
	if k == nil || k.lately != nil {
		return
	}
	room := 1
	for room < min(k.Len(), maxLately) {
		room *= 2
	}
	k.lately = make([]atomic.Pointer[made], room)
}

// plan by its number: as it was made lately, or made now, in a room where there's one and not all plans are kept as they were made.
func (k *Packed) plan(i int, in *Room) *Plan {
	if x := k.slot(i).Load(); x != nil && x.at == i {
		return &x.Plan
	}
	if in != nil && k.Len() > len(k.lately) {
		return in.make(k.Ref(i))
	}
	return &k.made(i).Plan
}

func (k *Packed) slot(i int) *atomic.Pointer[made] { return &k.lately[i&(len(k.lately)-1)] }

// made is the plan of a number as it was made lately, or made now.
func (k *Packed) made(i int) *made {
	slot := k.slot(i)
	x := slot.Load()
	if x == nil || x.at != i {
		x = k.Ref(i).make(i)
		slot.Store(x)
	}
	return x
}

// Len counts the plans; nil has none.
func (k *Packed) Len() int {
	if k == nil {
		return 0
	}
	return len(k.rows)
}

// Plan of a Ref, which must not be changed; nil: there's none.
func (r Ref) Plan() *Plan {
	if r.row == "" || r.of == nil {
		return r.of
	}
	return &r.make(0).Plan
}

// RefTo a plan that nobody changes any more.
func RefTo(p *Plan) Ref { return Ref{of: p} }

// Ref of a plan by its number.
func (k *Packed) Ref(i int) Ref { return Ref{k.rows[i], k.shapes[k.shape[i]]} }

// All gives the plans by their numbers. They must not be changed.
func (k *Packed) All() iter.Seq2[int, *Plan] {
	return func(yield func(int, *Plan) bool) {
		for i := range k.Len() {
			if !yield(i, k.Ref(i).Plan()) {
				return
			}
		}
	}
}

// Scan is All in memory that's used again: a plan, and what it points to, is another one at the next. Its texts are its own.
func (k *Packed) Scan() iter.Seq2[int, *Plan] {
	return func(yield func(int, *Plan) bool) {
		var in Room
		for i := range k.Len() {
			if !yield(i, in.make(k.Ref(i))) {
				return
			}
		}
	}
}

// own reads what is a plan's own, and little else of it, into memory that's used again: no second address, but Bound, its network's name, and its
// port.
func (k *Packed) own(i int, p *Plan) {
	in := pieces.Of(k.rows[i])
	readOwn(&in, p)
	shape := k.shapes[k.shape[i]]
	p.Bound, p.Network.Name, p.Port = shape.Bound, shape.Network.Name, shape.Port
}

// Rows gives each plan's row as a snapshot has it, and the number of its shape.
func (k *Packed) Rows() iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		for i, row := range k.rows {
			if !yield(k.shape[i], row) {
				return
			}
		}
	}
}

// Shapes are those of the rows: plans without what is their own. They must not be changed.
func (k *Packed) Shapes() []*Plan { return k.shapes }

// likeness is what plans have in common that most likely are of one shape.
type likeness struct {
	network Name
	profile string
	method  Method
}

// maxLike is how many shapes of one likeness are compared with a plan. Where there are more, one may be there twice, which only takes memory.
const maxLike = 8

// A Packer packs plans.
type Packer struct {
	to   Packed
	like map[likeness][]known

	buf   []byte
	shape Plan // That at hand.
	six   Place
	macs  []MAC
}

// known is a shape that plans may have, and its number, where a plan has it.
type known struct {
	shape  *Plan
	number uint32
	used   bool
}

// NewPacker gives one with room for so many plans. Plans of a shape that some of before have share that one; before may be nil.
func NewPacker(room int, before *Packed) *Packer {
	k := &Packer{to: Packed{rows: make([]string, 0, room), shape: make([]uint32, 0, room)}, like: map[likeness][]known{}}
	if before != nil {
		for _, s := range before.shapes {
			k.know(known{shape: s})
		}
	}
	return k
}

// Add packs a plan, which nobody changes any more.
func (k *Packer) Add(p *Plan) {
	shapeInto(&k.shape, &k.six, p)
	k.add(p, k.number())
}

// add packs a plan that has the shape of a number.
func (k *Packer) add(p *Plan, shape uint32) {
	k.buf = appendRow(k.buf[:0], p)
	k.to.rows, k.to.shape = append(k.to.rows, string(k.buf)), append(k.to.shape, shape)
}

// number of the shape at hand.
func (k *Packer) number() uint32 {
	like := k.like[likenessOf(&k.shape)]
	for i := range like {
		if reflect.DeepEqual(like[i].shape, &k.shape) {
			if !like[i].used {
				like[i].number, like[i].used = k.take(like[i].shape), true
			}
			return like[i].number
		}
	}
	s := new(Plan)
	*s = k.shape
	if s.Network.Six != nil {
		six := *s.Network.Six
		s.Network.Six = &six
	}
	return k.Shape(s)
}

func likenessOf(s *Plan) likeness { return likeness{s.Network.Name, s.ProfileDigest, s.Method} }

// take gives a shape its number.
func (k *Packer) take(s *Plan) uint32 {
	k.to.shapes = append(k.to.shapes, s)
	return uint32(len(k.to.shapes) - 1) //nolint:gosec // There are no more than plans.
}

func (k *Packer) know(s known) {
	l := likenessOf(s.shape)
	like := k.like[l]
	if len(like) >= maxLike {
		like = append(like[:0], like[1:]...)
	}
	k.like[l] = append(like, s)
}

// Shape adds a shape, and gives its number, for Read. Nobody changes it any more.
func (k *Packer) Shape(s *Plan) uint32 {
	n := k.take(s)
	k.know(known{s, n, true})
	return n
}

// Read packs a plan of a snapshot: its shape by number, and its row at the beginning of what a reader has. dual: rows have a second address, be
// it an empty one.
func (k *Packer) Read(shape uint32, r *pieces.Reader, dual bool) {
	k.shape = *k.to.shapes[shape]
	p := &k.shape
	p.MACs = k.macs
	readOwn(r, p)
	k.macs = p.MACs
	second := netip.Prefix{}
	if dual {
		second = readAddress(r)
	}
	switch {
	case p.Network.Six == nil:
		k.add(p, shape)
	case second.IsValid():
		k.six = *p.Network.Six
		k.six.Address, p.Network.Six = second, &k.six
		k.add(p, shape)
	default: // Without an address it's no place.
		x := *p
		x.Network.Six = nil
		k.Add(&x)
	}
}

// Packed gives what was packed. Nothing is added any more. It's no part of the Packer, whose plan at hand has the texts of what it was read from: a
// whole snapshot.
func (k *Packer) Packed() *Packed {
	to := k.to
	return &to
}

// Pack packs plans that nobody changes any more, in the order in which they may choose their MACs. before is NewPacker's.
func Pack(plans []*Plan, before *Packed) *Packed {
	if !slices.IsSortedFunc(plans, order) {
		plans = slices.Clone(plans)
		slices.SortStableFunc(plans, order)
	}
	k := NewPacker(len(plans), before)
	for _, p := range plans {
		k.Add(p)
	}
	return k.Packed()
}
