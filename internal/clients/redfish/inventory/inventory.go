// Package inventory makes one list of what a machine consists of out of what its BMC says of each part. It is pure: package redfish
// reads, and what can't be read is told to it as missing.
package inventory

// Parts of an inventory, as a BMC may refuse to show them.
const (
	PartMACs          = "macs"
	PartSystem        = "system"
	PartProcessors    = "processors"
	PartMemory        = "memory"
	PartDrives        = "drives"
	PartPCIe          = "pcie"
	PartPowerSupplies = "powerSupplies"
	PartSecureBoot    = "secureBoot"
)

// Inventory is what changes rarely and takes many requests to read.
type Inventory struct {
	Machine

	// MACs of the machine, in the order found.
	MACs []MAC
	// Discarded are addresses that were found and aren't a NIC's, or not one that
	// this machine boots from.
	Discarded []Discarded
	// Firmware version of the first manager, and its Model.
	Firmware, BMCModel string
	// Manufacturer and Model of the System's chassis, for Systems that don't
	// tell their own.
	Manufacturer, Model string
	// Partial says that the BMC refused to show a resource which it listed, and
	// that may be a NIC's.
	Partial bool
	// Refused are the Parts of which it refused to show something, sorted.
	Refused []string
	// Readings of the moment, which are no part of what a machine consists of.
	Readings Readings
	// Clock of the BMC.
	Clock Clock
	// Quirks are the names of the rows that are followed with the machine.
	Quirks []string
	// Requests that reading it took, and how many of them were answered by the
	// word that nothing has changed.
	Requests, Unchanged int
}

// Machine is what a machine consists of. Its lists are grouped and bounded, and
// in an order that doesn't depend on the one in which the BMC lists things.
type Machine struct {
	BIOSVersion string
	// BootMode is UEFI, Legacy or "".
	BootMode string
	// Architecture is amd64, arm64 or "".
	Architecture string
	// TPM is the interface of the trusted module, such as TPM2_0; "" is none.
	TPM string
	// SecureBoot is Enabled or Disabled for the boot that runs, or "".
	SecureBoot    string
	Processors    []Processor
	Memory        Memory
	Drives        []Drive
	NICs          []NIC
	Accelerators  []Device
	PCIe          []Device
	PowerSupplies []PowerSupply
	Problems      []Problem
	// Truncated are the lists that are longer than is shown.
	Truncated []string
}

// Processor is a group of equal CPUs. Cores and Threads are those of one.
type Processor struct {
	Model, Manufacturer   string
	Cores, Threads, Count int64
}

// Memory of a machine.
type Memory struct {
	// Bytes in all.
	Bytes   int64
	Modules []Module
}

// Module is a group of equal memory modules.
type Module struct {
	Bytes              int64
	Type, Manufacturer string
	SpeedMHz, Count    int64
}

// Drive of a machine.
type Drive struct {
	ID, Model, Serial string
	Bytes             int64
	// Type is NVMe, SSD, HDD or "".
	Type, Health string
}

// NIC is a network adapter.
type NIC struct {
	ID, Manufacturer, Model string
	Ports                   []Port
}

// Port of a network adapter, with those of its addresses that are the machine's.
type Port struct {
	ID   string
	MACs []string
}

// Device is a group of equal devices.
type Device struct {
	// Kind is GPU, DPU, FPGA and the like; "" for PCIe devices.
	Kind, Manufacturer, Model string
	Count                     int64
}

// PowerSupply of a machine.
type PowerSupply struct {
	ID, Model string
	// Watts that it can give; 0 where it doesn't tell.
	Watts  int64
	Health string
}

// Problem is a component that isn't well.
type Problem struct {
	Component, Health, Message string
}
