// Package v1alpha1 holds the composite kinds that people claim, BareMetalNode and RackPool: the one source of the XRDs of both
// flavours.
//
// The same Go types serve two API groups: claims of Crossplane's v1 shape live in platform.baremetal.crossplane.io, the
// namespaced composites of its v2 shape in platform.baremetal.m.crossplane.io.
//
// +kubebuilder:object:generate=true
// +groupName=platform.baremetal.crossplane.io
// +versionName=v1alpha1
package v1alpha1

// The API groups, version and kinds of the composites.
const (
	// Group is the API group of the v1 flavour: claims BareMetalNode and RackPool, composites XBareMetalNode and XRackPool.
	Group = "platform.baremetal.crossplane.io"
	// GroupNamespaced is the API group of the v2 flavour: namespaced composites BareMetalNode and RackPool.
	GroupNamespaced = "platform.baremetal.m.crossplane.io"
	// Version is the one version of both groups.
	Version = "v1alpha1"

	// BareMetalNodeKind is what a tenant claims: one machine.
	BareMetalNodeKind = "BareMetalNode"
	// RackPoolKind is what an operator claims: the hosts of a rack and their boot network.
	RackPoolKind = "RackPool"
	// CompositePrefix is put before a kind to name the cluster-scoped composite behind a claim of the v1 flavour.
	CompositePrefix = "X"
)
