package netbox

import (
	"cmp"
	"net/http"
	"slices"
)

func interfaceBrief() []string {
	return []string{"device", "virtual_machine", "name", "description", "cable", "_occupied"}
}

// interfacesAt are those of devices, or of virtual machines.
func (c *exchange) interfacesAt(virtual bool) *response {
	kind := Interface{Virtual: virtual}.kind()
	if len(c.parts) == 2 {
		if res := c.reading(kind); res != nil {
			return res
		}
		return c.listInterfaces(virtual)
	}
	id, res := c.detailOf(kind)
	if res != nil {
		return res
	}
	i, ok := c.s.state.iface(Interface{Virtual: virtual, ID: id}.object())
	switch {
	case !ok:
		return noMatch(map[bool]string{false: "Interface", true: "VMInterface"}[virtual])
	case c.r.Method == http.MethodDelete:
		c.s.removeInterface(i.object(), c.author())
		return answer(http.StatusNoContent, nil)
	case !c.reads():
		return c.notAllowed() // NetBox has PATCH, too, which is nothing to the provider
	}
	return c.one(http.StatusOK, c.renderInterface(i), etag(i.updated), interfaceBrief())
}

func (c *exchange) listInterfaces(virtual bool) *response {
	fs := filters[Interface]{}
	owner := func(i Interface) Machine { m, _ := c.s.state.machine(i.Virtual, i.Machine); return m }
	machine := map[bool]string{false: "device", true: "virtual_machine"}[virtual]
	fs.text("name", false, func(i Interface) string { return i.Name })
	fs.numbers(machine+"_id", func(i Interface) int64 { return i.Machine })
	fs.text(machine, false, func(i Interface) string { return owner(i).Name })
	fs.things("site", func(i Interface) int64 { return owner(i).Site })
	fs["mac_address"] = anyOf(func(v string) func(Interface) bool {
		want := canonicalMAC(v)
		return func(i Interface) bool { return c.hasMAC(i.object(), want) }
	})
	if !virtual {
		fs.related("lag_id", lagOf, func(i Interface) int64 { return i.LAG })
		fs.truth("mgmt_only", func(i Interface) bool { return i.Management })
	}
	all := slices.DeleteFunc(slices.Clone(c.s.state.interfaces), func(i Interface) bool { return i.Virtual != virtual })
	return list(c, listing[Interface]{
		all: all, known: fs, id: func(i Interface) int64 { return i.ID }, render: c.renderInterface, brief: interfaceBrief(),
		order: func(a, b Interface) int {
			return cmp.Or(natural(owner(a).Name, owner(b).Name), natural(a.Name, b.Name))
		},
	})
}

func (c *exchange) macAddresses() *response {
	if res := c.reading("macaddress"); res != nil {
		return res
	}
	fs := filters[MAC]{}
	fs["mac_address"] = anyOf(func(v string) func(MAC) bool { return func(m MAC) bool { return m.Address == canonicalMAC(v) } })
	fs.numbers("interface_id", func(m MAC) int64 { return numberOf(m.Assigned, typeInterface) })
	fs.numbers("vminterface_id", func(m MAC) int64 { return numberOf(m.Assigned, typeVMInterface) })
	l := listing[MAC]{
		all: c.s.state.macs, known: fs, id: func(m MAC) int64 { return m.ID }, render: c.renderMAC, brief: []string{"mac_address", "description"},
		order: func(a, b MAC) int { return cmp.Compare(a.Address, b.Address) },
	}
	if len(c.parts) == 2 {
		return list(c, l)
	}
	id, res := c.number()
	if res != nil {
		return res
	}
	m, ok := c.s.state.mac(id)
	if !ok {
		return noMatch("MACAddress")
	}
	return c.one(http.StatusOK, c.renderMAC(m), etag(m.created), l.brief)
}

func numberOf(o Object, kind string) int64 {
	if o.Type != kind {
		return 0
	}
	return o.ID
}
