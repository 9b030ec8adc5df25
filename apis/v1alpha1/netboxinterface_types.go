package v1alpha1

// An InterfaceMember is a port of a link aggregation group (LAG) in NetBox.
type InterfaceMember struct {
	// ID in NetBox.
	// +optional
	ID int64 `json:"id,omitempty"`
	// Name of the port.
	// +optional
	Name string `json:"name,omitempty"`
	// MACs that NetBox has of it, the primary one first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MACs []string `json:"macs,omitempty"`
}

// An InterfaceLink is what NetBox says of an interface.
type InterfaceLink struct {
	// ID in NetBox.
	// +optional
	ID int64 `json:"id,omitempty"`
	// Name of the interface.
	// +optional
	Name string `json:"name,omitempty"`
	// Type of a device's interface, such as 1000base-t, lag or virtual.
	// +optional
	Type string `json:"type,omitempty"`
	// MACs that NetBox has of it, the primary one first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MACs []string `json:"macs,omitempty"`
	// MTU in bytes.
	// +optional
	MTU int32 `json:"mtu,omitempty"`
	// Mode is its 802.1Q mode, such as access, tagged or tagged-all.
	// +optional
	Mode string `json:"mode,omitempty"`
	// UntaggedVLAN is the VID of the VLAN that it carries without a tag.
	// +optional
	UntaggedVLAN int32 `json:"untaggedVLAN,omitempty"` //nolint:tagliatelle // As vlanID is written.
	// TaggedVLANs are the VIDs of those that it carries with a tag: 256 of them at most, that of the address's prefix among them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	TaggedVLANs []int32 `json:"taggedVLANs,omitempty"` //nolint:tagliatelle // As above.
	// Members are the ports of a LAG, by their names.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Members []InterfaceMember `json:"members,omitempty"`
}

// An InterfaceObservation is the interface that an address is assigned to, as NetBox had it within the last half an hour or so.
type InterfaceObservation struct {
	InterfaceLink `json:",inline"`

	// Device, or virtual machine, that has it.
	// +optional
	Device string `json:"device,omitempty"`
	// Parent is the interface that it's a part of, such as that of a VLAN.
	// +optional
	Parent *InterfaceLink `json:"parent,omitempty"`
	// LAG is the link aggregation group that it's a port of.
	// +optional
	LAG *InterfaceLink `json:"lag,omitempty"`
}
