package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// An SSHPublicKey is one line of an authorized_keys file (sshd(8)), without options.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=4096
// +kubebuilder:validation:XValidation:rule="self.matches('^(ssh|ecdsa|sk)-[a-zA-Z0-9@.-]+ [A-Za-z0-9+/=]+( [^\\n\\r]*)?$')",message="an SSH key must be one line of an authorized_keys file, without options: type, base64, comment"
type SSHPublicKey string

// A Protection refuses a deletion.
type Protection struct {
	// Reason is shown to who tries to delete, for instance "production database".
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason"`
}

// Storage says which disk is installed.
type Storage struct {
	// RootDevice chooses the disk; no match, or several, hold with reason AmbiguousDisk and a list.
	RootDevice v1alpha1.RootDevice `json:"rootDevice"`
}

// A NodeNetwork is one network that a machine is on.
//
// +kubebuilder:validation:XValidation:rule="self.addresses.size() <= 2",message="addresses has more than two entries; ask for one of IPv4 and one of IPv6, or one alone",fieldPath=".addresses"
// +kubebuilder:validation:XValidation:rule="self.addresses.size() != 2 || self.addresses[0].family != self.addresses[1].family",message="addresses are of one family; ask for one of IPv4 and one of IPv6, or one alone",fieldPath=".addresses"
type NodeNetwork struct {
	// Name of the network within this node, a DNS label; it becomes part of the names of the addresses' objects.
	//
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// NetworkRef names the BootNetwork. It must allow this namespace.
	NetworkRef v1alpha1.NamespacedReference `json:"networkRef"`

	// Interface is what the machine's system has the network on: port, bond, VLAN. Absent: nothing is said of it, and a system asks DHCP. It may be
	// changed, and is then part of the next install.
	//
	// +optional
	Interface *NodeInterface `json:"interface,omitempty"`

	// Addresses are what to allocate on the network: one, or one of IPv4 and one of IPv6, in any order. With both, the machine boots by
	// whichever its firmware asks for. The network must say where addresses of each family come from.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:default={{family: IPv4}}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Addresses []AddressRequest `json:"addresses,omitempty"`
}

// An AddressRequest asks for any free address of a family, or for one address.
//
// +kubebuilder:validation:XValidation:rule="!has(self.address) || isIP(self.address) || isCIDR(self.address)",message="address must be an IP address with or without its prefix length, for instance 10.77.0.40/24 or fd00:77::40",fieldPath=".address"
// +kubebuilder:validation:XValidation:rule="!has(self.address) || !isIP(self.address) && !isCIDR(self.address) || (self.family == 'IPv6') == ((isIP(self.address) ? ip(self.address) : cidr(self.address).ip()).family() == 6)",message="address is of the other family; an IPv6 address needs family: IPv6, which is IPv4 where it is absent",fieldPath=".address"
type AddressRequest struct {
	// Family of the address. An address that is given must be of it.
	//
	// +optional
	// +kubebuilder:default=IPv4
	Family v1alpha1.IPFamily `json:"family,omitempty"`

	// Address asks for exactly this one, with or without its prefix length. It must lie in one of the network's subnets.
	// Absent: the first free one.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=49
	Address string `json:"address,omitempty"`
}

// A NodeInterface is what a machine's system has a network on. The system is told so in its own language (docs/bootd.md).
//
// +kubebuilder:validation:XValidation:rule="!has(self.name) || !has(self.bond)",message="name is the one port, and a bond has its members: remove one",fieldPath=".name"
type NodeInterface struct {
	// From NetBox: what isn't said here (ports, bond, VLAN, MTU) is as NetBox has the interface that the machine's address is assigned to there. It's put
	// on one of the machine's own device, once a host is bound: which one the network's operator says, by addressesFrom.assignTo. Absent: what isn't said
	// isn't there.
	//
	// +optional
	From v1alpha1.InterfaceSource `json:"from,omitempty"`

	// Addressing is Static, which tells the system its addresses, or DHCP, which leaves them to its DHCP client.
	//
	// +optional
	// +kubebuilder:default=Static
	Addressing v1alpha1.Addressing `json:"addressing,omitempty"`

	// Name of the one port. Absent, without a bond: the only one that the machine has.
	//
	// +optional
	Name PortName `json:"name,omitempty"`

	// Bond joins several ports to one.
	//
	// +optional
	Bond *Bond `json:"bond,omitempty"`

	// VLANID tags the network on the port or bond. The machine's firmware boots without a tag, unless it's configured itself.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4094
	VLANID *int32 `json:"vlanID,omitempty"`

	// MTU of ports, bond and VLAN in bytes; that of the BootNetwork where it's absent.
	//
	// +optional
	// +kubebuilder:validation:Minimum=576
	// +kubebuilder:validation:Maximum=9216
	MTU int32 `json:"mtu,omitempty"`
}

// A Bond joins several ports to one.
type Bond struct {
	// Name of the bond in the machine's system; bond0 where it's absent.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9_-]*$')",message="name must be a lower-case letter, then letters, digits, dashes and underscores"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(port[0-9]+|lo|all|default)$')",message="ports are port0, port1, …, and lo, all and default are the kernel's: use another name, as bond0"
	Name string `json:"name,omitempty"`

	// Members are the ports. Absent: all that the machine has.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Members []PortName `json:"members,omitempty"`

	// Mode is how the members share the work.
	Mode BondMode `json:"mode"`
}

// A PortName is a network port of the claimed machine: by the name that its BMC gives it, such as NIC.Slot.1-1-1, or by its MAC. A port that the
// machine doesn't have holds the claim, with a list of those that it has.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
type PortName string

// A NodeHost is the machine that a claim is bound to.
type NodeHost struct {
	// Kind of the host.
	Kind string `json:"kind"`

	// Namespace of the host.
	Namespace string `json:"namespace"`

	// Name of the host.
	Name string `json:"name"`

	// Serial number of the machine.
	//
	// +optional
	Serial string `json:"serial,omitempty"`

	// Model of the machine, as its BMC says.
	//
	// +optional
	Model string `json:"model,omitempty"`
}

// A NodeAddress is one address allocated for a machine.
type NodeAddress struct {
	// Network is the name of the network within the node.
	Network string `json:"network"`

	// Family of the address.
	Family v1alpha1.IPFamily `json:"family"`

	// Address with its prefix length, for instance 10.77.0.11/24.
	Address string `json:"address"`
}

// NodeInstalled is what is on a machine's disk.
type NodeInstalled struct {
	// Generation is the installGeneration of the install.
	Generation int64 `json:"generation"`

	// ProfileDigest is the digest of the plan that was installed, without the user data.
	//
	// +optional
	ProfileDigest string `json:"profileDigest,omitempty"`

	// UserDataDigest is the digest of the user data that was given.
	//
	// +optional
	UserDataDigest string `json:"userDataDigest,omitempty"`

	// At is when the machine said that it was installed.
	//
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}

// A NodeTimeline says when each step of the current boot was seen.
type NodeTimeline struct {
	// PoweredOn is when the machine was switched on for this boot.
	//
	// +optional
	PoweredOn *metav1.Time `json:"poweredOn,omitempty"`

	// DHCP is when its firmware first asked for an address.
	//
	// +optional
	DHCP *metav1.Time `json:"dhcp,omitempty"`

	// Script is when iPXE was given its script.
	//
	// +optional
	Script *metav1.Time `json:"script,omitempty"`

	// Kernel is when the kernel was fetched.
	//
	// +optional
	Kernel *metav1.Time `json:"kernel,omitempty"`

	// Installed is when the machine said that it was installed.
	//
	// +optional
	Installed *metav1.Time `json:"installed,omitempty"`

	// Ready is when the machine was first seen doing what the claim asks for.
	//
	// +optional
	Ready *metav1.Time `json:"ready,omitempty"`
}
