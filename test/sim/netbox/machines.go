package netbox

import (
	"cmp"
	"slices"
	"time"
)

// Types of objects, as NetBox writes them.
const (
	typeAddress     = "ipam.ipaddress"
	typePrefix      = "ipam.prefix"
	typeRange       = "ipam.iprange"
	typeDevice      = "dcim.device"
	typeInterface   = "dcim.interface"
	typeVM          = "virtualization.virtualmachine"
	typeVMInterface = "virtualization.vminterface"
	typeFHRPGroup   = "ipam.fhrpgroup"
)

// A Machine is a device, or a virtual machine.
type Machine struct {
	// Virtual tells a virtual machine from a device. Both kinds count for themselves.
	Virtual bool
	ID      int64
	Name    string
	Status  string
	// Serial and AssetTag of a device.
	Serial, AssetTag string
	Site, Tenant     int64
	// Type, Maker, Role and Rack of a device as they are shown; those of the same number are the same. Cluster is a virtual machine's.
	Type, Maker, Role, Rack, Cluster Named
	// Position in the rack, in units; 0 is none.
	Position                      float64
	Primary4, Primary6, OutOfBand int64
	Tags                          []int64
	// LocalContext is a device's own configuration.
	LocalContext     map[string]any
	created, updated time.Time
}

// display is what NetBox calls it.
func (m Machine) display() string {
	if m.AssetTag != "" && !m.Virtual {
		return m.Name + " (" + m.AssetTag + ")"
	}
	return m.Name
}

func (m Machine) kind() string {
	if m.Virtual {
		return "virtualmachine"
	}
	return "device"
}

// An Interface of a device or virtual machine.
type Interface struct {
	// Virtual tells a virtual machine's interface from a device's. Both kinds count for themselves.
	Virtual bool
	ID      int64
	// Machine is the number of its device or virtual machine.
	Machine int64
	Name    string
	// Type of a device's interface; "" is 1000base-t.
	Type       string
	Management bool
	// PrimaryMAC is the number of a MAC address; 0 is none.
	PrimaryMAC int64
	// MTU in bytes and Mode, such as "tagged"; 0 and "" aren't said.
	MTU  int
	Mode string
	// Untagged and Tagged are the numbers of VLANs, Parent and LAG those of interfaces; 0 is none.
	Untagged         int64
	Tagged           []int64
	Parent, LAG      int64
	created, updated time.Time
}

func (i Interface) object() Object {
	if i.Virtual {
		return Object{typeVMInterface, i.ID}
	}
	return Object{typeInterface, i.ID}
}

func (i Interface) kind() string {
	if i.Virtual {
		return "vminterface"
	}
	return "interface"
}

// A MAC is a MAC address as an object of its own. Several may have the same address.
type MAC struct {
	ID       int64
	Address  string
	Assigned Object
	created  time.Time
}

func (s *state) machine(virtual bool, id int64) (Machine, bool) {
	i := s.machineAt(virtual, id)
	if i < 0 {
		return Machine{}, false
	}
	return s.machines[i], true
}

func (s *state) machineAt(virtual bool, id int64) int {
	return slices.IndexFunc(s.machines, func(m Machine) bool { return m.Virtual == virtual && m.ID == id })
}

func (s *state) iface(o Object) (Interface, bool) {
	i := slices.IndexFunc(s.interfaces, func(i Interface) bool { return i.object() == o })
	if i < 0 {
		return Interface{}, false
	}
	return s.interfaces[i], true
}

// ownerOf finds the machine whose interface an object is.
func (s *state) ownerOf(o Object) (Machine, bool) {
	i, ok := s.iface(o)
	if !ok {
		return Machine{}, false
	}
	return s.machine(i.Virtual, i.Machine)
}

func (s *state) mac(id int64) (MAC, bool) {
	return byID(s.macs, id, func(m MAC) int64 { return m.ID })
}

// macsOf are the MAC addresses of an interface, in their order.
func (s *state) macsOf(o Object) []MAC {
	var out []MAC
	for _, m := range s.macs {
		if m.Assigned == o {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b MAC) int { return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.ID, b.ID)) })
	return out
}

// removeInterface takes its addresses and its MAC addresses along, as NetBox does (591, 774).
func (s *Server) removeInterface(o Object, by author) {
	st := &s.state
	for _, a := range st.sorted() {
		if a.Assigned == o {
			s.dropAddress(a, by)
		}
	}
	st.macs = slices.DeleteFunc(st.macs, func(m MAC) bool { return m.Assigned == o })
	st.interfaces = slices.DeleteFunc(st.interfaces, func(i Interface) bool { return i.object() == o })
	for n := range st.interfaces {
		if i := &st.interfaces[n]; o.Type == typeInterface && !i.Virtual && i.LAG == o.ID {
			i.LAG = 0
		}
	}
}

// removeMachine takes its interfaces along, and what is on them (777).
func (s *Server) removeMachine(virtual bool, id int64, by author) {
	for _, i := range slices.Clone(s.state.interfaces) {
		if i.Virtual == virtual && i.Machine == id {
			s.removeInterface(i.object(), by)
		}
	}
	s.state.machines = slices.DeleteFunc(s.state.machines, func(m Machine) bool { return m.Virtual == virtual && m.ID == id })
}

// dropAddress deletes an address and clears it where it was a primary or out-of-band one (581).
func (s *Server) dropAddress(a Address, by author) {
	delete(s.state.addresses, a.ID)
	for i := range s.state.machines {
		m := &s.state.machines[i]
		for _, p := range []*int64{&m.Primary4, &m.Primary6, &m.OutOfBand} {
			if *p == a.ID {
				*p = 0
			}
		}
	}
	s.changed(by, &a, nil)
}
