package netbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// assign puts the address on an interface, or takes it off, and says which field is wrong (362 to 366).
func (c *exchange) assign(a *Address, m map[string]any) (field, why string) {
	const kind, number = "assigned_object_type", "assigned_object_id"
	t, typed := m[kind]
	n, numbered := m[number]
	if !typed && !numbered {
		return "", ""
	}
	if s, ok := t.(string); ok && !slices.Contains([]string{typeInterface, typeVMInterface, typeFHRPGroup}, s) {
		return kind, "Invalid content type: " + s
	}
	o := a.Assigned
	if typed {
		o.Type, _ = t.(string)
	}
	if numbered {
		o.ID = wholeOr(n, 0)
	}
	switch {
	case o.Type == "" && o.ID == 0:
		a.Assigned = Object{}
		return "", ""
	case o.ID == 0:
		return number, "This field cannot be null."
	case o.Type == "":
		return kind, "This field cannot be null."
	}
	if _, ok := c.s.state.iface(o); !ok {
		return number, fmt.Sprintf("Related object not found using the provided value: %d.", o.ID)
	}
	a.Assigned = o
	return "", ""
}

// networkOf says that the network's own addresses are on no interface (513, 514). That an IPv6 network's first one isn't either was never
// recorded: it's what NetBox's code says.
func networkOf(a Address) string {
	p := a.Address
	if a.Assigned.ID == 0 || p.Addr().BitLen()-p.Bits() <= 1 {
		return ""
	}
	if p.Addr() == p.Masked().Addr() {
		return p.Addr().String() + " is a network ID, which may not be assigned to an interface."
	}
	if p.Addr().Is4() && p.Addr() == lastOf(p.Masked()) {
		return p.Addr().String() + " is a broadcast address, which may not be assigned to an interface."
	}
	return ""
}

// primaryStays refuses to take the primary or out-of-band address from its machine; within the machine it may move (574 to 579).
func (c *exchange) primaryStays(before, a Address) string {
	m, ok := c.s.state.ownerOf(before.Assigned)
	if !ok || before.Assigned == a.Assigned {
		return ""
	}
	if to, ok := c.s.state.ownerOf(a.Assigned); ok && to.Virtual == m.Virtual && to.ID == m.ID {
		return ""
	}
	const why = "Cannot reassign IP address while it is designated as the %s IP for the parent object"
	switch {
	case m.Primary4 == a.ID || m.Primary6 == a.ID:
		return fmt.Sprintf(why, "primary")
	case m.OutOfBand == a.ID && c.s.traits.guardsOOB():
		return fmt.Sprintf(why, "OOB")
	}
	return ""
}

// setTags replaces the tags, or from 4.6 on adds some and takes some away (540 to 549).
func (c *exchange) setTags(a *Address, m map[string]any) (field, why string) {
	_, whole := m["tags"]
	for _, key := range []string{"add_tags", "remove_tags", "tags"} {
		v, ok := m[key]
		if !ok || key != "tags" && !c.s.traits.tagDeltas() {
			continue
		}
		if key != "tags" && whole {
			return "tags", `Cannot specify "tags" together with "add_tags" or "remove_tags".`
		}
		ids, why := c.tagList(v)
		if why != "" {
			return key, why
		}
		switch key {
		case "tags":
			a.Tags = ids
		case "add_tags":
			a.Tags = append(slices.Clone(a.Tags), ids...)
		case "remove_tags":
			a.Tags = slices.DeleteFunc(slices.Clone(a.Tags), func(id int64) bool { return slices.Contains(ids, id) })
		}
	}
	a.Tags = slices.Compact(slices.Sorted(slices.Values(a.Tags)))
	return "", ""
}

func (c *exchange) tagList(v any) (ids []int64, why string) {
	if v == nil {
		return nil, mayNotBeNull
	}
	list, _ := v.([]any)
	for _, t := range list {
		id, why := c.find("tag", references(c.s.state.named["tag"]), t)
		if why != "" {
			return nil, why
		}
		ids = append(ids, id)
	}
	return ids, ""
}

// tagOrder is by name.
func (c *exchange) tagOrder(ids []int64) []int64 {
	out := slices.Clone(ids)
	slices.SortFunc(out, func(a, b int64) int {
		x, _ := c.s.state.thing("tag", a)
		y, _ := c.s.state.thing("tag", b)
		return strings.Compare(x.Name, y.Name)
	})
	return out
}

// tagsAllowed refuses tags that aren't for addresses: with a 500 where an address is being allocated, else with a 400 (356, 548).
func (c *exchange) tagsAllowed(a Address) *response {
	for _, id := range a.Tags {
		t, _ := c.s.state.thing("tag", id)
		if len(t.ObjectTypes) == 0 || slices.Contains(t.ObjectTypes, typeAddress) {
			continue
		}
		why := "Tag " + t.Name + " cannot be assigned to ipaddress objects."
		if strings.HasSuffix(c.r.URL.Path, "/"+partAvailable+"/") {
			return serverError(c.s.traits, "AbortRequest", why)
		}
		return detail(http.StatusBadRequest, why)
	}
	return nil
}
