package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A MachineSelector says which machine an entry is for.
// +kubebuilder:validation:XValidation:rule="has(self.hostClaimRef) != (has(self.macs) && size(self.macs) > 0 || has(self.port))",message="exactly one of hostClaimRef and macs must be set; port may stand in the place of macs, or beside them"
// +kubebuilder:validation:XValidation:rule="!has(self.hostClaimRef) || !has(self.uuid) && !has(self.serial)",message="uuid and serial belong to macs: a HostClaim's machine is known by its host"
// +kubebuilder:validation:XValidation:rule="!has(self.hostClaimRef) || !has(self.firstStage)",message="firstStage belongs to macs: a HostClaim's machine has that of its host",fieldPath=".firstStage"
// +kubebuilder:validation:XValidation:rule="!has(self.hostClaimRef) || !has(self.localBoot)",message="localBoot belongs to macs: a HostClaim's machine has that of its host",fieldPath=".localBoot"
type MachineSelector struct {
	// HostClaimRef names a HostClaim of this namespace. It's served only while bound.
	// +optional
	HostClaimRef *LocalReference `json:"hostClaimRef,omitempty"`
	// MACs of the machine; only in the BootNetwork's own namespace. A bound host always beats them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=17
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.matches('^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$'))",message="macs must look like 52:54:00:00:00:01"
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.matches('^[0-9a-fA-F][02468aceACE]'))",message="macs must not be multicast: the second digit must be even"
	MACs []string `json:"macs,omitempty"`
	// Port of a switch that the machine is behind; only where macs may be set, and where the BootNetwork names its dhcp.relays. Beside macs, the
	// machine is installed behind that port alone. Without macs, whatever boots from the network behind that port first is the machine; nothing
	// is installed on it.
	// +optional
	Port *SwitchPort `json:"port,omitempty"`
	// UUID of the machine that has the macs: one that says another in DHCP gets no answer.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	UUID string `json:"uuid,omitempty"`
	// Serial number of the machine that has the macs, for its records.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Serial string `json:"serial,omitempty"`
	// FirstStage says what the UEFI of the machine that has the macs loads first by PXE: Auto is iPXE by the firmware's own driver of the NIC
	// where there is one for the processor, else as Shim; Shim is Debian's signed shim and grub, for a machine with Secure Boot; NativeIPXE is
	// iPXE with drivers of its own, for firmware whose driver doesn't go on. Auto where absent.
	// +optional
	FirstStage FirstStage `json:"firstStage,omitempty"`
	// LocalBoot says how the firmware of the machine that has the macs is sent to its disk: Auto, Exit, Sanboot, NotFound or Grub, as that of a host.
	// Auto where absent.
	// +optional
	LocalBoot LocalBoot `json:"localBoot,omitempty"`
}

// An EntryAddress is one address of a machine on a segment.
// +kubebuilder:validation:XValidation:rule="has(self.ref) != has(self.address)",message="exactly one of ref and address must be set"
type EntryAddress struct {
	// Ref names a NetBoxIPAddress of this namespace.
	// +optional
	Ref *LocalReference `json:"ref,omitempty"`
	// Address with its mask, such as 10.77.0.40/24, only in the BootNetwork's own namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="address must be an address with its mask, such as 10.77.0.40/24"
	Address string `json:"address,omitempty"`
}

// An EntryNetwork is one segment that a machine is on; the first one boots.
// +kubebuilder:validation:XValidation:rule="size(self.addresses) <= 2",message="addresses has more than two entries; name one of IPv4 and one of IPv6, or one alone",fieldPath=".addresses"
// +kubebuilder:validation:XValidation:rule="size(self.addresses) != 2 || !self.addresses.all(a, has(a.address) && isCIDR(a.address)) || cidr(self.addresses[0].address).ip().family() != cidr(self.addresses[1].address).ip().family()",message="addresses are of one family; name one of IPv4 and one of IPv6, or one alone",fieldPath=".addresses"
// +kubebuilder:validation:XValidation:rule="!has(self.interface) || !has(self.interface.from) || self.addresses.exists(a, has(a.ref))",message="interface.from: NetBox is of the interface that a NetBoxIPAddress is assigned to: name one by ref in addresses",fieldPath=".interface.from"
type EntryNetwork struct {
	// Name of the attachment.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// NetworkRef names the BootNetwork.
	NetworkRef NamespacedReference `json:"networkRef"`
	// Addresses of the machine on it: one, or one of IPv4 and one of IPv6. With both, it boots by whichever its firmware asks for.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Addresses []EntryAddress `json:"addresses"`
	// Interface is what the machine's system has the network on: ports, bond, VLAN, MTU. Absent: nothing is said of it, and a system asks DHCP.
	// +optional
	Interface *EntryInterface `json:"interface,omitempty"`
}

// EntryInstall is what is asked of the machine's disk.
type EntryInstall struct {
	// Generation, raised, asks for one install. It never falls; 0 boots from disk.
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	Generation int64 `json:"generation"`
}

// Otherwise says what a machine is told that may not be installed.
// +kubebuilder:validation:Enum=LocalDisk;Hold;Inspect
type Otherwise string

// Values of Otherwise.
const (
	OtherwiseLocalDisk Otherwise = "LocalDisk"
	OtherwiseHold      Otherwise = "Hold"
)

// BootEntryParameters say which machine boots what.
// +kubebuilder:validation:XValidation:rule="!has(self.machine.port) || has(self.machine.macs) && size(self.machine.macs) > 0 || self.install.generation == 0",message="machine.port without machine.macs installs nothing: a port says where a machine is, and not which; name its macs, or leave install.generation 0",fieldPath=".machine.port"
// +kubebuilder:validation:XValidation:rule="self.install.generation >= oldSelf.install.generation",message="install.generation never falls: raise it to ask for another install, or leave it as it is",fieldPath=".install"
// +kubebuilder:validation:XValidation:rule="size(self.networks) <= 1",message="networks with more than one entry is not supported yet; name the network to boot from",fieldPath=".networks"
// +kubebuilder:validation:XValidation:rule="!has(self.otherwise) || self.otherwise != 'Inspect'",message="otherwise: Inspect is not supported yet; use LocalDisk or Hold",fieldPath=".otherwise"
// +kubebuilder:validation:XValidation:rule="!has(self.networkDataSecretRef) || !self.networks.exists(n, has(n.interface))",message="networkDataSecretRef and a network's interface are two network configs: remove one",fieldPath=".networkDataSecretRef"
// +kubebuilder:validation:XValidation:rule="has(self.machine.hostClaimRef) || !self.networks.exists(n, has(n.interface) && has(n.interface.ports))",message="interface.ports are names that a host's BMC gives; a machine that is named by macs has interface.macs",fieldPath=".networks"
// +kubebuilder:validation:XValidation:rule="!has(self.rootDevice)",message="rootDevice is not supported yet; the machine's only disk is taken",fieldPath=".rootDevice"
type BootEntryParameters struct {
	// Machine says which machine boots.
	Machine MachineSelector `json:"machine"`
	// ProfileRef names the BootProfile that it boots.
	ProfileRef NamespacedReference `json:"profileRef"`
	// Parameters are values for the profile's declared parameters, each of which must match the pattern declared there.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 63 && size(self[k]) <= 1024)",message="a parameter's name has at most 63 characters and its value at most 1024; user data has room for more"
	Parameters map[string]string `json:"parameters,omitempty"`
	// Networks that the machine is on; the first one boots. One is supported yet.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Networks []EntryNetwork `json:"networks"`
	// Hostname of the machine without a domain, a DNS label.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="hostname must be a DNS label: lower-case letters, digits and dashes, beginning and ending with a letter or a digit"
	Hostname string `json:"hostname,omitempty"`
	// UserDataSecretRef names a Secret of this namespace whose value under key is the machine's user data.
	// +optional
	UserDataSecretRef *LocalKeyReference `json:"userDataSecretRef,omitempty"`
	// NetworkDataSecretRef names a Secret of this namespace whose value under key is a network config of cloud-init, version 1 or 2. It may
	// name the machine's address, gateway, DNS servers and MTU, which are filled in (docs/bootd.md). It takes the place of DHCP on the
	// machine's system, which must report that it runs. For userDataFormat CloudInit and Autoinstall.
	// +optional
	NetworkDataSecretRef *LocalKeyReference `json:"networkDataSecretRef,omitempty"`
	// VendorDataSecretRef names a Secret of this namespace whose value under key is vendor data of cloud-init, what user data overrides. For
	// userDataFormat CloudInit and Autoinstall.
	// +optional
	VendorDataSecretRef *LocalKeyReference `json:"vendorDataSecretRef,omitempty"`
	// SSHAuthorizedKeys may log in to the machine, each a line of an authorized_keys file. They need a profile with CloudInit.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([^\\n\\r]+[ \\t])?(ssh|ecdsa|sk)-[a-zA-Z0-9@.-]+[ \\t]+[A-Za-z0-9+/=]+([ \\t][^\\n\\r]*)?\\n?$'))",message="a key of sshAuthorizedKeys must be one line of an authorized_keys file: options, type, base64, comment"
	SSHAuthorizedKeys []string `json:"sshAuthorizedKeys,omitempty"`
	// RootDevice that the image is written to. Not supported yet: the machine's only disk is taken.
	// +optional
	RootDevice *RootDevice `json:"rootDevice,omitempty"`
	// Install is what is asked of the machine's disk.
	// +kubebuilder:default={generation: 0}
	Install EntryInstall `json:"install"`
	// Confirm answers NeedsConfirmation, by the serial number of the machine that may go on.
	// +optional
	Confirm *Confirmation `json:"confirm,omitempty"`
	// Otherwise says what the machine is told when it may not be installed: LocalDisk, Hold, or Inspect (not supported yet).
	// +optional
	// +kubebuilder:default=LocalDisk
	Otherwise Otherwise `json:"otherwise,omitempty"`
}

// A BootStage says where a boot is.
// +kubebuilder:validation:Enum=Waiting;DHCP;Firmware;Script;Kernel;Installing;Installed;BootedFromDisk;Failed
type BootStage string

// Values of BootStage, in the order of a boot.
const (
	StageWaiting        BootStage = "Waiting"
	StageDHCP           BootStage = "DHCP"
	StageFirmware       BootStage = "Firmware"
	StageScript         BootStage = "Script"
	StageKernel         BootStage = "Kernel"
	StageInstalling     BootStage = "Installing"
	StageInstalled      BootStage = "Installed"
	StageBootedFromDisk BootStage = "BootedFromDisk"
	StageFailed         BootStage = "Failed"
)

// A BootTimeline says when a machine was where in its newest boot.
type BootTimeline struct {
	// DHCP is the first answered DISCOVER.
	// +optional
	DHCP *metav1.MicroTime `json:"dhcp,omitempty"`
	// Firmware is the first transfer of a boot file.
	// +optional
	Firmware *metav1.MicroTime `json:"firmware,omitempty"`
	// Script is the first script served.
	// +optional
	Script *metav1.MicroTime `json:"script,omitempty"`
	// Kernel is the kernel served.
	// +optional
	Kernel *metav1.MicroTime `json:"kernel,omitempty"`
	// Began is the consumption of the grant.
	// +optional
	Began *metav1.MicroTime `json:"began,omitempty"`
	// Installed is the machine's own report.
	// +optional
	Installed *metav1.MicroTime `json:"installed,omitempty"`
	// BootedFromDisk is the first sign of its disk after that.
	// +optional
	BootedFromDisk *metav1.MicroTime `json:"bootedFromDisk,omitempty"`
}

// BootEntryObservation is what the boot plane says of the machine.
type BootEntryObservation struct {
	// Plan that bootd serves; absent where something is missing.
	// +optional
	Plan *Plan `json:"plan,omitempty"`
	// Grant is a mirror of the session's; absent where nothing is granted.
	// +optional
	Grant *Grant `json:"grant,omitempty"`
	// GrantConsumed says whether the mirrored grant was used.
	// +optional
	GrantConsumed bool `json:"grantConsumed,omitempty"`
	// InstalledGeneration is the newest generation that is installed.
	// +optional
	InstalledGeneration int64 `json:"installedGeneration,omitempty"`
	// Installed says what is on the disk.
	// +optional
	Installed *InstalledObservation `json:"installed,omitempty"`
	// Stage of the newest boot.
	// +optional
	Stage BootStage `json:"stage,omitempty"`
	// Timeline of the newest boot.
	// +optional
	Timeline BootTimeline `json:"timeline,omitempty"`
	// LastReport is what the machine said last.
	// +optional
	LastReport string `json:"lastReport,omitempty"`
}

// An InstalledObservation says what is on a disk.
type InstalledObservation struct {
	// Generation that was installed.
	Generation int64 `json:"generation"`
	// PlanDigest of the plan that was installed.
	PlanDigest string `json:"planDigest"`
	// ProfileDigest of the profile that was installed.
	// +optional
	ProfileDigest string `json:"profileDigest,omitempty"`
	// UserDataDigest of the user data that was given.
	// +optional
	UserDataDigest string `json:"userDataDigest,omitempty"`
	// At is when the machine said so.
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}

// BootEntrySpec is the desired state of an entry.
type BootEntrySpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider says which machine boots what.
	ForProvider BootEntryParameters `json:"forProvider"`
}

// BootEntryStatus is the observed state of an entry.
type BootEntryStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is what the boot plane says of the machine.
	// +optional
	AtProvider BootEntryObservation `json:"atProvider,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,baremetal},shortName=bent
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="STAGE",type="string",JSONPath=".status.atProvider.stage"
// +kubebuilder:printcolumn:name="ADDRESS",type="string",JSONPath=".status.atProvider.plan.network.address"
// +kubebuilder:printcolumn:name="MAC",type="string",JSONPath=".status.atProvider.plan.macs[0]"
// +kubebuilder:printcolumn:name="REASON",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Planned')].reason"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",priority=1,JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A BootEntry says which machine boots what, with which address, under which intent. Its external
// name is the UID of its BootSession.
type BootEntry struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BootEntrySpec   `json:"spec"`
	Status BootEntryStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// BootEntryList is a list of BootEntries.
type BootEntryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []BootEntry `json:"items"`
}
