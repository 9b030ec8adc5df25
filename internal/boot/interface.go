package boot

import (
	"fmt"
	"slices"
	"strings"
)

// BondMode says how the ports of a bond share the work.
type BondMode string

// Values of BondMode.
const (
	BondLACP         BondMode = "LACP"
	BondActiveBackup BondMode = "ActiveBackup"
	BondBalanceXOR   BondMode = "BalanceXOR"
)

// A Bond joins several ports to one.
type Bond struct {
	Name string
	Mode BondMode
}

// An Interface is what a machine's system has its network on.
type Interface struct {
	// DHCP leaves addresses, routes and DNS servers to the system's DHCP client.
	DHCP bool
	// MACs of the ports; none: those of the plan.
	MACs []MAC
	// VLAN that tags the network, from 1 to 4094; 0: none.
	VLAN int
	// Bond of the ports; nil: there's one port.
	Bond *Bond
	// MTU in bytes; 0: that of the network.
	MTU int `json:",omitempty"` //nolint:tagliatelle // Digests know fields by these names, and one that's absent isn't in them.
}

// Ports are the MACs of what a machine's system has its network on.
func (p *Plan) Ports() []MAC {
	if p.Network.Interface != nil && len(p.Network.Interface.MACs) > 0 {
		return p.Network.Interface.MACs
	}
	return p.MACs
}

// leastMTUSix is what a link with IPv6 carries (RFC 8200 §5): Linux has none on what carries less.
const leastMTUSix = 1280

// checkInterface says what is wrong with a plan's interface, or that nothing would be seen of the system by it; nil: nothing.
func checkInterface(p *Plan) *Problem {
	if p.SilentInstaller && p.Network.Address.Addr().Is6() {
		return &Problem{ProblemInvalid, "the profile has installer.report: None, by which a machine counts as installed once its system has asked for an address by DHCP, " +
			"and by DHCPv6 a system can't be told from firmware; give the machine an address of IPv4 as well"}
	}
	i := p.Network.Interface
	if i == nil {
		return nil
	}
	for _, m := range i.MACs {
		if !slices.Contains(p.MACs, m) {
			return &Problem{ProblemInvalid, fmt.Sprintf("interface.macs names %s, and the machine has %s: a port that it doesn't have gets no address; name those that it has", m, macs(p.MACs))}
		}
	}
	_, six := p.Network.InSix()
	switch {
	case six && i.MTU != 0 && i.MTU < leastMTUSix:
		return &Problem{ProblemInvalid, fmt.Sprintf("interface.mtu is %d, and the machine has an address of IPv6, which takes %d at least; raise it, or remove it", i.MTU, leastMTUSix)}
	case i.Bond == nil && len(p.Ports()) > 1:
		return &Problem{ProblemInvalid, fmt.Sprintf("the machine has %s, and without a bond its network is on one port; name that in interface.macs, or give interface.bond", macs(p.MACs))}
	case !i.DHCP && p.SilentInstaller:
		return &Problem{ProblemInvalid, "the profile has installer.report: None, by which a machine counts as installed once its system has asked for an address by DHCP, " +
			"and interface.addressing: Static keeps it from asking; use addressing: DHCP"}
	}
	return nil
}

func macs(ms []MAC) string {
	texts := make([]string, 0, len(ms))
	for _, m := range ms {
		texts = append(texts, string(m))
	}
	return strings.Join(texts, ", ")
}
