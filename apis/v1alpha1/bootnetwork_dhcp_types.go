package v1alpha1

// A Route leads out of a subnet by another way than its gateway.
type Route struct {
	// To is the network that's behind it, such as 10.20.0.0/16.
	// +kubebuilder:validation:MaxLength=18
	// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self).ip().family() == 4 && cidr(self) == cidr(self).masked() && self != '0.0.0.0/0'",message="to must be an IPv4 network such as 10.20.0.0/16, without host bits; the way to everywhere is gateway"
	To string `json:"to"`
	// Via is the router on the subnet that knows the way, such as 10.77.0.254.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="isIP(self) && ip(self).family() == 4",message="via must be an IPv4 address, such as 10.77.0.254"
	Via string `json:"via"`
}

// A DHCPOption is one that bootd knows nothing of, with its value in one of three spellings. What bootd says itself, such as addresses, times,
// names and what is booted, isn't said by one.
// +kubebuilder:validation:XValidation:rule="(has(self.text) ? 1 : 0) + (has(self.hex) ? 1 : 0) + (has(self.addresses) ? 1 : 0) == 1",message="an option has exactly one of text, hex and addresses"
// +kubebuilder:validation:XValidation:rule="!(self.code in [1, 3, 6, 12, 15, 26, 28, 42, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 66, 67, 77, 82, 93, 94, 97, 118, 121, 175, 249])",message="this option is bootd's own: DNS, NTP, domain, mtu, routes and leaseDuration have fields, and what is booted is a BootProfile's",fieldPath=".code"
// +kubebuilder:validation:XValidation:rule="self.code != 43 || has(self.vendorClass)",message="option 43 goes with vendorClass: whoever understands another vendor's is reconfigured by it",fieldPath=".code"
type DHCPOption struct {
	// Code of the option, by IANA's registry "BOOTP Vendor Extensions and DHCP Options", such as 150.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=254
	Code int32 `json:"code"`
	// Text is the value as text, without an end.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[ -~]*$`
	Text string `json:"text,omitempty"`
	// Hex is the value by its octets, such as 0a4d0005.
	// +optional
	// +kubebuilder:validation:MaxLength=510
	// +kubebuilder:validation:Pattern=`^([0-9A-Fa-f]{2})+$`
	Hex string `json:"hex,omitempty"`
	// Addresses of IPv4 are the value, four octets each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.all(a, isIP(a) && ip(a).family() == 4)",message="addresses must be IPv4 addresses, such as 10.77.0.5"
	Addresses []string `json:"addresses,omitempty"`
	// VendorClass that a machine's own (option 60) begins with, such as ArubaAP; absent: any.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[ -~]*$`
	VendorClass string `json:"vendorClass,omitempty"`
	// Always says that it's given also to machines that don't ask for it (option 55).
	// +optional
	Always bool `json:"always,omitempty"`
}
