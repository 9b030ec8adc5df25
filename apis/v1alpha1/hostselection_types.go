package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DriveType is what a drive is made of.
//
// +kubebuilder:validation:Enum=NVMe;SSD;HDD
type DriveType string

// The drive types.
const (
	// DriveNVMe is flash on PCI Express.
	DriveNVMe DriveType = "NVMe"
	// DriveSSD is flash on SATA or SAS.
	DriveSSD DriveType = "SSD"
	// DriveHDD is a rotating disk.
	DriveHDD DriveType = "HDD"
)

// TaintEffect is what a taint does.
//
// +kubebuilder:validation:Enum=NoBind
type TaintEffect string

// TaintNoBind keeps new claims away.
const TaintNoBind TaintEffect = "NoBind"

// TolerationOperator says how a toleration matches a taint's value.
//
// +kubebuilder:validation:Enum=Exists;Equal
type TolerationOperator string

// The operators.
const (
	// TolerationExists matches any value.
	TolerationExists TolerationOperator = "Exists"
	// TolerationEqual matches the same value.
	TolerationEqual TolerationOperator = "Equal"
)

// UnsatisfiableAction says what to do when a spread constraint can't be met.
//
// +kubebuilder:validation:Enum=DoNotBind;BindAnyway
type UnsatisfiableAction string

// The actions.
const (
	// DoNotBind waits for a host that keeps the constraint.
	DoNotBind UnsatisfiableAction = "DoNotBind"
	// BindAnyway prefers hosts that keep the constraint.
	BindAnyway UnsatisfiableAction = "BindAnyway"
)

// HardwareRequirements are lower bounds of what a host must have.
type HardwareRequirements struct {
	// Arch is the processor's architecture.
	//
	// +optional
	Arch Architecture `json:"arch,omitempty"`

	// MinCores is the least number of cores, of all sockets together.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinCores *int32 `json:"minCores,omitempty"`

	// MinMemory is the least amount of memory, for instance 64Gi.
	//
	// +optional
	MinMemory *resource.Quantity `json:"minMemory,omitempty"`

	// Drives are the drives that must be there, each entry of its own.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Drives []DriveRequirement `json:"drives,omitempty"`

	// NICs are the network ports that must be there, each entry of its own.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	NICs []NICRequirement `json:"nics,omitempty"`
}

// A DriveRequirement asks for drives of one sort.
type DriveRequirement struct {
	// Type of the drives; absent: any.
	//
	// +optional
	Type DriveType `json:"type,omitempty"`

	// MinSize of each drive, for instance 1Ti.
	//
	// +optional
	MinSize *resource.Quantity `json:"minSize,omitempty"`

	// MinCount is how many there must be.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	MinCount int32 `json:"minCount,omitempty"`
}

// A NICRequirement asks for network ports of one sort.
type NICRequirement struct {
	// MinSpeedGbps is the least speed of each port, in gigabits per second.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinSpeedGbps *int32 `json:"minSpeedGbps,omitempty"`

	// MinCount is how many there must be.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	MinCount int32 `json:"minCount,omitempty"`
}

// A Toleration lets a host with a matching taint be chosen.
type Toleration struct {
	// Key of the taint.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`

	// Operator is Exists (any value) or Equal.
	//
	// +optional
	// +kubebuilder:default=Exists
	Operator TolerationOperator `json:"operator,omitempty"`

	// Value of the taint, with operator Equal.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`

	// Effect of the taint; absent: any.
	//
	// +optional
	Effect TaintEffect `json:"effect,omitempty"`
}

// A TopologySpreadConstraint limits how unevenly a namespace's nodes may lie over one topology label.
type TopologySpreadConstraint struct {
	// TopologyKey is the hosts' label to spread over, for instance topology.baremetal.crossplane.io/rack.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	TopologyKey string `json:"topologyKey"`

	// MaxSkew is the greatest difference between two values of the label.
	//
	// +kubebuilder:validation:Minimum=1
	MaxSkew int32 `json:"maxSkew"`

	// WhenUnsatisfiable is BindAnyway (prefer) or DoNotBind (insist).
	//
	// +optional
	// +kubebuilder:default=DoNotBind
	WhenUnsatisfiable UnsatisfiableAction `json:"whenUnsatisfiable,omitempty"`

	// LabelSelector chooses the nodes that are counted; absent: those of the same pools.
	//
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}
