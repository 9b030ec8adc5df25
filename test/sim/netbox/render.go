package netbox

import (
	"fmt"
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

// urls puts id, url and display_url of an object into m.
func (c *exchange) urls(m map[string]any, path string, id int64) map[string]any {
	m["id"] = id
	m["url"] = fmt.Sprintf("%s/api/%s/%d/", c.base, path, id)
	m["display_url"] = fmt.Sprintf("%s/%s/%d/", c.base, path, id)
	if c.s.traits.atLeast(4, 6) {
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

func (c *exchange) nestedTenant(id int64) any {
	t, ok := byID(c.s.state.tenants, id, func(n Named) int64 { return n.ID })
	if !ok {
		return nil
	}
	return c.nested(map[string]any{"display": t.Name, "name": t.Name, "slug": t.Slug, "description": ""}, "tenancy/tenants", id)
}

func (c *exchange) nestedTags(ids []int64) []any {
	out := []any{}
	for _, id := range ids {
		t, _ := byID(c.s.state.tags, id, func(n Named) int64 { return n.ID })
		m := c.nested(map[string]any{"display": t.Name, "name": t.Name, "slug": t.Slug, "color": "9e9e9e"}, "extras/tags", id)
		m["display_url"] = fmt.Sprintf("%s/extras/tags/%d/", c.base, id)
		out = append(out, m)
	}
	return out
}

// renderFields has a key for each custom field of addresses, null where unset.
func (c *exchange) renderFields(a Address) map[string]any {
	out := map[string]any{}
	for _, f := range c.s.state.fields {
		if f.forAddresses() {
			out[f.Name] = a.CustomFields[f.Name]
		}
	}
	return out
}

func (c *exchange) renderAddress(a Address) map[string]any {
	return c.urls(map[string]any{
		"display": a.Address.String(), "family": family(a.Address.Addr().Is4()), "address": a.Address.String(),
		"vrf": c.nestedVRF(a.VRF), "tenant": c.nestedTenant(a.Tenant),
		"status": choice(a.Status, title(a.Status)), "role": choice(a.Role, title(a.Role)),
		"assigned_object_type": nil, "assigned_object_id": nil, "assigned_object": nil,
		"nat_inside": nil, "nat_outside": []any{}, "dns_name": a.DNSName, "description": a.Description,
		"comments": a.Comments, "tags": c.nestedTags(a.Tags), keyCustomFields: c.renderFields(a),
		"created": stamp(a.Created), keyLastUpdated: stamp(a.LastUpdated),
	}, "ipam/ip-addresses", a.ID)
}

func (c *exchange) renderPrefix(p Prefix) map[string]any {
	return c.urls(map[string]any{
		"display": p.Prefix.String(), "family": family(p.Prefix.Addr().Is4()), "prefix": p.Prefix.String(),
		"vrf": c.nestedVRF(p.VRF), "scope_type": nil, "scope_id": nil, "scope": nil, "tenant": nil, "vlan": nil,
		"status": choice(p.Status, title(p.Status)), "role": nil, "is_pool": p.IsPool, "mark_utilized": p.MarkUtilized,
		"description": p.Description, "comments": "", "tags": []any{}, keyCustomFields: map[string]any{},
		"created": stamp(p.created), keyLastUpdated: stamp(p.created), "children": 0, "_depth": 0,
	}, "ipam/prefixes", p.ID)
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
		keyCustomFields: map[string]any{}, "created": stamp(v.created), keyLastUpdated: stamp(v.created),
		"ipaddress_count": addresses, "prefix_count": prefixes,
	}, "ipam/vrfs", v.ID)
}

func (c *exchange) renderField(f CustomField) map[string]any {
	display := f.Label
	if display == "" {
		display = title(strings.ReplaceAll(f.Name, "_", " "))
	}
	m := map[string]any{
		"display": display, "object_types": f.ObjectTypes, "type": choice(f.Type, title(f.Type)),
		"related_object_type": nil, "data_type": "string", "name": f.Name, "label": f.Label, "group_name": "",
		"description": f.Description, "required": f.Required, "unique": f.Unique, "search_weight": 1000,
		"filter_logic": choice(f.FilterLogic, title(f.FilterLogic)), "ui_visible": choice("always", "Always"),
		"ui_editable": choice(f.UIEditable, title(f.UIEditable)), "is_cloneable": false, "default": nil,
		"related_object_filter": nil, "weight": 100, "validation_minimum": nil, "validation_maximum": nil,
		"validation_regex": "", "choice_set": nil, "comments": "", "created": stamp(f.created), keyLastUpdated: stamp(f.created),
	}
	if c.s.traits.atLeast(4, 6) {
		m["validation_schema"] = nil
	}
	if c.s.traits.atLeast(4, 7) {
		m["nulls_first"] = false
	}
	return c.urls(m, "extras/custom-fields", f.ID)
}
