package redfishhost

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
)

// maxInventory bounds an inventory with the MACs beside it, in bytes of JSON.
const maxInventory = 20 << 10

// observed is what the BMC shows now, with what was read of it beside.
func (e *external) observed(host *v1alpha1.RedfishHost, pin string, j *journal) v1alpha1.RedfishHostObservation {
	inv := e.connector.inventories.known(host.GetUID(), e.system)
	if inv.read {
		inv.Inventory = keepMACs(host, inv.Inventory)
	}
	o := observation(e.system, inv.Inventory, pin, j, host.Spec.ForProvider)
	o.Events = host.Status.AtProvider.Events // Until hear has said how that is now.

	return withClock(withInventory(o, host, inv, e.connector.Now()), host, inv)
}

// withInventory adds to an observation what takes many requests to read. Until
// this process has read it, what the last one showed stays: a bound machine's
// boots and its address hang on its MACs.
func withInventory(o v1alpha1.RedfishHostObservation, host *v1alpha1.RedfishHost, inv inventoryOf, now time.Time) v1alpha1.RedfishHostObservation {
	was := host.Status.AtProvider
	if !inv.read {
		if sameMachine(was.Identity, o.Identity) {
			keepUnread(&o, was, host.Spec.ForProvider.MACs)
		}

		return o
	}
	o.MACsDiscarded = discarded(inv.Discarded)
	if inv.half {
		if sameMachine(was.Identity, o.Identity) {
			o.Inventory, o.BMC.Quirks = was.Inventory, was.BMC.Quirks
		}

		return o
	}
	o.BMC.Model = inv.BMCModel
	h := hostInventory(inv.Machine)
	h.Partial = inv.Refused
	if sameMachine(was.Identity, o.Identity) && was.Inventory != nil {
		keepRefused(h, was.Inventory, inv.Refused)
		if inv.Partial {
			o.MACsDiscarded = longer(o.MACsDiscarded, was.MACsDiscarded)
			o.BMC.Firmware, o.BMC.Model = or(o.BMC.Firmware, was.BMC.Firmware), or(o.BMC.Model, was.BMC.Model)
			o.Identity.Manufacturer, o.Identity.Model = or(o.Identity.Manufacturer, was.Identity.Manufacturer), or(o.Identity.Model, was.Identity.Model)
		}
	}
	fit(h, maxInventory-size(o.MACs)-size(o.MACsDiscarded))
	o.Inventory = dated(h, was.Inventory, now)

	return o
}

// sameMachine says whether a status is of the machine that was looked at now.
func sameMachine(was, is v1alpha1.HostIdentity) bool {
	switch {
	case was.Serial != "" && is.Serial != "":
		return strings.EqualFold(was.Serial, is.Serial)
	case was.UUID != "" && is.UUID != "":
		return redfish.SameUUID(was.UUID, is.UUID)
	default:
		return was.SystemURI != "" && strings.EqualFold(was.SystemURI, is.SystemURI)
	}
}

// keepUnread shows what was shown before. The spec's own MACs are the spec's.
func keepUnread(o *v1alpha1.RedfishHostObservation, was v1alpha1.RedfishHostObservation, spec []string) {
	kept := slices.DeleteFunc(slices.Clone(was.MACs), func(m v1alpha1.HostMAC) bool { return m.Source == sourceSpec })
	for _, m := range macs(nil, spec) {
		if !slices.ContainsFunc(kept, func(k v1alpha1.HostMAC) bool { return k.Address == m.Address }) {
			kept = append(kept, m)
		}
	}
	o.MACs, o.MACsDiscarded, o.Inventory = kept, was.MACsDiscarded, was.Inventory
	o.BMC.Firmware, o.BMC.Model, o.BMC.Quirks = was.BMC.Firmware, was.BMC.Model, was.BMC.Quirks
	o.Identity.Manufacturer = or(o.Identity.Manufacturer, was.Identity.Manufacturer)
	o.Identity.Model = or(o.Identity.Model, was.Identity.Model)
}

// keepRefused keeps what was known of parts that the BMC refused to show.
func keepRefused(h, was *v1alpha1.HostInventory, refused []string) {
	for _, part := range refused {
		if slices.Contains(was.Truncated, part) && !slices.Contains(h.Truncated, part) {
			h.Truncated = append(h.Truncated, part) // What is kept of it was cut.
		}
		switch part {
		case inventory.PartSystem:
			h.BIOSVersion, h.BootMode, h.TPM = or(h.BIOSVersion, was.BIOSVersion), or(h.BootMode, was.BootMode), or(h.TPM, was.TPM)
			h.Architecture = or(h.Architecture, was.Architecture)
			h.Processors, h.Drives = longer(h.Processors, was.Processors), longer(h.Drives, was.Drives)
			h.Accelerators, h.PCIe = longer(h.Accelerators, was.Accelerators), longer(h.PCIe, was.PCIe)
			h.SecureBoot = or(h.SecureBoot, was.SecureBoot)
			if h.Memory == nil {
				h.Memory = was.Memory
			}
		case inventory.PartMACs:
			h.NICs = longer(h.NICs, was.NICs)
			h.PowerSupplies, h.PCIe = longer(h.PowerSupplies, was.PowerSupplies), longer(h.PCIe, was.PCIe)
		case inventory.PartProcessors:
			h.Architecture = or(h.Architecture, was.Architecture)
			h.Processors, h.Accelerators = stays(was.Processors, h.Processors), stays(was.Accelerators, h.Accelerators)
		case inventory.PartMemory:
			if was.Memory != nil {
				h.Memory = was.Memory
			}
		case inventory.PartDrives:
			h.Drives = stays(was.Drives, h.Drives)
		case inventory.PartPCIe:
			h.PCIe = stays(was.PCIe, h.PCIe)
		case inventory.PartPowerSupplies:
			h.PowerSupplies = stays(was.PowerSupplies, h.PowerSupplies)
		case inventory.PartSecureBoot:
			h.SecureBoot = or(h.SecureBoot, was.SecureBoot)
		}
	}
}

// stays is what was known of a part, where anything was.
func stays[T any](was, is []T) []T {
	if len(was) > 0 {
		return was
	}

	return is
}

// longer is what was known of a part, where less is shown now.
func longer[T any](is, was []T) []T {
	if len(was) > len(is) {
		return was
	}

	return is
}

// dated gives an inventory the time at which it became what it is.
func dated(h, was *v1alpha1.HostInventory, now time.Time) *v1alpha1.HostInventory {
	if was != nil {
		h.RefreshedAt = was.RefreshedAt
		if equality.Semantic.DeepEqual(h, was) {
			return h
		}
	}
	at := metav1.NewTime(now.Truncate(time.Second))
	h.RefreshedAt = &at

	return h
}

func discarded(found []inventory.Discarded) []v1alpha1.DiscardedMAC {
	var out []v1alpha1.DiscardedMAC
	for _, d := range found {
		out = append(out, v1alpha1.DiscardedMAC{Address: d.Address, Source: d.Source, Reason: d.Reason})
	}

	return out
}

// hostInventory translates an inventory.
func hostInventory(m inventory.Machine) *v1alpha1.HostInventory {
	h := &v1alpha1.HostInventory{
		BIOSVersion: m.BIOSVersion, BootMode: m.BootMode, Architecture: m.Architecture, TPM: m.TPM, SecureBoot: m.SecureBoot,
		Memory: memoryFacts(m.Memory), Accelerators: deviceFacts(m.Accelerators), PCIe: deviceFacts(m.PCIe), Truncated: slices.Clone(m.Truncated),
	}
	for _, p := range m.Processors {
		h.Processors = append(h.Processors, v1alpha1.ProcessorFacts{Model: p.Model, Manufacturer: p.Manufacturer, Cores: p.Cores, Threads: p.Threads, Count: p.Count})
	}
	for _, d := range m.Drives {
		h.Drives = append(h.Drives, v1alpha1.DriveFacts{ID: d.ID, Model: d.Model, Serial: d.Serial, Size: quantity(d.Bytes, resource.DecimalSI), Type: d.Type, Health: d.Health})
	}
	for _, n := range m.NICs {
		facts := v1alpha1.NICFacts{ID: n.ID, Manufacturer: n.Manufacturer, Model: n.Model}
		for _, p := range n.Ports {
			facts.Ports = append(facts.Ports, v1alpha1.PortFacts{ID: p.ID, MACs: p.MACs})
		}
		h.NICs = append(h.NICs, facts)
	}
	for _, p := range m.PowerSupplies {
		h.PowerSupplies = append(h.PowerSupplies, v1alpha1.PSUFacts{ID: p.ID, Model: p.Model, Watts: p.Watts, Health: p.Health})
	}
	for _, p := range m.Problems {
		h.Problems = append(h.Problems, v1alpha1.HealthProblem{Component: p.Component, Health: p.Health, Message: p.Message})
	}

	return h
}

func deviceFacts(devices []inventory.Device) []v1alpha1.DeviceFacts {
	var out []v1alpha1.DeviceFacts
	for _, d := range devices {
		out = append(out, v1alpha1.DeviceFacts{Kind: d.Kind, Manufacturer: d.Manufacturer, Model: d.Model, Count: d.Count})
	}

	return out
}

func memoryFacts(m inventory.Memory) *v1alpha1.MemoryFacts {
	if m.Bytes == 0 {
		return nil
	}
	out := &v1alpha1.MemoryFacts{Total: quantity(m.Bytes, resource.BinarySI)}
	for _, x := range m.Modules {
		out.Modules = append(out.Modules, v1alpha1.MemoryModuleFacts{
			Size: *quantity(x.Bytes, resource.BinarySI), Type: x.Type, SpeedMHz: x.SpeedMHz, Manufacturer: x.Manufacturer, Count: x.Count,
		})
	}

	return out
}

// quantity is a number of bytes; nil where there are none.
func quantity(bytes int64, f resource.Format) *resource.Quantity {
	if bytes == 0 {
		return nil
	}
	q := resource.NewQuantity(bytes, f)
	_ = q.String() // What is read back from the API server has its text, too.

	return q
}
