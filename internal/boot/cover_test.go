package boot

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestCovering: an edit of a network that leaves its machines outside silences none of them, and takes no subnet of another network.
func TestCovering(t *testing.T) {
	segment := func(name string, subnets ...string) Segment {
		s := Segment{Name: Name{Namespace: "edge", Name: name}}
		for _, x := range subnets {
			s.Subnets = append(s.Subnets, netip.MustParsePrefix(x))
		}
		return s
	}
	keeping := func(s Segment) Segment { s.Kept = 1; return s }
	plan := func(uid, network, address, six string) Plan {
		p := Plan{EntryUID: uid, MACs: []MAC{MAC("52:54:00:00:00:0" + uid)}, Since: time.Unix(1, 0)}
		p.Network.Name = Name{Namespace: "edge", Name: network}
		if address != "" {
			p.Network.Address = netip.MustParsePrefix(address)
		}
		if six != "" {
			p.Network.Six = &Place{Address: netip.MustParsePrefix(six)}
		}
		return p
	}
	cases := map[string]struct {
		reason   string
		segments []Segment
		plans    []Plan
		want     []Segment
	}{
		"Inside": {
			"a network is as it's written", []Segment{segment("a", "10.77.0.0/24", "fd77::/64")},
			[]Plan{plan("1", "a", "10.77.0.9/24", "fd77::9/64"), plan("2", "a", "", "")}, []Segment{segment("a", "10.77.0.0/24", "fd77::/64")},
		},
		"Renumbered": {
			"those that go on as they were have their subnet, once", []Segment{segment("a", "10.87.0.0/24")},
			[]Plan{plan("1", "a", "10.77.0.9/24", ""), plan("2", "a", "10.77.0.8/24", "")}, []Segment{keeping(segment("a", "10.87.0.0/24", "10.77.0.0/24"))},
		},
		"Smaller": {
			"of a part of it, too", []Segment{segment("a", "10.77.0.0/26")},
			[]Plan{plan("1", "a", "10.77.0.200/24", "")}, []Segment{keeping(segment("a", "10.77.0.0/26", "10.77.0.0/24"))},
		},
		"Six": {
			"the second address of a machine counts as the first", []Segment{segment("a", "10.77.0.0/24", "fd87::/64")},
			[]Plan{plan("1", "a", "10.77.0.9/24", "fd77::9/64")}, []Segment{keeping(segment("a", "10.77.0.0/24", "fd87::/64", "fd77::/64"))},
		},
		"Others": {
			"what is another network's now is that one's", []Segment{segment("a", "10.87.0.0/24"), segment("b", "10.77.0.0/25")},
			[]Plan{plan("1", "a", "10.77.0.9/24", "")}, []Segment{segment("a", "10.87.0.0/24"), segment("b", "10.77.0.0/25")},
		},
		"Gone": {
			"a network that was taken out isn't served", []Segment{segment("b", "10.87.0.0/24")},
			[]Plan{plan("1", "a", "10.77.0.9/24", "")}, []Segment{segment("b", "10.87.0.0/24")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := cmp.Diff(tc.segments, tc.want, cmpopts.EquateComparable(netip.Prefix{}))
			got := Covering(tc.segments, func(yield func(*Plan) bool) {
				for i := range tc.plans {
					if !yield(&tc.plans[i]) {
						return
					}
				}
			})
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if is := cmp.Diff(tc.segments, tc.want, cmpopts.EquateComparable(netip.Prefix{})); is != was {
				t.Errorf("the segments that were given have changed: %s", is)
			}
		})
	}
}
