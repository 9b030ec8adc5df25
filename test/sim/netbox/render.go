package netbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// Keys of records that stand in several kinds.
const (
	keyCustomFields = "custom_fields"
	keyLastUpdated  = "last_updated"
)

// choice is how NetBox writes a choice: {"value", "label"}; nil for none.
func choice(value, label string) any {
	if value == "" {
		return nil
	}
	return map[string]any{"value": value, "label": label}
}

// title is the label of most choices: "active" → "Active".
func title(value string) string {
	switch value {
	case "":
		return ""
	case "dhcp", "slaac", "vip", "vrrp", "hsrp", "glbp", "carp":
		return strings.ToUpper(value)
	}
	return strings.ToUpper(value[:1]) + value[1:]
}

func family(is4 bool) any {
	if is4 {
		return map[string]any{"value": 4, "label": "IPv4"}
	}
	return map[string]any{"value": 6, "label": "IPv6"}
}

// urls puts id, url and display_url of an object into m, and its owner where the version has one.
func (c *exchange) urls(m map[string]any, path string, id int64) map[string]any {
	c.nested(m, path, id)
	m["display_url"] = fmt.Sprintf("%s/%s/%d/", c.base, path, id)
	if c.s.traits.atLeast(4, 5) {
		m["owner"] = nil
	}
	return m
}

func (c *exchange) nested(m map[string]any, path string, id int64) map[string]any {
	m["id"] = id
	m["url"] = fmt.Sprintf("%s/api/%s/%d/", c.base, path, id)
	return m
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// constant are keys that all records of a kind have alike, as JSON.
func constant(text string) map[string]any {
	m := map[string]any{}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err)
	}
	return m
}

// with adds to m what is in more.
func with(m map[string]any, more ...map[string]any) map[string]any {
	for _, x := range more {
		maps.Copy(m, x)
	}
	return m
}

func vrfDisplay(v VRF) string {
	if v.RD == "" {
		return v.Name
	}
	return v.Name + " (" + v.RD + ")"
}

func (c *exchange) nestedVRF(id int64) any {
	v, ok := c.s.state.vrf(id)
	if !ok {
		return nil
	}
	return c.nested(map[string]any{
		"display": vrfDisplay(v), "name": v.Name, "rd": orNil(v.RD), "description": "",
	}, "ipam/vrfs", id)
}

// paths of the kinds of named things.
func paths() map[string]string {
	return map[string]string{
		"tenant": "tenancy/tenants", "tag": "extras/tags", "site": "dcim/sites", "role": "ipam/roles",
		"devicetype": "dcim/device-types", "manufacturer": "dcim/manufacturers", "devicerole": "dcim/device-roles", "rack": "dcim/racks",
		"cluster": "virtualization/clusters",
	}
}

// nestedThing is a tenant, site or role within another record; nil for none.
func (c *exchange) nestedThing(kind string, id int64) any {
	n, ok := c.s.state.thing(kind, id)
	if !ok {
		return nil
	}
	return c.nestedNamed(kind, n)
}

func (c *exchange) nestedNamed(kind string, n Named) map[string]any {
	m := c.nested(map[string]any{"display": n.Name, "name": n.Name, "description": ""}, paths()[kind], n.ID)
	if n.Slug != "" {
		m["slug"] = n.Slug
	}
	return m
}

func (n Named) color() string {
	if n.Color == "" {
		return "9e9e9e"
	}
	return n.Color
}

func (c *exchange) nestedTags(ids []int64) []any {
	out := []any{}
	for _, id := range c.tagOrder(ids) {
		t, _ := c.s.state.thing("tag", id)
		m := c.nested(map[string]any{"display": t.Name, "name": t.Name, "slug": t.Slug, "color": t.color()}, paths()["tag"], id)
		m["display_url"] = fmt.Sprintf("%s/extras/tags/%d/", c.base, id)
		out = append(out, m)
	}
	return out
}

func (c *exchange) renderAddress(a Address) map[string]any {
	m := c.urls(map[string]any{
		"display": a.Address.String(), "family": family(a.Address.Addr().Is4()), "address": a.Address.String(),
		"vrf": c.nestedVRF(a.VRF), "tenant": c.nestedThing("tenant", a.Tenant),
		"status": choice(a.Status, title(a.Status)), "role": choice(a.Role, title(a.Role)),
		"assigned_object_type": nil, "assigned_object_id": nil, "assigned_object": nil,
		"nat_inside": nil, "nat_outside": []any{}, "dns_name": a.DNSName, "description": a.Description,
		"comments": a.Comments, "tags": c.nestedTags(a.Tags), keyCustomFields: c.renderFields(typeAddress, a.CustomFields),
		"created": stamp(a.Created), keyLastUpdated: stamp(a.LastUpdated),
	}, "ipam/ip-addresses", a.ID)
	c.renderAssigned(m, a.Assigned)
	return m
}

// renderAssigned shows what an address or MAC address is on.
func (c *exchange) renderAssigned(m map[string]any, o Object) {
	m["assigned_object_type"], m["assigned_object_id"], m["assigned_object"] = nil, nil, nil
	if i, ok := c.s.state.iface(o); ok {
		m["assigned_object_type"], m["assigned_object_id"], m["assigned_object"] = o.Type, o.ID, c.nestedInterface(i)
	}
	if o.Type == typeFHRPGroup { // People put gateways there. The group itself is as NetBox's code has it: none was recorded.
		m["assigned_object_type"], m["assigned_object_id"] = o.Type, o.ID
		m["assigned_object"] = c.nested(map[string]any{"display": fmt.Sprintf("VRRPv2: %d", o.ID), "protocol": "vrrp2", "group_id": o.ID, "description": ""}, "ipam/fhrp-groups", o.ID)
	}
}

// nestedAddress is a primary address within its machine.
func (c *exchange) nestedAddress(id int64) any {
	a, ok := c.s.state.addresses[id]
	if !ok {
		return nil
	}
	m := c.nested(map[string]any{
		"display": a.Address.String(), "family": family(a.Address.Addr().Is4()), "address": a.Address.String(), "description": a.Description,
	}, "ipam/ip-addresses", id)
	if c.s.traits.atLeast(4, 5) {
		m["nat_inside"], m["nat_outside"], m["dns_name"] = nil, []any{}, a.DNSName
	}
	return m
}

func (c *exchange) renderPrefix(p Prefix) map[string]any {
	m := c.urls(map[string]any{
		"display": p.Prefix.String(), "family": family(p.Prefix.Addr().Is4()), "prefix": p.Prefix.String(),
		"vrf": c.nestedVRF(p.VRF), "scope_type": nil, "scope_id": nil, "scope": c.nestedThing("site", p.Site),
		"tenant": c.nestedThing("tenant", p.Tenant), "vlan": c.nestedVLAN(p.VLAN),
		"status": choice(p.Status, title(p.Status)), "role": c.nestedThing("role", p.Role), "is_pool": p.IsPool, "mark_utilized": p.MarkUtilized,
		"description": p.Description, "comments": "", "tags": c.nestedTags(p.Tags), keyCustomFields: c.renderFields(typePrefix, p.CustomFields),
		"created": stamp(p.created), keyLastUpdated: stamp(p.updated), "children": c.children(p), "_depth": c.depth(p),
	}, "ipam/prefixes", p.ID)
	if p.Site != 0 {
		m["scope_type"], m["scope_id"] = "dcim.site", p.Site
	}
	return m
}

// rangeDisplay is 10.70.0.10-13/24: of the end only what differs.
func rangeDisplay(r Range) string {
	sep := "."
	if r.Start.Addr().Is6() {
		sep = ":"
	}
	start, end := strings.Split(r.Start.Addr().String(), sep), strings.Split(r.End.Addr().String(), sep)
	i := 0
	for i < min(len(start), len(end))-1 && start[i] == end[i] {
		i++
	}
	return fmt.Sprintf("%s-%s/%d", r.Start.Addr(), strings.Join(end[i:], sep), r.Start.Bits())
}

func (c *exchange) renderRange(r Range) map[string]any {
	size := int64(0)
	for a := r.Start.Addr(); r.holds(a) && size < 1<<16; a = a.Next() {
		size++
	}
	m := c.urls(map[string]any{
		"display": rangeDisplay(r), "family": family(r.Start.Addr().Is4()), "start_address": r.Start.String(), "end_address": r.End.String(),
		"size": size, "vrf": c.nestedVRF(r.VRF), "tenant": c.nestedThing("tenant", r.Tenant), "status": choice(r.Status, title(r.Status)),
		"role": c.nestedThing("role", r.Role), "description": r.Description, "comments": "", "tags": c.nestedTags(r.Tags),
		keyCustomFields: c.renderFields(typeRange, r.CustomFields), "created": stamp(r.created), keyLastUpdated: stamp(r.updated),
		"mark_utilized": r.MarkUtilized,
	}, "ipam/ip-ranges", r.ID)
	if c.s.traits.populated() {
		m["mark_populated"] = r.MarkPopulated
	}
	return m
}

func (c *exchange) renderVRF(v VRF) map[string]any {
	prefixes, addresses := 0, 0
	for _, p := range c.s.state.prefixes {
		if p.VRF == v.ID {
			prefixes++
		}
	}
	for _, a := range c.s.state.addresses {
		if a.VRF == v.ID {
			addresses++
		}
	}
	return c.urls(map[string]any{
		"display": vrfDisplay(v), "name": v.Name, "rd": orNil(v.RD), "tenant": nil, "enforce_unique": v.EnforceUnique,
		"description": "", "comments": "", "import_targets": []any{}, "export_targets": []any{}, "tags": []any{},
		keyCustomFields: c.renderFields("ipam.vrf", nil), "created": stamp(v.created), keyLastUpdated: stamp(v.created),
		"ipaddress_count": addresses, "prefix_count": prefixes,
	}, "ipam/vrfs", v.ID)
}
