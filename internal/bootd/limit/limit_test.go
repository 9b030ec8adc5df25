package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func mac(i int) boot.MAC {
	return boot.MAC(fmt.Sprintf("02:00:%02x:%02x:%02x:%02x", i>>24&255, i>>16&255, i>>8&255, i&255))
}

func start() time.Time { return time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC) }

func TestBucket(t *testing.T) {
	r := Rate{PerSecond: 10, Burst: 3}
	cases := map[string]struct {
		reason string
		// after are the times of the attempts, in milliseconds.
		after []int
		want  string
	}{
		"Burst":   {"so many at once, and no more", []int{0, 0, 0, 0, 0}, "yyynn"},
		"Refill":  {"one each tenth of a second", []int{0, 0, 0, 100, 100, 150, 200}, "yyyynny"},
		"Full":    {"no more than the burst is saved", []int{0, 60_000, 60_000, 60_000, 60_000}, "yyyyn"},
		"Back":    {"a clock that is put back gives nothing, and takes nothing for ever", []int{0, 0, 0, -86_400_000, -86_399_900, -86_399_900}, "yyynyn"},
		"Forward": {"a clock that is put forward fills it", []int{0, 0, 0, 0, 86_400_000, 86_400_000}, "yyynyy"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, got := bucket{}, ""
			for _, ms := range tc.after {
				if b.take(r, start().Add(time.Duration(ms)*time.Millisecond)) {
					got += "y"
				} else {
					got += "n"
				}
			}
			if got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
	b := bucket{}
	for range 1000 {
		if !b.take(Rate{}, start()) {
			t.Fatal("no rate is no limit")
		}
	}
}

// TestMachineHasItsOwn: whoever else shouts, and through whichever relay, a known machine is heard; and one that loops is bounded.
func TestMachineHasItsOwn(t *testing.T) {
	l := New(Default())
	relay := netip.MustParseAddr("10.0.0.1")
	verdicts := map[Verdict]int{}
	for i := range 100_000 {
		now := start().Add(time.Duration(i) * 10 * time.Microsecond) // 100,000 a second.
		verdicts[l.Stranger(mac(i%10_000), relay, now)]++
		if i%1000 == 0 && l.Machine("52:54:00:00:00:01", now) != Within {
			t.Fatal("a known machine isn't heard for strangers' sake")
		}
	}
	if heard := verdicts[Within]; heard < 1000 || heard > 1000+500+1 || verdicts[PerRelay] == 0 {
		t.Errorf("one relay's strangers: %v", verdicts)
	}
	answered := 0
	for i := range 100_000 {
		if l.Machine("52:54:00:00:00:02", start().Add(time.Duration(i)*100*time.Microsecond)) == Within { // For ten seconds.
			answered++
		}
	}
	if answered < 500+10*200-1 || answered > 500+10*200+1 {
		t.Errorf("a machine that loops was answered %d times", answered)
	}
	for i := range 100_000 { // A hall, ten times a second each.
		if l.Machine(mac(i%10_000), start().Add(time.Duration(i)*10*time.Microsecond)) != Within {
			t.Fatal("a hall that is powered on isn't limited")
		}
	}
}

func TestStrangers(t *testing.T) {
	rates := Rates{Stranger: Rate{1, 2}, Relay: Rate{1, 5}, Strangers: Rate{1, 8}}
	one, two := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	cases := map[string]struct {
		reason string
		ask    func(l *Limiter) Verdict
		want   []Verdict
	}{
		"PerMAC": {"one that asks all the time", func(l *Limiter) Verdict { return l.Stranger(mac(1), one, start()) }, []Verdict{Within, Within, PerMAC, PerMAC}},
		"PerRelay": {"many behind one relay", func() func(l *Limiter) Verdict {
			i := 0
			return func(l *Limiter) Verdict { i++; return l.Stranger(mac(i), one, start()) }
		}(), []Verdict{Within, Within, Within, Within, Within, PerRelay, PerRelay}},
		"InTotal": {"many, behind two relays and none", func() func(l *Limiter) Verdict {
			i := 0
			return func(l *Limiter) Verdict {
				i++
				return l.Stranger(mac(i), []netip.Addr{one, two, {}}[i%3], start())
			}
		}(), []Verdict{Within, Within, Within, Within, Within, Within, Within, Within, InTotal, InTotal}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := New(rates)
			for i, want := range tc.want {
				if got := tc.ask(l); got != want {
					t.Errorf("%s: request %d: %d, want %d", tc.reason, i, got, want)
				}
			}
		})
	}
	var none *Limiter
	if none.Stranger(mac(1), one, start()) != Within || none.Machine(mac(1), start()) != Within {
		t.Error("without a limiter nobody is limited")
	}
}

func TestNoGarbage(t *testing.T) {
	l, relay, m := New(Default()), netip.MustParseAddr("10.0.0.1"), mac(7)
	if n := testing.AllocsPerRun(1000, func() {
		l.Machine(m, start())
		l.Stranger(m, relay, start())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
