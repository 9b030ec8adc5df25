package inventory

import (
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// The resources that an inventory is made of, as far as they are read. What one
// of a vendor hasn't stays empty.
type (
	text   = lenient.Text
	texts  = lenient.Texts
	number = lenient.Number
	flag   = lenient.Flag
	ref    = lenient.Ref
	refs   = lenient.Refs
)

// Status of a resource.
type Status struct {
	State, Health, HealthRollup text
	Conditions                  conditions
}

// Named is what most resources tell of themselves.
type Named struct {
	ID           text `json:"Id"`
	MemberID     text `json:"MemberId"`
	Name         text
	Manufacturer text
	Model        text
	SerialNumber text
	Status       Status
}

// System is a ComputerSystem.
type System struct {
	Named

	UUID        text
	BIOSVersion text `json:"BiosVersion"`
	Boot        struct {
		Mode text `json:"BootSourceOverrideMode"`
	}
	ProcessorSummary struct{ Model text }
	MemorySummary    struct {
		GiB number `json:"TotalSystemMemoryGiB"`
	}
	TrustedModules modules

	Processors, Memory, Storage, SimpleStorage, SecureBoot ref
	BIOS                                                   ref  `json:"Bios"`
	PCIeDevices                                            refs // a list; one link is a collection
	Links                                                  struct{ Chassis refs }
	OEM                                                    struct {
		// HPE's adapters, which iLO 5 lists nowhere else.
		Hpe struct {
			Links struct {
				Adapters ref `json:"NetworkAdapters"`
			}
		}
		// Lenovo's order of network boots names addresses that nothing else does.
		Lenovo struct{ BootSettings ref }
		// BlueField's own resource has its first address.
		Nvidia ref
	} `json:"Oem"`
	Actions struct {
		Reset *struct{} `json:"#ComputerSystem.Reset"`
	}
}

// Chassis of a System.
type Chassis struct {
	Named

	NetworkAdapters, PCIeDevices, Power, PowerSubsystem, Thermal, EnvironmentMetrics ref
}

// Manager is a BMC.
type Manager struct {
	Named

	FirmwareVersion    text
	EthernetInterfaces ref
	DateTime           text
	LocalOffset        text `json:"DateTimeLocalOffset"`
	NetworkProtocol    ref
}

// ProcessorBody is a CPU, GPU or the like.
type ProcessorBody struct {
	Named

	Type         text   `json:"ProcessorType"`
	Cores        number `json:"TotalCores"`
	Threads      number `json:"TotalThreads"`
	Architecture text   `json:"ProcessorArchitecture"`
	Instructions text   `json:"InstructionSet"`
}

// MemoryBody is a memory module.
type MemoryBody struct {
	Named

	MiB      number `json:"CapacityMiB"`
	Type     text   `json:"MemoryDeviceType"`
	SpeedMHz number `json:"OperatingSpeedMhz"`
}

// StorageBody is a storage subsystem.
type StorageBody struct {
	Named

	Drives      refs
	Controllers named   `json:"StorageControllers"`
	Devices     devices // of SimpleStorage
}

// DriveBody is a drive.
type DriveBody struct {
	Named

	Bytes     number `json:"CapacityBytes"`
	MediaType text
	Protocol  text
}

// DeviceBody is a PCIe device.
type DeviceBody struct {
	Named

	DeviceType text
}

// SupplyBody is a power supply.
type SupplyBody struct {
	Named

	Watts number `json:"PowerCapacityWatts"`
}

// PowerBody is a chassis' Power, which has all supplies in it.
type PowerBody struct {
	PowerSupplies supplies
	Control       controls `json:"PowerControl"`
}

// SecureBootBody is a System's SecureBoot.
type SecureBootBody struct {
	Current text `json:"SecureBootCurrentBoot"`
}

// NICBody fits EthernetInterface, NetworkDeviceFunction, Port, NetworkPort and
// BootOption.
type NICBody struct {
	ID        text `json:"Id"`
	MAC       text `json:"MACAddress"`
	Permanent text `json:"PermanentMACAddress"`
	Enabled   flag `json:"InterfaceEnabled"`
	Function  text `json:"NetDevFuncType"`
	Ethernet  struct {
		MAC       text  `json:"MACAddress"`
		Permanent text  `json:"PermanentMACAddress"`
		Ports     texts `json:"AssociatedMACAddresses"`
	}
	NetworkPort texts `json:"AssociatedNetworkAddresses"`
	DevicePath  text  `json:"UefiDevicePath"`
	Links       struct{ HostInterface ref }
}

// AdapterBody is a NetworkAdapter, or one of HPE's BaseNetworkAdapters.
type AdapterBody struct {
	Named

	Functions    ref `json:"NetworkDeviceFunctions"`
	Ports        ref
	NetworkPorts ref
	// Physical are the ports of a BaseNetworkAdapter.
	Physical physicals `json:"PhysicalPorts"`
}
