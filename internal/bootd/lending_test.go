package bootd

import (
	"context"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/pool"
)

// several are some bootds of one network, and what each of them sees.
type several struct {
	now  time.Time
	live map[string]bool
	cut  map[string]bool // from the API, and unseen by the others
	stop map[string]bool
}

func newSeveral() *several {
	return &several{now: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), live: map[string]bool{}, cut: map[string]bool{}, stop: map[string]bool{}}
}

func (w *several) bootd(self string) *lending {
	return &lending{
		self: self, now: func() time.Time { return w.now }, known: map[boot.Name]*known{}, stopping: func() bool { return w.stop[self] },
		peers: func(boot.Name) (others []string, sure bool) {
			for _, x := range []string{"a", "b", "c"} {
				if x != self && w.live[x] && !w.cut[x] && !w.cut[self] {
					others = append(others, x)
				}
			}
			return others, !w.cut[self]
		},
	}
}

// pass lets time pass, in which each looks who is there.
func (w *several) pass(d time.Duration, all ...*lending) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(looking)
		for _, l := range all {
			l.mu.Lock()
			l.look(boot.Name{Namespace: "infra", Name: "rack"})
			l.mu.Unlock()
		}
	}
}

// each counts, of 200 addresses, those that each may lend, and those that two may.
func (w *several) each(all ...*lending) (each []int, twice int) {
	each = make([]int, len(all))
	for i := range 200 {
		n := 0
		for j, l := range all {
			if may := l.share(boot.Name{Namespace: "infra", Name: "rack"}); may != nil && may(netip.AddrFrom4([4]byte{10, 77, 0, byte(i)})) {
				each[j]++
				n++
			}
		}
		if n > 1 {
			twice++
		}
	}
	return each, twice
}

// TestShare: of several bootds one alone may lend an address, and it changes hands only when what the other one lent has ended.
func TestShare(t *testing.T) {
	w := newSeveral()
	a, b := w.bootd("a"), w.bootd("b")
	check := func(reason string, wantA, wantB func(int) bool) {
		t.Helper()
		each, twice := w.each(a, b)
		if !wantA(each[0]) || !wantB(each[1]) || twice > 0 {
			t.Errorf("%s: of 200 addresses %v are each one's, %d both's", reason, each, twice)
		}
	}
	all, none, some := func(n int) bool { return n == 200 }, func(n int) bool { return n == 0 }, func(n int) bool { return n > 50 && n < 150 }
	w.live["a"] = true
	only := func(reason string, want func(int) bool) {
		t.Helper()
		if each, _ := w.each(a); !want(each[0]) {
			t.Errorf("%s: %v", reason, each)
		}
	}
	only("one that is alone lends all", all)
	w.live["b"] = true
	w.pass(looking, a, b)
	check("one that begins beside another listens first", some, none)
	w.pass(ended-looking, a, b)
	check("for a term", some, none)
	w.pass(looking, a, b)
	check("and then has its share", some, some)
	w.live["b"] = false
	w.pass(looking, a)
	only("one that ended has lent what may still be had", some)
	w.pass(ended, a)
	only("and then it's the other's", all)
	w.live["b"], w.stop["b"] = true, true
	w.pass(2*ended, a, b)
	check("one that stops leaves it to the others", some, none)
	a.noInstall = true
	only("a second bootd of a folder lends nothing", none)
}

// TestCutOff: a bootd that doesn't reach the API counts as gone for others, which lend what was its own. It knows nothing of that, nor when
// it's back.
func TestCutOff(t *testing.T) {
	for reason, away := range map[string]time.Duration{"long": time.Hour, "a term": ended, "a moment more than it counts as live": live} {
		w := newSeveral()
		w.live["a"], w.live["b"] = true, true
		a, b := w.bootd("a"), w.bootd("b")
		w.pass(2*ended, a, b)
		w.cut["a"] = true
		lent := map[int]bool{} // by b, while a was away or is back
		for passed := time.Duration(0); passed < away+ended+2*live; passed += live {
			w.pass(live, a, b)
			if passed >= away {
				w.cut["a"] = false
			}
			each, twice := w.each(a, b)
			if w.cut["a"] && each[0] > 0 || twice > 0 {
				t.Fatalf("%s: after %s %v are each one's, %d both's", reason, passed, each, twice)
			}
			if back := passed - away; back > live && back < ended-2*live && each[0] > 0 {
				t.Fatalf("%s: %s after it was back a lends %d, which b may have lent", reason, back, each[0])
			}
			lent[each[1]] = true
		}
		if away == time.Hour && !lent[200] {
			t.Errorf("%s: b lent %v", reason, lent)
		}
		w.pass(3*ended, a, b)
		if each, _ := w.each(a, b); each[0] == 0 || each[0]+each[1] != 200 {
			t.Errorf("%s: in the end each has its share: %v", reason, each)
		}
	}
}

// TestBackAlone: who was away waits whether others are heard, and then has all.
func TestBackAlone(t *testing.T) {
	w := newSeveral()
	a := w.bootd("a")
	w.pass(live, a)
	w.cut["a"] = true
	w.pass(live, a)
	w.cut["a"] = false
	w.pass(looking, a)
	if each, _ := w.each(a); each[0] != 0 {
		t.Errorf("it lends %d, and hasn't heard who is there", each[0])
	}
	w.pass(live, a)
	if each, _ := w.each(a); each[0] != 200 {
		t.Errorf("it's alone, and lends %d", each[0])
	}
}

// TestWrittenAtOnce: a bootd that is killed a moment after it lent an address knows of that when it's back, and lends it to nobody else.
func TestWrittenAtOnce(t *testing.T) {
	network, mac := boot.Name{Namespace: "infra", Name: "rack"}, boot.MAC("02:00:00:00:00:01")
	a := netip.MustParseAddr("10.77.0.200")
	cases := map[string]struct {
		reason string
		does   func(b *pool.Book, now time.Time)
		want   []netip.Addr
	}{
		"Taken": {
			reason: "who has an address is written down at once",
			does:   func(b *pool.Book, now time.Time) { b.Take(network, a, mac, now) }, want: []netip.Addr{a},
		},
		"Released": {
			reason: "so is who gave it back",
			does: func(b *pool.Book, now time.Time) {
				b.Take(network, a, mac, now)
				b.Take(network, a.Next(), "02:00:00:00:00:02", now)
				b.Release(network, a, mac)
			},
			want: []netip.Addr{a.Next()},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := &lending{book: pool.NewBook(2), path: filepath.Join(t.TempDir(), "lent.json"), now: time.Now}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = l.run(ctx, &daemon{c: Config{Logger: slog.New(slog.DiscardHandler)}}, func() {})
			}()
			defer func() { cancel(); <-ended }()
			tc.does(l.book, time.Now())
			var got []netip.Addr
			for end := time.Now().Add(noted / 2); time.Now().Before(end) && !slices.Equal(got, tc.want); time.Sleep(time.Millisecond) {
				all, err := pool.Read(l.path)
				if err != nil {
					t.Fatal(err)
				}
				got = nil
				for _, x := range all {
					got = append(got, x.Address)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWritten: what couldn't be written is written again.
func TestWritten(t *testing.T) {
	dir, log := t.TempDir(), &lines{}
	l := &lending{book: pool.NewBook(8), path: filepath.Join(dir, "none", "lent.json"), now: time.Now}
	l.book.Take(boot.Name{Namespace: "infra", Name: "rack"}, netip.MustParseAddr("10.77.0.9"), "52:54:00:00:00:01", time.Now())
	l.write(slogTo(log))
	if !strings.Contains(log.String(), "a restart would forget") {
		t.Fatalf("the folder isn't there: %s", log)
	}
	l.path = filepath.Join(dir, "lent.json")
	l.write(slogTo(log))
	if all, err := pool.Read(l.path); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestRanges: what is odd about ranges is told once, and keeps nobody from being served.
func TestRanges(t *testing.T) {
	span := func(name, start, end string) boot.Segment {
		return boot.Segment{Name: boot.Name{Namespace: "infra", Name: name}, Pools: []boot.Pool{{Start: netip.MustParseAddr(start), End: netip.MustParseAddr(end)}}}
	}
	plans := []boot.Plan{
		{EntryUID: "1", Network: boot.Network{Address: netip.MustParsePrefix("10.77.0.9/24")}},
		{EntryUID: "2", Network: boot.Network{Address: netip.MustParsePrefix("10.77.0.50/24")}},
	}
	cases := map[string]struct {
		reason   string
		segments []boot.Segment
		want     string
	}{
		"Alone":    {"a range of its own", []boot.Segment{span("a", "10.77.0.200", "10.77.0.220"), span("b", "10.77.0.221", "10.77.0.230")}, ""},
		"Overlap":  {"two networks want an address", []boot.Segment{span("a", "10.77.0.200", "10.77.0.220"), span("b", "10.77.0.220", "10.77.0.230")}, "overlaps one of BootNetwork infra/b"},
		"Reserved": {"a machine has one of it", []boot.Segment{span("a", "10.77.0.1", "10.77.0.20")}, "holds an address that is planned for a machine, 10.77.0.9: it's never lent"},
		"Two":      {"two machines have some of it", []boot.Segment{span("a", "10.77.0.1", "10.77.0.60")}, "holds 2 addresses that are planned for machines, such as 10.77.0.9: they're never lent"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			st := boot.NewState(tc.segments, plans, nil)
			if got := problem(st, tc.segments[0]); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("%s: %q", tc.reason, got)
			}
			log, l := &lines{}, &lending{}
			for range 3 {
				l.tell(st, slogTo(log))
			}
			if n := strings.Count(log.String(), "network=infra/a"); n != min(len(tc.want), 1) {
				t.Errorf("%s: told %d times", tc.reason, n)
			}
		})
	}
}
