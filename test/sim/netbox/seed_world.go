package netbox

import (
	"net/netip"
	"slices"
)

// AddRange adds an IP range and returns its number, which is the next free one if r.ID is 0.
func (s *Server) AddRange(r Range) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ID, r.created = s.state.number("range", r.ID), s.now()
	r.updated = r.created
	if r.Status == "" {
		r.Status = "active"
	}
	s.state.ranges = append(s.state.ranges, r)
	return r.ID
}

// RemoveRange deletes an IP range. Its addresses stay.
func (s *Server) RemoveRange(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.ranges = slices.DeleteFunc(s.state.ranges, func(r Range) bool { return r.ID == id })
}

func (s *Server) addNamed(kind string, n Named) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.ID, n.created = s.state.number(kind, n.ID), s.now()
	s.state.named[kind] = append(s.state.named[kind], n)
	return n.ID
}

// AddTenant adds a tenant and returns its number.
func (s *Server) AddTenant(n Named) int64 { return s.addNamed("tenant", n) }

// AddTag adds a tag and returns its number.
func (s *Server) AddTag(n Named) int64 { return s.addNamed("tag", n) }

// RenameTag gives a tag another slug, as somebody does in the UI.
func (s *Server) RenameTag(id int64, slug string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tags := s.state.named["tag"]
	if i := slices.IndexFunc(tags, func(n Named) bool { return n.ID == id }); i >= 0 {
		tags[i].Slug = slug
	}
}

// AddSite adds a site and returns its number.
func (s *Server) AddSite(n Named) int64 { return s.addNamed("site", n) }

// AddRole adds a role of prefixes and ranges and returns its number.
func (s *Server) AddRole(n Named) int64 { return s.addNamed("role", n) }

// AddChoiceSet adds a choice set and returns its number.
func (s *Server) AddChoiceSet(set ChoiceSet) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	set.ID = s.state.number("choices", set.ID)
	s.state.choices = append(s.state.choices, set)
	return set.ID
}

// AddMachine adds a device or virtual machine and returns its number.
func (s *Server) AddMachine(m Machine) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.ID, m.created = s.state.number(m.kind(), m.ID), s.now()
	m.updated = m.created
	if m.Status == "" {
		m.Status = "active"
	}
	s.state.machines = append(s.state.machines, m)
	return m.ID
}

// ChangeMachine edits a device or virtual machine as a person would. It says whether there was one.
func (s *Server) ChangeMachine(virtual bool, id int64, change func(*Machine)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.state.machineAt(virtual, id)
	if i < 0 {
		return false
	}
	change(&s.state.machines[i])
	s.state.machines[i].updated = s.after(s.state.machines[i].updated)
	return true
}

// RemoveMachine deletes a device or virtual machine as a person would: with its interfaces and their addresses.
func (s *Server) RemoveMachine(virtual bool, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeMachine(virtual, id, s.byHand("admin"))
}

// Machines returns all devices and virtual machines.
func (s *Server) Machines() []Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.machines)
}

// AddInterface adds an interface, with MAC addresses of which the first is its primary one, and returns its number.
func (s *Server) AddInterface(i Interface, macs ...string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	i.ID, i.created = s.state.number(i.kind(), i.ID), s.now()
	i.updated = i.created
	if i.Type == "" && !i.Virtual {
		i.Type = "1000base-t"
	}
	for n, m := range macs {
		id := s.addMAC(MAC{Address: m, Assigned: i.object()})
		if n == 0 {
			i.PrimaryMAC = id
		}
	}
	s.state.interfaces = append(s.state.interfaces, i)
	return i.ID
}

// AddMAC adds a MAC address as an object of its own and returns its number.
func (s *Server) AddMAC(m MAC) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addMAC(m)
}

func (s *Server) addMAC(m MAC) int64 {
	m.ID, m.created, m.Address = s.state.number("mac", m.ID), s.now(), canonicalMAC(m.Address)
	s.state.macs = append(s.state.macs, m)
	return m.ID
}

// ChangeInterface edits an interface as a person would. It says whether there was one.
func (s *Server) ChangeInterface(o Object, change func(*Interface)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.state.interfaces {
		if i := &s.state.interfaces[n]; i.object() == o {
			change(i)
			i.updated = s.after(i.updated)
			return true
		}
	}
	return false
}

// RemoveInterface deletes an interface as a person would: with its addresses.
func (s *Server) RemoveInterface(o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeInterface(o, s.byHand("admin"))
}

// AddWebhook calls a URL for each change of an address from now on, as an event rule with a webhook does.
func (s *Server) AddWebhook(h Webhook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.hooks = append(s.state.hooks, h)
}

// RemoveWebhooks ends all calls.
func (s *Server) RemoveWebhooks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.hooks = nil
}

// Things of the example world, which examples/netbox name.
const (
	ExampleSite   = "fra1"
	ExampleDevice = "r7-u12"
	ExampleHost   = "r7-u18"
	// ExampleBonded has two ports in a LAG and a VLAN on that, and ExampleTrunk a LAG that is a trunk.
	ExampleBonded = "r7-u20"
	ExampleTrunk  = "r7-u21"
	ExampleVM     = "vm-1"
	// ExampleNumber is that of a prefix and of a range which examples name by it.
	ExampleNumber = 100
)

// AddExampleWorld adds what the examples name: a site, roles, tenants, tags, VRFs, prefixes, a range, a device and a virtual machine with
// interfaces. Prefixes that are there already are left alone. It returns the number of VRF prod.
func (s *Server) AddExampleWorld() (prod int64) {
	site := s.AddSite(Named{Name: "Frankfurt 1", Slug: ExampleSite})
	servers := s.AddRole(Named{Name: "Servers", Slug: "servers"})
	management := s.AddRole(Named{Name: "Management", Slug: "management"})
	tenant := s.AddTenant(Named{Name: "Platform", Slug: "platform"})
	s.AddTenant(Named{Name: "Web", Slug: "web"})
	nodes := s.AddTag(Named{Name: "Kubernetes", Slug: "kubernetes"})
	s.AddTag(Named{Name: "Crossplane", Slug: "crossplane"})
	s.AddCustomField(CustomField{Name: "purpose", Type: "text", FilterLogic: "loose", ObjectTypes: []string{typeAddress}})
	s.AddCustomField(CustomField{Name: "pool", Type: "text", FilterLogic: "exact", ObjectTypes: []string{typePrefix, typeRange}})
	prod = s.AddVRF(VRF{Name: "prod", RD: "65000:1", EnforceUnique: true})
	dup := s.AddVRF(VRF{Name: "dup", RD: "65000:2"})
	pool := func(v string) map[string]any { return map[string]any{"pool": v} }
	for _, p := range []Prefix{
		{Prefix: mustNetwork("10.77.1.0/24"), Site: site, Role: servers, Tenant: tenant, Tags: []int64{nodes}, CustomFields: pool("nodes")},
		{Prefix: mustNetwork("10.77.2.0/24"), Site: site, Role: servers, CustomFields: pool("nodes")},
		{Prefix: mustNetwork("10.77.8.0/24"), Site: site, Role: management, CustomFields: pool("bmc")},
		{Prefix: mustNetwork("10.77.9.0/24"), Site: site},
		{Prefix: mustNetwork("2001:db8:77::/64"), Site: site, Role: servers, Tenant: tenant, Tags: []int64{nodes}, CustomFields: pool("nodes")},
		{Prefix: mustNetwork("10.77.10.0/31"), Description: "link"}, {Prefix: mustNetwork("10.77.10.32/32"), Description: "loopback"},
		{Prefix: mustNetwork("2001:db8:77:1::/127"), Description: "link"},
		{Prefix: mustNetwork("10.78.0.0/24"), VRF: prod, Site: site, Role: servers}, {Prefix: mustNetwork("10.78.0.0/24"), VRF: dup},
		{Prefix: mustNetwork("2001:db8:78::/64"), VRF: prod, Site: site, Role: servers},
		{Prefix: mustNetwork("10.77.11.0/29"), IsPool: true, Description: "pool"}, {ID: ExampleNumber, Prefix: mustNetwork("10.77.12.0/24"), Description: "storage"},
		{Prefix: mustNetwork("10.77.13.0/25"), MarkUtilized: true, CustomFields: pool("lab")}, {Prefix: mustNetwork("10.77.13.128/25"), CustomFields: pool("lab")},
	} {
		s.AddPrefix(p)
	}
	s.AddRange(Range{
		Start: netip.MustParsePrefix("10.77.9.100/24"), End: netip.MustParsePrefix("10.77.9.120/24"), Role: servers, Tenant: tenant,
		Tags: []int64{nodes}, CustomFields: pool("nodes"),
	})
	s.AddRange(Range{ID: ExampleNumber, Start: netip.MustParsePrefix("10.77.12.100/24"), End: netip.MustParsePrefix("10.77.12.120/24")})
	s.addExampleMachines(site, tenant)
	s.addExampleBonds(site)
	return prod
}

// addExampleMachines adds a device, a virtual machine, and a device that's a RedfishHost in examples.
func (s *Server) addExampleMachines(site, tenant int64) {
	server := Machine{
		Name: ExampleDevice, Serial: "SN-R7-U12", Site: site, Tenant: tenant,
		Type: Named{ID: 1, Name: "R1", Slug: "r1"}, Maker: Named{ID: 1, Name: "Acme", Slug: "acme"}, Role: Named{ID: 1, Name: "Server", Slug: "server"},
	}
	device := s.AddMachine(server)
	s.AddInterface(Interface{Machine: device, Name: "eno1"}, "52:54:00:77:12:01")
	s.AddInterface(Interface{Machine: device, Name: "bmc0", Management: true}, "52:54:00:77:12:ff")
	vm := s.AddMachine(Machine{Virtual: true, Name: ExampleVM, Site: site, Tenant: tenant, Cluster: Named{ID: 1, Name: "fra1-kvm"}})
	s.AddInterface(Interface{Virtual: true, Machine: vm, Name: "eth0"}, "52:54:00:77:a0:01")
	server.Name, server.Serial = ExampleHost, "R7U18"
	host := s.AddMachine(server)
	s.AddInterface(Interface{Machine: host, Name: "eno1"}, "52:54:00:77:18:01")
	s.AddInterface(Interface{Machine: host, Name: "bmc0", Management: true}, "52:54:00:77:18:ff")
}

// addExampleBonds adds two devices with a LAG of two ports: one with a VLAN on that, and one that is a trunk; and the prefixes of their VLANs.
func (s *Server) addExampleBonds(site int64) {
	nodes, boot := s.AddVLAN(VLAN{VID: 120, Name: "nodes"}), s.AddVLAN(VLAN{VID: 77, Name: "boot"})
	s.AddPrefix(Prefix{Prefix: mustNetwork("10.77.14.0/24"), VLAN: nodes, Description: "nodes"})
	s.AddPrefix(Prefix{Prefix: mustNetwork("10.77.15.0/24"), VLAN: boot, Description: "boot"})
	bond := func(name, macs string, lag Interface) (device, id int64) {
		device = s.AddMachine(Machine{
			Name: name, Site: site, Type: Named{ID: 1, Name: "R1", Slug: "r1"}, Maker: Named{ID: 1, Name: "Acme", Slug: "acme"}, Role: Named{ID: 1, Name: "Server", Slug: "server"},
		})
		lag.Machine, lag.Name, lag.Type = device, "bond0", "lag"
		id = s.AddInterface(lag)
		s.AddInterface(Interface{Machine: device, Name: "eno1", LAG: id}, macs+":01")
		s.AddInterface(Interface{Machine: device, Name: "eno2", LAG: id}, macs+":02")
		return device, id
	}
	device, id := bond(ExampleBonded, "52:54:00:77:20", Interface{MTU: 9000})
	s.AddInterface(Interface{Machine: device, Name: "bond0.120", Type: "virtual", Parent: id, Mode: "access", Untagged: nodes})
	bond(ExampleTrunk, "52:54:00:77:21", Interface{Mode: "tagged", Untagged: boot, Tagged: []int64{nodes}})
}

func mustNetwork(s string) netip.Prefix { return netip.MustParsePrefix(s).Masked() }
