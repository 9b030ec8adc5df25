package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A NetBoxPolicy says what some namespaces may ask of a NetBox.
type NetBoxPolicy struct {
	// Namespaces that the policy is for.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	Namespaces []string `json:"namespaces"`
	// Prefixes, as CIDRs, that their addresses must be in, with their masks: 10.77.0.9/24 isn't in 10.77.0.8/29, as by its mask a machine
	// takes more than that for its own network. So it is with a range, which NetBox mostly has with the mask of its network. Where absent,
	// any prefix will do.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="self.all(c, isCIDR(c))",message="prefixes must be CIDRs, such as 10.77.0.0/24"
	Prefixes []string `json:"prefixes,omitempty"`
	// DNSZones that their DNS names must end in, such as rack7.example; where absent, any name will do.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^\.?[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*\.?$`
	DNSZones []string `json:"dnsZones,omitempty"`
	// Tenant (slug) that their addresses get, whatever they ask for; where absent, the one that they ask for.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9_]*$`
	Tenant string `json:"tenant,omitempty"`
	// AssignTo says what they may assign addresses to: None (nothing), OwnHosts (the device of another namespace's RedfishHost that is bound
	// to a HostClaim of theirs, named by hostRef or hostSelector), or All (any device and virtual machine). None where it's
	// absent: who may take addresses may not thereby change what NetBox says of other people's machines.
	// +optional
	// +kubebuilder:validation:Enum=None;OwnHosts;All
	AssignTo AssignmentScope `json:"assignTo,omitempty"`
}

// AssignmentScope says what a namespace may assign addresses to.
type AssignmentScope string

// Values of AssignmentScope.
const (
	AssignNone     AssignmentScope = "None"
	AssignOwnHosts AssignmentScope = "OwnHosts"
	AssignAll      AssignmentScope = "All"
)

// NetBoxConfig says how to reach one NetBox.
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || self.tls.verify != 'TrustOnFirstUse'",message="verify: TrustOnFirstUse is not supported yet for a NetBox; use System, CABundle or Pinned",fieldPath=".tls.verify"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(self.tls.minVersion) || self.tls.minVersion in ['TLS12', 'TLS13']",message="minVersion of a NetBox must be TLS12 or TLS13: older ones are for BMCs alone",fieldPath=".tls.minVersion"
// +kubebuilder:validation:XValidation:rule="!has(self.markerField) || !has(self.releaseField) || self.markerField != self.releaseField",message="markerField and releaseField must be two fields: one is unique, the other isn't",fieldPath=".releaseField"
type NetBoxConfig struct {
	// URL of the NetBox, without /api; sub-paths are allowed. The token alone says who asks: there's no user, query or fragment in it.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && (self.startsWith('https://') || self.startsWith('http://')) && url(self).getHostname() != ''",message="url must be an http or https URL, such as https://netbox.example/"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@') && !self.contains('?') && !self.contains('#')",message="url must be without user, password, query and fragment, such as https://netbox.example/: the token is in credentials"
	URL string `json:"url"`
	// Credentials: a Secret with an API token. Version 1 tokens and nbt_… tokens are told apart.
	Credentials Credentials `json:"credentials"`
	// Access says what this NetBox is used for. ReadWrite: addresses are taken from it. ReadOnly: they are only looked at (import, with
	// managementPolicies: [Observe]); then nothing is ever written to it, and a token that may only read is enough.
	// +optional
	// +kubebuilder:default=ReadWrite
	// +kubebuilder:validation:Enum=ReadWrite;ReadOnly
	Access NetBoxAccess `json:"access,omitempty"`
	// MarkerField is the unique text custom field on ipam.ipaddress that holds our marker. It's
	// created where the token may.
	// +optional
	// +kubebuilder:default=crossplane_claim
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+(_[a-z0-9]+)*$`
	// +kubebuilder:validation:MaxLength=50
	MarkerField string `json:"markerField,omitempty"`
	// ReleaseField is the text custom field on ipam.ipaddress, not unique, that says of a record which resource let it go, and until when
	// it's kept (release policies Keep and Quarantine). It's created where the token may.
	// +optional
	// +kubebuilder:default=crossplane_released
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+(_[a-z0-9]+)*$`
	// +kubebuilder:validation:MaxLength=50
	ReleaseField string `json:"releaseField,omitempty"`
	// TLS says how NetBox's certificate is judged; System where absent.
	// +optional
	TLS *TLS `json:"tls,omitempty"`
	// ProxyURL is the HTTP proxy by which NetBox is reached, such as http://proxy.example:3128; a direct connection where absent. To
	// an https NetBox the proxy makes a tunnel (CONNECT) and sees neither token nor data; to an http one it sees both. The proxy of an
	// https URL is judged by the system's authorities, and by those of tls.caBundle. It must not ask for a password. The environment's
	// proxies are never used.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="isURL(self) && (self.startsWith('https://') || self.startsWith('http://')) && !self.contains('@')",message="proxyURL must be an http or https URL without a password, such as http://proxy.example:3128"
	ProxyURL string `json:"proxyURL,omitempty"`
	// Timeout of one request, connecting included, of 1s to 55s; 55s where absent. NetBox makes addresses one at a time, and a request
	// that is given up has to be looked for afterwards: a short timeout makes more work, not less.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,2}s$') && duration(self) >= duration('1s') && duration(self) <= duration('55s')",message="timeout must be of 1s to 55s, such as 30s"
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// Webhook lets this NetBox tell of changes as they happen. It counts where the provider was started with --netbox-webhook-address.
	// +optional
	Webhook *NetBoxWebhook `json:"webhook,omitempty"`
	// RequestsPerSecond is the most that we ask of this NetBox; where absent, as much as it answers, 16 requests at once.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
	// WarnBelow is how much of a prefix or range must be free, in percent, for no warning to be given: an event on this object, once
	// each time that less becomes free. 0: never.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	WarnBelow *int32 `json:"warnBelow,omitempty"`
	// Policies say what a namespace may ask for. Where there are any, a namespace that none names
	// may ask for nothing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Policies []NetBoxPolicy `json:"policies,omitempty"`
}

// NetBoxAccess says what a NetBox is used for.
type NetBoxAccess string

// Values of NetBoxAccess.
const (
	NetBoxReadWrite NetBoxAccess = "ReadWrite"
	NetBoxReadOnly  NetBoxAccess = "ReadOnly"
)

// NetBoxWebhook is how a NetBox tells of changes: to the path /netbox/webhook/NAME of a ClusterProviderConfig, or
// /netbox/webhook/NAMESPACE/NAME of a ProviderConfig.
type NetBoxWebhook struct {
	// SecretRef names the Secret that the webhook in NetBox signs with, under the key secret where none is named. Of a ProviderConfig
	// it must be in the same namespace.
	SecretRef SecretReference `json:"secretRef"`
}

// MarkerFieldState is what is known of the marker's custom field.
// +kubebuilder:validation:Enum=Ready;Missing;Unproven;Unfit
type MarkerFieldState string

// Values of MarkerFieldState.
const (
	// MarkerFieldReady: it is there, on addresses, text, unique, filtered exactly.
	MarkerFieldReady MarkerFieldState = "Ready"
	// MarkerFieldMissing: there is none of that name. It's made with the first address, where the token may.
	MarkerFieldMissing MarkerFieldState = "Missing"
	// MarkerFieldUnproven: the token may not read custom fields. It works as far as can be seen; that it's unique can't be.
	MarkerFieldUnproven MarkerFieldState = "Unproven"
	// MarkerFieldUnfit: it is there, and isn't what it must be.
	MarkerFieldUnfit MarkerFieldState = "Unfit"
)

// NetBoxTokenState is what is known of a token's rights.
// +kubebuilder:validation:Enum=Writable;ReadOnly;Unproven
type NetBoxTokenState string

// Values of NetBoxTokenState.
const (
	// NetBoxTokenWritable: NetBox lets it make addresses.
	NetBoxTokenWritable NetBoxTokenState = "Writable"
	// NetBoxTokenReadOnly: it's valid, and NetBox lets it make none: it's read-only, or lacks the permission.
	NetBoxTokenReadOnly NetBoxTokenState = "ReadOnly"
	// NetBoxTokenUnproven: it's valid; whether it may write isn't known: NetBox, or what stands in front of it, doesn't say.
	NetBoxTokenUnproven NetBoxTokenState = "Unproven"
)

// NetBoxFacts are what a NetBox said of itself.
type NetBoxFacts struct {
	// Version of the NetBox, such as 4.6.8.
	// +optional
	Version string `json:"version,omitempty"`
	// MarkerField is what is known of the marker's custom field.
	// +optional
	MarkerField MarkerFieldState `json:"markerField,omitempty"`
	// Token is what is known of the token's rights.
	// +optional
	Token NetBoxTokenState `json:"token,omitempty"`
	// LastChecked is when NetBox last answered a look at all of this, to the minute.
	// +optional
	LastChecked *metav1.Time `json:"lastChecked,omitempty"`
}
