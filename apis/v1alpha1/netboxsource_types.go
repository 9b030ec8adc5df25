package v1alpha1

// VRFTable is a table of addresses that isn't a VRF.
// +kubebuilder:validation:Enum=Global
type VRFTable string

// VRFGlobal is the table of addresses that are in no VRF.
const VRFGlobal VRFTable = "Global"

// A VRFSelector names the table of addresses that is meant: a VRF, or the global one.
// +kubebuilder:validation:XValidation:rule="(has(self.table)?1:0)+(has(self.name)?1:0)+(has(self.rd)?1:0)+(has(self.id)?1:0) == 1",message="exactly one of table, name, rd and id must be set"
type VRFSelector struct {
	// Table is Global, for addresses that are in no VRF.
	// +optional
	Table VRFTable `json:"table,omitempty"`
	// Name of the VRF.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	Name string `json:"name,omitempty"`
	// RD is the VRF's route distinguisher, such as 65000:1.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=21
	RD string `json:"rd,omitempty"`
	// ID in NetBox.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ID *int64 `json:"id,omitempty"`
}

// A PrefixFilter selects prefixes by what NetBox says of them: all that is set must hold. Prefixes whose status is container,
// reserved or deprecated, or that are marked utilized, are skipped: name those by cidr or id. Matches serve in the order of their
// CIDRs, then of their ids, and must be in one table alone.
// +kubebuilder:validation:XValidation:rule="has(self.site) || has(self.role) || has(self.tenant) || (has(self.tags) && size(self.tags) > 0) || has(self.family) || has(self.vrf) || (has(self.customFields) && size(self.customFields) > 0)",message="a filter must say something: site, role, tenant, tags, family, vrf or customFields"
type PrefixFilter struct {
	// Site slug.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9_]+$`
	Site string `json:"site,omitempty"`
	// Role slug.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9_]+$`
	Role string `json:"role,omitempty"`
	// Tenant slug.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9_]+$`
	Tenant string `json:"tenant,omitempty"`
	// Tags (slugs), all of which must be there.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=100
	// +kubebuilder:validation:items:Pattern=`^[-\p{L}\p{M}\p{N}_]+$`
	Tags []string `json:"tags,omitempty"`
	// Family is IPv4 or IPv6.
	// +optional
	Family IPFamily `json:"family,omitempty"`
	// VRF of the prefixes. Where absent, all tables are looked through, and those that could serve must be in one of them alone.
	// +optional
	VRF *VRFSelector `json:"vrf,omitempty"`
	// CustomFields that must have just these values, by name. A selection is named by its value, an object by its id.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 50 && k.matches('^[A-Za-z0-9_]+$') && !k.contains('__'))",message="a name of customFields must be one that a custom field of NetBox can have: letters, digits and underscores, no two of these in a row, 50 characters at most"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(self[k]) > 0)",message="a value of customFields must not be empty: what has no value isn't selected by it"
	CustomFields map[string]string `json:"customFields,omitempty"`
}

// A RangeFilter selects IP ranges by what NetBox says of them: all that is set must hold. Ranges whose status is reserved or
// deprecated, or that are marked utilized or populated, are skipped: name those by id or start, but for populated ones, of which NetBox
// gives nobody anything from 4.3 on. Matches serve in the order of their first addresses, then of their ids, and must be in one table alone.
// +kubebuilder:validation:XValidation:rule="has(self.role) || has(self.tenant) || (has(self.tags) && size(self.tags) > 0) || has(self.family) || has(self.vrf) || (has(self.customFields) && size(self.customFields) > 0)",message="a filter must say something: role, tenant, tags, family, vrf or customFields"
type RangeFilter struct {
	// Role slug.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9_]+$`
	Role string `json:"role,omitempty"`
	// Tenant slug.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9_]+$`
	Tenant string `json:"tenant,omitempty"`
	// Tags (slugs), all of which must be there.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=100
	// +kubebuilder:validation:items:Pattern=`^[-\p{L}\p{M}\p{N}_]+$`
	Tags []string `json:"tags,omitempty"`
	// Family is IPv4 or IPv6.
	// +optional
	Family IPFamily `json:"family,omitempty"`
	// VRF of the ranges. Where absent, all tables are looked through, and those that could serve must be in one of them alone.
	// +optional
	VRF *VRFSelector `json:"vrf,omitempty"`
	// CustomFields that must have just these values, by name. A selection is named by its value, an object by its id.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 50 && k.matches('^[A-Za-z0-9_]+$') && !k.contains('__'))",message="a name of customFields must be one that a custom field of NetBox can have: letters, digits and underscores, no two of these in a row, 50 characters at most"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(self[k]) > 0)",message="a value of customFields must not be empty: what has no value isn't selected by it"
	CustomFields map[string]string `json:"customFields,omitempty"`
}

// A PrefixSource is a prefix to allocate from, or several.
// +kubebuilder:validation:XValidation:rule="(has(self.cidr)?1:0)+(has(self.id)?1:0)+(has(self.filter)?1:0) == 1",message="exactly one of cidr, id and filter must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.filter) || !has(self.vrf)",message="vrf goes into filter: filter.vrf",fieldPath=".vrf"
type PrefixSource struct {
	// CIDR of the prefix, such as 10.77.0.0/24.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="cidr must be a network such as 10.77.0.0/24, without host bits"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('/0')",message="cidr must be a network such as 10.77.0.0/24: NetBox takes no address with the mask /0"
	CIDR string `json:"cidr,omitempty"`
	// VRF that the prefix is in. Where absent, cidr is looked for in all tables, and must be in one of them alone.
	// +optional
	VRF *VRFSelector `json:"vrf,omitempty"`
	// ID in NetBox.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ID *int64 `json:"id,omitempty"`
	// Filter selects prefixes by what NetBox says of them; each that matches is a source.
	// +optional
	Filter *PrefixFilter `json:"filter,omitempty"`
}

// A RangeSource is an IP range to allocate from, or several.
// +kubebuilder:validation:XValidation:rule="(has(self.id)?1:0)+(has(self.start)?1:0)+(has(self.filter)?1:0) == 1",message="exactly one of id, start and filter must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.filter) || !has(self.vrf)",message="vrf goes into filter: filter.vrf",fieldPath=".vrf"
type RangeSource struct {
	// ID in NetBox.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ID *int64 `json:"id,omitempty"`
	// Start is the first address of the range with its mask, such as 10.77.0.100/24.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="start must be an address with its mask, such as 10.77.0.100/24"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('/0')",message="start needs the mask of its network, such as 10.77.0.100/24: NetBox takes no address with /0"
	Start string `json:"start,omitempty"`
	// VRF that the range is in. Where absent, start is looked for in all tables, and must be in one of them alone.
	// +optional
	VRF *VRFSelector `json:"vrf,omitempty"`
	// Filter selects ranges by what NetBox says of them; each that matches is a source.
	// +optional
	Filter *RangeFilter `json:"filter,omitempty"`
}

// An AddressSource is where an address may come from.
// +kubebuilder:validation:XValidation:rule="has(self.prefix) != has(self.range)",message="exactly one of prefix and range must be set"
type AddressSource struct {
	// Prefix to allocate from.
	// +optional
	Prefix *PrefixSource `json:"prefix,omitempty"`
	// Range to allocate from.
	// +optional
	Range *RangeSource `json:"range,omitempty"`
}

// Duplicates says whether a fixed address may be another record's, too.
// +kubebuilder:validation:Enum=Refuse;SharedRole;Allow
type Duplicates string

// Values of Duplicates.
const (
	DuplicatesRefuse     Duplicates = "Refuse"
	DuplicatesSharedRole Duplicates = "SharedRole"
	DuplicatesAllow      Duplicates = "Allow"
)

// A PrefixObservation is the prefix that an address was allocated from, or that holds a fixed one.
type PrefixObservation struct {
	// ID in NetBox.
	// +optional
	ID int64 `json:"id,omitempty"`
	// CIDR of the prefix.
	// +optional
	CIDR string `json:"cidr,omitempty"`
	// VLAN is the VID of the prefix's VLAN.
	// +optional
	VLAN int32 `json:"vlan,omitempty"`
}

// A RangeObservation is the range that an address was allocated from.
type RangeObservation struct {
	// ID in NetBox.
	// +optional
	ID int64 `json:"id,omitempty"`
	// Start is its first address, with its mask.
	// +optional
	Start string `json:"start,omitempty"`
	// End is its last address, with its mask.
	// +optional
	End string `json:"end,omitempty"`
}

// A SourceObservation is one source as it was when an address was asked for.
type SourceObservation struct {
	// Source in words, such as: prefix "10.77.0.0/24" of VRF "prod".
	Source string `json:"source"`
	// PrefixID in NetBox, of a prefix.
	// +optional
	PrefixID int64 `json:"prefixID,omitempty"`
	// RangeID in NetBox, of a range.
	// +optional
	RangeID int64 `json:"rangeID,omitempty"`
	// CIDR of the prefix, or the range's first and last address.
	// +optional
	CIDR string `json:"cidr,omitempty"`
	// Size is how many addresses it can give in all. Absent where unknown, or more than a number holds.
	// +optional
	Size *int64 `json:"size,omitempty"`
	// Used is how many of them are taken.
	// +optional
	Used *int64 `json:"used,omitempty"`
	// Free is how many of them aren't.
	// +optional
	Free *int64 `json:"free,omitempty"`
	// Reason is Served for the one that gave the address, else why it didn't: Exhausted, NotFound, Ambiguous, NotAllowed, Forbidden,
	// Conflict or Invalid.
	Reason string `json:"reason"`
	// Message says the same for a person.
	// +optional
	Message string `json:"message,omitempty"`
}
