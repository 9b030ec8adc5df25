package boot

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNewState(t *testing.T) {
	named := func(name string, bound bool, since time.Duration, macs ...MAC) Plan {
		return Plan{Entry: Name{"ns", name}, EntryUID: name, Bound: bound, Since: noon.Add(since), MACs: macs}
	}
	cases := map[string]struct {
		reason  string
		plans   []Plan
		owners  map[MAC]string
		refused map[string]Name
	}{
		"Bonded": {
			reason: "All NICs of a machine give one plan.",
			plans:  []Plan{named("a", true, 0, "m1", "m2")},
			owners: map[MAC]string{"m1": "a", "m2": "a"},
		},
		"BoundBeatsRaw": {
			reason:  "A bound host beats an older entry of raw MACs.",
			plans:   []Plan{named("raw", false, -time.Hour, "m1"), named("bound", true, 0, "m1")},
			owners:  map[MAC]string{"m1": "bound"},
			refused: map[string]Name{"raw": {"ns", "bound"}},
		},
		"EarlierBeatsLater": {
			reason:  "Of two equals the earlier one has it.",
			plans:   []Plan{named("late", true, time.Minute, "m1"), named("early", true, 0, "m1")},
			owners:  map[MAC]string{"m1": "early"},
			refused: map[string]Name{"late": {"ns", "early"}},
		},
		"SameSecond": {
			reason:  "Of two of one second, the same one on every replica.",
			plans:   []Plan{named("b", true, 0, "m1"), named("a", true, 0, "m1")},
			owners:  map[MAC]string{"m1": "a"},
			refused: map[string]Name{"b": {"ns", "a"}},
		},
		"RefusedWhole": {
			reason:  "A refused plan isn't served by its other NIC either.",
			plans:   []Plan{named("a", true, 0, "m1"), named("b", true, time.Minute, "m1", "m2")},
			owners:  map[MAC]string{"m1": "a", "m2": ""},
			refused: map[string]Name{"b": {"ns", "a"}},
		},
		"SameUID": {
			reason:  "By one UID one machine is found alone: it would be installed by the other's grant.",
			plans:   []Plan{named("a", true, 0, "m1"), {Entry: Name{"ns", "copy"}, EntryUID: "a", MACs: []MAC{"m2"}}},
			owners:  map[MAC]string{"m1": "a", "m2": ""},
			refused: map[string]Name{"a": {"ns", "a"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := NewState(nil, tc.plans, nil)
			for m, want := range tc.owners {
				got := ""
				if p, ok := s.ByMAC(m); ok {
					got = p.Entry.Name
					if q, ok := s.ByEntry(KeyOf(p.EntryUID)); !ok || q.Entry != p.Entry {
						t.Errorf("%s\nByEntry gives another plan than ByMAC for %s", tc.reason, m)
					}
				}
				if got != want {
					t.Errorf("%s\nByMAC(%s) = %q, want %q", tc.reason, m, got, want)
				}
			}
			want := tc.refused
			if want == nil {
				want = map[string]Name{}
			}
			if diff := cmp.Diff(want, s.Refused); diff != "" {
				t.Errorf("%s\nRefused: -want, +got:\n%s", tc.reason, diff)
			}
			if all := slices.Collect(s.All()); len(all) != len(tc.plans)-len(want) || s.Len() != len(all) {
				t.Errorf("%s\nAll() has %d", tc.reason, len(all))
			}
		})
	}
}

func TestSegment(t *testing.T) {
	open := Segment{Name: Name{"infra", "rack-7"}, Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24")}}
	closed := open
	closed.Relays = []netip.Prefix{netip.MustParsePrefix("10.77.0.1/32")}
	cases := map[string]struct {
		reason  string
		segment Segment
		addr    string
		inside  bool
		trusted bool
	}{
		"AnyInside":   {reason: "Without a list, a relay of the subnet is trusted.", segment: open, addr: "10.77.0.9", inside: true, trusted: true},
		"Outside":     {reason: "A relay elsewhere isn't.", segment: open, addr: "10.78.0.9"},
		"Listed":      {reason: "With a list, the listed one is.", segment: closed, addr: "10.77.0.1", inside: true, trusted: true},
		"NotListed":   {reason: "With a list, a machine of the subnet isn't a relay.", segment: closed, addr: "10.77.0.9", inside: true},
		"LookAlikeV6": {reason: "An IPv6 address is in no IPv4 subnet.", segment: open, addr: "::ffff:10.77.0.9"},
	}
	for name, tc := range cases {
		a := netip.MustParseAddr(tc.addr)
		if got := tc.segment.Contains(a); got != tc.inside {
			t.Errorf("%s: %s\nContains(%s) = %t", name, tc.reason, a, got)
		}
		if got := tc.segment.TrustsRelay(a); got != tc.trusted {
			t.Errorf("%s: %s\nTrustsRelay(%s) = %t", name, tc.reason, a, got)
		}
	}
	s := NewState([]Segment{open}, nil, []Session{{EntryUID: "e"}})
	if _, ok := s.Segment(open.Name); !ok || s.Sessions["e"].EntryUID != "e" {
		t.Error("a state doesn't give back its segments and sessions")
	}
	if _, ok := s.Segment(Name{"infra", "other"}); ok {
		t.Error("a state gives a segment that it doesn't have")
	}
}
