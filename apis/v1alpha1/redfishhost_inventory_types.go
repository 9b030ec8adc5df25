package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A DiscardedMAC is an address that a BMC lists and that isn't taken for one of the machine's.
type DiscardedMAC struct {
	// Address as it was found.
	Address string `json:"address"`
	// Source that it was found in, such as EthernetInterfaces.
	// +optional
	Source string `json:"source,omitempty"`
	// Reason why it isn't taken: BMC (its own), HostInterface (its NIC towards the host), LocalBesideBurntIn (made up, beside burnt-in
	// ones), Placeholder, Multicast, NotEthernet, Shared (every machine of a kind has it) or Duplicate (listed for another port, too).
	Reason string `json:"reason"`
}

// HostInventory is what a machine consists of. Nothing in it changes by itself: link states, speeds of ports, temperatures and watts
// aren't here. Lists are bounded, equal parts are counted.
type HostInventory struct {
	// BIOSVersion is that of the machine's firmware.
	// +optional
	BIOSVersion string `json:"biosVersion,omitempty"`
	// BootMode is UEFI or Legacy, where the BMC tells.
	// +optional
	BootMode string `json:"bootMode,omitempty"`
	// Architecture is amd64 or arm64, where it's known.
	// +optional
	Architecture string `json:"architecture,omitempty"`
	// Processors are the CPUs.
	// +optional
	// +listType=atomic
	Processors []ProcessorFacts `json:"processors,omitempty"`
	// Memory of the machine.
	// +optional
	Memory *MemoryFacts `json:"memory,omitempty"`
	// Drives of the machine.
	// +optional
	// +listType=atomic
	Drives []DriveFacts `json:"drives,omitempty"`
	// NICs are the network adapters, with those of their addresses that are the machine's.
	// +optional
	// +listType=atomic
	NICs []NICFacts `json:"nics,omitempty"`
	// Accelerators are GPUs, DPUs, FPGAs and the like.
	// +optional
	// +listType=atomic
	Accelerators []DeviceFacts `json:"accelerators,omitempty"`
	// PCIe are all PCIe devices, those above among them.
	// +optional
	// +listType=atomic
	PCIe []DeviceFacts `json:"pcie,omitempty"`
	// TPM is the trusted module's interface, such as TPM2_0; absent where there's none.
	// +optional
	TPM string `json:"tpm,omitempty"`
	// SecureBoot is Enabled or Disabled for the current boot, where the BMC tells.
	// +optional
	SecureBoot string `json:"secureBoot,omitempty"`
	// PowerSupplies of the machine.
	// +optional
	// +listType=atomic
	PowerSupplies []PSUFacts `json:"powerSupplies,omitempty"`
	// Problems are the components to blame for bad health, the worst first.
	// +optional
	// +listType=atomic
	Problems []HealthProblem `json:"problems,omitempty"`
	// Partial are the parts of which the BMC refused to show something: what was known of them is kept.
	// +optional
	// +listType=atomic
	Partial []string `json:"partial,omitempty"`
	// Truncated are the lists that are longer than they're shown.
	// +optional
	// +listType=atomic
	Truncated []string `json:"truncated,omitempty"`
	// RefreshedAt is when it last was read and found to be another than before.
	// +optional
	RefreshedAt *metav1.Time `json:"refreshedAt,omitempty"`
}

// ProcessorFacts are a group of equal CPUs.
type ProcessorFacts struct {
	// Model of the CPU.
	// +optional
	Model string `json:"model,omitempty"`
	// Manufacturer of the CPU.
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// Cores of each.
	// +optional
	Cores int64 `json:"cores,omitempty"`
	// Threads of each.
	// +optional
	Threads int64 `json:"threads,omitempty"`
	// Count of such CPUs.
	Count int64 `json:"count"`
}

// MemoryFacts is the memory of a machine.
type MemoryFacts struct {
	// Total of all modules.
	// +optional
	Total *resource.Quantity `json:"total,omitempty"`
	// Modules in it.
	// +optional
	// +listType=atomic
	Modules []MemoryModuleFacts `json:"modules,omitempty"`
}

// MemoryModuleFacts are a group of equal memory modules.
type MemoryModuleFacts struct {
	// Size of each.
	Size resource.Quantity `json:"size"`
	// Type of the module, such as DDR5.
	// +optional
	Type string `json:"type,omitempty"`
	// SpeedMHz that it runs at.
	// +optional
	SpeedMHz int64 `json:"speedMHz,omitempty"`
	// Manufacturer of the module.
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// Count of such modules.
	Count int64 `json:"count"`
}

// DriveFacts are what is known of a drive.
type DriveFacts struct {
	// ID of the drive in its BMC.
	ID string `json:"id"`
	// Model of the drive.
	// +optional
	Model string `json:"model,omitempty"`
	// Serial number of the drive.
	// +optional
	Serial string `json:"serial,omitempty"`
	// Size of the drive.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// Type is NVMe, SSD or HDD, where the BMC tells.
	// +optional
	Type string `json:"type,omitempty"`
	// Health is OK, Warning or Critical.
	// +optional
	Health string `json:"health,omitempty"`
}

// NICFacts are what is known of a network adapter.
type NICFacts struct {
	// ID of the adapter in its BMC.
	ID string `json:"id"`
	// Manufacturer of the adapter.
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// Model of the adapter.
	// +optional
	Model string `json:"model,omitempty"`
	// Ports of the adapter that have an address of the machine's.
	// +optional
	// +listType=atomic
	Ports []PortFacts `json:"ports,omitempty"`
}

// PortFacts are what is known of a network port.
type PortFacts struct {
	// ID of the port in its BMC.
	// +optional
	ID string `json:"id,omitempty"`
	// MACs of the port.
	// +optional
	// +listType=atomic
	MACs []string `json:"macs,omitempty"`
}

// DeviceFacts are a group of equal devices.
type DeviceFacts struct {
	// Kind of an accelerator, such as GPU.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Manufacturer of the device.
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// Model of the device.
	// +optional
	Model string `json:"model,omitempty"`
	// Count of such devices.
	Count int64 `json:"count"`
}

// PSUFacts are what is known of a power supply.
type PSUFacts struct {
	// ID of the power supply in its BMC.
	ID string `json:"id"`
	// Model of the power supply.
	// +optional
	Model string `json:"model,omitempty"`
	// Watts that it can give.
	// +optional
	Watts int64 `json:"watts,omitempty"`
	// Health is OK, Warning or Critical.
	// +optional
	Health string `json:"health,omitempty"`
}

// A HealthProblem is a component that isn't well.
type HealthProblem struct {
	// Component, such as drive Disk.Bay.3.
	Component string `json:"component"`
	// Health is Warning or Critical.
	Health string `json:"health"`
	// Message of the BMC, where it says more.
	// +optional
	Message string `json:"message,omitempty"`
}
