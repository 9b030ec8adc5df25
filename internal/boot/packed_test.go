package boot

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// random sets all fields of a value, or leaves some as they are, so that nothing that a plan may hold is forgotten.
func random(v reflect.Value, r *rand.Rand) {
	if r.IntN(3) == 0 {
		return
	}
	n := byte(r.IntN(8)) //nolint:gosec // Small.
	four, six := netip.AddrFrom4([4]byte{10, 77, 0, n}), netip.AddrFrom16([16]byte{0: 0xfd, 15: n})
	a := []netip.Addr{four, six}[r.IntN(2)]
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2026, 8, 1, 10, 0, r.IntN(3), r.IntN(3), time.FixedZone("", 3600*r.IntN(2)))
		return
	case *netip.Addr:
		*x = a
		return
	case *netip.Prefix:
		*x = netip.PrefixFrom(a, 8*r.IntN(4))
		return
	case *MAC:
		*x = anyMAC(r)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			random(f, r)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 4))
		for i := range v.Len() {
			random(v.Index(i), r)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		random(v.Elem(), r)
	case reflect.String:
		v.SetString([]string{"", "a", "b", strings.Repeat("long", 50)}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	default:
		v.SetInt(r.Int64N(5) - 2)
	}
}

// anyMAC is one of few, some of which are written as none is that was read.
func anyMAC(r *rand.Rand) MAC {
	forms := []string{"52:54:00:00:00:0%d", "52:54:00:00:00:0%dX", "m%d", "52-54-00-00-00-0%d", "AA:54:00:00:00:0%d"}
	return MAC(fmt.Sprintf(forms[max(r.IntN(8)-3, 0)], r.IntN(9)))
}

func randomPlans(r *rand.Rand, n int) []Plan {
	plans := make([]Plan, n)
	for i := range plans {
		p := &plans[i]
		random(reflect.ValueOf(p).Elem(), r)
		p.EntryUID, p.Entry = "u"+strconv.Itoa(r.IntN(2*n)), Name{"ns", "e" + strconv.Itoa(i)}
	}
	return plans
}

func words(p *Plan) string {
	q := *p
	q.Since, q.MACs = q.Since.UTC(), some(q.MACs)
	b, err := json.Marshal(q) //nolint:musttag // As in Digest.
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestPacked: a plan that was packed is what it was, and has its digest, whatever it holds and however it's asked for.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The same each time.
	for range 200 {
		plans := randomPlans(r, 6)
		want := map[string]*Plan{}
		pointers := make([]*Plan, len(plans))
		for i := range plans {
			pointers[i] = &plans[i]
			want[plans[i].Entry.Name] = &plans[i]
		}
		k := Pack(pointers[:4], nil)
		k = Pack(pointers[:5], k).With(nil, pointers[5:]).sorted()
		n := 0
		check := func(how string, p *Plan) {
			if w := want[p.Entry.Name]; words(p) != words(w) || p.Digest() != w.Digest() || !p.Since.Equal(w.Since) {
				t.Fatalf("%s:\n%s\nwant\n%s", how, words(p), words(w))
			}
			n++
		}
		for i, p := range k.All() {
			check("All", p)
			check("Ref", k.Ref(i).Plan())
		}
		for _, p := range k.Scan() {
			check("Scan", p)
		}
		if n != 3*len(plans) {
			t.Fatalf("%d plans", n)
		}
		others := randomPlans(r, 1)
		others[0].Entry.Name = "other"
		for i, p := range k.With(map[int]*Plan{2: &others[0]}, nil).All() {
			if i == 2 {
				want[p.Entry.Name] = &others[0]
			}
			check("With", p)
		}
	}
}

// TestRef: one Ref is another where both are of the same plan, also of two states.
func TestRef(t *testing.T) {
	plans := hall(3)
	k := Pack(plans, nil)
	other := *plans[0]
	other.Hostname = "other"
	longer := *plans[0]
	longer.Network.MTU = 9000
	cases := map[string]struct {
		reason string
		a, b   Ref
		same   bool
	}{
		"Again":   {reason: "packed again, where the shapes are known", a: k.Ref(0), b: Pack(hall(3), k).Ref(0), same: true},
		"Machine": {reason: "another machine", a: k.Ref(0), b: k.Ref(1)},
		"Row":     {reason: "something of its own has changed", a: k.Ref(0), b: Pack([]*Plan{&other}, k).Ref(0)},
		"Shape":   {reason: "something of its network has changed", a: k.Ref(0), b: Pack([]*Plan{&longer}, k).Ref(0)},
		"Late":    {reason: "one that isn't packed is known by its pointer", a: RefTo(plans[0]), b: RefTo(plans[0]), same: true},
		"Pointer": {reason: "another pointer may be another plan", a: RefTo(plans[0]), b: RefTo(&other)},
	}
	for name, tc := range cases {
		if (tc.a == tc.b) != tc.same {
			t.Errorf("%s: %s", name, tc.reason)
		}
	}
	if (Ref{}).Plan() != nil {
		t.Error("of nothing there's no plan")
	}
}

// plainly is what a State says, made in the plainest way.
type plainly struct {
	byMAC              map[MAC]*Plan
	byUID              map[string]*Plan
	byPort             map[portAt]*Plan
	refused            map[string]Name
	reserved, withheld map[string]bool
}

func plain(segments []Segment, plans []Plan) plainly {
	x := plainly{map[MAC]*Plan{}, map[string]*Plan{}, map[portAt]*Plan{}, map[string]Name{}, map[string]bool{}, map[string]bool{}}
	ps := make([]*Plan, len(plans))
	for i := range plans {
		ps[i] = &plans[i]
	}
	slices.SortStableFunc(ps, order)
	for _, p := range ps {
		other, taken := x.byUID[p.EntryUID]
		for i := 0; i < len(p.MACs) && !taken; i++ {
			other, taken = x.byMAC[p.MACs[i]]
		}
		if p.Port != nil && !taken {
			other, taken = x.byPort[portAt{p.Network.Name, *p.Port}]
		}
		for _, g := range segments {
			for _, pool := range g.Pools {
				if a := p.Network.Address.Addr(); pool.Contains(a) {
					x.reserved[a.String()] = true
				}
			}
		}
		if taken {
			x.refused[p.EntryUID] = other.Entry
			continue
		}
		x.byUID[p.EntryUID] = p
		if p.Port != nil {
			x.byPort[portAt{p.Network.Name, *p.Port}] = p
		}
		for _, m := range p.MACs {
			x.byMAC[m] = p
		}
	}
	for _, p := range ps {
		if _, refused := x.refused[p.EntryUID]; refused {
			for _, m := range p.MACs {
				x.withheld[string(m)] = true
			}
		}
	}
	return x
}

// TestStateAsPlain: a state of packed plans serves, refuses and withholds what one of plain maps would.
func TestStateAsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // The same each time.
	pools := []Segment{{Pools: []Pool{{Start: netip.MustParseAddr("10.77.0.2"), End: netip.MustParseAddr("10.77.0.4")}}}}
	refused, odd := 0, 0
	for range 500 {
		plans := randomPlans(r, 1+r.IntN(8))
		s, want := NewState(pools, plans, nil), plain(pools, plans)
		if diff := cmp.Diff(want.refused, s.Refused, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		refused += len(want.refused)
		if s.Len() != len(want.byUID) || len(s.Plans()) != s.Len() || s.Packed().Len() != s.Len() {
			t.Fatalf("%d plans, want %d", s.Len(), len(want.byUID))
		}
		for uid, w := range want.byUID {
			for range 2 { // As it's made, and as it was made.
				if p, ok := s.ByEntry(KeyOf(uid)); !ok || words(p) != words(w) {
					t.Fatalf("%s: %v, want %v", uid, p, w)
				}
			}
		}
		for at, w := range want.byPort {
			if p, ok := s.ByPort(at.network, at.port); !ok || words(p) != words(w) {
				t.Fatalf("%v: %v, want %v", at, p, w)
			}
		}
		if s.HasPorts() != (len(want.byPort) > 0) {
			t.Fatal("whether any plan names a port")
		}
		for range 100 {
			m := anyMAC(r)
			p, ok := s.ByMAC(m)
			w, wanted := want.byMAC[m]
			if ok != wanted || ok && words(p) != words(w) {
				t.Fatalf("%s: %v, want %v", m, p, w)
			}
			if n, ok := s.NetworkOf(m); ok != wanted || ok && n != w.Network.Name {
				t.Fatalf("%s: %v", m, n)
			}
			if s.Has(m) != wanted {
				t.Fatalf("%s: has it %v", m, !wanted)
			}
			if _, canonical := m.number(); wanted && !canonical {
				odd++
			}
			if s.Withheld(m) != want.withheld[string(m)] {
				t.Fatalf("%s is withheld: %t", m, s.Withheld(m))
			}
		}
		for i := range byte(8) {
			if a := netip.AddrFrom4([4]byte{10, 77, 0, i}); s.Reserved(a) != want.reserved[a.String()] {
				t.Fatalf("%s is reserved: %t", a, s.Reserved(a))
			}
		}
	}
	if refused < 50 || odd < 50 {
		t.Errorf("%d were refused, %d MACs were odd: neither is tried", refused, odd)
	}
}
