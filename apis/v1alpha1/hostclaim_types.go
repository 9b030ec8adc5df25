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

// HostClaimSpec is a request for one host.
// +kubebuilder:validation:XValidation:rule="has(self.hostRef)",message="hostRef must be set; claims by pool or selector are not supported yet"
// +kubebuilder:validation:XValidation:rule="!has(self.poolRefs) && !has(self.selector)",message="poolRefs and selector are not supported yet; name the host by hostRef"
// +kubebuilder:validation:XValidation:rule="!has(self.hostRef) || !has(oldSelf.hostRef) || self.hostRef == oldSelf.hostRef",message="hostRef can't change; make a new claim"
// +kubebuilder:validation:XValidation:rule="!has(self.reclaimPolicy) || self.reclaimPolicy == 'Release'",message="reclaimPolicy other than Release is not supported yet"
// +kubebuilder:validation:XValidation:rule="self.rebindGeneration == 0",message="rebindGeneration is not supported yet"
type HostClaimSpec struct {
	// HostRef names the host.
	// +optional
	HostRef *HostReference `json:"hostRef,omitempty"`
	// PoolRefs name the pools to choose from.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	PoolRefs []NamespacedReference `json:"poolRefs,omitempty"`
	// Selector of hosts by their labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// BootEntryRef names the entry of the machine, in this namespace.
	// +optional
	BootEntryRef *LocalReference `json:"bootEntryRef,omitempty"`
	// Power that is wanted.
	// +optional
	// +kubebuilder:default=PoweredOn
	// +kubebuilder:validation:Enum=PoweredOn;PoweredOff
	Power PowerState `json:"power,omitempty"`
	// ReclaimPolicy says what becomes of the machine when the claim goes.
	// +optional
	// +kubebuilder:default=Release
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
	// RebindGeneration, raised, gives up a dead host and takes another.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	RebindGeneration int64 `json:"rebindGeneration"`
	// Confirm answers NeedsConfirmation.
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

// HostCandidates says what kept hosts from being chosen.
type HostCandidates struct {
	// Total hosts looked at.
	// +optional
	Total int64 `json:"total,omitempty"`
	// Reserved by other claims.
	// +optional
	Reserved int64 `json:"reserved,omitempty"`
	// TooSmall for the requirements.
	// +optional
	TooSmall int64 `json:"tooSmall,omitempty"`
	// BMCDown can't be reached.
	// +optional
	BMCDown int64 `json:"bmcDown,omitempty"`
	// Cordoned by an operator.
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
	// Power of the host as last seen.
	// +optional
	Power PowerState `json:"power,omitempty"`
	// Health of the host as its BMC says.
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
	// Reason in one word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message for a person.
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
