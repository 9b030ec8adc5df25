package links

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inet6 is what a kernel says of a server with two addresses by hand, one of a router's advertisement, a temporary one, a deprecated one, and two that
// another host has, or may have.
const inet6 = `fd0000880000000000000000000000ff 02 40 00 80 eth0
fd00008800000000000000000000dead 02 40 00 a0 eth0
fd000088000000000000000000000003 02 40 00 80 eth0
fd000088000000000000000000000002 02 40 00 c8 eth0
fd000088000000000000000000000001 02 40 00 c0 eth0
fd0000880000000000000000abcd0001 02 40 00 01 eth0
fd00008800000000505400fffe000001 02 40 00 00 eth0
fe80000000000000505400fffe000001 02 40 20 80 eth0
not an address at all
fd0000880000000000000000000000zz 02 40 00 80 eth0
fd0000 02 40 00 80 eth0
`

// TestRank: whatever was added last, an address that stays is the one that machines are told.
func TestRank(t *testing.T) {
	want := []string{
		"10.77.0.3", "10.77.0.2", // As the kernel has them.
		"fd00:88::3", "fd00:88::ff", "fd00:88::5054:ff:fe00:1", "fd00:88::abcd:1", "fd00:88::dead", "fd00:88::1", "fd00:88::2",
	}
	all := make([]netip.Addr, 0, len(want))
	for _, a := range want {
		all = append(all, netip.MustParseAddr(a))
	}
	slices.Reverse(all[2:])
	for range 2 {
		rank(all, func() map[netip.Addr]uint64 { return readFlags(strings.NewReader(inet6)) })
		got := make([]string, 0, len(all))
		for _, a := range all {
			got = append(got, a.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}
}

// TestRankUnknown: where the system doesn't say what they're worth they have an order all the same, and one alone isn't asked about.
func TestRankUnknown(t *testing.T) {
	all := []netip.Addr{netip.MustParseAddr("fd00:88::ff"), netip.MustParseAddr("fd00:88::3")}
	rank(all, func() map[netip.Addr]uint64 { return nil })
	if all[0].String() != "fd00:88::3" {
		t.Error(all)
	}
	rank(all[:1], func() map[netip.Addr]uint64 {
		t.Error("it's asked about the only one")
		return nil
	})
}

// TestFlagsOf: this kernel's are read: the loopback's address stays.
func TestFlagsOf(t *testing.T) {
	if flags, ok := flagsOf()[netip.IPv6Loopback()]; ok && flags&permanent == 0 {
		t.Errorf("::1 has the flags %x", flags)
	}
}
