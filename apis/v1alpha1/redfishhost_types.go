package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PowerState is what is wanted, or seen, of a machine's power. Never a bare "On", which YAML reads as
// a boolean. Each field says which values it takes.
type PowerState string

// Values of PowerState. Unmanaged is a wish only, PoweringOn and PoweringOff are sights only.
const (
	PoweredOn   PowerState = "PoweredOn"
	PoweredOff  PowerState = "PoweredOff"
	Unmanaged   PowerState = "Unmanaged"
	PoweringOn  PowerState = "PoweringOn"
	PoweringOff PowerState = "PoweringOff"
)

// A SystemSelector chooses one ComputerSystem behind a BMC that has several.
// +kubebuilder:validation:XValidation:rule="(has(self.id)?1:0)+(has(self.uuid)?1:0)+(has(self.serial)?1:0) == 1",message="exactly one of id, uuid and serial must be set"
type SystemSelector struct {
	// ID is the last part of the System's URI, such as 1 or System.Embedded.1.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ID string `json:"id,omitempty"`
	// UUID of the System.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	UUID string `json:"uuid,omitempty"`
	// Serial number of the System.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Serial string `json:"serial,omitempty"`
}

// PowerOff says how a machine is powered off.
type PowerOff struct {
	// Grace is how long its operating system may take to shut down, such as 5m.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}(h|m|s)){1,4}$')",message="grace must be a duration in hours, minutes and seconds, such as 5m"
	Grace metav1.Duration `json:"grace,omitempty"`
	// Then is Force (cut the power after the grace) or Never.
	// +optional
	// +kubebuilder:validation:Enum=Force;Never
	// +kubebuilder:default=Force
	Then string `json:"then,omitempty"`
}

// A HostTaint keeps claims that don't tolerate it away.
type HostTaint struct {
	// Key of the taint.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
	// Effect is NoBind.
	Effect TaintEffect `json:"effect"`
}

// HostMaintenance takes a host out of use, and says why.
type HostMaintenance struct {
	// Reason of the maintenance.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason"`
	// Until when it's expected to last, for people: the host stays out of use until maintenance is taken away.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self >= timestamp('1970-01-01T00:00:00Z')",message="until must be a time that exists, such as 2026-08-01T10:00:00Z"
	Until *metav1.Time `json:"until,omitempty"`
}

// RedfishHostParameters are what is wanted of a host. What isn't built yet is refused here, one line a field.
// +kubebuilder:validation:XValidation:rule="!has(self.taints) || size(self.taints) == 0",message="taints is not supported yet; use unschedulable",fieldPath=".taints"
// +kubebuilder:validation:XValidation:rule="!has(self.credentialsRotation) || has(self.credentialsSecretRef)",message="only a host's own Secret is rotated: set credentialsSecretRef",fieldPath=".credentialsRotation"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.bmcResetGeneration) || (has(self.bmcResetGeneration) && self.bmcResetGeneration >= oldSelf.bmcResetGeneration)",message="bmcResetGeneration never falls: raise it to have the BMC restarted once more, or leave it as it is",fieldPath=".bmcResetGeneration"
// +kubebuilder:validation:XValidation:rule="self.resetGeneration >= oldSelf.resetGeneration",message="resetGeneration never falls: raise it to ask for another reset, or leave it as it is",fieldPath=".resetGeneration"
type RedfishHostParameters struct {
	// Address of the BMC: host, host:port, [v6], or an https URL, which may have a prefix (several BMCs behind one proxy), and may be that
	// of a System, as copied from a browser: then that System is meant. An http URL is used with tls.verify None of the provider config
	// alone, and is for test labs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address"`
	// System to manage where the BMC has several.
	// +optional
	System *SystemSelector `json:"system,omitempty"`
	// CredentialsSecretRef names a Secret of this namespace with the keys username and password,
	// instead of the provider config's.
	// +optional
	CredentialsSecretRef *LocalReference `json:"credentialsSecretRef,omitempty"`
	// TLS of this BMC, instead of the provider config's. Trust on first use writes its pin here.
	// +optional
	TLS *HostTLS `json:"tls,omitempty"`
	// MACs that are added to what the BMC lists.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=17
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.matches('^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$'))",message="macs must look like 52:54:00:00:00:01"
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.matches('^[0-9a-fA-F][02468aceACE]'))",message="macs must not be multicast: the second digit must be even"
	MACs []string `json:"macs,omitempty"`
	// NetBoxDevice is the machine's device in NetBox, for addresses that are assigned to the host. Where it's absent, the device of
	// the host's name. Nothing is asked of NetBox for it until then.
	// +optional
	NetBoxDevice *NetBoxDevice `json:"netboxDevice,omitempty"`
	// Power that is wanted: PoweredOn or PoweredOff. Unmanaged leaves it as it is.
	// +optional
	// +kubebuilder:default=Unmanaged
	// +kubebuilder:validation:Enum=PoweredOn;PoweredOff;Unmanaged
	Power PowerState `json:"power,omitempty"`
	// PowerOff says how the machine is powered off.
	// +optional
	PowerOff *PowerOff `json:"powerOff,omitempty"`
	// Boot says what the machine boots.
	// +optional
	Boot *HostBoot `json:"boot,omitempty"`
	// BIOS settings that are wanted. What isn't named stays as it is.
	// +optional
	BIOS *HostBIOS `json:"bios,omitempty"`
	// VirtualMedia that are in the machine's drives, one of a type. One that is taken out of the list is ejected.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=4
	VirtualMedia []VirtualMedium `json:"virtualMedia,omitempty"`
	// SecureBoot is Enabled or Disabled from the next reset on; where it's absent, as it is. The machine isn't reset for it.
	// +optional
	// +kubebuilder:validation:Enum=Enabled;Disabled
	SecureBoot string `json:"secureBoot,omitempty"`
	// Indicator is the light by which the machine is found: Off, Lit or Blinking; where it's absent, as it is.
	// +optional
	// +kubebuilder:validation:Enum=Off;Lit;Blinking
	Indicator string `json:"indicator,omitempty"`
	// AssetTag of the machine, "" for none; where it's absent, as it is.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	AssetTag *string `json:"assetTag,omitempty"`
	// ResetGeneration, raised by one, asks for one reset. It never falls.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	ResetGeneration int64 `json:"resetGeneration"`
	// BMCResetGeneration, raised by one, asks for one restart of the BMC itself, while nothing else is on its way. It never falls.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	BMCResetGeneration int64 `json:"bmcResetGeneration,omitempty"`
	// CredentialsRotation gives the account in credentialsSecretRef a new password, on the BMC and in that Secret, which must be this host's
	// own. What its generation is when the host is registered counts as done, unless the BMC wants the password changed before anything else.
	// +optional
	CredentialsRotation *CredentialsRotation `json:"credentialsRotation,omitempty"`
	// Unschedulable keeps new claims away; a bound one stays.
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Taints keep claims away that don't tolerate them. Not supported yet.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=32
	Taints []HostTaint `json:"taints,omitempty"`
	// Maintenance says that, and why, people work on the host. New claims are kept away.
	// +optional
	Maintenance *HostMaintenance `json:"maintenance,omitempty"`
	// CommandLine is appended to the kernel's, such as console=ttyS1,115200n8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[ -~]+$`
	CommandLine []string `json:"commandLine,omitempty"`
	// LocalBoot says how this machine's firmware is sent to its disk: Auto (by the firmware), Exit (the loader ends), Sanboot (iPXE starts the
	// first disk of a BIOS), NotFound (what it asks for isn't found) or Grub (Debian's signed grub starts the disk's loader, for UEFI by PXE).
	// Auto where absent.
	// +optional
	LocalBoot LocalBoot `json:"localBoot,omitempty"`
	// FirstStage says what this machine's UEFI loads first by PXE: Auto is iPXE by the firmware's own driver of the NIC where Debian has one for
	// the processor, else as Shim; Shim is Debian's signed shim and grub, for a machine with Secure Boot, whose kernel must be signed too;
	// NativeIPXE is iPXE with drivers of its own, for firmware whose driver doesn't go on. Auto where absent. A BIOS has the same iPXE whatever
	// is said here.
	// +optional
	FirstStage FirstStage `json:"firstStage,omitempty"`
}

// FirstStage says what a machine's firmware loads first.
// +kubebuilder:validation:Enum=Auto;Shim;NativeIPXE
type FirstStage string

// Values of FirstStage.
const (
	FirstStageAuto       FirstStage = "Auto"
	FirstStageShim       FirstStage = "Shim"
	FirstStageNativeIPXE FirstStage = "NativeIPXE"
)

// LocalBoot says how a machine's firmware is sent to its disk.
// +kubebuilder:validation:Enum=Auto;Exit;Sanboot;NotFound;Grub
type LocalBoot string

// Values of LocalBoot.
const (
	LocalBootAuto     LocalBoot = "Auto"
	LocalBootExit     LocalBoot = "Exit"
	LocalBootSanboot  LocalBoot = "Sanboot"
	LocalBootNotFound LocalBoot = "NotFound"
	LocalBootGrub     LocalBoot = "Grub"
)

// A ClaimReference is the host's half of a binding. It's written by the HostClaim controller alone.
type ClaimReference struct {
	// Namespace of the HostClaim.
	Namespace string `json:"namespace"`
	// Name of the HostClaim.
	Name string `json:"name"`
	// UID of the HostClaim.
	UID types.UID `json:"uid"`
}

// HostPhase says where a host is in its life.
// +kubebuilder:validation:Enum=Enrolling;Inspecting;Available;Reserved;Provisioning;Provisioned;Cleaning;Maintenance;Error
type HostPhase string

// Values of HostPhase.
const (
	HostEnrolling    HostPhase = "Enrolling"
	HostInspecting   HostPhase = "Inspecting"
	HostAvailable    HostPhase = "Available"
	HostReserved     HostPhase = "Reserved"
	HostProvisioning HostPhase = "Provisioning"
	HostProvisioned  HostPhase = "Provisioned"
	HostCleaning     HostPhase = "Cleaning"
	HostMaintained   HostPhase = "Maintenance"
	HostError        HostPhase = "Error"
)

// RedfishHostSpec is the desired state of a host.
type RedfishHostSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ClaimRef is the binding to a HostClaim; written by its controller alone.
	// +optional
	ClaimRef *ClaimReference `json:"claimRef,omitempty"`
	// AllowedNamespaces says who may claim the host. Default: its own namespace.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`
	// ForProvider is what is wanted of the host.
	ForProvider RedfishHostParameters `json:"forProvider"`
}

// RedfishHostStatus is the observed state of a host.
type RedfishHostStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Phase of the host's life.
	// +optional
	Phase HostPhase `json:"phase,omitempty"`
	// AtProvider is what the BMC says of the machine.
	// +optional
	AtProvider RedfishHostObservation `json:"atProvider,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,baremetal},shortName=rfh
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="POWER",type="string",JSONPath=".status.atProvider.power"
// +kubebuilder:printcolumn:name="HEALTH",type="string",JSONPath=".status.atProvider.health"
// +kubebuilder:printcolumn:name="CLAIM",type="string",JSONPath=".spec.claimRef.name"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Reachable')].reason"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MODEL",type="string",priority=1,JSONPath=".status.atProvider.identity.model"
// +kubebuilder:printcolumn:name="SERIAL",type="string",priority=1,JSONPath=".status.atProvider.identity.serial"
// +kubebuilder:printcolumn:name="BMC",type="string",priority=1,JSONPath=".spec.forProvider.address"
// +kubebuilder:printcolumn:name="POOL",type="string",priority=1,JSONPath=".metadata.labels.baremetal\\.m\\.crossplane\\.io/pool"
// +kubebuilder:printcolumn:name="SYNCED",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Synced')].status"

// A RedfishHost is one machine: a ComputerSystem behind a BMC. Registering one changes nothing on it.
// Its external name is the serial number, else the UUID, else the System's URI.
type RedfishHost struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RedfishHostSpec   `json:"spec"`
	Status RedfishHostStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// RedfishHostList is a list of RedfishHosts.
type RedfishHostList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RedfishHost `json:"items"`
}
