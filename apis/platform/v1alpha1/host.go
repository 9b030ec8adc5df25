package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A HostSource says which machine a claim wants: exactly one of claim, ref and bmc.
//
// +kubebuilder:validation:XValidation:rule="[has(self.claim), has(self.ref), has(self.bmc)].exists_one(x, x)",message="host needs exactly one of claim (any host of a pool), ref (a named host) and bmc (a BMC of your own)"
// +kubebuilder:validation:XValidation:rule="!has(self.claim)",message="host.claim is not supported yet; name a host with ref, or a BMC with bmc",fieldPath=".claim"
// +kubebuilder:validation:XValidation:rule="self.rebindGeneration == 0",message="rebindGeneration is not supported yet; delete the claim and make a new one to take another host",fieldPath=".rebindGeneration"
// +kubebuilder:validation:XValidation:rule="self.rebindGeneration >= oldSelf.rebindGeneration",message="rebindGeneration never falls",fieldPath=".rebindGeneration"
// +kubebuilder:validation:XValidation:rule="self.rebindGeneration > oldSelf.rebindGeneration || (has(self.claim) == has(oldSelf.claim) && (!has(self.claim) || self.claim == oldSelf.claim) && has(self.ref) == has(oldSelf.ref) && (!has(self.ref) || self.ref == oldSelf.ref) && has(self.bmc) == has(oldSelf.bmc) && (!has(self.bmc) || self.bmc == oldSelf.bmc))",message="host can't be changed unless rebindGeneration rises, which is not supported yet; delete the claim and make a new one to take another host"
type HostSource struct {
	// Claim asks for any free host of some pools that fits. Not supported yet.
	//
	// +optional
	Claim *HostSelection `json:"claim,omitempty"`

	// Ref names one host.
	//
	// +optional
	Ref *v1alpha1.HostReference `json:"ref,omitempty"`

	// BMC names a machine of the tenant's own by its BMC.
	//
	// +optional
	BMC *HostBMC `json:"bmc,omitempty"`

	// RebindGeneration is raised to give up a dead host and take another one, keeping name and addresses. It never falls. Not
	// supported yet.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	RebindGeneration int64 `json:"rebindGeneration,omitempty"`
}

// A HostBMC names a machine by its BMC; the claim composes a RedfishHost of its own for it, under its own name.
type HostBMC struct {
	// Address of the BMC: a host, host:port, [v6], or a URL. The provider config must allow it.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address"`

	// ProviderConfigRef names where the credentials come from: a ProviderConfig of the claim's namespace, or a
	// ClusterProviderConfig that allows the claim's namespace.
	ProviderConfigRef v1alpha1.ProviderConfigRef `json:"providerConfigRef"`

	// System chooses one machine where there are several behind the BMC, and is checked where there is one.
	//
	// +optional
	System *v1alpha1.SystemSelector `json:"system,omitempty"`

	// MACs are added to the MAC addresses that the BMC lists for the machine.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=17
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.matches('^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$'))",message="macs must look like 52:54:00:00:00:01"
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.matches('^[0-9a-fA-F][02468aceACE]'))",message="macs must not be multicast: the second digit must be even"
	MACs []string `json:"macs,omitempty"`

	// FirstStage is what the machine's UEFI loads first by PXE: Auto (iPXE where Debian has one for the processor, else as Shim; the default),
	// Shim (Debian's signed shim and grub, for machines with Secure Boot) or NativeIPXE (iPXE with drivers of its own, where the firmware's
	// doesn't go on). As all of host it can't be changed later.
	//
	// +optional
	FirstStage v1alpha1.FirstStage `json:"firstStage,omitempty"`
}

// A HostSelection says which hosts will do. Not supported yet.
type HostSelection struct {
	// PoolRefs name the RackPools to choose from. A pool must allow the claim's namespace.
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	PoolRefs []v1alpha1.NamespacedReference `json:"poolRefs"`

	// Selector chooses hosts by their labels.
	//
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// Requirements are what a host must have.
	//
	// +optional
	Requirements *v1alpha1.HardwareRequirements `json:"requirements,omitempty"`

	// Tolerations let a host with a taint be chosen.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Tolerations []v1alpha1.Toleration `json:"tolerations,omitempty"`

	// TopologySpreadConstraints spread the nodes of a namespace over topology, as a pod's do.
	//
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +kubebuilder:validation:MaxItems=4
	TopologySpreadConstraints []v1alpha1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
}
