package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AddressesFrom says where the addresses of claims come from. Tenants never name a prefix themselves.
type AddressesFrom struct {
	// NetBoxProviderConfigRef of the NetBox.
	NetBoxProviderConfigRef ProviderConfigRef `json:"netboxProviderConfigRef"`
	// Sources in order, of the subnet's own family and inside its CIDR. A prefix or range that is named by its id and is of the other family
	// is passed over.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Sources []AddressSource `json:"sources"`
	// Release says what becomes of an address when its claim goes; a RackPool's own network has its reclaim.addresses here.
	// +optional
	Release *ReleasePolicy `json:"release,omitempty"`
	// AssignTo puts each claim's address on an interface of its machine's device in NetBox, once the claim is bound to a host. Absent: on none, but
	// for claims that ask for interface.from: NetBox, whose addresses are put where {} would put them.
	// +optional
	AssignTo *MachineAssignment `json:"assignTo,omitempty"`
}

// A MachineAssignment says which interface in NetBox the address of a claimed machine is on. The device is that of its RedfishHost: netboxDevice, else
// the one of the host's name.
type MachineAssignment struct {
	// InterfaceName is the interface's name in NetBox, such as bond0.120, the same on each device. Absent: the one that has a MAC address of the host.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	InterfaceName string `json:"interfaceName,omitempty"`
	// Use of the address on the device: Primary (its primary address of that family) or Additional, which leaves those fields alone. Such a field that
	// names another address is never taken over: it's waited until it's free.
	// +optional
	// +kubebuilder:validation:Enum=Primary;Additional
	// +kubebuilder:default=Additional
	Use AddressUse `json:"use,omitempty"`
}

// An AddressRange is a range of IPv4 addresses, both ends included, of at most 4096.
// +kubebuilder:validation:XValidation:rule="!(isIP(self.start) && isIP(self.end) && ip(self.start).family() == 4 && ip(self.end).family() == 4) || ((int(self.end.split('.')[0]) * 16777216 + int(self.end.split('.')[1]) * 65536 + int(self.end.split('.')[2]) * 256 + int(self.end.split('.')[3])) >= (int(self.start.split('.')[0]) * 16777216 + int(self.start.split('.')[1]) * 65536 + int(self.start.split('.')[2]) * 256 + int(self.start.split('.')[3])) && (int(self.end.split('.')[0]) * 16777216 + int(self.end.split('.')[1]) * 65536 + int(self.end.split('.')[2]) * 256 + int(self.end.split('.')[3])) - (int(self.start.split('.')[0]) * 16777216 + int(self.start.split('.')[1]) * 65536 + int(self.start.split('.')[2]) * 256 + int(self.start.split('.')[3])) < 4096)",message="a range must not end before it starts, and has at most 4096 addresses"
type AddressRange struct {
	// Start of the range, such as 10.77.0.200.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="isIP(self) && ip(self).family() == 4",message="start must be an IPv4 address, such as 10.77.0.200"
	Start string `json:"start"`
	// End of the range, such as 10.77.0.220.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="isIP(self) && ip(self).family() == 4",message="end must be an IPv4 address, such as 10.77.0.220"
	End string `json:"end"`
}

// A Subnet of a boot segment.
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || cidr(self.cidr).containsIP(self.gateway) || (cidr(self.cidr).ip().family() == 6 && ip(self.gateway).family() == 6 && ip(self.gateway).isLinkLocalUnicast())",message="gateway must be inside cidr, or link-local in an IPv6 subnet, such as fe80::1",fieldPath=".gateway"
// +kubebuilder:validation:XValidation:rule="cidr(self.cidr).ip().family() == 4 || cidr(self.cidr).ip().isGlobalUnicast()",message="an IPv6 subnet must be of global or unique local addresses, such as fd00:77::/64",fieldPath=".cidr"
// +kubebuilder:validation:XValidation:rule="!has(self.dns) || self.dns.all(a, isIP(a) && ip(a).family() == cidr(self.cidr).ip().family())",message="dns must be addresses of the subnet's own family, such as 10.77.0.2 for an IPv4 subnet",fieldPath=".dns"
// +kubebuilder:validation:XValidation:rule="!has(self.addressesFrom) || !isCIDR(self.cidr) || self.addressesFrom.sources.all(s, has(s.prefix) ? ((!has(s.prefix.cidr) || !isCIDR(s.prefix.cidr) || cidr(s.prefix.cidr).ip().family() == cidr(self.cidr).ip().family()) && (!has(s.prefix.filter) || !has(s.prefix.filter.family) || (s.prefix.filter.family == 'IPv4') == (cidr(self.cidr).ip().family() == 4))) : !has(s.range) || ((!has(s.range.start) || !isCIDR(s.range.start) || cidr(s.range.start).ip().family() == cidr(self.cidr).ip().family()) && (!has(s.range.filter) || !has(s.range.filter.family) || (s.range.filter.family == 'IPv4') == (cidr(self.cidr).ip().family() == 4))))",message="addressesFrom.sources must be of the subnet's own family, such as cidr 10.77.0.0/24 for an IPv4 subnet",fieldPath=".addressesFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.addressesFrom) || !isCIDR(self.cidr) || self.addressesFrom.sources.all(s, has(s.prefix) ? (!has(s.prefix.cidr) || !isCIDR(s.prefix.cidr) || cidr(self.cidr).containsCIDR(s.prefix.cidr)) : !has(s.range) || !has(s.range.start) || !isCIDR(s.range.start) || cidr(self.cidr).containsIP(cidr(s.range.start).ip()))",message="addressesFrom.sources must be inside the subnet's cidr: machines with other addresses don't boot here",fieldPath=".addressesFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.routes) || self.routes.all(r, isIP(r.via) && cidr(self.cidr).containsIP(r.via))",message="via of a route must be inside cidr",fieldPath=".routes"
// +kubebuilder:validation:XValidation:rule="!has(self.discoveryRanges) || !isCIDR(self.cidr) || !self.discoveryRanges.all(r, isIP(r.start) && isIP(r.end) && ip(r.start).family() == 4 && ip(r.end).family() == 4) || self.discoveryRanges.all(r, cidr(self.cidr).containsIP(r.start) && cidr(self.cidr).containsIP(r.end))",message="discoveryRanges must be inside cidr",fieldPath=".discoveryRanges"
// +kubebuilder:validation:XValidation:rule="!has(self.discoveryRanges) || !self.discoveryRanges.all(r, isIP(r.start) && isIP(r.end) && ip(r.start).family() == 4 && ip(r.end).family() == 4) || self.discoveryRanges.all(a, self.discoveryRanges.exists_one(b, (int(b.start.split('.')[0]) * 16777216 + int(b.start.split('.')[1]) * 65536 + int(b.start.split('.')[2]) * 256 + int(b.start.split('.')[3])) <= (int(a.end.split('.')[0]) * 16777216 + int(a.end.split('.')[1]) * 65536 + int(a.end.split('.')[2]) * 256 + int(a.end.split('.')[3])) && (int(b.end.split('.')[0]) * 16777216 + int(b.end.split('.')[1]) * 65536 + int(b.end.split('.')[2]) * 256 + int(b.end.split('.')[3])) >= (int(a.start.split('.')[0]) * 16777216 + int(a.start.split('.')[1]) * 65536 + int(a.start.split('.')[2]) * 256 + int(a.start.split('.')[3]))))",message="discoveryRanges must not overlap",fieldPath=".discoveryRanges"
type Subnet struct {
	// CIDR of the subnet, such as 10.77.0.0/24 or fd00:77::/64. A machine with an IPv6 address boots by DHCPv6.
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="cidr must be a network such as 10.77.0.0/24, without host bits"
	CIDR string `json:"cidr"`
	// Gateway of the subnet, an address inside cidr, or of IPv6 the router's link-local one, such as fe80::1. Machines get no route where it's
	// absent. Over IPv6 the segment's router says who it is, not DHCP.
	// +optional
	// +kubebuilder:validation:MaxLength=39
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="gateway must be an IP address"
	Gateway string `json:"gateway,omitempty"`
	// DNS servers of the machines, addresses of the subnet's own family.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=39
	DNS []string `json:"dns,omitempty"`
	// Routes beside the way by the gateway, which machines are told by DHCP (classless static routes, RFC 3442), as far as they ask, and their
	// systems by what is made for them. Over IPv6 routers say theirs.
	// +optional
	// +listType=map
	// +listMapKey=to
	// +kubebuilder:validation:MaxItems=16
	Routes []Route `json:"routes,omitempty"`
	// AddressesFrom says where the addresses of claims come from.
	// +optional
	AddressesFrom *AddressesFrom `json:"addressesFrom,omitempty"`
	// DiscoveryRanges are lent to machines that no BootEntry names, for ten minutes at a time: an address, and nothing to boot. Addresses
	// of BootEntries, the gateway and servers in them are left out. Without any such a machine hears nothing. They count in modes
	// Authoritative and RelayOnly.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	DiscoveryRanges []AddressRange `json:"discoveryRanges,omitempty"`
}

// DHCPMode says what bootd is on a segment.
// +kubebuilder:validation:Enum=Authoritative;Proxy;RelayOnly;Off
type DHCPMode string

// Values of DHCPMode.
const (
	DHCPAuthoritative DHCPMode = "Authoritative"
	DHCPProxy         DHCPMode = "Proxy"
	DHCPRelayOnly     DHCPMode = "RelayOnly"
	DHCPOff           DHCPMode = "Off"
)

// Values of NetworkDHCP's foreignServer.
const (
	ForeignServerRefuse = "Refuse"
	ForeignServerWarn   = "Warn"
)

// Values of NetworkDHCP's routerSolicitations.
const (
	RouterSolicitationsAnswer = "Answer"
	RouterSolicitationsIgnore = "Ignore"
)

// NetworkDHCP says how bootd answers on a segment.
type NetworkDHCP struct {
	// Mode is Authoritative (answers broadcasts and relays), RelayOnly (answers relays alone), Proxy (beside another DHCP server,
	// which gives the addresses: says what known machines load, on ports 67 and 4011) or Off (answers no DHCP).
	// +optional
	// +kubebuilder:default=Authoritative
	Mode DHCPMode `json:"mode,omitempty"`
	// Relays, as CIDRs, whose requests are answered and whose option 82 is trusted. Absent: any inside the subnets. Of a relay of DHCPv6 it's
	// the address that it sends from, most often one of another segment.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="self.all(c, isCIDR(c))",message="relays must be CIDRs, such as 10.77.0.1/32"
	Relays []string `json:"relays,omitempty"`
	// LeaseDuration of an address, such as 12h, from a minute to a year (8784h). 12h where absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}(h|m|s)){1,4}$') && duration(self) >= duration('1m') && duration(self) <= duration('8784h')",message="leaseDuration must be a duration in hours, minutes and seconds, such as 12h, of a minute at least and a year at most"
	LeaseDuration *metav1.Duration `json:"leaseDuration,omitempty"`
	// ForeignServer says what to do when another DHCP server answers on a segment of mode Authoritative: Warn says so, and is what is
	// done where it's absent; Refuse doesn't begin either. A segment that was answered once goes on, whatever it says.
	// +optional
	// +kubebuilder:validation:Enum=Refuse;Warn
	ForeignServer string `json:"foreignServer,omitempty"`
	// RouterSolicitations says what becomes of machines' search for a router of IPv6: Answer says on the links of the segment, to whoever
	// asks, that addresses are given by DHCPv6 and which subnets are on the link, or, without a subnet of IPv6, that there's none to wait for.
	// It makes nobody a router; leave it out where one advertises. Ignore, which is done where it's absent, leaves them alone.
	// +optional
	// +kubebuilder:validation:Enum=Answer;Ignore
	RouterSolicitations string `json:"routerSolicitations,omitempty"`
	// Options are what machines are told beside what bootd says itself, over IPv4. Of two of one code the first that fits a machine counts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Options []DHCPOption `json:"options,omitempty"`
}

// A ServeOn says which bootd serves a segment, and where.
type ServeOn struct {
	// NodeSelector chooses the nodes by their labels; absent: all.
	// +optional
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// Interfaces of those nodes, by name, such as eth1; absent: all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	Interfaces []string `json:"interfaces,omitempty"`
}

// BootNetworkSpec is one boot segment.
// +kubebuilder:validation:XValidation:rule="!has(self.dhcp) || !has(self.dhcp.mode) || self.dhcp.mode != 'Proxy' || self.subnets.all(s, cidr(s.cidr).ip().family() == 4)",message="dhcp.mode: Proxy is not supported with an IPv6 subnet; use Authoritative, RelayOnly or Off",fieldPath=".dhcp"
// +kubebuilder:validation:XValidation:rule="!has(self.dhcp) || !has(self.dhcp.foreignServer) || self.dhcp.foreignServer != 'Refuse' || self.subnets.all(s, cidr(s.cidr).ip().family() == 4)",message="dhcp.foreignServer: Refuse is not supported with an IPv6 subnet; use Warn",fieldPath=".dhcp"
// +kubebuilder:validation:XValidation:rule="!has(self.dhcp) || !has(self.dhcp.routerSolicitations) || self.dhcp.routerSolicitations != 'Answer' || !has(self.dhcp.mode) || self.dhcp.mode in ['Authoritative', 'Proxy']",message="dhcp.routerSolicitations: Answer goes with mode Authoritative or Proxy: in the others bootd answers nobody on the link",fieldPath=".dhcp"
// +kubebuilder:validation:XValidation:rule="!has(self.mtu) || self.mtu >= 1280 || self.subnets.all(s, cidr(s.cidr).ip().family() == 4)",message="mtu must be at least 1280 with an IPv6 subnet",fieldPath=".mtu"
type BootNetworkSpec struct {
	// AllowedNamespaces says whose machines may boot here. Default: its own namespace.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`
	// AllowedProfileNamespaces says whose BootProfiles may boot here. Default: its own namespace.
	// +optional
	AllowedProfileNamespaces *AllowedNamespaces `json:"allowedProfileNamespaces,omitempty"`
	// Subnets of the segment, which is one link: a machine may have an address of any of them. Another link is another BootNetwork.
	// +listType=map
	// +listMapKey=cidr
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Subnets []Subnet `json:"subnets"`
	// NTP servers of the machines; each gets those of its own address's family.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=39
	// +kubebuilder:validation:XValidation:rule="self.all(a, isIP(a))",message="ntp must be IP addresses, such as 10.77.0.2"
	NTP []string `json:"ntp,omitempty"`
	// Domain of the machines, such as rack7.example: what follows their host names.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`
	Domain string `json:"domain,omitempty"`
	// VLANID of the segment, for people; bootd doesn't tag.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4094
	VLANID int32 `json:"vlanID,omitempty"`
	// MTU of the segment in bytes, such as 1500.
	// +optional
	// +kubebuilder:validation:Minimum=576
	// +kubebuilder:validation:Maximum=9216
	MTU int32 `json:"mtu,omitempty"`
	// DHCP says how bootd answers on the segment.
	// +optional
	// +kubebuilder:default={mode: Authoritative}
	DHCP *NetworkDHCP `json:"dhcp,omitempty"`
	// ServeOn says which bootd serves it; absent: every bootd that has an address in a subnet, or
	// is asked by a relay of it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	ServeOn []ServeOn `json:"serveOn,omitempty"`
}

// A NetworkServer is a bootd that serves a segment.
type NetworkServer struct {
	// Name of the BootServer.
	Name string `json:"name"`
	// Address that it serves from.
	// +optional
	Address string `json:"address,omitempty"`
	// LastSeen is the time of its last heartbeat.
	// +optional
	LastSeen *metav1.Time `json:"lastSeen,omitempty"`
}

// BootNetworkStatus is what is known of a segment.
type BootNetworkStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	// Servers that serve it.
	// +optional
	// +listType=map
	// +listMapKey=name
	Servers []NetworkServer `json:"servers,omitempty"`
	// ForeignServers that answered DHCP on it in the last half hour, by IP address.
	// +optional
	// +listType=set
	ForeignServers []string `json:"foreignServers,omitempty"`
	// Machines is how many boot on it.
	// +optional
	Machines int64 `json:"machines,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,baremetal},shortName=bnet
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="MODE",type="string",JSONPath=".spec.dhcp.mode"
// +kubebuilder:printcolumn:name="SUBNETS",type="string",JSONPath=".spec.subnets[*].cidr"
// +kubebuilder:printcolumn:name="SERVERS",type="string",JSONPath=".status.servers[*].name"
// +kubebuilder:printcolumn:name="MACHINES",type="integer",JSONPath=".status.machines"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A BootNetwork is one boot segment: its subnets, and how bootd serves them.
type BootNetwork struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BootNetworkSpec   `json:"spec"`
	Status BootNetworkStatus `json:"status,omitempty"`
}

// GetCondition of this BootNetwork.
func (n *BootNetwork) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return n.Status.GetCondition(ct)
}

// SetConditions of this BootNetwork.
func (n *BootNetwork) SetConditions(c ...xpv2.Condition) { n.Status.SetConditions(c...) }

// +kubebuilder:object:root=true

// BootNetworkList is a list of BootNetworks.
type BootNetworkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []BootNetwork `json:"items"`
}
