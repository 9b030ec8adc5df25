package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ReclaimPolicy says what becomes of the machine when its claim goes.
// +kubebuilder:validation:Enum=Release;Retain
type ReclaimPolicy string

// Values of ReclaimPolicy.
const (
	ReclaimRelease ReclaimPolicy = "Release"
	ReclaimRetain  ReclaimPolicy = "Retain"
)

// A Binding is the claim's half of a binding. It's written by the HostClaim controller alone.
type Binding struct {
	// Kind of the host.
	Kind string `json:"kind"`
	// Namespace of the host.
	Namespace string `json:"namespace"`
	// Name of the host.
	Name string `json:"name"`
	// UID of the host.
	UID types.UID `json:"uid"`
	// Serial number of the host.
	// +optional
	Serial string `json:"serial,omitempty"`
}

// HostClaimSpec is a request for one host: by name, or (not supported yet) by pools, labels and requirements.
// +kubebuilder:validation:XValidation:rule="has(self.hostRef)",message="hostRef must be set: claims by pool, selector or requirements are not supported yet",fieldPath=".hostRef"
// +kubebuilder:validation:XValidation:rule="!has(self.poolRefs)",message="poolRefs is not supported yet; name the host by hostRef",fieldPath=".poolRefs"
// +kubebuilder:validation:XValidation:rule="!has(self.selector)",message="selector is not supported yet; name the host by hostRef",fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule="!has(self.requirements)",message="requirements is not supported yet; name the host by hostRef",fieldPath=".requirements"
// +kubebuilder:validation:XValidation:rule="!has(self.tolerations)",message="tolerations is not supported yet; name the host by hostRef",fieldPath=".tolerations"
// +kubebuilder:validation:XValidation:rule="!has(self.topologySpreadConstraints)",message="topologySpreadConstraints is not supported yet; name the host by hostRef",fieldPath=".topologySpreadConstraints"
// +kubebuilder:validation:XValidation:rule="!has(self.hostRef) || !has(oldSelf.hostRef) || self.hostRef == oldSelf.hostRef",message="hostRef can't change; delete this claim and make a new one to take another host",fieldPath=".hostRef"
// +kubebuilder:validation:XValidation:rule="!has(self.reclaimPolicy) || self.reclaimPolicy == 'Release'",message="reclaimPolicy: Retain is not supported yet; use Release",fieldPath=".reclaimPolicy"
// +kubebuilder:validation:XValidation:rule="self.rebindGeneration == 0",message="rebindGeneration is not supported yet; delete this claim and make a new one to take another host",fieldPath=".rebindGeneration"
type HostClaimSpec struct {
	// HostRef names the host. The host must allow this namespace.
	// +optional
	HostRef *HostReference `json:"hostRef,omitempty"`
	// PoolRefs name the RackPools to choose from. Not supported yet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	PoolRefs []NamespacedReference `json:"poolRefs,omitempty"`
	// Selector chooses hosts by their labels. Not supported yet.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Requirements are what a host must have. Not supported yet.
	// +optional
	Requirements *HardwareRequirements `json:"requirements,omitempty"`
	// Tolerations let a host with a taint be chosen. Not supported yet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// TopologySpreadConstraints spread the claims of a namespace over topology, as a pod's do. Not supported yet.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +kubebuilder:validation:MaxItems=4
	TopologySpreadConstraints []TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// BootEntryRef names the entry of the machine, in this namespace.
	// +optional
	BootEntryRef *LocalReference `json:"bootEntryRef,omitempty"`
	// Power that is wanted: PoweredOn or PoweredOff.
	// +optional
	// +kubebuilder:default=PoweredOn
	// +kubebuilder:validation:Enum=PoweredOn;PoweredOff
	Power PowerState `json:"power,omitempty"`
	// ReclaimPolicy says what becomes of the machine when the claim goes: Release powers it off and gives it back; Retain leaves it
	// running (not supported yet).
	// +optional
	// +kubebuilder:default=Release
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
	// RebindGeneration, raised, gives up a dead host and takes another. Not supported yet.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	RebindGeneration int64 `json:"rebindGeneration"`
	// Confirm answers NeedsConfirmation, by the serial number of the machine that may go on.
	// +optional
	Confirm *Confirmation `json:"confirm,omitempty"`
	// Bound is the claim's half of the binding; written by the binder alone.
	// +optional
	Bound *Binding `json:"bound,omitempty"`
}

// HostClaimPhase says where a claim is.
// +kubebuilder:validation:Enum=Pending;Bound;Preparing;PoweringOn;Booting;Installing;Installed;Ready;Stopped;NeedsConfirmation;Failed;Releasing
type HostClaimPhase string

// Values of HostClaimPhase.
const (
	ClaimPending           HostClaimPhase = "Pending"
	ClaimBound             HostClaimPhase = "Bound"
	ClaimPreparing         HostClaimPhase = "Preparing"
	ClaimPoweringOn        HostClaimPhase = "PoweringOn"
	ClaimBooting           HostClaimPhase = "Booting"
	ClaimInstalling        HostClaimPhase = "Installing"
	ClaimInstalled         HostClaimPhase = "Installed"
	ClaimReady             HostClaimPhase = "Ready"
	ClaimStopped           HostClaimPhase = "Stopped"
	ClaimNeedsConfirmation HostClaimPhase = "NeedsConfirmation"
	ClaimFailed            HostClaimPhase = "Failed"
	ClaimReleasing         HostClaimPhase = "Releasing"
)

// HostCandidates counts hosts, by what kept them from being chosen.
type HostCandidates struct {
	// Total is how many were looked at.
	// +optional
	Total int64 `json:"total,omitempty"`
	// Reserved is how many other claims hold.
	// +optional
	Reserved int64 `json:"reserved,omitempty"`
	// TooSmall is how many don't meet the requirements.
	// +optional
	TooSmall int64 `json:"tooSmall,omitempty"`
	// BMCDown is how many can't be reached.
	// +optional
	BMCDown int64 `json:"bmcDown,omitempty"`
	// Cordoned is how many an operator keeps from new claims.
	// +optional
	Cordoned int64 `json:"cordoned,omitempty"`
}

// HostFacts are what a tenant may know of the claimed machine.
type HostFacts struct {
	// Kind of the host.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Namespace of the host.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name of the host.
	// +optional
	Name string `json:"name,omitempty"`
	// Serial number of the host.
	// +optional
	Serial string `json:"serial,omitempty"`
	// Manufacturer of the host.
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// Model of the host.
	// +optional
	Model string `json:"model,omitempty"`
	// Power of the host as last seen: PoweredOn, PoweredOff, PoweringOn or PoweringOff.
	// +optional
	Power PowerState `json:"power,omitempty"`
	// Health of the host as its BMC says: OK, Warning or Critical.
	// +optional
	Health string `json:"health,omitempty"`
	// PoweredOnAt is when it was last powered on by us.
	// +optional
	PoweredOnAt *metav1.Time `json:"poweredOnAt,omitempty"`
}

// HostClaimStatus is where the claim is, in the tenant's words.
type HostClaimStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	// Phase of the claim.
	// +optional
	Phase HostClaimPhase `json:"phase,omitempty"`
	// Reason is one CamelCase word that a script can match.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is the sentence for a person: what, on which input, why, and what to do.
	// +optional
	Message string `json:"message,omitempty"`
	// Candidates says what kept hosts from being chosen.
	// +optional
	Candidates *HostCandidates `json:"candidates,omitempty"`
	// Host that was claimed.
	// +optional
	Host *HostFacts `json:"host,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,baremetal},shortName=bmhc
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="HOST",type="string",JSONPath=".spec.bound.name"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.reason"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",priority=1,JSONPath=".status.message"

// A HostClaim asks for one host, and holds it.
type HostClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   HostClaimSpec   `json:"spec"`
	Status HostClaimStatus `json:"status,omitempty"`
}

// GetCondition of this HostClaim.
func (c *HostClaim) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return c.Status.GetCondition(ct)
}

// SetConditions of this HostClaim.
func (c *HostClaim) SetConditions(cs ...xpv2.Condition) { c.Status.SetConditions(cs...) }

// +kubebuilder:object:root=true

// HostClaimList is a list of HostClaims.
type HostClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []HostClaim `json:"items"`
}
