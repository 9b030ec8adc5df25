package redfish

import (
	"context"
	"path"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Inventory is what changes rarely and takes many requests to read.
type Inventory = inventory.Inventory

const pathChassis = "/redfish/v1/Chassis"

// partReadings is no part of an inventory: nothing is missing without them.
const partReadings = ""

// maxDevices is how many PCIe devices are read.
const maxDevices = 48

// Inventory reads all of it in one go. Resources that are missing are left out:
// dangling links are normal.
func (c *Client) Inventory(ctx context.Context, s System) (Inventory, error) {
	w := NewWalk(s, nil)
	for {
		done, err := c.Walk(ctx, w, maxInventoryReads)
		if err != nil {
			return Inventory{}, err
		}
		if done {
			return w.Inventory(), nil
		}
	}
}

// begin lists what is read: what a machine's MACs are in comes first.
func (w *Walk) begin(c *Client) {
	if w.begun {
		return
	}
	w.begun, w.expands = true, c.root.Features.Query.NoLinks.True
	s := w.system
	nics := takeAs(func(w *Walk, uri string, b inventory.NICBody) { w.raw.Interface(uri, b) })
	boots := takeAs(func(w *Walk, uri string, b inventory.NICBody) { w.raw.BootOption(uri, b) })
	system := readAs(s.path, inventory.PartSystem, theSystem)
	system.fits = func(any) bool { return false } // Who answers isn't believed to be who did last time.
	tasks := []task{system, eachOf(s.interfaces, inventory.PartMACs, nics)}
	for _, uri := range s.chassis {
		tasks = append(tasks, readAs(uri, inventory.PartMACs, aChassis))
	}
	if len(s.chassis) == 0 && s.path != "" {
		tasks = append(tasks, readAs(pathChassis, inventory.PartMACs, chassisOfTheSame))
	}
	// Where the chassis has no adapters, the System's interfaces lead to them.
	byInterface := eachOf(s.adapters, inventory.PartMACs, takeAs(anInterface))
	byInterface.when = func(w *Walk) bool { return !w.raw.HasAdapters() }
	w.now(append(tasks, byInterface, eachOf(s.bootOptions, inventory.PartMACs, boots),
		eachOf(c.managersPath(), inventory.PartMACs, always(takeAs(aManager))))...)
	if s.path != "" {
		w.then(readAs(c.systemsPath(), inventory.PartProcessors, otherSystems))
	}
	w.last = func(w *Walk) { w.devices(w.raw.System.PCIeDevices) }
}

// strange says whether a System that is read is another one than was looked at.
// Where both have serials those decide: UUIDs may be lent anew.
func strange(was Identity, is inventory.System) bool {
	if serial := serialOf(is.SerialNumber); was.Serial != "" && serial != "" {
		return !strings.EqualFold(was.Serial, serial)
	}
	uuid := CleanUUID(string(is.UUID))

	return was.UUID != "" && uuid != "" && !SameUUID(was.UUID, uuid)
}

// theSystem is the System itself, which leads to most of the rest.
func theSystem(w *Walk, _ string, s inventory.System) {
	if w.stranger = strange(w.system.Identity, s); w.stranger {
		return
	}
	w.raw.System = s
	w.now(
		eachOf(string(s.OEM.Hpe.Links.Adapters), inventory.PartMACs, takeAs(func(w *Walk, uri string, b inventory.AdapterBody) {
			w.raw.BaseAdapter(uri, b)
		})),
		readAs(string(s.OEM.Lenovo.BootSettings), inventory.PartMACs, networkBootOrder),
	)
	storage := takeAs(aStorage)
	simple := eachOf(string(s.SimpleStorage), inventory.PartDrives, storage)
	simple.when = func(w *Walk) bool { return len(w.raw.Drives) == 0 }
	base := readRaw(string(s.OEM.Nvidia), inventory.PartMACs, func(w *Walk, body []byte) { w.raw.BaseMAC(body) })
	// In its NIC mode a BlueField may take this one's time-out to answer.
	base.when = func(w *Walk) bool { return !w.raw.HasBurntIn() }
	w.then(base,
		w.manyOf(string(s.Processors), inventory.PartProcessors, takeAs(func(w *Walk, _ string, b inventory.ProcessorBody) {
			w.raw.Processors = append(w.raw.Processors, b)
		})),
		w.manyOf(string(s.Memory), inventory.PartMemory, takeAs(func(w *Walk, _ string, b inventory.MemoryBody) {
			w.raw.Memory = append(w.raw.Memory, b)
		})),
		eachOf(string(s.Storage), inventory.PartDrives, storage), simple,
		readAs(string(s.SecureBoot), inventory.PartSecureBoot, func(w *Walk, _ string, b inventory.SecureBootBody) { w.raw.SecureBoot = b }),
	)
}

// devices reads PCIe devices that the System lists, where its chassis have none
// (iDRACs list some that aren't there). A single link may be one to their
// collection.
func (w *Walk) devices(uris []string) {
	type deviceOrList struct {
		inventory.DeviceBody

		Members *refs
	}
	for _, uri := range uris[:min(maxDevices, len(uris))] {
		t := readAs(uri, inventory.PartPCIe, func(w *Walk, uri string, b deviceOrList) {
			if b.Members == nil {
				aDevice(w, uri, b.DeviceBody)

				return
			}
			var devices []task
			for _, member := range (*b.Members)[:min(maxDevices, len(*b.Members))] {
				devices = append(devices, readAs(member, inventory.PartPCIe, aDevice))
			}
			w.now(devices...)
		})
		t.when = func(w *Walk) bool { return !w.ofChassis }
		w.then(t)
	}
}

func aDevice(w *Walk, _ string, b inventory.DeviceBody) { w.raw.Devices = append(w.raw.Devices, b) }

func aChassis(w *Walk, _ string, b inventory.Chassis) {
	w.raw.Chassis = append(w.raw.Chassis, b)
	w.now(eachOf(string(b.NetworkAdapters), inventory.PartMACs, takeAs(anAdapter)))
	devices := w.manyOf(string(b.PCIeDevices), inventory.PartPCIe, takeAs(func(w *Walk, uri string, b inventory.DeviceBody) {
		w.ofChassis = true
		aDevice(w, uri, b)
	}))
	// One answer has all supplies; the newer subsystem has an answer for each.
	subsystem := readAs(string(b.PowerSubsystem), inventory.PartPowerSupplies, func(w *Walk, _ string, s struct{ PowerSupplies ref }) {
		w.now(eachOf(string(s.PowerSupplies), inventory.PartPowerSupplies, takeAs(func(w *Walk, _ string, b inventory.SupplyBody) {
			w.raw.Supplies = append(w.raw.Supplies, b)
		})))
	})
	subsystem.when = func(w *Walk) bool { return len(w.raw.Supplies) == 0 }
	environment := readAs(string(b.EnvironmentMetrics), partReadings, func(w *Walk, _ string, b inventory.EnvironmentBody) { w.raw.Environment(b) })
	environment.when = func(*Walk) bool { return b.Power == "" }
	w.then(devices, readAs(string(b.Power), inventory.PartPowerSupplies, func(w *Walk, _ string, b inventory.PowerBody) { w.raw.Power(b) }), subsystem,
		readAs(string(b.Thermal), partReadings, func(w *Walk, _ string, b inventory.ThermalBody) { w.raw.Thermal(b) }), environment)
}

// chassisOfTheSame are the chassis named as the System is, of a BMC that
// doesn't say which one is its own (Cray).
func chassisOfTheSame(w *Walk, _ string, b collectionBody) {
	for _, uri := range b.Members {
		if strings.EqualFold(path.Base(strings.TrimRight(uri, "/")), path.Base(w.system.URI)) {
			w.now(readAs(uri, inventory.PartMACs, aChassis))
		}
	}
}

func anInterface(w *Walk, _ string, b struct{ Links struct{ NetworkAdapter ref } }) {
	w.now(readAs(string(b.Links.NetworkAdapter), inventory.PartMACs, anAdapter))
}

func anAdapter(w *Walk, uri string, b inventory.AdapterBody) {
	a := w.raw.Adapter(uri, b)
	ports := b.Ports
	if ports == "" {
		ports = b.NetworkPorts
	}
	w.now(
		eachOf(string(b.Functions), inventory.PartMACs, takeAs(func(_ *Walk, uri string, b inventory.NICBody) { a.Function(uri, b) })),
		eachOf(string(ports), inventory.PartMACs, takeAs(func(_ *Walk, uri string, b inventory.NICBody) { a.Port(uri, b) })),
	)
}

func aManager(w *Walk, uri string, b inventory.Manager) {
	w.raw.Managers = append(w.raw.Managers, b)
	w.clock(uri, b)
	w.now(eachOf(string(b.EthernetInterfaces), inventory.PartMACs, takeAs(func(w *Walk, _ string, b inventory.NICBody) { w.raw.Own(b) })))
}

// networkBootOrder is one of Lenovo's boot orders. Its entries name addresses
// that no resource lists; what they don't name, BIOS attributes may.
func networkBootOrder(w *Walk, _ string, b collectionBody) {
	for _, uri := range b.Members {
		if !strings.HasSuffix(strings.ToLower(strings.TrimRight(uri, "/")), "networkbootorder") {
			continue
		}
		w.now(readRaw(uri, inventory.PartMACs, func(w *Walk, body []byte) {
			if !w.raw.BootOrder(body) {
				w.now(readRaw(string(w.raw.System.BIOS), inventory.PartMACs, func(w *Walk, body []byte) { w.raw.BIOSNames(body) }))
			}
		}))
	}
}

func aStorage(w *Walk, _ string, b inventory.StorageBody) {
	w.raw.Storage = append(w.raw.Storage, b)
	var drives []task
	for i, uri := range b.Drives {
		if i == maxMembers {
			break
		}
		drives = append(drives, readAs(uri, inventory.PartDrives, func(w *Walk, _ string, d inventory.DriveBody) { w.raw.Drives = append(w.raw.Drives, d) }))
	}
	w.now(drives...)
}

// otherSystems looks for the machine's GPU board: a System that can't be reset.
// Where others can be, nobody knows whose board it is.
func otherSystems(w *Walk, _ string, b collectionBody) {
	shared := false
	for i, uri := range b.Members {
		if lenient.SamePath(uri, w.system.path) || i >= maxMembers {
			continue
		}
		w.now(readAs(uri, inventory.PartProcessors, func(w *Walk, _ string, s inventory.System) {
			shared = shared || s.Actions.Reset != nil
			board := eachOf(string(s.Processors), inventory.PartProcessors, takeAs(func(w *Walk, _ string, b inventory.ProcessorBody) {
				w.raw.Board(b)
			}))
			board.when = func(*Walk) bool { return !shared }
			w.then(board)
		}))
	}
}
