package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A RackPool is a rack's worth of hosts, who may claim them, and optionally the network that they boot from. Registering a host
// changes nothing on it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=rackpools,singular=rackpool,shortName=bmrp,categories={baremetal}
// +kubebuilder:printcolumn:name="HOSTS",type="integer",JSONPath=".status.hosts"
// +kubebuilder:printcolumn:name="AVAILABLE",type="integer",JSONPath=".status.available"
// +kubebuilder:printcolumn:name="CLAIMED",type="integer",JSONPath=".status.claimed"
// +kubebuilder:printcolumn:name="PROBLEMS",type="integer",JSONPath=".status.problemCount"
// +kubebuilder:printcolumn:name="FIRST-PROBLEM",type="string",JSONPath=".status.problems[0].message",priority=1
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",message="the name of a RackPool becomes a label and must not contain dots"
type RackPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RackPoolSpec   `json:"spec"`
	Status RackPoolStatus `json:"status,omitempty"`
}

// A RackPoolSpec lists hosts by their BMCs and says what holds for all of them.
//
// +kubebuilder:validation:XValidation:rule="has(self.defaults) && has(self.defaults.redfishProviderConfigRef) || !has(self.hosts) || self.hosts.all(h, has(h.redfishProviderConfigRef))",message="every host needs a provider config: set defaults.redfishProviderConfigRef, or redfishProviderConfigRef of the host",fieldPath=".hosts"
type RackPoolSpec struct {
	// Topology says where the hosts stand, for instance site and rack. Each entry becomes a label
	// topology.baremetal.crossplane.io/KEY on every host.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'))",message="a topology key must be a DNS label, for instance rack: it becomes part of a label's name"
	Topology map[string]LabelValue `json:"topology,omitempty"`

	// AllowedNamespaces says which namespaces' claims may bind these hosts. The default is Same.
	//
	// +optional
	// +kubebuilder:default={from: Same}
	AllowedNamespaces *v1alpha1.AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	// Defaults hold for every host that doesn't say otherwise.
	//
	// +optional
	Defaults *HostDefaults `json:"defaults,omitempty"`

	// Hosts are the machines. Each becomes a RedfishHost of its name in the pool's namespace.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Hosts []PoolHost `json:"hosts,omitempty"`

	// RemovalPolicy says what becomes of a host that is taken out of the list. Retain, the default, keeps its RedfishHost, which
	// nobody may claim any more. Delete deletes it as soon as nothing is bound to it: a bound host is never deleted.
	//
	// +optional
	// +kubebuilder:default=Retain
	RemovalPolicy RemovalPolicy `json:"removalPolicy,omitempty"`

	// Network is a BootNetwork to keep under the pool's name.
	//
	// +optional
	Network *v1alpha1.BootNetworkSpec `json:"network,omitempty"`

	// Reclaim says what is done to a host that a claim gives back.
	//
	// +optional
	Reclaim *Reclaim `json:"reclaim,omitempty"`
}

// HostDefaults hold for every host of a pool that doesn't say otherwise.
type HostDefaults struct {
	// RedfishProviderConfigRef names where the BMCs' credentials come from.
	//
	// +optional
	RedfishProviderConfigRef *v1alpha1.ProviderConfigRef `json:"redfishProviderConfigRef,omitempty"`

	// CommandLine is appended to a profile's kernel command line, for instance the serial console.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	CommandLine []string `json:"commandLine,omitempty"`

	// LocalBoot is how the machine's firmware is told to boot from its disk: Auto (by the firmware, the default), Exit (the loader ends), Sanboot
	// (iPXE starts the first disk of a BIOS), NotFound (what it asks for isn't found) or Grub (Debian's signed grub starts the disk's loader, for
	// UEFI by PXE).
	//
	// +optional
	LocalBoot v1alpha1.LocalBoot `json:"localBoot,omitempty"`

	// FirstStage is what the machine's UEFI loads first by PXE: Auto (iPXE where Debian has one for the processor, else as Shim; the default),
	// Shim (Debian's signed shim and grub, for machines with Secure Boot) or NativeIPXE (iPXE with drivers of its own, where the firmware's
	// doesn't go on).
	//
	// +optional
	FirstStage v1alpha1.FirstStage `json:"firstStage,omitempty"`
}

// A PoolHost is one machine of a pool.
//
// +kubebuilder:validation:XValidation:rule="!has(self.taints) || self.taints.size() == 0",message="taints are not supported yet; use unschedulable",fieldPath=".taints"
type PoolHost struct {
	// HostDefaults of the pool may be overridden for this host.
	HostDefaults `json:",inline"`

	// Name of the host, a DNS label; its RedfishHost has the same.
	//
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Address of the BMC: a host, host:port, [v6], or a URL.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address"`

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

	// NetBoxDevice is the machine's device in NetBox, for addresses that are assigned to the host. Where it's absent, the device of
	// the host's name.
	//
	// +optional
	NetBoxDevice *v1alpha1.NetBoxDevice `json:"netboxDevice,omitempty"`

	// CredentialsSecretRef names a Secret of the pool's namespace with keys username and password, instead of the provider
	// config's.
	//
	// +optional
	CredentialsSecretRef *v1alpha1.LocalReference `json:"credentialsSecretRef,omitempty"`

	// TLS holds what is pinned for this BMC.
	//
	// +optional
	TLS *v1alpha1.HostTLS `json:"tls,omitempty"`

	// Labels are put on the RedfishHost, for selection. Those of the pool's topology win.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="a key of labels must be a label's name, such as gpu or example.com/gpu"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// Unschedulable keeps new claims away from the host; a bound one stays.
	//
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`

	// Taints keep claims away that don't tolerate them.
	//
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=16
	Taints []v1alpha1.HostTaint `json:"taints,omitempty"`

	// Maintenance says that, and why, people work on the host.
	//
	// +optional
	Maintenance *v1alpha1.HostMaintenance `json:"maintenance,omitempty"`
}

// A LabelValue is the value of a Kubernetes label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type LabelValue string

// Reclaim says what is done to a host that a claim gives back.
//
// +kubebuilder:validation:XValidation:rule="self.cleaning == 'None'",messageExpression="'cleaning: ' + self.cleaning + ' is not supported yet; use None: a released host is available again as it is, with condition Cleaned=False'",fieldPath=".cleaning"
type Reclaim struct {
	// Power is the state that the host is left in.
	//
	// +optional
	// +kubebuilder:default=PoweredOff
	Power ReclaimPower `json:"power,omitempty"`

	// Cleaning says how much is wiped. None is the only policy yet.
	//
	// +optional
	// +kubebuilder:default=None
	Cleaning CleaningPolicy `json:"cleaning,omitempty"`

	// Addresses says what becomes of the addresses of claims on the pool's own network, where a subnet doesn't say otherwise in
	// addressesFrom.release: Delete where absent.
	//
	// +optional
	Addresses *v1alpha1.ReleasePolicy `json:"addresses,omitempty"`
}

// A RackPoolStatus counts the hosts of a pool and lists what is wrong with them.
type RackPoolStatus struct {
	// Hosts is how many there are.
	//
	// +optional
	Hosts int32 `json:"hosts"`

	// Available is how many can be claimed now.
	//
	// +optional
	Available int32 `json:"available"`

	// Claimed is how many are bound to a claim.
	//
	// +optional
	Claimed int32 `json:"claimed"`

	// Unavailable is how many are neither.
	//
	// +optional
	Unavailable int32 `json:"unavailable"`

	// ProblemCount is how many problems there are.
	//
	// +optional
	ProblemCount int32 `json:"problemCount"`

	// Problems says what is wrong, one entry a host, in the order of their names.
	//
	// +optional
	// +listType=map
	// +listMapKey=host
	Problems []HostProblem `json:"problems,omitempty"`
}

// A HostProblem says what is wrong with one host.
type HostProblem struct {
	// Host is the host's name.
	Host string `json:"host"`

	// Reason is one CamelCase word.
	Reason string `json:"reason"`

	// Since is when that was first seen.
	//
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// Message is a sentence for a person.
	//
	// +optional
	Message string `json:"message,omitempty"`
}
