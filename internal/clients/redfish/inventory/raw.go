package inventory

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Raw is what a BMC said of a machine, resource by resource. The zero value is
// nothing. Not safe for concurrent use.
type Raw struct {
	System   System
	Chassis  []Chassis
	Managers []Manager

	Processors []ProcessorBody
	Memory     []MemoryBody
	Storage    []StorageBody
	Drives     []DriveBody
	Devices    []DeviceBody
	Supplies   []SupplyBody
	SecureBoot SecureBootBody
	Clock      Clock

	interfaces, boots []finding
	own               []string
	adapters          []*Adapter
	said              []finding // by texts of vendors
	refused           map[string]bool
	watts             float64
	sensors           []sensor
}

// Adapter is a network adapter with what it lists.
type Adapter struct {
	body             AdapterBody
	functions, ports []finding
}

// Refuse notes that the BMC didn't show something of a part; "" is none.
func (r *Raw) Refuse(part string) {
	if part == "" {
		return
	}
	if r.refused == nil {
		r.refused = map[string]bool{}
	}
	r.refused[part] = true
}

// Interface adds an EthernetInterface of the System.
func (r *Raw) Interface(uri string, b NICBody) {
	r.interfaces = append(r.interfaces, ofNIC(b, uri, SourceEthernetInterface)...)
}

// BootOption adds a boot option.
func (r *Raw) BootOption(uri string, b NICBody) {
	r.boots = append(r.boots, ofNIC(b, uri, SourceBootOption)...)
}

// Own adds an EthernetInterface of the BMC itself.
func (r *Raw) Own(b NICBody) {
	b.Links.HostInterface = ""
	for _, f := range ofNIC(b, "", "") {
		if f.reason == "" {
			r.own = append(r.own, f.Address)
		}
	}
}

// Adapter adds a network adapter, to which functions and ports are added.
func (r *Raw) Adapter(uri string, b AdapterBody) *Adapter {
	if b.ID == "" {
		b.ID = text(lastOf(uri))
	}
	a := &Adapter{body: b}
	r.adapters = append(r.adapters, a)
	for i, p := range b.Physical {
		port := NICBody{ID: text(string(b.ID) + "/" + strconv.Itoa(i+1)), MAC: p.MAC}
		a.ports = append(a.ports, ofNIC(port, "", SourceBaseAdapter)...)
	}

	return a
}

// BaseAdapter adds one of HPE's BaseNetworkAdapters. It's a NIC of its own where
// no other adapter has its addresses.
func (r *Raw) BaseAdapter(uri string, b AdapterBody) {
	if b.Physical == nil {
		b.Physical = physicals{}
	}
	r.Adapter(uri, b)
}

// HasAdapters says whether there are network adapters.
func (r *Raw) HasAdapters() bool {
	return slices.ContainsFunc(r.adapters, func(a *Adapter) bool { return a.body.Physical == nil })
}

// Board adds what a GPU board has beside the CPUs, which are the System's.
func (r *Raw) Board(b ProcessorBody) {
	if kind := word(b.Type); kind != "" && !strings.EqualFold(kind, "CPU") {
		r.Processors = append(r.Processors, b)
	}
}

// Function adds a NetworkDeviceFunction.
func (a *Adapter) Function(uri string, b NICBody) {
	a.functions = append(a.functions, ofNIC(b, uri, SourceDeviceFunction)...)
}

// Port adds a Port or NetworkPort.
func (a *Adapter) Port(uri string, b NICBody) {
	a.ports = append(a.ports, ofNIC(b, uri, SourcePort)...)
}

// BootOrder adds the addresses that a vendor's order of network boots names,
// and says whether each of its entries named one.
func (r *Raw) BootOrder(body []byte) (all bool) {
	var b struct{ BootOrderCurrent, BootOrderNext, BootOrderSupported texts }
	if lenient.Decode(body, &b) != nil {
		return false
	}
	all = true
	for _, entry := range slices.Concat(b.BootOrderCurrent, b.BootOrderNext, b.BootOrderSupported) {
		found := textMAC.FindStringSubmatch(entry)
		if found == nil {
			all = false

			continue
		}
		r.say(found[1], SourceOEMBootOrder)
	}

	return all
}

// BIOSNames adds the addresses that are in the names of BIOS attributes.
func (r *Raw) BIOSNames(body []byte) {
	var b struct{ Attributes map[string]json.RawMessage }
	if lenient.Decode(body, &b) != nil {
		return
	}
	names := make([]string, 0, len(b.Attributes))
	for name := range b.Attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if found := nameMAC.FindStringSubmatch(name); found != nil {
			r.say(found[1], SourceBIOSName)
		}
	}
}

// BaseMAC adds the first address of a DPU.
func (r *Raw) BaseMAC(body []byte) {
	var b struct {
		MAC text `json:"BaseMAC"`
	}
	if lenient.Decode(body, &b) == nil && b.MAC != "" {
		r.say(string(b.MAC), SourceBaseMAC)
	}
}

func (r *Raw) say(raw, source string) {
	mac, reason := read(raw)
	f := finding{MAC{Address: mac, Source: source}, raw, reason}
	if !slices.Contains(r.said, f) {
		r.said = append(r.said, f)
	}
}

// HasBurntIn says whether an address was found that was burnt into a NIC.
func (r *Raw) HasBurntIn() bool {
	return slices.ContainsFunc(r.found(), func(f finding) bool { return f.reason == "" && !local(f.Address) })
}

// found are all addresses, in the order of the places that are trusted most.
func (r *Raw) found() []finding {
	out := slices.Clone(r.interfaces)
	for _, a := range r.adapters {
		out = append(append(out, a.functions...), a.ports...)
	}

	return append(append(out, r.boots...), r.said...)
}
