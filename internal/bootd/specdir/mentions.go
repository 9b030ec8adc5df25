package specdir

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// mentions are what anything in a world is called, has, or wants: hashes of names, MACs, ports and addresses. What isn't in it is certainly nobody's;
// what is may be.
type mentions struct {
	// all are in the order of their first bits, and begins says where those begin that have the same ones; later came since.
	all    []uint64
	shift  int
	begins []uint32
	later  map[uint64]bool
}

// A mention is one of a kind: a name of an object, a MAC, a port, or an address.
type mention struct{ kind, a, b string }

// hash is FNV-1a with its bits mixed, which is the same in each life: hashes are kept.
func (x mention) hash() uint64 {
	const basis, prime, mix = 14695981039346656037, 1099511628211, 0xff51afd7ed558ccd
	h := uint64(basis)
	for _, s := range [...]string{x.kind, x.a, x.b} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * prime
		}
		h = (h ^ uint64(len(s))) * prime
	}
	h = (h ^ h>>33) * mix
	return h ^ h>>33
}

func (m *mentions) has(x mention) bool {
	h := x.hash()
	b := h >> m.shift
	return m.later[h] || slices.Contains(m.all[m.begins[b]:m.begins[b+1]], h)
}

// few is how many have the same first bits.
const few = 8

// arrange puts those side by side that have the same first bits, once all are there. To sort them would take several times as long, of a core
// that others want.
func (m *mentions) arrange() {
	if m.count() {
		return
	}
	next, all := slices.Clone(m.begins), make([]uint64, len(m.all))
	for _, h := range m.all {
		b := h >> m.shift
		all[next[b]] = h
		next[b]++
	}
	m.all = all
}

// count counts those of the same first bits, and says whether they're side by side already.
func (m *mentions) count() bool {
	width := bits.Len(uint(len(m.all)/few)) + 1
	m.shift, m.begins = 64-width, make([]uint32, 1<<width+1)
	last, arranged := uint64(0), true
	for _, h := range m.all {
		b := h >> m.shift
		m.begins[b+1]++
		arranged, last = arranged && last <= b, b
	}
	for i := range m.begins[1:] {
		m.begins[i+1] += m.begins[i]
	}
	return arranged
}

// keep appends all of them, side by side as they are.
func (m *mentions) keep(b []byte) []byte {
	if len(m.later) > 0 {
		m = &mentions{all: slices.AppendSeq(slices.Clone(m.all), maps.Keys(m.later))}
		m.arrange()
	}
	b = slices.Grow(binary.AppendUvarint(b, uint64(len(m.all)*size64)), len(m.all)*size64)
	for _, h := range m.all {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return b
}

// size64 is how long a hash is.
const size64 = 8

// keptMentions are those that were kept.
func keptMentions(text string) *mentions {
	m := &mentions{all: make([]uint64, len(text)/size64), later: map[uint64]bool{}}
	var b [size64]byte
	for i := range m.all {
		copy(b[:], text[i*size64:])
		m.all[i] = binary.LittleEndian.Uint64(b[:])
	}
	m.arrange()
	return m
}

func named(kind string, n boot.Name) mention { return mention{kind, n.Namespace, n.Name} }

// ofPlan appends the mentions of a plan.
func ofPlan(all []mention, p *boot.Plan) []mention {
	all = append(all, named(v1alpha1.BootEntryKind, p.Entry), mention{"uid", p.EntryUID, ""})
	for a := range p.Network.Addresses() {
		all = append(all, mention{"address", a.Addr().String(), ""})
	}
	for _, m := range p.MACs {
		all = append(all, mention{"mac", string(m), ""})
	}
	if p.Port != nil { // Of whatever network.
		all = append(all, mention{"port", p.Port.Circuit, p.Port.Remote})
	}
	if p.UUID != "" {
		all = append(all, mention{"uuid", p.UUID, ""})
	}
	return all
}

// ofEntry are the mentions of an entry that isn't served.
func ofEntry(e *v1alpha1.BootEntry) []mention {
	name := boot.Name{Namespace: e.Namespace, Name: e.Name}
	all := []mention{named(v1alpha1.BootEntryKind, name), {"uid", UIDOf(e), ""}}
	spec := &e.Spec.ForProvider
	for _, text := range spec.Machine.MACs {
		if m, err := boot.ParseMAC(text); err == nil {
			all = append(all, mention{"mac", string(m), ""})
		}
	}
	for _, n := range spec.Networks {
		for _, a := range n.Addresses {
			if addr, prob := bootspec.Address(a.Address); prob == nil {
				all = append(all, mention{"address", addr.Addr().String(), ""})
			}
		}
	}
	if port, _ := bootspec.PortOf(spec.Machine.Port); port != nil {
		all = append(all, mention{"port", port.Circuit, port.Remote})
	}
	if spec.Machine.UUID != "" {
		all = append(all, mention{"uuid", spec.Machine.UUID, ""})
	}
	return all
}

// newMentions has room for those of so many plans.
func newMentions(plans int) *mentions {
	const each = 4 // A name, a UID, an address and mostly one MAC.
	return &mentions{all: make([]uint64, 0, each*plans), later: map[uint64]bool{}}
}

// add notes what arrange puts into its place.
func (m *mentions) add(all []mention) {
	for _, x := range all {
		m.all = append(m.all, x.hash())
	}
}

// mention notes what the plans have, be they admitted or not, and what the entries want that have none.
func (w *world) mention(plans []*boot.Plan) {
	m := newMentions(len(plans))
	var b breath
	var of []mention
	for _, p := range plans {
		b.take()
		of = ofPlan(of[:0], p)
		m.add(of)
	}
	for _, e := range w.claims {
		m.add(ofEntry(e))
	}
	m.arrange()
	w.known = m
}
