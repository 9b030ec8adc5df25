package v1alpha1

// TLSVerify says how a server's certificate is judged.
// +kubebuilder:validation:Enum=System;CABundle;Pinned;TrustOnFirstUse;None
type TLSVerify string

// Values of TLSVerify.
const (
	TLSVerifySystem          TLSVerify = "System"
	TLSVerifyCABundle        TLSVerify = "CABundle"
	TLSVerifyPinned          TLSVerify = "Pinned"
	TLSVerifyTrustOnFirstUse TLSVerify = "TrustOnFirstUse"
	TLSVerifyNone            TLSVerify = "None"
)

// TLS says how a server's certificate is judged.
// +kubebuilder:validation:XValidation:rule="self.verify != 'CABundle' || has(self.caBundle)",message="caBundle must be set when verify is CABundle",fieldPath=".caBundle"
// +kubebuilder:validation:XValidation:rule="self.verify == 'CABundle' || !has(self.caBundle) || size(self.caBundle) == 0",message="caBundle counts only with verify: CABundle; set that, or leave caBundle out",fieldPath=".caBundle"
// +kubebuilder:validation:XValidation:rule="self.verify != 'Pinned' || (has(self.pinnedSHA256) && size(self.pinnedSHA256) > 0)",message="pinnedSHA256 must be set when verify is Pinned",fieldPath=".pinnedSHA256"
// +kubebuilder:validation:XValidation:rule="self.verify in ['Pinned', 'TrustOnFirstUse'] || !has(self.pinnedSHA256) || size(self.pinnedSHA256) == 0",message="pinnedSHA256 counts only with verify: Pinned or TrustOnFirstUse; set one of them, or leave the pins out",fieldPath=".pinnedSHA256"
type TLS struct {
	// Verify is System (the system's roots), CABundle, Pinned, TrustOnFirstUse (the first
	// certificate seen is pinned and never silently replaced), or None.
	// +kubebuilder:default=System
	Verify TLSVerify `json:"verify"`
	// CABundle is PEM, one or more certificates.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle string `json:"caBundle,omitempty"`
	// PinnedSHA256 lists SHA-256 fingerprints of the leaf certificate (DER), lower-case hex.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:Pattern=`^[0-9a-f]{64}$`
	PinnedSHA256 []string `json:"pinnedSHA256,omitempty"` //nolint:tagliatelle // SHA256 is an acronym, as MACs and ID are.
	// MinVersion is the oldest TLS that is spoken; TLS12 where absent. TLS10 and TLS11 are for BMCs that know nothing newer: who listens
	// may be able to read what is said, the password as well.
	// +optional
	// +kubebuilder:validation:Enum=TLS10;TLS11;TLS12;TLS13
	MinVersion string `json:"minVersion,omitempty"`
}

// HostTLS says what is known of the certificate of one BMC.
type HostTLS struct {
	// PinnedSHA256 lists SHA-256 fingerprints of the leaf certificate (DER), lower-case hex.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:Pattern=`^[0-9a-f]{64}$`
	PinnedSHA256 []string `json:"pinnedSHA256,omitempty"` //nolint:tagliatelle // SHA256 is an acronym, as MACs and ID are.
	// ServerName that the certificate must carry, and by which the BMC is asked for it, where that isn't the address: such as the BMC's
	// DNS name beside an IP address.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`
	ServerName string `json:"serverName,omitempty"`
}
