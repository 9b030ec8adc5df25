package specdir

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// mentions are what anything in a world is called, has, or wants: hashes of names, MACs, ports and addresses. What isn't in it is certainly nobody's;
// what is may be.
type mentions struct {
	seed maphash.Seed
	// all are in the order of their first bits, and begins says where those begin that have the same ones; later came since.
	all    []uint64
	shift  int
	begins []uint32
	later  map[uint64]bool
}

// A mention is one of a kind: a name of an object, a MAC, a port, or an address.
type mention struct{ kind, a, b string }

func (m *mentions) hash(x mention) uint64 { return maphash.Comparable(m.seed, x) }

func (m *mentions) has(x mention) bool {
	h := m.hash(x)
	b := h >> m.shift
	return m.later[h] || slices.Contains(m.all[m.begins[b]:m.begins[b+1]], h)
}

// few is how many have the same first bits.
const few = 8

// arrange puts those side by side that have the same first bits, once all are there. To sort them would take several times as long, of a core
// that others want.
func (m *mentions) arrange() {
	width := bits.Len(uint(len(m.all)/few)) + 1 //nolint:gosec // A length.
	m.shift, m.begins = 64-width, make([]uint32, 1<<width+1)
	for _, h := range m.all {
		m.begins[h>>m.shift+1]++
	}
	for i := range m.begins[1:] {
		m.begins[i+1] += m.begins[i]
	}
	next, all := slices.Clone(m.begins), make([]uint64, len(m.all))
	for _, h := range m.all {
		b := h >> m.shift
		all[next[b]] = h
		next[b]++
	}
	m.all = all
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
	return &mentions{seed: maphash.MakeSeed(), all: make([]uint64, 0, each*plans), later: map[uint64]bool{}}
}

func (m *mentions) add(all []mention) {
	for _, x := range all {
		m.all = append(m.all, m.hash(x))
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
