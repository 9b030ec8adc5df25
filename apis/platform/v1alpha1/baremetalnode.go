package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A BareMetalNode is one physical machine: chosen, addressed, powered on, booted over the network, installed and watched.
// Deleting it powers the machine off and gives it and its addresses back.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=baremetalnodes,singular=baremetalnode,shortName=bmn,categories={baremetal}
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="HOST",type="string",JSONPath=".status.host.name"
// +kubebuilder:printcolumn:name="ADDRESS",type="string",JSONPath=".status.addresses[0].address"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.reason"
// +kubebuilder:printcolumn:name="SINCE",type="date",JSONPath=".status.since"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.message",priority=1
// +kubebuilder:printcolumn:name="PROFILE",type="string",JSONPath=".spec.profileRef.name",priority=1
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",message="the name of a BareMetalNode becomes the machine's host name and must not contain dots; set spec.domain in its BootNetwork instead",fieldPath=".spec.hostname"
type BareMetalNode struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BareMetalNodeSpec   `json:"spec"`
	Status BareMetalNodeStatus `json:"status,omitempty"`
}

// A BareMetalNodeSpec says which machine a tenant wants, what it boots, and in which state it is to be.
//
// +kubebuilder:validation:XValidation:rule="self.installGeneration >= oldSelf.installGeneration",message="installGeneration never falls: raise it to ask for another install, or leave it as it is",fieldPath=".installGeneration"
// +kubebuilder:validation:XValidation:rule="self.onBind != 'Adopt'",message="onBind: Adopt is not supported yet; use Install, with installGeneration: 0 to boot from the disk as it is",fieldPath=".onBind"
// +kubebuilder:validation:XValidation:rule="self.reclaimPolicy != 'Retain'",message="reclaimPolicy: Retain is not supported yet; use Release",fieldPath=".reclaimPolicy"
// +kubebuilder:validation:XValidation:rule="!has(self.storage)",message="storage is not supported yet; the machine's only disk is installed",fieldPath=".storage"
// +kubebuilder:validation:XValidation:rule="self.networks.size() <= 1",message="networks with more than one entry is not supported yet; name the network to boot from",fieldPath=".networks"
// +kubebuilder:validation:XValidation:rule="self.networks.size() == oldSelf.networks.size() && self.networks.all(n, oldSelf.networks.exists(o, o.name == n.name && o.networkRef == n.networkRef && o.addresses == n.addresses))",message="changing networks of an existing node is not supported yet, but for interface; delete the claim and make a new one",fieldPath=".networks"
// +kubebuilder:validation:XValidation:rule="!has(self.networkDataSecretRef) || !self.networks.exists(n, has(n.interface))",message="networkDataSecretRef and a network's interface are two network configs: remove one",fieldPath=".networkDataSecretRef"
type BareMetalNodeSpec struct {
	// Host says which machine: exactly one of claim, ref and bmc. It is immutable unless rebindGeneration rises.
	Host HostSource `json:"host"`

	// OnBind says what happens when a host is bound: Install boots it as this claim says; Adopt takes it as it runs and writes
	// nothing (not supported yet).
	//
	// +optional
	// +kubebuilder:default=Install
	OnBind OnBindPolicy `json:"onBind,omitempty"`

	// InstallGeneration asks for one install each time it is raised, and for the one reset that needs. It never falls. 0, the
	// default, never installs: the machine boots from its disk.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	InstallGeneration int64 `json:"installGeneration,omitempty"`

	// Confirm answers the reason NeedsConfirmation, by naming the serial number of the machine that may go on. It is without
	// effect otherwise.
	//
	// +optional
	Confirm *v1alpha1.Confirmation `json:"confirm,omitempty"`

	// ProfileRef names the BootProfile that the machine boots. The profile must allow this namespace.
	ProfileRef v1alpha1.NamespacedReference `json:"profileRef"`

	// Parameters are values for the profile's declared parameters, each of which must match the pattern declared there.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 63 && size(self[k]) <= 1024)",message="a parameter's name has at most 63 characters and its value at most 1024; user data has room for more"
	Parameters map[string]string `json:"parameters,omitempty"`

	// Storage says which disk is installed, where the profile's choice doesn't fit this machine. Not supported yet.
	//
	// +optional
	Storage *Storage `json:"storage,omitempty"`

	// Hostname is the machine's host name without a domain, a DNS label. The default is the claim's name.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="hostname must be a DNS label: lower-case letters, digits and dashes, beginning and ending with a letter or a digit"
	Hostname string `json:"hostname,omitempty"`

	// SSHAuthorizedKeys are public keys, in the format of an authorized_keys line, that may log in to the installed machine. The
	// profile's userDataFormat must be CloudInit, which brings them there.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	SSHAuthorizedKeys []SSHPublicKey `json:"sshAuthorizedKeys,omitempty"`

	// UserDataSecretRef names a Secret of the claim's own namespace whose value under key is given to the machine as its user
	// data, in the format that the profile declares.
	//
	// +optional
	UserDataSecretRef *v1alpha1.LocalKeyReference `json:"userDataSecretRef,omitempty"`

	// NetworkDataSecretRef names a Secret of the claim's own namespace whose value under key is a network config of cloud-init, version 1
	// or 2. It may name the machine's address, gateway, DNS servers and MTU, which are filled in (docs/bootd.md). It takes the place of
	// DHCP on the machine's system, which must report that it runs. For a profile with userDataFormat CloudInit or Autoinstall.
	//
	// +optional
	NetworkDataSecretRef *v1alpha1.LocalKeyReference `json:"networkDataSecretRef,omitempty"`

	// VendorDataSecretRef names a Secret of the claim's own namespace whose value under key is vendor data of cloud-init, what user data
	// overrides. For a profile with userDataFormat CloudInit or Autoinstall.
	//
	// +optional
	VendorDataSecretRef *v1alpha1.LocalKeyReference `json:"vendorDataSecretRef,omitempty"`

	// Networks are the networks that the machine is on; the machine boots from the first one. One entry is supported yet.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Networks []NodeNetwork `json:"networks"`

	// Power is the state that the machine is to be in. PoweredOff keeps host, address and plan: phase Stopped, and Ready stays
	// true.
	//
	// +optional
	// +kubebuilder:default=PoweredOn
	Power NodePower `json:"power,omitempty"`

	// ReclaimPolicy says what becomes of the machine when the claim is deleted: Release powers it off and gives it back; Retain
	// leaves it running (not supported yet).
	//
	// +optional
	// +kubebuilder:default=Release
	ReclaimPolicy v1alpha1.ReclaimPolicy `json:"reclaimPolicy,omitempty"`

	// Protection refuses the deletion of this claim, at admission, with its reason. Take it away first.
	//
	// +optional
	Protection *Protection `json:"protection,omitempty"`
}

// A BareMetalNodeStatus says where the machine is on its way, in one phase, one reason and one sentence.
type BareMetalNodeStatus struct {
	// Phase is the step that the machine is at.
	//
	// +optional
	Phase NodePhase `json:"phase,omitempty"`

	// Reason is one CamelCase word that a script can match, for instance WaitingForDHCP or NeedsConfirmation.
	//
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message is the sentence for a person: what, on which input, why, and what to do.
	//
	// +optional
	Message string `json:"message,omitempty"`

	// Since is when the condition that the reason comes from last changed.
	//
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// Host is the machine that this claim is bound to; absent until it is bound.
	//
	// +optional
	Host *NodeHost `json:"host,omitempty"`

	// ProviderID is what the machine's kubelet is to be started with: baremetal://NAMESPACE/HOST.
	//
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// Addresses are the addresses allocated for this machine.
	//
	// +optional
	// +listType=atomic
	Addresses []NodeAddress `json:"addresses,omitempty"`

	// Installed is what is on the machine's disk, by the last install that was seen to end well.
	//
	// +optional
	Installed *NodeInstalled `json:"installed,omitempty"`

	// Timeline says when each step of the current boot was seen.
	//
	// +optional
	Timeline *NodeTimeline `json:"timeline,omitempty"`
}
