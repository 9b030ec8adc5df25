package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IPFamily is IPv4 or IPv6.
// +kubebuilder:validation:Enum=IPv4;IPv6
type IPFamily string

// Values of IPFamily.
const (
	IPv4 IPFamily = "IPv4"
	IPv6 IPFamily = "IPv6"
)

// A SlugReference names a NetBox object by its slug.
type SlugReference struct {
	// Slug of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9_]+$`
	Slug string `json:"slug"`
}

// NetBoxIPAddressParameters are what is wanted of an address.
// +kubebuilder:validation:XValidation:rule="!has(self.address) || !has(self.from) || size(self.from) == 0",message="exactly one of from and address must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.adopt) || self.adopt != 'IfUnowned' || has(self.address)",message="adopt: IfUnowned goes with address; to adopt a record by its number use adopt: ExternalName and annotation crossplane.io/external-name",fieldPath=".adopt"
// +kubebuilder:validation:XValidation:rule="has(self.address) == has(oldSelf.address) && (!has(self.address) || self.address == oldSelf.address)",message="address can't change, nor be exchanged for from; make a new NetBoxIPAddress",fieldPath=".address"
// +kubebuilder:validation:XValidation:rule="has(self.vrf) == has(oldSelf.vrf) && (!has(self.vrf) || self.vrf == oldSelf.vrf)",message="vrf can't change; make a new NetBoxIPAddress",fieldPath=".vrf"
// +kubebuilder:validation:XValidation:rule="!has(self.address) || !has(self.prefixLength)",message="prefixLength goes with from; a fixed address has its mask in address",fieldPath=".prefixLength"
// +kubebuilder:validation:XValidation:rule="!has(self.prefixLength) || !has(self.from) || size(self.from) == 0 || self.from.exists(s, has(s.prefix) && has(s.prefix.cidr) ? (!isCIDR(s.prefix.cidr) || (self.prefixLength >= cidr(s.prefix.cidr).prefixLength() && (self.prefixLength <= 32 || cidr(s.prefix.cidr).ip().family() == 6) && (!has(self.family) || (self.family == 'IPv4') == (cidr(s.prefix.cidr).ip().family() == 4)))) : has(s.range) && has(s.range.start) ? (!isCIDR(s.range.start) || (self.prefixLength >= cidr(s.range.start).prefixLength() && (self.prefixLength <= 32 || cidr(s.range.start).ip().family() == 6) && (!has(self.family) || (self.family == 'IPv4') == (cidr(s.range.start).ip().family() == 4)))) : self.prefixLength <= 32 || !((has(s.prefix) && has(s.prefix.filter) && has(s.prefix.filter.family) && s.prefix.filter.family == 'IPv4') || (has(s.range) && has(s.range.filter) && has(s.range.filter.family) && s.range.filter.family == 'IPv4')))",message="prefixLength fits none of the sources: it is the mask of one address, at least as long as the source's own, and at most 32 for IPv4",fieldPath=".prefixLength"
// +kubebuilder:validation:XValidation:rule="has(self.address) || !has(self.vrf)",message="vrf goes with address; a source has its own, such as from[].prefix.vrf",fieldPath=".vrf"
// +kubebuilder:validation:XValidation:rule="!has(self.family) || !has(self.address) || !isCIDR(self.address) || (self.family == 'IPv4') == (cidr(self.address).ip().family() == 4)",message="family is another one than that of address; leave it out beside address",fieldPath=".family"
// +kubebuilder:validation:XValidation:rule="!has(self.family) || !has(self.from) || size(self.from) == 0 || self.from.exists(s, has(s.prefix) && has(s.prefix.cidr) ? (!isCIDR(s.prefix.cidr) || (self.family == 'IPv4') == (cidr(s.prefix.cidr).ip().family() == 4)) : has(s.range) && has(s.range.start) ? (!isCIDR(s.range.start) || (self.family == 'IPv4') == (cidr(s.range.start).ip().family() == 4)) : has(s.prefix) && has(s.prefix.filter) && has(s.prefix.filter.family) ? s.prefix.filter.family == self.family : !(has(s.range) && has(s.range.filter) && has(s.range.filter.family)) || s.range.filter.family == self.family)",message="family is another one than that of all sources: name a source of that family, or leave family out",fieldPath=".family"
// +kubebuilder:validation:XValidation:rule="!has(self.family) || self.family != 'IPv4' || !has(self.prefixLength) || self.prefixLength <= 32",message="prefixLength is at most 32 with family: IPv4",fieldPath=".prefixLength"
// +kubebuilder:validation:XValidation:rule="!has(self.status) || self.status != 'slaac' || (has(self.address) && isCIDR(self.address) ? cidr(self.address).ip().family() == 6 : !has(self.family) || self.family == 'IPv6')",message="status: slaac is for IPv6 alone, as NetBox has it",fieldPath=".status"
// +kubebuilder:validation:XValidation:rule="has(self.address) || !has(self.duplicates)",message="duplicates goes with address; an address that is allocated is nobody else's",fieldPath=".duplicates"
// +kubebuilder:validation:XValidation:rule="!has(self.duplicates) || self.duplicates != 'SharedRole' || (has(self.role) && self.role in ['anycast', 'vip', 'vrrp', 'hsrp', 'glbp', 'carp'])",message="duplicates: SharedRole needs a role that addresses share: anycast, vip, vrrp, hsrp, glbp or carp",fieldPath=".duplicates"
// +kubebuilder:validation:XValidation:rule="!has(self.address) || !has(self.assignTo) || !isCIDR(self.address) || !(cidr(self.address) == cidr(self.address).masked()) || cidr(self.address).prefixLength() >= (cidr(self.address).ip().family() == 4 ? 31 : 127)",message="a network address can't be assigned, as NetBox puts it on no interface: ask for another one, or for this one alone, with mask /32 or /128",fieldPath=".address"
type NetBoxIPAddressParameters struct {
	// From lists sources; the first that can serve wins. Those that couldn't, and why, are in status.atProvider.sources. An address
	// that was given stays, whatever is changed here: Ready says so where its source isn't named here any more.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	From []AddressSource `json:"from,omitempty"`
	// Address is one fixed address with its mask, such as 10.77.0.40/24.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="address must be an address with its mask, such as 10.77.0.40/24"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('/0')",message="address needs the mask of its network, such as 10.77.0.40/24: NetBox takes none with /0"
	Address string `json:"address,omitempty"`
	// VRF of a fixed address, which can't change. Where absent, it's that of the prefix that holds the address, which may be in one
	// table alone.
	// +optional
	VRF *VRFSelector `json:"vrf,omitempty"`
	// Duplicates says what becomes of a fixed address that another record in the same table has, too: Refuse (the default),
	// SharedRole (fine where both have a role that addresses share, such as anycast or vip), or Allow (fine where NetBox takes it).
	// +optional
	Duplicates Duplicates `json:"duplicates,omitempty"`
	// Family that the address must be of: sources of the other one are passed over. Where absent, either will do.
	// +optional
	Family IPFamily `json:"family,omitempty"`
	// PrefixLength is the mask of an allocated address, such as 32; the prefix's or range's own where absent. It can't be shorter.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	PrefixLength int32 `json:"prefixLength,omitempty"`
	// Status of the address in NetBox, such as active or reserved.
	// +optional
	// +kubebuilder:default=active
	// +kubebuilder:validation:MaxLength=50
	Status string `json:"status,omitempty"`
	// Role of the address in NetBox, such as vip; "": none. Where it's absent, it stays as people have it.
	// +optional
	// +kubebuilder:validation:Enum="";loopback;secondary;anycast;vip;vrrp;hsrp;glbp;carp
	Role *string `json:"role,omitempty"`
	// DNSName of the address, such as web-1.rack7.example; "": none. Where it's absent, it stays as people have it.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^([0-9A-Za-z_-]+|\*)(\.[0-9A-Za-z_-]+)*\.?$|^$`
	DNSName *string `json:"dnsName,omitempty"`
	// Description of the address, a line for people; "": none. Where it's absent, it stays as people have it.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	Description *string `json:"description,omitempty"`
	// Comments on the address, Markdown for people; "": none. Where it's absent, they stay as people have them.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Comments *string `json:"comments,omitempty"`
	// Tenant of the address. Where it's absent, it stays as people have it.
	// +optional
	Tenant *SlugReference `json:"tenant,omitempty"`
	// Tags (slugs) that the address must have. Tags that people add stay, and so does one that is taken out of here.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=100
	// +kubebuilder:validation:items:Pattern=`^[-\p{L}\p{M}\p{N}_]+$`
	Tags []string `json:"tags,omitempty"`
	// CustomFields that the address must have, by name, with any JSON value; null: none. Others stay as they are, and so does one
	// that is taken out of here. A whole number of more than 2^53 can't be carried exactly, and is refused; an object is named by its id.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	CustomFields map[string]apiextv1.JSON `json:"customFields,omitempty"`
	// AssignTo assigns the address to an interface of a device or virtual machine. Where it's taken out of here, an assignment
	// that was made by it is undone; one that people made stays.
	// +optional
	AssignTo *Assignment `json:"assignTo,omitempty"`
	// Drift says what's done where somebody changed in NetBox what is named here, or the address or VRF that this resource was given:
	// Correct it, or only Report it by an event and in status. What is changed here is written either way. An address or VRF that
	// stays changed, or can't be put back, takes Ready away, with reason Moved.
	// +optional
	// +kubebuilder:default=Correct
	Drift DriftPolicy `json:"drift,omitempty"`
	// Adopt says whether a record that is in NetBox already, and carries no marker, may become this resource's: Never (the default),
	// IfUnowned (the one record that has the fixed address), or ExternalName (the record whose number annotation
	// crossplane.io/external-name is). A record with a marker, of this cluster or another, is never taken.
	// +optional
	// +kubebuilder:default=Never
	Adopt AdoptPolicy `json:"adopt,omitempty"`
	// Release says what becomes of the address when this resource goes.
	// +optional
	Release *ReleasePolicy `json:"release,omitempty"`
	// WhenLost says what is done once somebody deleted the record in NetBox, or the device or interface that it was assigned to: Hold
	// (the default: Ready is False with reason Lost, and a person decides), or Restore (the same address is made again, where nobody
	// else has it by now). No other address ever takes its place.
	// +optional
	// +kubebuilder:default=Hold
	WhenLost LostPolicy `json:"whenLost,omitempty"`
}

// A VRFObservation is the VRF of an address.
type VRFObservation struct {
	// ID in NetBox.
	// +optional
	ID int64 `json:"id,omitempty"`
	// Name of the VRF.
	// +optional
	Name string `json:"name,omitempty"`
}

// NetBoxIPAddressObservation is what NetBox says of the address.
type NetBoxIPAddressObservation struct {
	// ID in NetBox.
	// +optional
	ID int64 `json:"id,omitempty"`
	// URL of the record's page in NetBox, for a person to open.
	// +optional
	URL string `json:"url,omitempty"`
	// Address with its mask, such as 10.77.0.11/24. It's the one that was given, also where somebody gave the record another one.
	// +optional
	Address string `json:"address,omitempty"`
	// Marker of this resource, once the record carries it.
	// +optional
	Marker string `json:"marker,omitempty"`
	// Given is when the resource got the address last: when its record was made, adopted, made again or put back, by the provider's clock. Of two
	// resources that have had one address, a machine of the later one may be using it.
	// +optional
	Given *metav1.MicroTime `json:"given,omitempty"`
	// Family of the address.
	// +optional
	Family IPFamily `json:"family,omitempty"`
	// Prefix that the address was allocated from; of a fixed one, the prefix that holds it.
	// +optional
	Prefix *PrefixObservation `json:"prefix,omitempty"`
	// Range that the address was allocated from.
	// +optional
	Range *RangeObservation `json:"range,omitempty"`
	// Sources that were tried, in their order, while the address waits for one, or where some had to be skipped.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Sources []SourceObservation `json:"sources,omitempty"`
	// VRF of the address, as it was given; absent for the global table.
	// +optional
	VRF *VRFObservation `json:"vrf,omitempty"`
	// Status of the address in NetBox.
	// +optional
	Status string `json:"status,omitempty"`
	// DNSName of the address.
	// +optional
	DNSName string `json:"dnsName,omitempty"`
	// Role of the address in NetBox; absent for none.
	// +optional
	Role string `json:"role,omitempty"`
	// Description of the address.
	// +optional
	Description string `json:"description,omitempty"`
	// Tenant (slug) of the address.
	// +optional
	Tenant string `json:"tenant,omitempty"`
	// Tags (slugs) of the address.
	// +optional
	// +listType=atomic
	Tags []string `json:"tags,omitempty"`
	// CustomFields of the address that have a value of at most 1024 bytes, but for those of the provider: selections by their value,
	// objects by their id.
	// +optional
	CustomFields map[string]apiextv1.JSON `json:"customFields,omitempty"`
	// Assigned is the interface that this resource has assigned the address to; absent where people did, or nobody.
	// +optional
	Assigned *AssignmentObservation `json:"assigned,omitempty"`
	// Interface is what NetBox says of the interface that this resource has assigned the address to.
	// +optional
	Interface *InterfaceObservation `json:"interface,omitempty"`
	// Drift lists what somebody changed in NetBox and what stays so, as drift is Report.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Drift []FieldDrift `json:"drift,omitempty"`
	// AppliedGeneration is the last metadata.generation of which NetBox was seen to have each field that spec names, but those in drift. What
	// differs later, and isn't changed in spec, was changed in NetBox.
	// +optional
	AppliedGeneration int64 `json:"appliedGeneration,omitempty"`
	// LastUpdated is NetBox's time of the record's last change, as NetBox writes it.
	// +optional
	LastUpdated string `json:"lastUpdated,omitempty"`
}

// NetBoxIPAddressSpec is the desired state of an address. One that is only observed needs no source: its record is there already.
// +kubebuilder:validation:XValidation:rule="(has(self.managementPolicies) && self.managementPolicies.all(p, p == 'Observe' || p == 'LateInitialize')) || has(self.forProvider.address) || (has(self.forProvider.from) && size(self.forProvider.from) > 0)",message="exactly one of from and address must be set",fieldPath=".forProvider"
type NetBoxIPAddressSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider is what is wanted of the address.
	ForProvider NetBoxIPAddressParameters `json:"forProvider"`
}

// NetBoxIPAddressStatus is the observed state of an address.
type NetBoxIPAddressStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is what NetBox says of the address.
	// +optional
	AtProvider NetBoxIPAddressObservation `json:"atProvider,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,baremetal},shortName=nbip
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="ADDRESS",type="string",JSONPath=".status.atProvider.address"
// +kubebuilder:printcolumn:name="PREFIX",type="string",JSONPath=".status.atProvider.prefix.cidr"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="REASON",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A NetBoxIPAddress is one address: allocated from a prefix or range, or fixed. Its external name is the
// record's id in NetBox.
type NetBoxIPAddress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NetBoxIPAddressSpec   `json:"spec"`
	Status NetBoxIPAddressStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// NetBoxIPAddressList is a list of NetBoxIPAddresses.
type NetBoxIPAddressList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NetBoxIPAddress `json:"items"`
}
