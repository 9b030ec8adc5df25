package v1alpha1

// SystemFacts are what tells one ComputerSystem of a BMC from another one.
type SystemFacts struct {
	// ID of the System, for spec.forProvider.system.
	// +optional
	ID string `json:"id,omitempty"`
	// URI of the System.
	// +optional
	URI string `json:"uri,omitempty"`
	// Serial number, trimmed.
	// +optional
	Serial string `json:"serial,omitempty"`
	// UUID as the BMC says it.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// Model of the System.
	// +optional
	Model string `json:"model,omitempty"`
	// Power as the BMC sees it.
	// +optional
	// +kubebuilder:validation:Enum=PoweredOn;PoweredOff;PoweringOn;PoweringOff
	Power PowerState `json:"power,omitempty"`
	// CanReset says whether it can be switched on and off: GPU boards and the like can't, and are never a host.
	// +optional
	// +kubebuilder:validation:Enum="Yes";"No"
	CanReset string `json:"canReset,omitempty"`
}
