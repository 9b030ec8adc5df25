package bootd

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestOddity(t *testing.T) {
	segment := func(name string, mode boot.SegmentMode, interfaces []string, subnets ...string) boot.Segment {
		g := boot.Segment{Name: boot.Name{Namespace: "infra", Name: name}, Mode: mode, Interfaces: interfaces}
		for _, s := range subnets {
			g.Subnets = append(g.Subnets, netip.MustParsePrefix(s))
		}
		return g
	}
	keeping := func(g boot.Segment) boot.Segment { g.Kept = 1; return g }
	told := func(g boot.Segment, a string) boot.Segment {
		g.Hostless = []netip.Addr{netip.MustParseAddr(a)}
		return g
	}
	const authoritative, relays, off = boot.SegmentAuthoritative, boot.SegmentRelayOnly, boot.SegmentOff
	here := []string{"lo", "eth1"}
	overlaps := "subnet 10.77.0.0/24 overlaps 10.77.0.128/25 of BootNetwork infra/b: an address may be given to two machines; give each network subnets of its own"
	unplugged := "serveOn.interfaces names eth7, eth8, which this node hasn't: it has lo, eth1; nobody is answered here but through relays"
	part := segment("b", authoritative, nil, "10.77.0.128/25")
	cases := map[string]struct {
		reason string
		of     segmentIn
		want   string
	}{
		"Right":      {"a network of its own", segmentIn{segment("a", authoritative, nil, "10.77.1.0/24"), part, here}, ""},
		"Overlap":    {"two networks have an address", segmentIn{segment("a", authoritative, nil, "10.77.0.0/24"), part, here}, overlaps},
		"Relayed":    {"through relays it's an address of both as well", segmentIn{segment("a", relays, nil, "10.77.0.0/24"), part, here}, overlaps},
		"NoneGiven":  {"one gives no addresses", segmentIn{segment("a", off, nil, "10.77.0.0/24"), part, here}, ""},
		"TwoLinks":   {"each on an interface of its own", segmentIn{segment("a", authoritative, []string{"eth1"}, "10.77.0.0/24"), segment("b", authoritative, []string{"eth2"}, "10.77.0.0/24"), here}, ""},
		"Hostless":   {"a router that is everybody", segmentIn{told(segment("a", authoritative, nil, "10.79.0.0/24"), "10.79.0.255"), part, here}, "machines are told of 10.79.0.255 as a router or a server, which can't be a host's: a subnet's own address, its broadcast address, or one of many hosts or none; correct it"},
		"Itself":     {"two subnets of one network", segmentIn{segment("a", authoritative, nil, "10.79.0.0/24", "10.79.0.0/25"), part, here}, "subnet 10.79.0.0/25 overlaps subnet 10.79.0.0/24: of an address in both the mask and the gateway are those of the one that stands first"},
		"Kept":       {"nobody has written the second", segmentIn{keeping(segment("a", authoritative, nil, "10.79.0.0/25", "10.79.0.0/24")), part, here}, ""},
		"Families":   {"of two families", segmentIn{segment("a", authoritative, nil, "10.79.0.0/24", "fd00:77::/64"), part, here}, ""},
		"NoneOfThem": {"interfaces that aren't there", segmentIn{segment("a", authoritative, []string{"eth7", "eth8"}, "10.79.0.0/24"), part, here}, unplugged},
		"OneOfThem":  {"nodes differ", segmentIn{segment("a", authoritative, []string{"eth7", "eth1"}, "10.79.0.0/24"), part, here}, ""},
		"Unlisted":   {"which there are isn't known", segmentIn{segment("a", authoritative, []string{"eth7"}, "10.79.0.0/24"), part, nil}, ""},
		"RelayOnly":  {"a relay's requests don't rest on them", segmentIn{segment("a", relays, []string{"eth7"}, "10.79.0.0/24"), part, here}, ""},
		"Off":        {"nobody is heard", segmentIn{segment("a", off, []string{"eth7"}, "10.79.0.0/24"), part, here}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			st := boot.NewState([]boot.Segment{tc.of.g, tc.of.other}, nil, nil)
			if diff := cmp.Diff(tc.want, oddity(st, tc.of.g, tc.of.here)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// segmentIn is a segment beside another, on a node with some interfaces.
type segmentIn struct {
	g, other boot.Segment
	here     []string
}
