package netbox

import (
	"fmt"
	"slices"
	"strconv"
)

// A VLAN of this NetBox.
type VLAN struct {
	ID int64
	// VID is its number on the wire.
	VID  int
	Name string
}

// AddVLAN adds a VLAN and returns its number.
func (s *Server) AddVLAN(v VLAN) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.ID = s.state.number("vlan", v.ID)
	s.state.vlans = append(s.state.vlans, v)
	return v.ID
}

// RemoveVLAN deletes a VLAN: what had it has none, as in NetBox.
func (s *Server) RemoveVLAN(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.vlans = slices.DeleteFunc(s.state.vlans, func(v VLAN) bool { return v.ID == id })
}

// nestedVLAN is a VLAN within another record; nil is none. There are no recordings of one: this is what NetBox's serializers say.
func (c *exchange) nestedVLAN(id int64) any {
	v, ok := byID(c.s.state.vlans, id, func(v VLAN) int64 { return v.ID })
	if !ok {
		return nil
	}
	return c.nested(map[string]any{"display": fmt.Sprintf("%s (%d)", v.Name, v.VID), "vid": v.VID, "name": v.Name, "description": ""}, "ipam/vlans", v.ID)
}

// wired says what an interface carries and is a part of. There are recordings of those alone that carry nothing.
func (c *exchange) wired(out map[string]any, i Interface) map[string]any {
	tagged := []any{}
	for _, id := range i.Tagged {
		if v := c.nestedVLAN(id); v != nil {
			tagged = append(tagged, v)
		}
	}
	out["untagged_vlan"], out["tagged_vlans"], out["parent"] = c.nestedVLAN(i.Untagged), tagged, c.nestedPort(i.Virtual, i.Parent)
	if i.MTU != 0 {
		out["mtu"] = i.MTU
	}
	if label := map[string]string{"access": "Access", "tagged": "Tagged", "tagged-all": "Tagged (All)", "q-in-q": "Q-in-Q (802.1ad)"}[i.Mode]; label != "" {
		out["mode"] = choice(i.Mode, label)
	}
	if !i.Virtual {
		out["lag"] = c.nestedPort(false, i.LAG)
	}
	return out
}

// nestedPort is what an interface is a part or a port of; nil is nothing.
func (c *exchange) nestedPort(virtual bool, id int64) any {
	i, ok := c.s.state.iface(Interface{Virtual: virtual, ID: id}.object())
	if !ok {
		return nil
	}
	return c.nestedInterface(i)
}

// lagOf finds the interface of a number, which a filter by the LAG takes: another one is refused, as that of each relation is (234).
func lagOf(c *exchange, v string) (int64, bool) {
	id, err := strconv.ParseInt(v, 10, 64)
	_, ok := c.s.state.iface(Interface{ID: id}.object())
	return id, ok && err == nil
}

// InterfaceNamed finds an interface of a device; the zero Object is none.
func (s *Server) InterfaceNamed(device, name string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.state.interfaces {
		if m, _ := s.state.machine(i.Virtual, i.Machine); i.Name == name && m.Name == device {
			return i.object()
		}
	}
	return Object{}
}
