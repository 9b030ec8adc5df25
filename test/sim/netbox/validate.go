package netbox

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// set puts one field of the body on a and returns what is wrong with it, or "". Unknown fields are
// ignored (360); custom fields come later.
func (c *exchange) set(a *Address, key string, v any) string {
	s, _ := v.(string)
	switch key {
	case "address":
		return setAddress(a, s)
	case "vrf":
		return c.setVRF(a, v)
	case "tenant":
		return c.setTenant(a, v)
	case "tags":
		return c.setTags(a, v)
	case "status":
		return setChoice(&a.Status, v, "active", "reserved", "deprecated", "dhcp", "slaac")
	case "role":
		if v == nil || s == "" {
			a.Role = ""
			return ""
		}
		return setChoice(&a.Role, v, "loopback", "secondary", "anycast", "vip", "vrrp", "hsrp", "glbp", "carp")
	case "dns_name":
		return setDNSName(a, s)
	case "description":
		return setText(&a.Description, s, 200)
	case "comments":
		return setText(&a.Comments, s, 1<<20)
	}
	return ""
}

func setAddress(a *Address, s string) string {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		addr, aerr := netip.ParseAddr(s)
		if aerr != nil {
			return "Invalid IP address format: " + s
		}
		p = netip.PrefixFrom(addr, addr.BitLen()) // without a mask: one host (508)
	}
	a.Address = p
	return ""
}

func setChoice(to *string, v any, allowed ...string) string {
	s, ok := v.(string)
	if !ok || !slices.Contains(allowed, s) {
		return fmt.Sprint(v) + " is not a valid choice."
	}
	*to = s
	return ""
}

func setText(to *string, s string, limit int) string {
	if len([]rune(s)) > limit {
		return fmt.Sprintf("Ensure this field has no more than %d characters.", limit)
	}
	*to = s
	return ""
}

// setDNSName checks and lowers, as NetBox does.
func setDNSName(a *Address, s string) string {
	if strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_.*") != "" || strings.Contains(s, " ") {
		return "Only alphanumeric characters, asterisks, hyphens, periods, and underscores are allowed in DNS names"
	}
	a.DNSName = strings.ToLower(s)
	return ""
}

func (c *exchange) setVRF(a *Address, v any) string {
	n, ok := v.(float64)
	if v == nil {
		a.VRF = 0
		return ""
	}
	if _, found := c.s.state.vrf(int64(n)); !ok || !found {
		return fmt.Sprintf("Related object not found using the provided numeric ID: %v", v)
	}
	a.VRF = int64(n)
	return ""
}

// find resolves a tenant or tag given by number or by {"slug"} or {"name"} (354 to 359).
func find(all []Named, v any) (id int64, why string) {
	for _, n := range all {
		switch v := v.(type) {
		case float64:
			if n.ID == int64(v) {
				return n.ID, ""
			}
		case map[string]any:
			if (v["slug"] == nil || v["slug"] == n.Slug) && (v["name"] == nil || v["name"] == n.Name) && len(v) > 0 {
				return n.ID, ""
			}
		}
	}
	if m, ok := v.(map[string]any); ok {
		var parts []string
		for k, x := range m {
			parts = append(parts, fmt.Sprintf("'%s': '%v'", k, x))
		}
		slices.Sort(parts)
		return 0, "Related object not found using the provided attributes: {" + strings.Join(parts, ", ") + "}"
	}
	return 0, fmt.Sprintf("Related object not found using the provided numeric ID: %v", v)
}

func (c *exchange) setTenant(a *Address, v any) string {
	if v == nil {
		a.Tenant = 0
		return ""
	}
	id, why := find(c.s.state.tenants, v)
	if why == "" {
		a.Tenant = id
	}
	return why
}

func (c *exchange) setTags(a *Address, v any) string {
	list, _ := v.([]any)
	var ids []int64
	for _, t := range list {
		id, why := find(c.s.state.tags, t)
		if why != "" {
			return why
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	a.Tags = ids
	return ""
}

// setFields merges custom fields by key (550). An unknown one is refused in two ways, or dropped,
// depending on the version (346).
func (c *exchange) setFields(a *Address, v any) *response {
	m, _ := v.(map[string]any)
	if c.fault.Kind == FaultDropFields {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		f, ok := c.s.state.field(name)
		ok = ok && f.forAddresses()
		switch {
		case ok:
			a.CustomFields[name] = m[name]
		case c.s.traits.dropsUnknownFields():
		case c.s.traits.atLeast(4, 4):
			return answer(http.StatusBadRequest, map[string]any{keyCustomFields: map[string]any{
				name: "Custom field '" + name + "' does not exist for this object type.",
			}})
		default:
			return fieldError("__all__", "Unknown field name '"+name+"' in custom field data.")
		}
	}
	return nil
}

// unique holds the rules of the record as a whole: custom fields that are unique (empty and null
// repeat freely), and one record per host and table where the table enforces it.
func (c *exchange) unique(a Address, m map[string]any) *response {
	for _, f := range c.s.state.fields {
		v := a.CustomFields[f.Name]
		if f.forAddresses() && f.Required && (v == nil || v == "") {
			return fieldError("__all__", "Missing required custom field '"+f.Name+"'.")
		}
		if f.forAddresses() && f.Unique && v != nil && v != "" && c.s.state.holder(f.Name, v, a.ID) {
			return notUnique(f.Name)
		}
	}
	_, moved := m["address"]
	_, changed := m["vrf"]
	if !moved && !changed {
		return nil
	}
	where, enforced := "global table", true
	if v, ok := c.s.state.vrf(a.VRF); ok {
		where, enforced = "VRF "+vrfDisplay(v), v.EnforceUnique
	}
	if d, taken := c.s.state.duplicate(a.Address.Addr(), a.VRF, a.ID); taken && enforced {
		return fieldError("address", "Duplicate IP address found in "+where+": "+d.Address.String())
	}
	return nil
}
