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
}

// HostTLS pins the certificate of one BMC.
// +kubebuilder:validation:XValidation:rule="!has(self.serverName)",message="serverName is not supported yet; pin the certificate",fieldPath=".serverName"
type HostTLS struct {
	// PinnedSHA256 lists SHA-256 fingerprints of the leaf certificate (DER), lower-case hex.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:Pattern=`^[0-9a-f]{64}$`
	PinnedSHA256 []string `json:"pinnedSHA256,omitempty"` //nolint:tagliatelle // SHA256 is an acronym, as MACs and ID are.
	// ServerName that the certificate must carry, where it isn't the address. Not supported yet.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`
}
