package redfish

import "github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"

// Where a MAC was found first.
const (
	SourceEthernetInterface = inventory.SourceEthernetInterface
	SourceDeviceFunction    = inventory.SourceDeviceFunction
	SourcePort              = inventory.SourcePort
	SourceBootOption        = inventory.SourceBootOption
)

// MAC is one address of a machine.
type MAC = inventory.MAC

// ParseMAC normalises a MAC as BMCs write it, and reports false for anything
// that can't be the address of one NIC.
func ParseMAC(s string) (string, bool) { return inventory.ParseMAC(s) }
