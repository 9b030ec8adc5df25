package boot

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
)

func planOf(n int) *Plan {
	return &Plan{
		Entry: Name{"lab", fmt.Sprintf("m%d", n)}, EntryUID: fmt.Sprintf("u%d", n), MACs: []MAC{MAC(fmt.Sprintf("52:54:00:00:%02x:%02x", n>>8, n&255))},
		Network: Network{Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 77, byte(n >> 8 & 255), byte(n & 255)}), 16)},
	}
}

func TestStateWithMore(t *testing.T) {
	pools := []Segment{{Pools: []Pool{{Start: netip.MustParseAddr("10.77.0.2"), End: netip.MustParseAddr("10.77.0.3")}}}}
	loser := planOf(9)
	loser.MACs = append(loser.MACs, planOf(1).MACs[0])
	st := StateOf(pools, []*Plan{planOf(1), loser}, []Session{{EntryUID: "u1", UID: "s"}})
	cases := map[string]struct {
		reason string
		of     *State
		more   func() []*Plan
		ok     bool
	}{
		"New":     {reason: "a machine with nothing of another", of: st, more: func() []*Plan { return []*Plan{planOf(2)} }, ok: true},
		"Several": {reason: "as many as there are", of: st, more: func() []*Plan { return []*Plan{planOf(2), planOf(3)} }, ok: true},
		"UID":     {reason: "tokens are found by it", of: st, more: func() []*Plan { return []*Plan{{EntryUID: "u1"}} }},
		"MAC":     {reason: "another's", of: st, more: func() []*Plan { return []*Plan{{EntryUID: "u2", MACs: planOf(1).MACs}} }},
		"Refused": {reason: "one that isn't served", of: st, more: func() []*Plan { return []*Plan{{EntryUID: "u9"}} }},
		"Its MAC": {reason: "one that isn't served has it", of: st, more: func() []*Plan { return []*Plan{{EntryUID: "u2", MACs: planOf(9).MACs}} }},
		"Twice":   {reason: "two that come", of: st, more: func() []*Plan { return []*Plan{planOf(2), planOf(2)} }},
		"Many": {reason: "too many to copy each time", of: st, more: func() (all []*Plan) {
			for n := range maxLate + 1 {
				all = append(all, planOf(n+16))
			}
			return all
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := tc.of.Len()
			more := tc.more()
			got, ok := tc.of.With(more)
			if ok != tc.ok || tc.of.Len() != before {
				t.Fatalf("%s: %t", tc.reason, ok)
			}
			if !ok {
				return
			}
			for _, p := range append(more, planOf(1)) {
				if q, ok := got.ByEntry(KeyOf(p.EntryUID)); !ok || q.EntryUID != p.EntryUID {
					t.Errorf("%s: no plan of %s", tc.reason, p.EntryUID)
				}
				if q, ok := got.ByMAC(p.MACs[0]); !ok || q.EntryUID != p.EntryUID {
					t.Errorf("%s: no plan of %s", tc.reason, p.MACs[0])
				}
				if n, ok := got.NetworkOf(p.MACs[0]); !got.Has(p.MACs[0]) || !ok || n != p.Network.Name {
					t.Errorf("%s: %s isn't known", tc.reason, p.MACs[0])
				}
			}
			if len(slices.Collect(got.All())) != got.Len() || got.Len() != before+len(more) || got.Sessions["u1"].UID != "s" {
				t.Errorf("%s: %d plans", tc.reason, got.Len())
			}
			if a := more[0].Network.Address.Addr(); !got.Reserved(a) || tc.of.Reserved(a) {
				t.Errorf("%s: its address isn't lent, and the state of before is as it was", tc.reason)
			}
		})
	}
}

func TestStateSince(t *testing.T) {
	st := StateOf(nil, []*Plan{planOf(1)}, nil)
	a, _ := st.With([]*Plan{planOf(2)})
	b, _ := a.With([]*Plan{planOf(3), planOf(4)})
	c, _ := a.With([]*Plan{planOf(5)})
	other := StateOf(nil, []*Plan{planOf(1)}, nil)
	cases := map[string]struct {
		reason      string
		now, before *State
		came        int
		only        bool
	}{
		"Same":     {reason: "nothing came", now: b, before: b, only: true},
		"First":    {reason: "to the state itself", now: b, before: st, came: 3, only: true},
		"Later":    {reason: "to one that others came to", now: b, before: a, came: 2, only: true},
		"Back":     {reason: "what went didn't come", now: a, before: b},
		"Beside":   {reason: "others came to that one", now: b, before: c},
		"Another":  {reason: "it was made of something else", now: b, before: other},
		"Nothing":  {reason: "there was none", now: b},
		"Made new": {reason: "it was made of something else", now: other, before: st},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			came, only := tc.now.Since(tc.before)
			if len(came) != tc.came || only != tc.only {
				t.Errorf("%s: %d, %t", tc.reason, len(came), only)
			}
		})
	}
}
