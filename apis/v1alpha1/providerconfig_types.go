package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Credentials of a remote system, always by reference.
type Credentials struct {
	// Source of the credentials. Only Secret is supported.
	// +kubebuilder:validation:Enum=Secret
	Source xpv2.CredentialsSource `json:"source"`
	// SecretRef names the Secret; of a ProviderConfig it must be in the same namespace.
	SecretRef SecretReference `json:"secretRef"`
}

// A SecretReference names a Secret, and a key of it where one value is wanted.
type SecretReference struct {
	// Namespace of the Secret; a ProviderConfig's own where absent.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Key in the Secret's data: the token of a NetBox (default token), or what its webhook signs with (default secret). A BMC's
	// Secret has the keys username and password.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// ProviderConfigSpec is one credential and who may use it.
// +kubebuilder:validation:XValidation:rule="has(self.netbox) != has(self.redfish)",message="exactly one of netbox and redfish must be set"
type ProviderConfigSpec struct {
	// AllowedNamespaces says which namespaces' resources may use it. Default: All for netbox, None
	// for redfish (it holds a password). A ProviderConfig is always for its own namespace alone.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`
	// NetBox to allocate addresses from.
	// +optional
	NetBox *NetBoxConfig `json:"netbox,omitempty"`
	// Redfish credential for BMCs.
	// +optional
	Redfish *RedfishConfig `json:"redfish,omitempty"`
}

// ProviderConfigStatus is what is known of a provider config.
type ProviderConfigStatus struct {
	xpv2.ProviderConfigStatus `json:",inline"`

	// NetBox facts.
	// +optional
	NetBox *NetBoxFacts `json:"netbox,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,provider,baremetal}
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A ProviderConfig is one credential of a NetBox or of BMCs, for the resources of its own namespace.
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the credential and who may use it.
	// +kubebuilder:validation:XValidation:rule="!has(self.allowedNamespaces) || self.allowedNamespaces.from == 'Same'",message="a ProviderConfig serves its own namespace alone; leave allowedNamespaces out, or make a ClusterProviderConfig",fieldPath=".allowedNamespaces"
	Spec ProviderConfigSpec `json:"spec"`

	Status ProviderConfigStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ProviderConfigList is a list of ProviderConfigs.
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfig `json:"items"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={crossplane,provider,baremetal}
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A ClusterProviderConfig is one credential of a NetBox or of BMCs, for the namespaces it allows.
type ClusterProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the credential and who may use it.
	// +kubebuilder:validation:XValidation:rule="(!has(self.netbox) || has(self.netbox.credentials.secretRef.__namespace__)) && (!has(self.redfish) || has(self.redfish.credentials.secretRef.__namespace__))",message="credentials.secretRef.namespace must be set on a ClusterProviderConfig"
	// +kubebuilder:validation:XValidation:rule="!has(self.netbox) || !has(self.netbox.webhook) || has(self.netbox.webhook.secretRef.__namespace__)",message="netbox.webhook.secretRef.namespace must be set on a ClusterProviderConfig"
	// +kubebuilder:validation:XValidation:rule="!has(self.allowedNamespaces) || self.allowedNamespaces.from != 'Same'",message="allowedNamespaces.from: Same is nobody's for a ClusterProviderConfig, which is in no namespace; use Names, All or None",fieldPath=".allowedNamespaces"
	Spec ProviderConfigSpec `json:"spec"`

	Status ProviderConfigStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ClusterProviderConfigList is a list of ClusterProviderConfigs.
type ClusterProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterProviderConfig `json:"items"`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,provider,baremetal}
// +kubebuilder:printcolumn:name="CONFIG-KIND",type="string",JSONPath=".providerConfigRef.kind"
// +kubebuilder:printcolumn:name="CONFIG-NAME",type="string",JSONPath=".providerConfigRef.name"
// +kubebuilder:printcolumn:name="RESOURCE-KIND",type="string",JSONPath=".resourceRef.kind"
// +kubebuilder:printcolumn:name="RESOURCE-NAME",type="string",JSONPath=".resourceRef.name"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A ProviderConfigUsage says that a resource uses a provider config, which can't go before it.
type ProviderConfigUsage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	xpv2.TypedProviderConfigUsage `json:",inline"`
}

// +kubebuilder:object:root=true

// ProviderConfigUsageList is a list of ProviderConfigUsages.
type ProviderConfigUsageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfigUsage `json:"items"`
}
