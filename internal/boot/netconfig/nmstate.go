package netconfig

import "strconv"

// NMState is the desired state of nmstate (https://nmstate.io/devel/yaml_api.html). Ports are known by their MACs, and named by profiles: a
// bond and a VLAN name those, which takes nmstate 2.2.41.
func (c Config) NMState() []byte {
	var interfaces []pairs
	for n, mac := range c.Ports {
		i := pairs{{"name", port(n)}, {"type", "ethernet"}, {"state", "up"}, {"identifier", "mac-address"}, {"mac-address", string(mac)}, {"mtu", c.MTU}}
		interfaces = append(interfaces, i.with(c.stack(c.Bond == nil && c.VLAN == 0)...))
	}
	if c.Bond != nil {
		options := pairs{{"miimon", strconv.Itoa(monitor)}}
		if spreads(c.Bond.Mode) {
			options = options.with(pair{"xmit_hash_policy", hash})
		}
		i := pairs{
			{"name", c.Bond.Name}, {"type", "bond"}, {"state", "up"}, {"mtu", c.MTU},
			{"link-aggregation", pairs{{"mode", kernelMode(c.Bond.Mode)}, {"options", options}, {"port", c.ports()}}},
		}
		interfaces = append(interfaces, i.with(c.stack(c.VLAN == 0)...))
	}
	if c.VLAN != 0 {
		i := pairs{{"name", c.top()}, {"type", "vlan"}, {"state", "up"}, {"mtu", c.MTU}, {"vlan", pairs{{"base-iface", c.below()}, {"id", c.VLAN}}}}
		interfaces = append(interfaces, i.with(c.stack(true)...))
	}
	return document(pairs{
		{"hostname", c.hostname()}, {"interfaces", interfaces},
		{"routes", pairs{{"config", c.routes()}}},
		{"dns-resolver", pairs{{"config", pairs{{"server", texts(c.DNS)}, {"search", c.Search}}}}},
	})
}

// hostname as nmstate writes it to /etc/hostname.
func (c Config) hostname() pairs {
	if c.Hostname == "" {
		return nil
	}
	return pairs{{"config", c.Hostname}}
}

// stack is each family of an interface. What has no address has none by itself either: NetworkManager asks DHCP otherwise.
func (c Config) stack(top bool) pairs {
	var out pairs
	for _, f := range []struct {
		name string
		four bool
	}{{"ipv4", true}, {"ipv6", false}} {
		s := pairs{{"enabled", top && c.family(f.four)}}
		if top && c.family(f.four) {
			s = s.with(pair{"dhcp", c.DHCP})
			if !f.four {
				s = s.with(pair{"autoconf", c.DHCP}) // Flags and router come by advertisements.
			}
			s = s.with(pair{"address", c.addresses(f.four)})
		}
		out = out.with(pair{f.name, s})
	}
	return out
}

func (c Config) addresses(four bool) []pairs {
	var out []pairs
	for _, a := range c.Addresses {
		if a.Addr().Is4() == four && !c.DHCP {
			out = append(out, pairs{{"ip", a.Addr().String()}, {"prefix-length", a.Bits()}})
		}
	}
	return out
}

func (c Config) routes() []pairs {
	var out []pairs
	for _, a := range c.Addresses {
		if c.DHCP {
			continue
		}
		if a.Gateway.IsValid() {
			out = append(out, pairs{{"destination", everywhere(a.Gateway)}, {"next-hop-address", a.Gateway.String()}, {"next-hop-interface", c.top()}})
		}
		for _, r := range a.Routes {
			out = append(out, pairs{{"destination", r.To.String()}, {"next-hop-address", r.Via.String()}, {"next-hop-interface", c.top()}})
		}
	}
	return out
}
