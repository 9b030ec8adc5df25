package v1alpha1

// BondMode is how the ports of a bond share the work.
// +kubebuilder:validation:Enum=LACP;ActiveBackup;BalanceXOR
type BondMode string

// Values of BondMode.
const (
	// BondLACP is IEEE 802.3ad.
	BondLACP BondMode = "LACP"
	// BondActiveBackup uses one port at a time.
	BondActiveBackup BondMode = "ActiveBackup"
	// BondBalanceXOR spreads by a hash of the addresses.
	BondBalanceXOR BondMode = "BalanceXOR"
)

// Addressing says how a system comes by its addresses.
// +kubebuilder:validation:Enum=Static;DHCP
type Addressing string

// Values of Addressing.
const (
	AddressingStatic Addressing = "Static"
	AddressingDHCP   Addressing = "DHCP"
)

// InterfaceSource is who knows what isn't said of an interface.
// +kubebuilder:validation:Enum=NetBox
type InterfaceSource string

// InterfaceFromNetBox is NetBox, by the interface that an address is assigned to.
const InterfaceFromNetBox InterfaceSource = "NetBox"

// An EntryInterface is what a machine's system has a network on. bootd makes of it, and of what NetBox and the BootNetwork say, the network
// config of cloud-init, the state of nmstate and the network of a Talos machine config (docs/bootd.md).
// +kubebuilder:validation:XValidation:rule="has(self.bond) || has(self.from) || !has(self.macs) || size(self.macs) == 1",message="macs without a bond names one port",fieldPath=".macs"
// +kubebuilder:validation:XValidation:rule="!has(self.ports) || !has(self.macs)",message="ports and macs are two ways to name ports: remove one",fieldPath=".ports"
// +kubebuilder:validation:XValidation:rule="has(self.bond) || has(self.from) || !has(self.ports) || size(self.ports) == 1",message="ports without a bond names one port",fieldPath=".ports"
type EntryInterface struct {
	// From NetBox: what isn't said here (ports, bond, VLAN, MTU) is as NetBox has the interface that the network's addresses are assigned to
	// (assignTo of a NetBoxIPAddress). The ports must be the machine's. Absent: what isn't said isn't there.
	// +optional
	From InterfaceSource `json:"from,omitempty"`
	// Addressing is Static, which says the addresses, or DHCP, which leaves them to the system's DHCP client.
	// +optional
	// +kubebuilder:default=Static
	Addressing Addressing `json:"addressing,omitempty"`
	// MACs of the ports, of those that the machine has. Absent: all of them for a bond; without one the machine must have a single MAC.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=17
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.matches('^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$'))",message="macs must look like 52:54:00:00:00:01"
	MACs []string `json:"macs,omitempty"`
	// Ports in the place of macs, each by the name that the bound host's BMC gives it (status.atProvider.macs[].port of the RedfishHost), or by its
	// MAC there. Those of no other machine are ever meant.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	Ports []string `json:"ports,omitempty"`
	// VLANID tags the network on the port or the bond. The machine's firmware boots without a tag, unless it's configured itself.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4094
	VLANID int32 `json:"vlanID,omitempty"`
	// MTU of ports, bond and VLAN in bytes; that of the BootNetwork where it's absent.
	// +optional
	// +kubebuilder:validation:Minimum=576
	// +kubebuilder:validation:Maximum=9216
	MTU int32 `json:"mtu,omitempty"`
	// Bond joins the ports to one, which has the machine's address. Its firmware boots by any of them, with the same address.
	// +optional
	Bond *EntryBond `json:"bond,omitempty"`
}

// An EntryBond joins several ports to one.
type EntryBond struct {
	// Name of the bond in the system; bond0 where it's absent.
	// +optional
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9_-]*$')",message="name must be a lower-case letter, then letters, digits, dashes and underscores"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(port[0-9]+|lo|all|default)$')",message="ports are port0, port1, …, and lo, all and default are the kernel's: use another name, as bond0"
	Name string `json:"name,omitempty"`
	// Mode is how the ports share the work.
	Mode BondMode `json:"mode"`
}
