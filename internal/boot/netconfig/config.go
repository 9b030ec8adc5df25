package netconfig

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// An Address of a machine with its mask, and the way out of its subnet, which may be unknown.
type Address struct {
	netip.Prefix

	Gateway netip.Addr
	// Routes are other ways out.
	Routes []boot.Route
}

// A Config is what is said in each language. Of its lists an empty one says nothing.
type Config struct {
	Hostname string
	// Ports are the MACs of one port, or of those of Bond.
	Ports []boot.MAC
	Bond  *boot.Bond
	// VLAN that tags the network; 0: none.
	VLAN int
	// MTU of the network in bytes; 0: nobody says it.
	MTU int
	// DHCP says that the system asks for Addresses, which are said for their families alone then.
	DHCP      bool
	Addresses []Address
	DNS       []netip.Addr
	Search    []string
}

// Of gives what a plan says, and the routes of its segment; false: it says nothing of what its machine's system has the network on.
func Of(p *boot.Plan, g boot.Segment) (Config, bool) {
	n := p.Network
	if n.Interface == nil {
		return Config{}, false
	}
	c := Config{
		Hostname: p.Hostname, Ports: p.Ports(), Bond: n.Interface.Bond, VLAN: n.Interface.VLAN, MTU: n.MTU, DHCP: n.Interface.DHCP,
		Addresses: []Address{{n.Address, n.Gateway, g.RoutesOn(n.Address.Masked())}},
	}
	if n.Interface.MTU != 0 {
		c.MTU = n.Interface.MTU
	}
	if n.Six != nil {
		c.Addresses = append(c.Addresses, Address{Prefix: n.Six.Address, Gateway: n.Six.Gateway})
	}
	if c.DHCP {
		return c, true
	}
	c.DNS = n.DNS
	if n.Six != nil {
		c.DNS = slices.Concat(n.DNS, n.Six.DNS)
	}
	if n.Domain != "" {
		c.Search = []string{n.Domain}
	}
	return c, true
}

// port is the name of the n-th port where one has to be made up: systems name ports by themselves, and each in its own way.
func port(n int) string { return fmt.Sprintf("port%d", n) }

// ports are the names of all.
func (c Config) ports() []string {
	var out []string
	for n := range c.Ports {
		out = append(out, port(n))
	}
	return out
}

// below is the name of what the VLAN is on, or, without one, of what has the addresses.
func (c Config) below() string {
	if c.Bond != nil {
		return c.Bond.Name
	}
	return port(0)
}

// top is the name of what has the addresses.
func (c Config) top() string {
	if c.VLAN != 0 {
		return fmt.Sprintf("%s.%d", c.below(), c.VLAN)
	}
	return c.below()
}

// family says whether a machine has an address of IPv4, or of IPv6.
func (c Config) family(four bool) bool {
	for _, a := range c.Addresses {
		if a.Addr().Is4() == four {
			return true
		}
	}
	return false
}

// kernelMode is what Linux calls a bond's mode, and all that write to it.
func kernelMode(m boot.BondMode) string {
	switch m {
	case boot.BondLACP:
		return "802.3ad"
	case boot.BondBalanceXOR:
		return "balance-xor"
	case boot.BondActiveBackup:
	}
	return "active-backup"
}

const (
	// monitor is how often a bond looks at its links, in milliseconds; Linux's own 0 would never see a cable that was pulled.
	monitor = 100
	// hash spreads by addresses and ports (Linux, bonding.rst, xmit_hash_policy).
	hash = "layer3+4"
)

// spreads says whether a bond has a hash by which it spreads what it sends.
func spreads(m boot.BondMode) bool { return m == boot.BondLACP || m == boot.BondBalanceXOR }

const everywhereSix = "::/0"

// everywhere is the destination of a default route.
func everywhere(gateway netip.Addr) string {
	if gateway.Is4() {
		return "0.0.0.0/0"
	}
	return everywhereSix
}

func texts(as []netip.Addr) []string {
	var out []string
	for _, a := range as {
		out = append(out, a.String())
	}
	return out
}
