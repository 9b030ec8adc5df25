package netconfig

import "slices"

// CloudInit is the network config of cloud-init, version 2, which is netplan's
// (https://cloudinit.readthedocs.io/en/latest/reference/network-config-format-v2.html). Ports get names of their own, since not all that
// cloud-init writes for knows a port by its MAC.
func (c Config) CloudInit() []byte {
	doc := pairs{{"version", 2}}
	var ports pairs
	for n, mac := range c.Ports {
		p := pairs{{"match", pairs{{"macaddress", string(mac)}}}, {"set-name", port(n)}, {"mtu", c.MTU}}
		if c.Bond == nil && c.VLAN == 0 {
			p = p.with(c.netplan()...)
		}
		ports = ports.with(pair{port(n), p})
	}
	doc = doc.with(pair{"ethernets", ports})
	if c.Bond != nil {
		parameters := pairs{{"mode", kernelMode(c.Bond.Mode)}, {"mii-monitor-interval", monitor}}
		if spreads(c.Bond.Mode) {
			parameters = parameters.with(pair{"transmit-hash-policy", hash})
		}
		b := pairs{{"interfaces", c.ports()}, {"macaddress", c.bondMAC()}, {"parameters", parameters}, {"mtu", c.MTU}}
		if c.VLAN == 0 {
			b = b.with(c.netplan()...)
		}
		doc = doc.with(pair{"bonds", pairs{{c.Bond.Name, b}}})
	}
	if c.VLAN != 0 {
		v := pairs{{"id", c.VLAN}, {"link", c.below()}, {"mtu", c.MTU}}.with(c.netplan()...)
		doc = doc.with(pair{"vlans", pairs{{c.top(), v}}})
	}
	return document(doc)
}

// netplan is what has the addresses.
func (c Config) netplan() pairs {
	if c.DHCP {
		var out pairs
		if c.family(true) {
			out = out.with(pair{"dhcp4", true})
		}
		if c.family(false) {
			out = out.with(pair{"dhcp6", true})
		}
		return out
	}
	addresses, routes := c.routed("to", "via") // Not to "default": version 2 as cloud-init itself renders it takes a network here.
	gateway := ""                              // By its own name: of a route to ::/0 cloud-init 22.4, Debian 12's, makes one to ::/64, but for netplan.
	routes = slices.DeleteFunc(routes, func(r pairs) bool {
		if r[0].value != everywhereSix {
			return false
		}
		gateway, _ = r[1].value.(string)
		return true
	})
	return pairs{{"addresses", addresses}, {"gateway6", gateway}, {"routes", routes}, {"nameservers", pairs{{"addresses", texts(c.DNS)}, {"search", c.Search}}}}
}

// bondMAC is that of the first port, as the kernel gives it. systemd-networkd makes one of its own otherwise, by which nobody knows the machine when it asks DHCP.
func (c Config) bondMAC() string {
	if len(c.Ports) == 0 {
		return ""
	}
	return string(c.Ports[0])
}
