package boot

import (
	"cmp"
	"net/netip"
	"strings"
	"testing"
)

// TestInterface: what a machine's system is told of its network is of ports that it has.
func TestInterface(t *testing.T) {
	const one, two, other = "52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03"
	bond := &Bond{Name: "bond0", Mode: BondLACP}
	cases := map[string]struct {
		reason  string
		in      *Interface
		macs    []string
		silent  bool
		address string // 10.77.0.11/24 where it's absent
		ports   int
		problem string
	}{
		"None":         {reason: "nobody says it", macs: []string{one, two}, ports: 2},
		"One":          {reason: "the only port", in: &Interface{}, macs: []string{one}, ports: 1},
		"Named":        {reason: "one of two", in: &Interface{MACs: []MAC{two}}, macs: []string{one, two}, ports: 1},
		"Ambiguous":    {reason: "nobody guesses a port", in: &Interface{}, macs: []string{one, two}, problem: "the machine has 52:54:00:00:00:01, 52:54:00:00:00:02, and without a bond"},
		"Bond":         {reason: "all of them", in: &Interface{Bond: bond}, macs: []string{one, two}, ports: 2},
		"Foreign":      {reason: "a port that isn't the machine's isn't served", in: &Interface{Bond: bond, MACs: []MAC{one, other}}, macs: []string{one, two}, problem: "interface.macs names 52:54:00:00:00:03, and the machine has"},
		"SilentStatic": {reason: "a sign that would never be seen", in: &Interface{}, macs: []string{one}, silent: true, problem: "keeps it from asking; use addressing: DHCP"},
		"SilentDHCP":   {reason: "one that is", in: &Interface{DHCP: true}, macs: []string{one}, silent: true, ports: 1},
		"SilentIPv6":   {reason: "nor is it by DHCPv6", in: &Interface{DHCP: true}, macs: []string{one}, silent: true, address: "fd00:77::11/64", problem: "give the machine an address of IPv4 as well"},
		"SilentAsked6": {reason: "nor where nobody says how", macs: []string{one}, silent: true, address: "fd00:77::11/64", problem: "by DHCPv6 a system can't be told from firmware"},
		"SilentBoth":   {reason: "with an address of each it is", macs: []string{one}, silent: true, address: "10.77.0.11/24 fd00:77::11/64", ports: 1},
		"NarrowIPv6":   {reason: "Linux has no IPv6 on so little", in: &Interface{MTU: 1279}, macs: []string{one}, address: "fd00:77::11/64", problem: "interface.mtu is 1279, and the machine has an address of IPv6, which takes 1280 at least"},
		"NarrowBoth":   {reason: "nor beside IPv4", in: &Interface{MTU: 1000}, macs: []string{one}, address: "10.77.0.11/24 fd00:77::11/64", problem: "interface.mtu is 1000"},
		"LeastIPv6":    {reason: "it has on this", in: &Interface{MTU: 1280}, macs: []string{one}, address: "fd00:77::11/64", ports: 1},
		"Narrow":       {reason: "IPv4 needs less", in: &Interface{MTU: 1000}, macs: []string{one}, ports: 1},
		"IPv6":         {reason: "whose installer reports needs none", macs: []string{one}, address: "fd00:77::11/64", ports: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, prob := Resolve(
				Entry{Name: Name{"lab", "x"}, UID: "e", Addresses: prefixes(strings.Fields(cmp.Or(tc.address, "10.77.0.11/24"))...), Interface: tc.in},
				Profile{Name: Name{"lab", "p"}, Mode: ModeInstall, Method: MethodInstaller, SilentInstaller: tc.silent},
				SegmentConfig{Name: Name{"lab", "n"}, Subnets: []Subnet{{CIDR: netip.MustParsePrefix("10.77.0.0/24")}, {CIDR: netip.MustParsePrefix("fd00:77::/64")}}},
				Machine{HostUID: "h", MACs: tc.macs},
			)
			got := ""
			if prob != nil {
				got = prob.Message
			}
			if (got == "") != (tc.problem == "") || !strings.Contains(got, tc.problem) {
				t.Fatalf("%s: %q, want %q", tc.reason, got, tc.problem)
			}
			if prob == nil && len(p.Ports()) != tc.ports {
				t.Errorf("%s: ports %v, want %d", tc.reason, p.Ports(), tc.ports)
			}
		})
	}
}
