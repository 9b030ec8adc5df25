package pool

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	one = boot.MAC("52:54:00:00:00:01")
	two = boot.MAC("52:54:00:00:00:02")
)

var (
	rack = boot.Name{Namespace: "infra", Name: "rack"}
	t0   = time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	a200 = netip.MustParseAddr("10.77.0.200")
	a201 = netip.MustParseAddr("10.77.0.201")
)

func span(start, end string) boot.Pool {
	return boot.Pool{Start: netip.MustParseAddr(start), End: netip.MustParseAddr(end)}
}

// TestChoose: every address comes once, and the same machine begins at the same one.
func TestChoose(t *testing.T) {
	cases := map[string]struct {
		reason string
		ranges []boot.Pool
		want   int
	}{
		"One":       {"a range of one address", []boot.Pool{span("10.77.0.200", "10.77.0.200")}, 1},
		"Range":     {"both ends are of it", []boot.Pool{span("10.77.0.200", "10.77.0.220")}, 21},
		"Ranges":    {"several are one", []boot.Pool{span("10.77.0.200", "10.77.0.203"), span("10.77.1.0", "10.77.1.7")}, 12},
		"Large":     {"of many, as many as are looked at", []boot.Pool{span("10.77.0.0", "10.77.15.255")}, looks},
		"Backwards": {"what no schema would let in", []boot.Pool{span("10.77.0.220", "10.77.0.200")}, 0},
		"None":      {"no range", nil, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seen := map[netip.Addr]bool{}
			var first netip.Addr
			a, ok := Choose(tc.ranges, one, func(a netip.Addr) bool {
				if _, in := Of(tc.ranges, a); !in || seen[a] {
					t.Errorf("%s: %s is outside, or came twice", tc.reason, a)
				}
				if len(seen) == 0 {
					first = a
				}
				seen[a] = true
				return false
			})
			if ok || len(seen) != tc.want {
				t.Errorf("%s: %d addresses were looked at, and it gave %s", tc.reason, len(seen), a)
			}
			again, ok := Choose(tc.ranges, one, func(netip.Addr) bool { return true })
			if ok != (tc.want > 0) || again != first {
				t.Errorf("%s: it begins at %s, and then at %s", tc.reason, first, again)
			}
		})
	}
}

// TestChooseSpreads: machines seldom want one address.
func TestChooseSpreads(t *testing.T) {
	ranges, first := []boot.Pool{span("10.77.0.0", "10.77.0.255")}, map[netip.Addr]int{}
	for i := range 1024 {
		a, _ := Choose(ranges, boot.MAC(fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255)), func(netip.Addr) bool { return true })
		first[a]++
	}
	for a, n := range first {
		if n > 32 {
			t.Errorf("%d of 1024 machines begin at %s", n, a)
		}
	}
}

func TestBook(t *testing.T) {
	b := NewBook(Most)
	offer := func(a netip.Addr, m boot.MAC, at time.Duration) bool { return b.Offer(rack, a, m, t0.Add(at)) }
	take := func(a netip.Addr, m boot.MAC, at time.Duration) bool { return b.Take(rack, a, m, t0.Add(at)) }
	holder := func(at time.Duration) boot.MAC {
		l, ok := b.Holder(rack, a200, t0.Add(at))
		if !ok {
			return ""
		}
		return l.MAC
	}
	steps := []struct {
		reason string
		ok     bool
		holder boot.MAC
		do     func() bool
	}{
		{"the first is offered it", true, one, func() bool { return offer(a200, one, 0) }},
		{"another isn't, while the first may ask", false, one, func() bool { return offer(a200, two, time.Second) }},
		{"nor may it take it", false, one, func() bool { return take(a200, two, time.Second) }},
		{"the first takes it", true, one, func() bool { return take(a200, one, 2*time.Second) }},
		{"an offer of what it has shortens nothing", true, one, func() bool { return offer(a200, one, 3*time.Second) }},
		{"it counts for its term", false, one, func() bool { return take(a200, two, Term) }},
		{"and then no longer", true, two, func() bool { return take(a200, two, Term+3*time.Second) }},
		{"who hasn't got it can't give it back", false, two, func() bool { return b.Release(rack, a200, one) }},
		{"who has it can", true, "", func() bool { return b.Release(rack, a200, two) }},
	}
	for i, s := range steps {
		if s.do() != s.ok {
			t.Errorf("step %d, %s: %v", i, s.reason, !s.ok)
		}
		if got := holder(min(time.Duration(i)*time.Second, Term)); got != s.holder {
			t.Errorf("step %d, %s: %q has it", i, s.reason, got)
		}
	}
	other := boot.Name{Namespace: "infra", Name: "rack-2"}
	if !take(a200, one, 0) || !b.Take(other, a200, two, t0) {
		t.Error("the same address elsewhere is another one")
	}
	if a, ok := b.Last(other, two); !ok || a != a200 {
		t.Errorf("its machine has %s", a)
	}
	if n := b.Count(t0); n != 2 {
		t.Errorf("%d leases count", n)
	}
}

// TestFlood: who shouts takes no address from who has one, and the book doesn't grow.
func TestFlood(t *testing.T) {
	const most = 16
	b := NewBook(most)
	if !b.Take(rack, a200, one, t0) {
		t.Fatal("it's free")
	}
	ranges := []boot.Pool{span("10.77.0.0", "10.77.15.255")}
	for i := range 10_000 {
		mac := boot.MAC(fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8, i&255))
		a, _ := Choose(ranges, mac, func(a netip.Addr) bool { _, held := b.Holder(rack, a, t0); return !held })
		b.Offer(rack, a, mac, t0)
	}
	if l, ok := b.Holder(rack, a200, t0); !ok || l.MAC != one {
		t.Error("a lease made room for an offer")
	}
	if len(b.leases) > most || len(b.last) > most || b.taken.Len()+b.offered.Len() > most {
		t.Errorf("%d leases, %d machines", len(b.leases), len(b.last))
	}
	for i := range most {
		b.Take(rack, netip.AddrFrom4([4]byte{10, 78, 0, byte(i)}), boot.MAC(fmt.Sprint("m", i)), t0)
	}
	if b.Offer(rack, a201, two, t0) {
		t.Error("there's room beside as many leases as are remembered")
	}
	if !b.Offer(rack, a201, two, t0.Add(Term)) {
		t.Error("leases that have ended make no room")
	}
}

// TestRestart: what was lent before counts for a term more.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lent.json")
	if all, err := Read(path); err != nil || all != nil {
		t.Errorf("where nothing was written: %v, %v", all, err)
	}
	b := NewBook(Most)
	b.Take(rack, a200, one, t0)
	b.Offer(rack, a201, two, t0)
	all, news := b.Taken(t0)
	if err := Write(path, all); err != nil || !news {
		t.Fatalf("%v, news %v", err, news)
	}
	if _, news := b.Taken(t0); news {
		t.Error("it's no news any more")
	}
	read, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []Lease{{Network: rack, Address: a200, MAC: one, Until: t0.Add(Term)}}
	if diff := cmp.Diff(want, read, cmpopts.IgnoreUnexported(Lease{}), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("an offer isn't written down (-want +got):\n%s", diff)
	}
	later := t0.Add(Term + time.Minute)
	again := NewBook(Most)
	again.Restore(read, later)
	if again.Take(rack, a200, two, later.Add(Term-time.Second)) || !again.Take(rack, a200, two, later.Add(Term)) {
		t.Error("it may have been extended meanwhile")
	}
	again = NewBook(Most)
	again.Restore(append(read, Lease{Network: rack, MAC: two, Until: later}), t0.Add(3*Term))
	if n := again.Count(t0.Add(3 * Term)); n != 0 {
		t.Errorf("%d of yesterday's count", n)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("a broken file is told of")
	}
}
