package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A BootServerNetwork is a segment that a bootd serves.
type BootServerNetwork struct {
	// Namespace of the BootNetwork.
	Namespace string `json:"namespace"`
	// Name of the BootNetwork.
	Name string `json:"name"`
	// Address that it serves from.
	// +optional
	Address string `json:"address,omitempty"`
	// Reason and Message say why it isn't served as its BootNetwork says; absent: it is.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// Message is a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// ForeignServers that answered DHCP on it in the last half hour.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	ForeignServers []ForeignServer `json:"foreignServers,omitempty"`
}

// A ForeignServer is a DHCP server on a segment that isn't the boot plane's.
type ForeignServer struct {
	// Address that it goes by, an IPv4 address.
	Address string `json:"address"`
	// MAC that it was heard from; absent where only a machine was heard that takes its offer.
	// +optional
	MAC string `json:"mac,omitempty"`
	// Interface of the node that it was heard on.
	// +optional
	Interface string `json:"interface,omitempty"`
	// Since when it's heard.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// LastSeen is when it was heard last.
	// +optional
	LastSeen *metav1.Time `json:"lastSeen,omitempty"`
}

// A BootServerFailure is an artifact that a bootd can't get.
type BootServerFailure struct {
	// Digest of the file, as the BootProfile has it.
	Digest string `json:"digest"`
	// Reason is ArtifactUnavailable, ArtifactNotAllowed or DigestMismatch; FetchedWhenNeeded where there's only no room for it yet.
	Reason string `json:"reason"`
	// Message says why, in one sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}

// BootServerCache is what a bootd keeps of artifacts.
type BootServerCache struct {
	// Files kept.
	// +optional
	Files int64 `json:"files,omitempty"`
	// SizeBytes of them, and of those that are half there.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	// LimitBytes that they may take together: bootd's --cache-bytes.
	// +optional
	LimitBytes int64 `json:"limitBytes,omitempty"`
	// Fetching are the digests of files on their way.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	Fetching []string `json:"fetching,omitempty"`
	// Failed are files that a plan or a BootProfile names and that can't be had. They're tried again.
	// +optional
	// +listType=map
	// +listMapKey=digest
	// +kubebuilder:validation:MaxItems=64
	Failed []BootServerFailure `json:"failed,omitempty"`
	// Digests of them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	Digests []string `json:"digests,omitempty"`
}

// BootServerSpec is empty: a bootd is configured by its flags and by BootNetworks.
type BootServerSpec struct{}

// BootServerStatus is the heartbeat of one bootd.
type BootServerStatus struct {
	// LastSeen is the time of the heartbeat.
	// +optional
	LastSeen *metav1.MicroTime `json:"lastSeen,omitempty"`
	// Version of the bootd.
	// +optional
	Version string `json:"version,omitempty"`
	// Addresses that it listens on.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	Addresses []string `json:"addresses,omitempty"`
	// Networks that it serves.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Networks []BootServerNetwork `json:"networks,omitempty"`
	// SyncedRevision is the newest resourceVersion that it has seen and compared with its log.
	// Resource versions of one cluster are comparable as integers.
	// +optional
	SyncedRevision string `json:"syncedRevision,omitempty"`
	// Cache of artifacts.
	// +optional
	Cache BootServerCache `json:"cache,omitempty"`
	// Message says what is wrong, if something is.
	// +optional
	Message string `json:"message,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,baremetal},shortName=bsrv
// +kubebuilder:printcolumn:name="LAST-SEEN",type="date",JSONPath=".status.lastSeen"
// +kubebuilder:printcolumn:name="ADDRESSES",type="string",JSONPath=".status.addresses[*]"
// +kubebuilder:printcolumn:name="NETWORKS",type="string",JSONPath=".status.networks[*].name"
// +kubebuilder:printcolumn:name="REVISION",type="string",JSONPath=".status.syncedRevision"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".status.version"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A BootServer is the heartbeat of one bootd.
type BootServer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BootServerSpec   `json:"spec,omitempty"`
	Status BootServerStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// BootServerList is a list of BootServers.
type BootServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []BootServer `json:"items"`
}

// BootServerLife is how long a boot server counts as live after its heartbeat. Provider and bootd must
// agree on it: a release waits for live ones alone, and an install for all of them.
const BootServerLife = 15 * time.Second

// Live says whether the boot server's heartbeat is young enough.
func (s *BootServer) Live(now time.Time) bool {
	return s.Status.LastSeen != nil && now.Sub(s.Status.LastSeen.Time) <= BootServerLife
}
