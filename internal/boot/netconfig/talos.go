package netconfig

// Talos is a patch of a Talos machine config: its machine.network
// (https://docs.siderolabs.com/talos/v1.10/reference/configuration/v1alpha1/config#machine.network). A port is known by the MAC that it was made
// with, which takes Talos 1.10: as part of a bond it has the bond's, and a VLAN has that of its port.
func (c Config) Talos() []byte {
	return document(pairs{{"machine", pairs{{"network", c.talos()}}}})
}

// TalosNetwork is machine.network in one line, to be put into a machine config.
func (c Config) TalosNetwork() string { return written(c.talos()) }

func (c Config) talos() pairs {
	var i pairs
	if c.Bond == nil {
		i = pairs{{"deviceSelector", selector(string(c.Ports[0]))}}
	} else {
		var selectors []pairs
		for _, mac := range c.Ports {
			selectors = append(selectors, selector(string(mac)))
		}
		b := pairs{{"mode", kernelMode(c.Bond.Mode)}, {"miimon", monitor}}
		if spreads(c.Bond.Mode) {
			b = b.with(pair{"xmitHashPolicy", hash})
		}
		i = pairs{{"interface", c.Bond.Name}, {"bond", b.with(pair{"deviceSelectors", selectors})}}
	}
	i = i.with(pair{"mtu", c.MTU})
	if c.VLAN == 0 {
		i = i.with(c.place()...)
	} else {
		i = i.with(pair{"dhcp", false}, pair{"vlans", []pairs{pairs{{"vlanId", c.VLAN}, {"mtu", c.MTU}}.with(c.place()...)}})
	}
	return pairs{{"hostname", c.Hostname}, {"interfaces", []pairs{i}}, {"nameservers", texts(c.DNS)}, {"searchDomains", c.Search}}
}

func selector(mac string) pairs { return pairs{{"permanentAddr", mac}} }

// place is what has the addresses.
func (c Config) place() pairs {
	if c.DHCP {
		out := pairs{{"dhcp", true}}
		if c.family(false) { // DHCPv4 alone is what it does by itself.
			out = out.with(pair{"dhcpOptions", pairs{{"ipv4", c.family(true)}, {"ipv6", c.family(false)}}})
		}
		return out
	}
	addresses, routes := c.routed("network", "gateway")
	return pairs{{"dhcp", false}, {"addresses", addresses}, {"routes", routes}}
}
