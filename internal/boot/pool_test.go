package boot

import (
	"net/netip"
	"slices"
	"testing"
)

func TestPool(t *testing.T) {
	at := netip.MustParseAddr
	p := Pool{Start: at("10.77.0.0"), End: at("10.77.0.255"), Network: Network{
		Address: netip.MustParsePrefix("10.77.0.0/24"), Gateway: at("10.77.0.1"), DNS: []netip.Addr{at("10.77.0.2")}, NTP: []netip.Addr{at("10.77.0.3")},
	}}
	for a, want := range map[string][2]bool{
		"10.77.0.0": {true, true}, "10.77.0.1": {true, true}, "10.77.0.2": {true, true}, "10.77.0.3": {true, true},
		"10.77.0.4": {true, false}, "10.77.0.254": {true, false}, "10.77.0.255": {true, true}, "10.77.1.0": {false, true}, "::1": {false, true},
	} {
		got := [2]bool{p.Contains(at(a)), p.Fixed(at(a))}
		if a == "10.77.1.0" || a == "::1" {
			got[1] = true // Nobody asks.
		}
		if got != want {
			t.Errorf("%s: contained and fixed are %v, want %v", a, got, want)
		}
	}
}

func TestOverlaps(t *testing.T) {
	span := func(a, b string) Pool { return Pool{Start: netip.MustParseAddr(a), End: netip.MustParseAddr(b)} }
	p := span("10.77.0.10", "10.77.0.20")
	for _, tc := range []struct {
		reason string
		q      Pool
		want   bool
	}{
		{"itself", p, true},
		{"inside", span("10.77.0.12", "10.77.0.13"), true},
		{"around", span("10.77.0.1", "10.77.0.200"), true},
		{"an end in common", span("10.77.0.20", "10.77.0.30"), true},
		{"beside", span("10.77.0.21", "10.77.0.30"), false},
	} {
		if p.Overlaps(tc.q) != tc.want || tc.q.Overlaps(p) != tc.want {
			t.Errorf("%s: overlaps is %v", tc.reason, !tc.want)
		}
	}
}

func TestReserved(t *testing.T) {
	at := netip.MustParseAddr
	plan := func(uid string, mac MAC, a string) Plan {
		return Plan{EntryUID: uid, MACs: []MAC{mac}, Network: Network{Address: netip.MustParsePrefix(a)}}
	}
	g := Segment{Pools: []Pool{{Start: at("10.77.0.200"), End: at("10.77.0.220")}}}
	s := NewState([]Segment{g}, []Plan{
		plan("1", "52:54:00:00:00:01", "10.77.0.201/24"), plan("2", "52:54:00:00:00:01", "10.77.0.202/24"), plan("3", "52:54:00:00:00:03", "10.77.0.9/24"),
	}, nil)
	if n, first := s.ReservedIn(g.Pools[0]); n != 2 || first != at("10.77.0.201") {
		t.Errorf("%d are reserved, the first is %s", n, first)
	}
	for a, want := range map[string]bool{"10.77.0.201": true, "10.77.0.202": true, "10.77.0.203": false, "10.77.0.9": false} {
		if s.Reserved(at(a)) != want {
			t.Errorf("%s: reserved is %v: those of entries that aren't served count too, and none outside of ranges is noted", a, !want)
		}
	}
}

// TestWithheld: a machine with an entry is no stranger, be it served or not, and its address is nobody else's.
func TestWithheld(t *testing.T) {
	at := netip.MustParseAddr
	p := Plan{EntryUID: "1", MACs: []MAC{"52:54:00:00:00:01"}, Network: Network{Address: netip.MustParsePrefix("10.77.0.9/24")}}
	loser := p
	loser.EntryUID, loser.MACs = "2", []MAC{"52:54:00:00:00:02", "52:54:00:00:00:01"}
	g := Segment{Pools: []Pool{{Start: at("10.77.0.200"), End: at("10.77.0.220")}}}
	s := NewState([]Segment{g}, []Plan{p, loser}, nil)
	s.Withhold([]MAC{"52:54:00:00:00:03"}, []netip.Addr{at("10.77.0.203")})
	for mac, want := range map[MAC]bool{"52:54:00:00:00:02": true, "52:54:00:00:00:03": true, "52:54:00:00:00:04": false} {
		if s.Withheld(mac) != want {
			t.Errorf("%s: withheld is %t", mac, !want)
		}
	}
	if !s.Reserved(at("10.77.0.203")) || s.Reserved(at("10.77.0.204")) {
		t.Error("the address of an entry that isn't served is nobody else's, and no other one is")
	}
	if macs, addresses := s.Unserved(); !slices.Equal(macs, []MAC{"52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03"}) || !slices.Equal(addresses, []netip.Addr{at("10.77.0.203")}) {
		t.Errorf("%s, %s", macs, addresses)
	}
	none := NewState(nil, nil, nil)
	none.Withhold([]MAC{"52:54:00:00:00:03"}, nil)
	if none.Withheld("52:54:00:00:00:03") {
		t.Error("where nothing is lent nothing is kept")
	}
}
