package netbox

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// mayNotBeNull is said of most fields.
const mayNotBeNull = "This field may not be null."

func statuses() []string { return []string{"active", "reserved", "deprecated", "dhcp", "slaac"} }

func roles() []string {
	return []string{"loopback", "secondary", "anycast", "vip", "vrrp", "hsrp", "glbp", "carp"}
}

// apply puts the body's fields on a, or says what is wrong with them, all at once per stage: fields,
// then the record as a whole.
func (c *exchange) apply(a Address, m map[string]any) (Address, *response) {
	before := a
	a.CustomFields = maps.Clone(a.CustomFields)
	if a.CustomFields == nil {
		a.CustomFields = map[string]any{}
	}
	wrong := map[string]any{}
	for key, v := range m {
		if why := c.set(&a, key, v); why != "" {
			wrong[key] = []string{why}
		}
	}
	if key, why := c.setTags(&a, m); why != "" {
		wrong[key] = []string{why}
	}
	if key, why := c.assign(&a, m); why != "" {
		wrong[key] = []string{why}
	}
	if wrong["address"] != nil && !c.s.traits.atLeast(4, 6) { // a bug of theirs (509)
		return before, serverError(c.s.traits, "KeyError", "'data'")
	}
	if len(wrong) > 0 {
		return before, answer(http.StatusBadRequest, wrong)
	}
	if res := c.setFields(&a, m); res != nil {
		return before, res
	}
	if res := c.whole(before, a); res != nil {
		return before, res
	}
	return a, c.tagsAllowed(a)
}

// set puts one field of the body on a and returns what is wrong with it, or "". Unknown fields are
// ignored (360); custom fields, tags and the assignment come later.
func (c *exchange) set(a *Address, key string, v any) string {
	s, isText := v.(string)
	if isText && strings.Contains(s, "\x00") {
		return "Null characters are not allowed."
	}
	switch key {
	case "address":
		return setAddress(a, s)
	case "vrf":
		return c.setVRF(a, v)
	case "tenant":
		return c.setTenant(a, v)
	case "status":
		if v == nil {
			return "This field may not be blank."
		}
		return setChoice(&a.Status, v, statuses()...)
	case "role":
		if v == nil || isText && s == "" {
			a.Role = ""
			return ""
		}
		return setChoice(&a.Role, v, roles()...)
	case "dns_name", "description", "comments":
		if v == nil {
			return mayNotBeNull
		}
		return setText(a, key, s)
	case keyCustomFields:
		return notFields(v)
	}
	return ""
}

func notFields(v any) string {
	if v == nil {
		return mayNotBeNull
	}
	if _, ok := v.(map[string]any); !ok {
		return "Invalid data format. Custom field data must be passed as a dictionary mapping field names to their values."
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

// isCanonical says whether an address is written in the only form that 4.2 and 4.4 find it by (606, 607).
func isCanonical(v string) bool {
	host, _, _ := strings.Cut(v, "/")
	a, err := netip.ParseAddr(host)
	return err != nil || a.String() == host
}

func setChoice(to *string, v any, allowed ...string) string {
	switch v.(type) {
	case map[string]any, []any:
		return `Value must be passed directly (e.g. "foo": 123); do not use a dictionary or list.`
	}
	s, ok := v.(string)
	if !ok || !slices.Contains(allowed, s) {
		return plain(v) + " is not a valid choice."
	}
	*to = s
	return ""
}

func setText(a *Address, key, s string) string {
	limit := map[string]int{"description": 200, "dns_name": 255, "comments": 1 << 20}[key]
	if len([]rune(s)) > limit {
		return fmt.Sprintf("Ensure this field has no more than %d characters.", limit)
	}
	switch key {
	case "description":
		a.Description = s
	case "comments":
		a.Comments = s
	case "dns_name":
		if strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_.*") != "" || strings.Contains(s, " ") {
			return "Only alphanumeric characters, asterisks, hyphens, periods, and underscores are allowed in DNS names"
		}
		a.DNSName = strings.ToLower(s)
	}
	return ""
}

func (c *exchange) setVRF(a *Address, v any) string {
	if v == nil {
		a.VRF = 0
		return ""
	}
	var all []reference
	for _, v := range c.s.state.vrfs {
		all = append(all, reference{v.ID, map[string]string{"name": v.Name, "rd": v.RD}})
	}
	id, why := c.find("vrf", all, v)
	if why == "" {
		a.VRF = id
	}
	return why
}

func (c *exchange) setTenant(a *Address, v any) string {
	if v == nil {
		a.Tenant = 0
		return ""
	}
	id, why := c.find("tenant", references(c.s.state.named["tenant"]), v)
	if why == "" {
		a.Tenant = id
	}
	return why
}

// A reference is something that can be named by its number or by what is unique of it.
type reference struct {
	id         int64
	attributes map[string]string
}

func references(all []Named) []reference {
	var out []reference
	for _, n := range all {
		out = append(out, reference{n.ID, map[string]string{"slug": n.Slug, "name": n.Name}})
	}
	return out
}

// find resolves what is given by number or by attributes, such as {"slug"} (354 to 359, 519). By attributes, newer versions find only
// what the token may see (814).
func (c *exchange) find(kind string, all []reference, v any) (id int64, why string) {
	var found []int64
	m, named := v.(map[string]any)
	n, counted := v.(float64)
	if !named && !counted {
		return 0, "Related objects must be referenced by numeric ID or by dictionary of attributes. Received an unrecognized value: " + plain(v)
	}
	hidden := named && c.s.traits.seesBySlug() && !c.may("view "+kind)
	for _, r := range all {
		if counted && r.id == int64(n) || named && !hidden && r.fits(m) {
			found = append(found, r.id)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], ""
	case counted:
		return 0, "Related object not found using the provided numeric ID: " + strconv.FormatFloat(n, 'f', -1, 64)
	case len(found) > 1:
		return 0, "Multiple objects match the provided attributes: " + dictionary(m)
	}
	return 0, "Related object not found using the provided attributes: " + dictionary(m)
}

func (r reference) fits(m map[string]any) bool {
	for k, v := range m {
		if r.attributes[k] != v && (k != "id" || wholeOr(v, -1) != r.id) {
			return false
		}
	}
	return len(m) > 0
}

// dictionary writes an object as Python does.
func dictionary(m map[string]any) string {
	var parts []string
	for k, x := range m {
		parts = append(parts, fmt.Sprintf("'%s': '%v'", k, x))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

// whole holds the rules of the record as a whole, in NetBox's order: custom fields that are unique (empty and null repeat freely), the mask /0
// (515), what an interface can't have, one record per host and table where the table enforces it, and who is primary stays where it is.
func (c *exchange) whole(before, a Address) *response {
	if res := c.fieldRules(before, a); res != nil {
		return res
	}
	if a.Address.Bits() == 0 {
		return fieldError("address", "Cannot create IP address with /0 mask.")
	}
	if why := networkOf(a); why != "" {
		return fieldError("__all__", why)
	}
	where, enforced := "global table", true
	if v, ok := c.s.state.vrf(a.VRF); ok {
		where, enforced = "VRF "+vrfDisplay(v), v.EnforceUnique
	}
	if d, taken := c.s.state.duplicate(a); taken && enforced {
		return fieldError("address", "Duplicate IP address found in "+where+": "+d.Address.String())
	}
	for _, r := range c.s.state.ranges {
		if before.ID == 0 && r.MarkPopulated && r.VRF == a.VRF && r.holds(a.Address.Addr()) {
			return fieldError("address", fmt.Sprintf("Cannot create IP address %s inside range %s.", a.Address, rangeDisplay(r)))
		}
	}
	if why := c.primaryStays(before, a); why != "" {
		return fieldError("__all__", why)
	}
	if a.Status == "slaac" && a.Address.Addr().Is4() {
		return fieldError("status", "Only IPv6 addresses can be assigned SLAAC status")
	}
	return nil
}
