package netbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func machineBrief() []string { return []string{"name", "description"} }

// machinesAt are the devices, or the virtual machines.
func (c *exchange) machinesAt(virtual bool) *response {
	kind := Machine{Virtual: virtual}.kind()
	if len(c.parts) == 2 {
		if res := c.reading(kind); res != nil {
			return res
		}
		return c.listMachines(virtual)
	}
	id, res := c.detailOf(kind)
	if res != nil {
		return res
	}
	m, ok := c.s.state.machine(virtual, id)
	if !ok {
		return noMatch(map[bool]string{false: "Device", true: "VirtualMachine"}[virtual])
	}
	if res := c.precondition(m.updated); res != nil {
		return res
	}
	switch {
	case c.r.Method == http.MethodDelete:
		c.s.removeMachine(virtual, id, c.author())
		return answer(http.StatusNoContent, nil)
	case !c.reads():
		if m, res = c.changeMachine(m); res != nil {
			return res
		}
	}
	return c.one(http.StatusOK, c.renderMachine(m), etag(m.updated), machineBrief())
}

// changeMachine takes what the provider writes: which addresses are primary or out-of-band; and a device's status and own context.
func (c *exchange) changeMachine(m Machine) (Machine, *response) {
	body, res := c.object()
	if res != nil {
		return m, res
	}
	for key, to := range map[string]*int64{"primary_ip4": &m.Primary4, "primary_ip6": &m.Primary6, "oob_ip": &m.OutOfBand} {
		v, ok := body[key]
		if !ok || key == "oob_ip" && m.Virtual {
			continue
		}
		if why := c.primary(m, key, v, to); why != "" {
			return m, fieldError(key, why)
		}
	}
	if v, ok := body["status"].(string); ok {
		m.Status = v
	}
	if v, ok := body["local_context_data"].(map[string]any); ok {
		m.LocalContext = v
	}
	fields, _ := body[keyCustomFields].(map[string]any)
	for name := range fields {
		if f, ok := c.s.state.field(name); (!ok || !f.on(typeDevice)) && !c.s.traits.dropsUnknownFields() {
			return m, c.unknownField(name)
		}
	}
	m.updated = c.s.after(m.updated)
	c.s.state.machines[c.s.state.machineAt(m.Virtual, m.ID)] = m
	return m, nil
}

// primary makes an address of the machine its primary one, or says why not (571 to 573).
func (c *exchange) primary(m Machine, key string, v any, to *int64) string {
	if v == nil {
		*to = 0
		return ""
	}
	id := wholeOr(v, 0)
	if o, ok := v.(map[string]any); ok {
		id = wholeOr(o["id"], 0)
	}
	a, ok := c.s.state.addresses[id]
	if !ok {
		return "Related object not found using the provided numeric ID: " + plain(v)
	}
	switch {
	case key == "primary_ip4" && a.Address.Addr().Is6():
		return a.Address.String() + " is not an IPv4 address."
	case key == "primary_ip6" && a.Address.Addr().Is4():
		return a.Address.String() + " is not an IPv6 address."
	}
	owner, ok := c.s.state.ownerOf(a.Assigned)
	if !ok || owner.Virtual != m.Virtual || owner.ID != m.ID {
		what := map[bool]string{false: "device", true: "VM"}[m.Virtual]
		return fmt.Sprintf("The specified IP address (%s) is not assigned to this %s.", a.Address, what)
	}
	*to = id
	return ""
}

func (c *exchange) listMachines(virtual bool) *response {
	of := func(m Machine) []Object {
		var out []Object
		for _, i := range c.s.state.interfaces {
			if i.Virtual == m.Virtual && i.Machine == m.ID {
				out = append(out, i.object())
			}
		}
		return out
	}
	fs := filters[Machine]{}
	fs.text("name", true, func(m Machine) string { return m.Name })
	fs.things("site", func(m Machine) int64 { return m.Site })
	fs.things("tenant", func(m Machine) int64 { return m.Tenant })
	fs.tags(func(m Machine) []int64 { return m.Tags })
	fs.choice("status", func(m Machine) string { return m.Status },
		"offline", "active", "planned", "staged", "failed", "inventory", "decommissioning", "paused")
	fs.times(keyLastUpdated, func(m Machine) time.Time { return m.updated })
	fs["mac_address"] = anyOf(func(v string) func(Machine) bool {
		want := canonicalMAC(v)
		return func(m Machine) bool {
			return slices.ContainsFunc(of(m), func(o Object) bool { return c.hasMAC(o, want) })
		}
	})
	if !virtual {
		fs.text("serial", true, func(m Machine) string { return m.Serial })
		fs.text("asset_tag", false, func(m Machine) string { return m.AssetTag })
		fs.numbers("rack_id", func(m Machine) int64 { return m.Rack.ID })
		for key, of := range map[string]func(m Machine) string{
			"role":         func(m Machine) string { return m.Role.Slug },
			"manufacturer": func(m Machine) string { return m.Maker.Slug },
			"device_type":  func(m Machine) string { return m.Type.Slug },
		} {
			fs[key] = anyOf(func(v string) func(Machine) bool { return func(m Machine) bool { return of(m) == v } })
		}
		fs.related("location_id", func(*exchange, string) (int64, bool) { return 0, false }, func(Machine) int64 { return 0 })
	}
	all := slices.DeleteFunc(slices.Clone(c.s.state.machines), func(m Machine) bool { return m.Virtual != virtual })
	return list(c, listing[Machine]{
		all: all, known: fs, id: func(m Machine) int64 { return m.ID }, render: c.renderMachine, brief: machineBrief(),
		order: func(a, b Machine) int { return natural(a.Name, b.Name) },
	})
}

// natural is the order of names that end in a number: node-2 before node-10.
func natural(a, b string) int {
	split := func(s string) (string, int) {
		word := strings.TrimRight(s, "0123456789")
		n, _ := strconv.Atoi(s[len(word):])
		return word, n
	}
	aw, an := split(a)
	bw, bn := split(b)
	return cmp.Or(cmp.Compare(aw, bw), cmp.Compare(an, bn), cmp.Compare(a, b))
}

func (c *exchange) hasMAC(o Object, address string) bool {
	return slices.ContainsFunc(c.s.state.macsOf(o), func(m MAC) bool { return m.Address == address })
}

// canonicalMAC is upper-case with colons.
func canonicalMAC(v string) string { return strings.ToUpper(strings.NewReplacer("-", ":").Replace(v)) }
