package v1alpha1

// A SwitchPort is where a machine is plugged in, as the relay in front of it says by DHCP option 82 (RFC 3046). Ids are compared octet by octet,
// and one that's absent is that of a relay which sends none, or an empty one.
// +kubebuilder:validation:XValidation:rule="has(self.circuitID) || has(self.remoteID)",message="port needs a circuitID or a remoteID"
type SwitchPort struct {
	// CircuitID is the agent circuit id (sub-option 1), which most relays name the port by: printable ASCII as it is, such as Ethernet1/12, or 0x
	// and hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.startsWith('0x') ? self.matches('^0x([0-9a-fA-F]{2}){1,255}$') : self.matches('^[ -~]{1,255}$')",message="a port's ids are printable ASCII, or 0x and hexadecimal digits, two for each octet, of at most 255 octets"
	CircuitID string `json:"circuitID,omitempty"`
	// RemoteID is the agent remote id (sub-option 2), which most relays name themselves by; written as circuitID.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.startsWith('0x') ? self.matches('^0x([0-9a-fA-F]{2}){1,255}$') : self.matches('^[ -~]{1,255}$')",message="a port's ids are printable ASCII, or 0x and hexadecimal digits, two for each octet, of at most 255 octets"
	RemoteID string `json:"remoteID,omitempty"`
}
