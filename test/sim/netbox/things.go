package netbox

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// things are tags, tenants, sites and roles, which people make: they are read only here.
func (c *exchange) things(kind string) *response {
	if res := c.reading(kind); res != nil {
		return res
	}
	brief := []string{"name", "slug", "description"}
	all := c.s.state.named[kind]
	if len(c.parts) == 3 {
		id, res := c.number()
		if res != nil {
			return res
		}
		n, ok := c.s.state.thing(kind, id)
		if !ok {
			return noMatch(title(kind))
		}
		return c.one(http.StatusOK, c.renderThing(kind, n), etag(n.created), brief)
	}
	fs := filters[Named]{}
	fs.text("name", false, func(n Named) string { return n.Name })
	fs.text("slug", false, func(n Named) string { return n.Slug })
	return list(c, listing[Named]{
		all: all, known: fs, id: func(n Named) int64 { return n.ID }, brief: brief,
		render: func(n Named) map[string]any { return c.renderThing(kind, n) },
		order:  func(a, b Named) int { return cmp.Compare(a.Name, b.Name) },
	})
}

func (c *exchange) renderThing(kind string, n Named) map[string]any {
	m := c.urls(map[string]any{
		"display": n.Name, "name": n.Name, "slug": n.Slug, "description": "", "created": stamp(n.created), keyLastUpdated: stamp(n.created),
	}, paths()[kind], n.ID)
	counted := []string{}
	switch kind {
	case "tag":
		delete(m, "owner")
		m["color"], m["object_types"] = n.color(), append([]string{}, n.ObjectTypes...)
		if c.s.traits.atLeast(4, 4) {
			m["weight"] = 1000
		}
		m["tagged_items"] = c.tagged(n.ID)
		return m
	case "tenant":
		with(m, constant(`{"group": null, "comments": "", "tags": [], "custom_fields": {}}`))
		counted = []string{"circuit", "device", "ipaddress", "prefix", "rack", "site", "virtualmachine", "vlan", "vrf", "cluster"}
	case "site":
		with(m, constant(`{"region": null, "group": null, "tenant": null, "facility": "", "time_zone": null, "physical_address": "",
			"shipping_address": "", "latitude": null, "longitude": null, "comments": "", "asns": [], "tags": [], "custom_fields": {}}`))
		m["status"] = choice("active", "Active")
		counted = []string{"circuit", "device", "prefix", "rack", "virtualmachine", "vlan"}
	case "role":
		with(m, constant(`{"weight": 1000, "tags": [], "custom_fields": {}}`))
		counted = []string{"prefix", "vlan", "asn"}
		if c.s.traits.atLeast(4, 5) {
			m["comments"] = ""
		}
	}
	for _, k := range counted {
		m[k+"_count"] = 0
	}
	return m
}

// tagged counts what has a tag.
func (c *exchange) tagged(id int64) int {
	n := 0
	count := func(tags []int64) {
		if slices.Contains(tags, id) {
			n++
		}
	}
	for _, a := range c.s.state.addresses {
		count(a.Tags)
	}
	for _, p := range c.s.state.prefixes {
		count(p.Tags)
	}
	for _, m := range c.s.state.machines {
		count(m.Tags)
	}
	return n
}

// objectChanges is the change log, the newest first. Only changes of addresses are in it.
func (c *exchange) objectChanges() *response {
	if res := c.reading("objectchange"); res != nil {
		return res
	}
	if len(c.parts) != 2 {
		return htmlPage(http.StatusNotFound)
	}
	fs := filters[change]{}
	fs.numbers("changed_object_id", func(x change) int64 { return x.record().ID })
	fs.text("user_name", false, func(x change) string { return x.by.user })
	fs.text("user", false, func(x change) string { return x.by.user })
	fs.text("request_id", false, func(x change) string { return x.by.request })
	fs.text("action", false, func(x change) string { v, _ := x.action(); return v })
	fs.times("time", func(x change) time.Time { return x.at })
	if c.s.traits.atLeast(4, 4) {
		fs["changed_object_type"] = anyOf(func(v string) func(change) bool { return func(change) bool { return v == typeAddress } })
	}
	fs["time_after"], fs["time_before"] = fs["time__gte"], fs["time__lte"]
	return list(c, listing[change]{
		all: c.s.state.changes, known: fs, id: func(x change) int64 { return x.id }, render: c.renderChange,
		order: func(a, b change) int { return cmp.Compare(b.id, a.id) },
	})
}

func (c *exchange) renderChange(x change) map[string]any {
	value, label := x.action()
	a := x.record()
	m := c.nested(map[string]any{
		"display_url": c.base + "/core/changelog/" + strconv.FormatInt(x.id, 10) + "/",
		"display":     "IPAM | IP address " + a.Address.String() + " " + strings.ToLower(label) + " by " + x.by.user,
		"time":        stamp(x.at), "user": c.nested(map[string]any{"display": x.by.user, "username": x.by.user}, "users/users", 1),
		"user_name": x.by.user, "request_id": x.by.request, "action": choice(value, label), "changed_object_type": typeAddress,
		"changed_object_id": a.ID, "changed_object": nil, "prechange_data": c.snapshot(x.before), "postchange_data": c.snapshot(x.after),
	}, "core/object-changes", x.id)
	if now, ok := c.s.state.addresses[a.ID]; ok {
		m["changed_object"] = c.nestedAddress(now.ID)
	}
	if c.s.traits.atLeast(4, 5) {
		m["object_repr"] = a.Address.String()
	}
	if c.s.traits.atLeast(4, 4) {
		m["message"] = x.by.message
	}
	return m
}
