package boot

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// places is a segment of both families.
func places() SegmentConfig {
	addr := netip.MustParseAddr
	return SegmentConfig{
		Name: Name{"infra", "rack-7"}, NTP: []netip.Addr{addr("fd00:77::123"), addr("10.77.0.4")}, Domain: "rack7.example", MTU: 1500,
		Subnets: []Subnet{
			{CIDR: netip.MustParsePrefix("fd00:77::/64"), Gateway: addr("fd00:77::1"), DNS: []netip.Addr{addr("fd00:77::53")}},
			{CIDR: netip.MustParsePrefix("10.77.0.0/24"), Gateway: addr("10.77.0.1"), DNS: []netip.Addr{addr("10.77.0.2")}},
		},
	}
}

// TestTold: each address of a machine comes with what its own subnet says, and one alone with nothing of the other family.
func TestTold(t *testing.T) {
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	name := Name{"infra", "rack-7"}
	six := Place{prefix("fd00:77::11/64"), addr("fd00:77::1"), []netip.Addr{addr("fd00:77::53")}, []netip.Addr{addr("fd00:77::123")}}
	four := Network{
		Name: name, Address: prefix("10.77.0.11/24"), Gateway: addr("10.77.0.1"), DNS: []netip.Addr{addr("10.77.0.2")}, NTP: []netip.Addr{addr("10.77.0.4")},
		Domain: "rack7.example", MTU: 1500,
	}
	both, alone := four, Network{Name: name, Address: six.Address, Gateway: six.Gateway, DNS: six.DNS, NTP: six.NTP, Domain: "rack7.example", MTU: 1500}
	both.Six = &six
	cases := map[string]struct {
		reason         string
		addresses      []netip.Prefix
		want, overIPv6 Network
	}{
		"IPv4": {"nothing of IPv6", prefixes("10.77.0.11/26"), four, four},
		"IPv6": {"nothing of IPv4", prefixes("fd00:77::11/128"), alone, alone},
		"Both": {"each with its subnet's mask, gateway and servers", prefixes("10.77.0.11/32", "fd00:77::11/128"), both, alone},
	}
	same := cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			got := places().Told(tc.addresses)
			if diff := cmp.Diff(tc.want, got, same); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.overIPv6, got.Told(true), same); diff != "" {
				t.Errorf("%s: over IPv6: -want, +got:\n%s", tc.reason, diff)
			}
			if over := got.Told(false); over.Six != nil || over.Address != got.Address {
				t.Errorf("%s: over IPv4: %+v", tc.reason, over)
			}
			p, ok := got.InSix()
			if want := got.Told(true); ok != want.Address.Addr().Is6() || ok && p.Address != want.Address {
				t.Errorf("%s: in IPv6: %v, %v", tc.reason, p, ok)
			}
			if all := slices.Collect(got.Addresses()); len(all) != len(tc.addresses) || !got.Has(tc.addresses[len(all)-1].Addr()) || got.Has(addr("10.77.0.12")) {
				t.Errorf("%s: addresses %v", tc.reason, all)
			}
		})
	}
	if n := (&Network{}); len(slices.Collect(n.Addresses())) != 0 || n.Has(addr("10.77.0.11")) {
		t.Error("a machine without an address has one")
	}
}

// TestBothAddresses: what is wrong with either address is told; what isn't makes one plan.
func TestBothAddresses(t *testing.T) {
	cases := map[string]struct {
		reason    string
		addresses []netip.Prefix
		problem   string
	}{
		"Both":       {"one of each family", prefixes("10.77.0.11/24", "fd00:77::11/64"), ""},
		"None":       {"no plan without any", nil, "the machine has no address; name one"},
		"OffSegment": {"the second is looked at as well", prefixes("10.77.0.11/24", "fd00:78::11/64"), "address fd00:78::11/64 isn't in any subnet of BootNetwork infra/rack-7; give one that is, or add its subnet there"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, prob := Resolve(Entry{Addresses: tc.addresses}, Profile{}, places(), Machine{MACs: []string{"52:54:00:00:00:01"}})
			got := ""
			if prob != nil {
				got = prob.Message
			}
			if got != tc.problem || prob == nil && p.Network.Six == nil {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.problem)
			}
		})
	}
	_, prob := Resolve(Entry{Addresses: prefixes("10.77.0.11/24", "fd00:77::1/64")}, Profile{}, places(), Machine{MACs: []string{"52:54:00:00:00:01"}})
	if prob == nil || prob.Message[:len("address fd00:77::1 is the gateway")] != "address fd00:77::1 is the gateway" {
		t.Errorf("a gateway's address is taken: %v", prob)
	}
}

// TestNetworkValues: names of before mean what they did; those of IPv6 are IPv6's, whatever else there is.
func TestNetworkValues(t *testing.T) {
	said := func(addresses ...string) string {
		v := (&Plan{Network: places().Told(prefixes(addresses...))}).NetworkValues()
		return v["address"] + " " + v["gateway"] + " " + v["dns"] + " " + v["ntp"] + " | " + v["address6"] + " " + v["ip6"] + " " + v["prefixLength6"] + " " + v["gateway6"] + " " + v["dns6"] + " " + v["ntp6"]
	}
	const four, six = "10.77.0.11/24 10.77.0.1 10.77.0.2 10.77.0.4 | ", "fd00:77::11/64 fd00:77::11 64 fd00:77::1 fd00:77::53 fd00:77::123"
	for _, tc := range []struct{ reason, got, want string }{
		{"one of IPv4", said("10.77.0.11/24"), four + "     "},
		{"one of IPv6", said("fd00:77::11/64"), "fd00:77::11/64 fd00:77::1 fd00:77::53 fd00:77::123 | " + six},
		{"both", said("10.77.0.11/24", "fd00:77::11/64"), four + six},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, tc.got, tc.want)
		}
	}
	p := Profile{Method: MethodScript, Parameters: []Parameter{{Name: "gateway6", Pattern: ".*"}}}
	if wrong := CheckTemplates(p); wrong != "" {
		t.Errorf("a profile of before had a parameter of that name: %s", wrong)
	}
}
