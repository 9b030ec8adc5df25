package netbox

// nestedMachine is a device or virtual machine within another record.
func (c *exchange) nestedMachine(m Machine) map[string]any {
	return c.nested(map[string]any{"display": m.display(), "name": m.Name, "description": ""}, machinePath(m.Virtual), m.ID)
}

func machinePath(virtual bool) string {
	if virtual {
		return "virtualization/virtual-machines"
	}
	return "dcim/devices"
}

func interfacePath(virtual bool) string {
	if virtual {
		return "virtualization/interfaces"
	}
	return "dcim/interfaces"
}

// nestedInterface is what an address is on.
func (c *exchange) nestedInterface(i Interface) map[string]any {
	owner, _ := c.s.state.machine(i.Virtual, i.Machine)
	m := c.nested(map[string]any{"display": i.Name, "name": i.Name, "description": ""}, interfacePath(i.Virtual), i.ID)
	if i.Virtual {
		m["virtual_machine"] = c.nestedMachine(owner)
		return m
	}
	m["device"], m["cable"], m["_occupied"] = c.nestedMachine(owner), nil, false
	return m
}

func (c *exchange) nestedMAC(m MAC) map[string]any {
	return c.nested(map[string]any{"display": m.Address, "mac_address": m.Address, "description": ""}, "dcim/mac-addresses", m.ID)
}

func (c *exchange) renderMAC(m MAC) map[string]any {
	out := c.urls(map[string]any{
		"display": m.Address, "mac_address": m.Address, "description": "", "comments": "", "tags": []any{}, keyCustomFields: map[string]any{},
		"created": stamp(m.created), keyLastUpdated: stamp(m.created),
	}, "dcim/mac-addresses", m.ID)
	c.renderAssigned(out, m.Assigned)
	if c.s.traits.atLeast(4, 7) {
		i, _ := c.s.state.iface(m.Assigned)
		out["is_primary"] = i.PrimaryMAC == m.ID
	}
	return out
}

func (c *exchange) renderMachine(m Machine) map[string]any {
	primary := c.nestedAddress(m.Primary4)
	if primary == nil {
		primary = c.nestedAddress(m.Primary6)
	}
	out := c.urls(map[string]any{
		"display": m.display(), "name": m.Name, "tenant": c.nestedThing("tenant", m.Tenant), "site": c.nestedThing("site", m.Site),
		"status": choice(m.Status, title(m.Status)), "primary_ip": primary, "primary_ip4": c.nestedAddress(m.Primary4),
		"primary_ip6": c.nestedAddress(m.Primary6), "serial": m.Serial, "tags": c.nestedTags(m.Tags), keyCustomFields: c.renderFields(typeDevice, nil),
		"created": stamp(m.created), keyLastUpdated: stamp(m.updated), "interface_count": c.countInterfaces(m),
		"local_context_data": nil, "platform": nil, "description": "", "comments": "", "config_template": nil, "cluster": nil,
	}, machinePath(m.Virtual), m.ID)
	if m.LocalContext != nil {
		out["local_context_data"] = m.LocalContext
	}
	if c.r == nil || c.r.URL.Query().Get("exclude") != "config_context" || c.s.traits.atLeast(4, 7) {
		out["config_context"] = with(map[string]any{}, m.LocalContext)
	}
	if m.Virtual {
		return c.virtual(out, m)
	}
	return c.physical(out, m)
}

func (c *exchange) countInterfaces(m Machine) int {
	n := 0
	for _, i := range c.s.state.interfaces {
		if i.Virtual == m.Virtual && i.Machine == m.ID {
			n++
		}
	}
	return n
}

// virtual adds what only a virtual machine has. There are no recordings of them: only what the provider reads is sure.
func (c *exchange) virtual(out map[string]any, m Machine) map[string]any {
	if m.Cluster.Name != "" {
		out["cluster"] = c.nestedNamed("cluster", m.Cluster)
	}
	return with(out, constant(`{"device": null, "role": null, "vcpus": null, "memory": null, "disk": null, "virtual_disk_count": 0}`))
}

// physical adds what only a device has.
func (c *exchange) physical(out map[string]any, m Machine) map[string]any {
	kind := c.nested(map[string]any{
		"display": m.Type.Name, "manufacturer": c.nestedNamed("manufacturer", m.Maker), "model": m.Type.Name, "slug": m.Type.Slug, "description": "",
	}, paths()["devicetype"], m.Type.ID)
	role := c.nestedNamed("devicerole", m.Role)
	if c.s.traits.atLeast(4, 3) {
		role["_depth"] = 0
	}
	if c.s.traits.atLeast(4, 5) || c.s.traits.atLeast(4, 3) && c.reads() {
		role["device_count"], role["virtualmachine_count"] = 0, 0 // which they stay in NetBox, too (146)
	}
	if c.s.traits.atLeast(4, 5) {
		n := 0
		for _, o := range c.s.state.machines {
			if !o.Virtual && o.Type.ID == m.Type.ID {
				n++
			}
		}
		kind["device_count"] = n
	}
	with(out, map[string]any{
		"device_type": kind, "role": role, "asset_tag": orNil(m.AssetTag), "oob_ip": c.nestedAddress(m.OutOfBand), "rack": nil, "position": nil, "face": nil,
	}, constant(`{"location": null, "latitude": null, "longitude": null, "parent_device": null, "airflow": null,
		"virtual_chassis": null, "vc_position": null, "vc_priority": null, "console_port_count": 0, "console_server_port_count": 0,
		"power_port_count": 0, "power_outlet_count": 0, "front_port_count": 0, "rear_port_count": 0, "device_bay_count": 0,
		"module_bay_count": 0, "inventory_item_count": 0}`))
	if m.Rack.Name != "" {
		out["rack"] = c.nestedNamed("rack", m.Rack)
	}
	if m.Position != 0 {
		out["position"], out["face"] = m.Position, choice("front", "Front")
	}
	if c.s.traits.atLeast(4, 7) {
		with(out, constant(`{"cooling_method": null, "cooling_intake_count": 0, "cooling_outflow_count": 0}`))
	}
	return out
}

func (c *exchange) renderInterface(i Interface) map[string]any {
	owner, _ := c.s.state.machine(i.Virtual, i.Machine)
	addresses := 0
	for _, a := range c.s.state.addresses {
		if a.Assigned == i.object() {
			addresses++
		}
	}
	macs := []any{}
	for _, m := range c.s.state.macsOf(i.object()) {
		macs = append(macs, c.nestedMAC(m))
	}
	out := c.urls(map[string]any{
		"display": i.Name, "name": i.Name, "mac_address": nil, "primary_mac_address": nil, "mac_addresses": macs,
		"created": stamp(i.created), keyLastUpdated: stamp(i.updated), "count_ipaddresses": addresses,
	}, interfacePath(i.Virtual), i.ID)
	with(out, constant(`{"enabled": true, "parent": null, "bridge": null, "mtu": null, "description": "", "mode": null, "untagged_vlan": null,
		"tagged_vlans": [], "qinq_svlan": null, "vlan_translation_policy": null, "vrf": null, "l2vpn_termination": null, "tags": [],
		"custom_fields": {}, "count_fhrp_groups": 0}`))
	if m, ok := c.s.state.mac(i.PrimaryMAC); ok {
		out["mac_address"], out["primary_mac_address"] = m.Address, c.nestedMAC(m)
	}
	c.wired(out, i)
	if i.Virtual {
		out["virtual_machine"] = c.nestedMachine(owner)
		return out
	}
	return c.physicalInterface(out, i, owner)
}

func (c *exchange) physicalInterface(out map[string]any, i Interface, owner Machine) map[string]any {
	label := map[string]string{"1000base-t": "1000BASE-T (1GE)", "lag": "Link Aggregation Group (LAG)", "virtual": "Virtual", "bridge": "Bridge"}[i.Type]
	if label == "" {
		label = i.Type
	}
	out["device"], out["type"], out["mgmt_only"], out["connected_endpoints_reachable"] = c.nestedMachine(owner), choice(i.Type, label), i.Management, nil
	with(out, constant(`{"vdcs": [], "module": null, "label": "", "speed": null, "duplex": null, "wwn": null, "rf_role": null,
		"rf_channel": null, "poe_mode": null, "poe_type": null, "rf_channel_frequency": null, "rf_channel_width": null, "tx_power": null,
		"mark_connected": false, "cable": null, "cable_end": null, "wireless_link": null, "link_peers": [], "link_peers_type": null,
		"wireless_lans": [], "connected_endpoints": null, "connected_endpoints_type": null, "_occupied": false}`))
	if c.s.traits.atLeast(4, 3) {
		out["bridge_interfaces"] = []any{}
	}
	if c.s.traits.atLeast(4, 5) {
		out["connected_endpoints_reachable"] = false
	}
	if c.s.traits.atLeast(4, 7) {
		out["channels"], out["channel_id"] = nil, nil
	}
	return out
}
