package dhcp

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestLinks: a BootNetwork is a link, whose subnets are all on it; an interface may have several, and one may be on several interfaces.
func TestLinks(t *testing.T) {
	prefix := netip.MustParsePrefix
	rack1 := boot.Segment{Name: testSegment, Subnets: []netip.Prefix{prefix("10.99.0.0/24"), prefix("10.98.0.0/24")}, Mode: boot.SegmentAuthoritative}
	rack2 := boot.Segment{Name: boot.Name{Namespace: "infra", Name: "rack-2"}, Subnets: []netip.Prefix{prefix("10.97.0.0/24")}, Mode: boot.SegmentAuthoritative}
	rack1.Relays, rack2.Relays = []netip.Prefix{prefix("10.0.0.0/8")}, []netip.Prefix{prefix("10.0.0.0/8")} // One relay serves both.
	plans := []boot.Plan{testPlan(), testPlan(func(p *boot.Plan) {
		p.Entry.Name, p.EntryUID, p.HostUID, p.MACs = "web-2", "entry-2", "host-2", []boot.MAC{otherMAC}
		p.Network.Name, p.Network.Address, p.Network.Gateway = rack2.Name, prefix("10.97.0.20/24"), netip.MustParseAddr("10.97.0.1")
	})}
	server := netip.MustParseAddr
	on := func(name string, index int, ours ...netip.Addr) Ingress {
		return Ingress{From: netip.MustParseAddrPort("0.0.0.0:68"), Interface: name, Index: index, Addresses: ours}
	}
	relayed := Ingress{From: netip.MustParseAddrPort("10.1.0.5:67"), To: server("172.16.0.9"), Interface: "eth0", Index: 2, Addresses: []netip.Addr{server("172.16.0.9")}}
	by := func(giaddr string) dhcpv4.Modifier { return dhcpv4.WithRelay(server(giaddr).AsSlice()) }
	gives := func(address, ours string) string { return address + " by " + ours }
	cases := map[string]struct {
		reason  string
		machine boot.MAC
		req     dhcpv4.Modifier
		in      Ingress
		want    string
	}{
		"BothHere1":     {reason: "two networks on one interface: each machine has its own", machine: testMAC, in: on("br0", 3, server("10.99.0.1"), server("10.97.0.2")), want: gives("10.99.0.83", "10.99.0.1")},
		"BothHere2":     {reason: "by our address in it", machine: otherMAC, in: on("br0", 3, server("10.99.0.1"), server("10.97.0.2")), want: gives("10.97.0.20", "10.97.0.2")},
		"FirstSubnet":   {reason: "a relay names the subnet of the machine's address", machine: testMAC, req: by("10.99.0.254"), in: relayed, want: gives("10.99.0.83", "172.16.0.9")},
		"OtherSubnet":   {reason: "or another one of its link, as a switch's first address is", machine: testMAC, req: by("10.98.0.254"), in: relayed, want: gives("10.99.0.83", "172.16.0.9")},
		"OtherLink":     {reason: "another rack's link isn't its own", machine: testMAC, req: by("10.97.0.254"), in: relayed, want: string(SilentElsewhere)},
		"Interface":     {reason: "one network on two interfaces: here", machine: testMAC, in: on("eth1", 5, server("10.99.0.1")), want: gives("10.99.0.83", "10.99.0.1")},
		"Interface2":    {reason: "and there, by its other subnet", machine: testMAC, in: on("eth2", 6, server("10.98.0.1")), want: gives("10.99.0.83", "10.98.0.1")},
		"OtherRackOnly": {reason: "where only the other network is", machine: testMAC, in: on("eth3", 7, server("10.97.0.2")), want: string(SilentElsewhere)},
	}
	for name, tc := range cases {
		mods := []dhcpv4.Modifier{asPXE(7), from(tc.machine)}
		if tc.req != nil {
			mods = append(mods, tc.req)
		}
		view := testView(boot.NewState([]boot.Segment{rack1, rack2}, plans, nil))
		a, p := answered(t, view, request(t, mods...), tc.in)
		got := string(a.Reason)
		if p != nil {
			got = gives(p.YourIPAddr.String(), p.ServerIdentifier().String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}
