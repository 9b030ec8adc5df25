package netconfig

import (
	"bytes"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	mac1 boot.MAC = "52:54:00:00:07:02"
	mac2 boot.MAC = "52:54:00:00:07:03"
)

// machine is a plan with one port and an address of IPv4; change makes it another.
func machine(change func(*boot.Plan)) *boot.Plan {
	p := &boot.Plan{
		Hostname: "web-1", MACs: []boot.MAC{mac1},
		Network: boot.Network{
			Address: netip.MustParsePrefix("10.77.0.11/24"), Gateway: netip.MustParseAddr("10.77.0.1"),
			DNS: []netip.Addr{netip.MustParseAddr("10.77.0.2"), netip.MustParseAddr("10.77.0.3")}, Domain: "rack7.example", Interface: &boot.Interface{},
		},
	}
	change(p)
	return p
}

// segment has a route on the machine's subnet, and one on another's.
func segment() boot.Segment {
	return boot.Segment{Routes: []boot.Route{
		{To: netip.MustParsePrefix("10.20.0.0/16"), Via: netip.MustParseAddr("10.77.9.254")},
		{To: netip.MustParsePrefix("10.30.0.0/16"), Via: netip.MustParseAddr("10.78.0.254")},
	}}
}

func bonded(p *boot.Plan) {
	p.MACs = []boot.MAC{mac1, mac2}
	p.Network.Interface.Bond = &boot.Bond{Name: "bond0", Mode: boot.BondLACP}
}

func six(p *boot.Plan) {
	p.Network.Address, p.Network.Gateway = netip.MustParsePrefix("2001:db8:77::11/64"), netip.MustParseAddr("fe80::1")
	p.Network.DNS = []netip.Addr{netip.MustParseAddr("2001:db8:77::2")}
}

func both(p *boot.Plan) {
	p.Network.Six = &boot.Place{
		Address: netip.MustParsePrefix("2001:db8:77::11/64"), Gateway: netip.MustParseAddr("fe80::1"), DNS: []netip.Addr{netip.MustParseAddr("2001:db8:77::2")},
	}
}

// TestGolden: each machine's network, in each language.
func TestGolden(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*boot.Plan)
	}{
		"single": {"one port, which is known by its MAC", func(*boot.Plan) {}},
		"vlan":   {"the address is the VLAN's, and the port has none", func(p *boot.Plan) { p.Network.Interface.VLAN = 77 }},
		"bond-vlan-mtu": {"what carries large packets has the MTU from the port up", func(p *boot.Plan) {
			bonded(p)
			p.Network.Interface.VLAN, p.Network.MTU = 77, 9000
		}},
		"bond-backup": {"one that doesn't spread has no hash, and one port of the machine isn't its", func(p *boot.Plan) {
			bonded(p)
			p.MACs = append(p.MACs, "52:54:00:00:07:04")
			p.Network.Interface.MACs, p.Network.Interface.Bond.Mode = []boot.MAC{mac1, mac2}, boot.BondActiveBackup
		}},
		"routes": {"another way out of its subnet than the gateway", func(p *boot.Plan) {
			p.Network.Address, p.Network.Gateway = netip.MustParsePrefix("10.77.9.11/24"), netip.MustParseAddr("10.77.9.1")
		}},
		"routes-dhcp": {"which DHCP says by itself", func(p *boot.Plan) {
			p.Network.Address, p.Network.Interface.DHCP = netip.MustParsePrefix("10.77.9.11/24"), true
		}},
		"ipv6": {"a gateway of the link", six},
		"both": {"an address of each family, each with its gateway and servers", both},
		"both-dhcp": {"and both are asked for", func(p *boot.Plan) {
			both(p)
			p.Network.Interface.DHCP = true
		}},
		"bond-dhcp": {"ports are joined, and DHCP says the rest", func(p *boot.Plan) { bonded(p); p.Network.Interface.DHCP = true }},
		"vlan-dhcp6": {"of the family that the machine has", func(p *boot.Plan) {
			six(p)
			p.Network.Interface.DHCP, p.Network.Interface.VLAN = true, 4094
		}},
		"little": {"what nobody knows isn't said", func(p *boot.Plan) {
			p.Hostname, p.Network.Gateway, p.Network.DNS, p.Network.Domain = "", netip.Addr{}, nil, ""
		}},
	}
	for name, tc := range cases {
		c, ok := Of(machine(tc.change), segment())
		if !ok {
			t.Fatalf("%s: nothing is said of a machine with an interface", name)
		}
		for language, got := range map[string][]byte{"cloud-init": c.CloudInit(), "nmstate": c.NMState(), "talos": c.Talos()} {
			t.Run(name+"/"+language, func(t *testing.T) {
				path := filepath.Join("testdata", name+"."+language+".yaml")
				if *update {
					if err := os.WriteFile(path, got, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestOddBonds: a name that YAML 1.1 takes for something else is a name.
func TestOddBonds(t *testing.T) {
	for _, name := range []string{"on", "y", "null"} {
		c, _ := Of(machine(func(p *boot.Plan) {
			p.Network.Interface = &boot.Interface{VLAN: 7, Bond: &boot.Bond{Name: name, Mode: boot.BondLACP}}
		}), segment())
		for language, got := range map[string][]byte{"cloud-init": c.CloudInit(), "talos": c.Talos()} {
			if bytes.Contains(got, []byte(" "+name+":")) || !bytes.Contains(got, []byte(strconv.Quote(name))) {
				t.Errorf("%s: a bond that's called %s:\n%s", language, name, got)
			}
		}
	}
}

func TestOf(t *testing.T) {
	if _, ok := Of(machine(func(p *boot.Plan) { p.Network.Interface = nil }), segment()); ok {
		t.Error("of a machine whose entry says no interface nothing is said")
	}
}

// TestTalosNetwork: what's put into a config is one line, in which nothing is a number that is none.
func TestTalosNetwork(t *testing.T) {
	c, _ := Of(machine(func(p *boot.Plan) { p.MACs = []boot.MAC{"52:54:00:00:07:02"}; p.Network.Gateway = netip.Addr{} }), segment())
	const want = `{"hostname": "web-1", "interfaces": [{"deviceSelector": {"permanentAddr": "52:54:00:00:07:02"}, "dhcp": false, "addresses": ["10.77.0.11/24"]}], ` +
		`"nameservers": ["10.77.0.2", "10.77.0.3"], "searchDomains": ["rack7.example"]}`
	if diff := cmp.Diff(want, c.TalosNetwork()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
