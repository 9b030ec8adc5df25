package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A NetBoxDevice names a device or virtual machine in NetBox.
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.id)",message="exactly one of name and id must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.site) || has(self.name)",message="site tells devices of one name apart; leave it out beside id",fieldPath=".site"
type NetBoxDevice struct {
	// Name of the device.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// Site slug of the device, where several have its name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9_]+$`
	Site string `json:"site,omitempty"`
	// ID in NetBox.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ID *int64 `json:"id,omitempty"`
}

// A NetBoxInterface names an interface in NetBox.
// +kubebuilder:validation:XValidation:rule="(has(self.name)?1:0)+(has(self.mac)?1:0)+(has(self.id)?1:0) == 1",message="exactly one of name, mac and id must be set"
type NetBoxInterface struct {
	// Name of the interface.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// MAC address that NetBox has on the interface, such as 52:54:00:00:00:01.
	// +optional
	// +kubebuilder:validation:MaxLength=17
	// +kubebuilder:validation:Pattern=`^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$`
	MAC string `json:"mac,omitempty"`
	// ID in NetBox.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ID *int64 `json:"id,omitempty"`
}

// AddressUse says what an address is on its device.
// +kubebuilder:validation:Enum=Primary;OutOfBand;Additional
type AddressUse string

// Values of AddressUse.
const (
	UsePrimary    AddressUse = "Primary"
	UseOutOfBand  AddressUse = "OutOfBand"
	UseAdditional AddressUse = "Additional"
)

// An Assignment joins an address and an interface in NetBox. It's to be on a device or virtual machine, or on the device of a
// RedfishHost.
// +kubebuilder:validation:XValidation:rule="(has(self.device)?1:0)+(has(self.virtualMachine)?1:0)+((has(self.hostRef)||has(self.hostSelector))?1:0) == 1 || (!has(self.device) && !has(self.virtualMachine) && !has(self.hostRef) && !has(self.hostSelector) && has(self.interface) && has(self.interface.mac))",message="exactly one of device, virtualMachine and hostRef (or hostSelector) must be set; only an interface.mac may stand alone"
// +kubebuilder:validation:XValidation:rule="has(self.interface) || has(self.hostRef) || has(self.hostSelector)",message="interface must be set; only with hostRef or hostSelector it's found by the host's MAC addresses",fieldPath=".interface"
// +kubebuilder:validation:XValidation:rule="!has(self.virtualMachine) || self.use != 'OutOfBand'",message="a virtual machine has no out-of-band address; use Primary or Additional",fieldPath=".use"
// +kubebuilder:validation:XValidation:rule="!has(self.hostSelector) || (has(self.hostSelector.matchLabels) && size(self.hostSelector.matchLabels) > 0) || (has(self.hostSelector.matchControllerRef) && self.hostSelector.matchControllerRef) || (has(self.hostSelector.namespace) && size(self.hostSelector.namespace) > 0)",message="hostSelector must say something: matchLabels, matchControllerRef or namespace",fieldPath=".hostSelector"
type Assignment struct {
	// Device that has the interface.
	// +optional
	Device *NetBoxDevice `json:"device,omitempty"`
	// VirtualMachine that has the interface.
	// +optional
	VirtualMachine *NetBoxDevice `json:"virtualMachine,omitempty"`
	// HostRef names the RedfishHost whose device has the interface: its netboxDevice, else the device of its name. It must be of
	// this namespace, or be bound to a HostClaim of this namespace. Its policy says nothing: as long as there's no such host no address
	// is made, also with policy.resolution: Optional.
	// +optional
	HostRef *xpv2.NamespacedReference `json:"hostRef,omitempty"`
	// HostSelector chooses such a RedfishHost by its labels, where hostRef doesn't name one yet: the first one by its namespace
	// and name, of those that are bound to a HostClaim of this namespace, else of its own ones. With policy.resolve: Always another one
	// is chosen once that one doesn't match any more. As long as none matches no address is made, also with policy.resolution: Optional,
	// as one that is on no interface isn't what is asked for.
	// +optional
	HostSelector *xpv2.NamespacedSelector `json:"hostSelector,omitempty"`
	// Interface to assign to. Where it's absent, beside hostRef, the one that has a MAC address of the host: one of its spec, else one
	// that its BMC calls permanent, else any. Where several have, say which.
	// +optional
	Interface *NetBoxInterface `json:"interface,omitempty"`
	// Use of the address on its device: Primary (its primary address of that family), OutOfBand (its out-of-band address), or
	// Additional, which leaves these fields of the device alone. Such a field that names another address is never taken over:
	// two that want it would take it from each other for ever. It's waited until it's free.
	// +optional
	// +kubebuilder:default=Additional
	Use AddressUse `json:"use,omitempty"`
}

// DriftPolicy says what's done about a change that somebody made in NetBox to what spec names.
// +kubebuilder:validation:Enum=Correct;Report
type DriftPolicy string

// Values of DriftPolicy.
const (
	DriftCorrect DriftPolicy = "Correct"
	DriftReport  DriftPolicy = "Report"
)

// A NetBoxObject is an object in NetBox.
type NetBoxObject struct {
	// ID in NetBox.
	// +optional
	ID int64 `json:"id,omitempty"`
	// Name of the object.
	// +optional
	Name string `json:"name,omitempty"`
}

// An AssignmentObservation is the interface that this resource has assigned its address to.
type AssignmentObservation struct {
	// Device that has the interface.
	// +optional
	Device *NetBoxObject `json:"device,omitempty"`
	// VirtualMachine that has the interface.
	// +optional
	VirtualMachine *NetBoxObject `json:"virtualMachine,omitempty"`
	// Interface that the address is assigned to.
	// +optional
	Interface NetBoxObject `json:"interface,omitempty"`
	// Use of the address on its device; absent as long as it's on the interface, and what is asked for isn't done yet.
	// +optional
	Use AddressUse `json:"use,omitempty"`
}

// A FieldDrift is a field of the address that somebody changed in NetBox, and that stays so since drift is Report.
type FieldDrift struct {
	// Field of spec.forProvider, such as description or customFields.purpose.
	Field string `json:"field"`
	// Wanted is what spec says.
	// +optional
	Wanted string `json:"wanted,omitempty"`
	// Found is what NetBox has.
	// +optional
	Found string `json:"found,omitempty"`
	// By is who changed it, where NetBox tells.
	// +optional
	By string `json:"by,omitempty"`
	// Since when it's known.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}
