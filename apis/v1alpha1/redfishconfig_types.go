package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RedfishAuth says how to log in to a BMC.
// +kubebuilder:validation:Enum=Auto;Session;Basic
type RedfishAuth string

// Values of RedfishAuth.
const (
	RedfishAuthAuto    RedfishAuth = "Auto"
	RedfishAuthSession RedfishAuth = "Session"
	RedfishAuthBasic   RedfishAuth = "Basic"
)

// RedfishConfig says how to talk to BMCs that share one credential.
type RedfishConfig struct {
	// Credentials: a Secret with the keys username and password.
	Credentials Credentials `json:"credentials"`
	// AllowedAddresses are the CIDRs that the credential may be sent to, checked after name
	// resolution. Loopback, link-local and cluster ranges are never targets.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="self.all(c, isCIDR(c))",message="allowedAddresses must be CIDRs, such as 10.0.7.0/24"
	AllowedAddresses []string `json:"allowedAddresses"`
	// TLS says how a BMC's certificate is judged; System where absent.
	// +optional
	TLS *TLS `json:"tls,omitempty"`
	// Auth says how to log in: Session (one session a BMC), Basic (the password with each request), or Auto (Session where the
	// BMC has it).
	// +optional
	// +kubebuilder:default=Auto
	Auth RedfishAuth `json:"auth,omitempty"`
	// RequestsPerSecond is the most that one BMC is asked. 4 where absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
	// RequestTimeout is how long a BMC may take for one answer, from 1s to 2m. 30s where absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}(h|m|s)){1,4}$') && duration(self) >= duration('1s') && duration(self) <= duration('2m')",message="requestTimeout must be a duration from 1s to 2m, such as 30s"
	RequestTimeout *metav1.Duration `json:"requestTimeout,omitempty"`
	// InventoryInterval is how long MAC addresses, firmware versions and the like are believed before they are read again, 10m at least.
	// 1h where absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}(h|m|s)){1,4}$') && duration(self) >= duration('10m')",message="inventoryInterval must be a duration of 10m at least, such as 1h"
	InventoryInterval *metav1.Duration `json:"inventoryInterval,omitempty"`
	// Quirks are what machines do differently than the standard, beside what the provider knows itself. Of several that match a machine
	// the last one counts, and these come after the provider's own.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Quirks []RedfishQuirk `json:"quirks,omitempty"`
	// Events says how BMCs tell of changes, beside that they are asked once a minute. Where it's absent, they don't.
	// +optional
	Events *RedfishEvents `json:"events,omitempty"`
}

// A RedfishQuirk is what the machines that it matches do differently.
type RedfishQuirk struct {
	// Name of the quirk, as status.atProvider.bmc.quirks of a host shows it.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Match says which machines are meant.
	Match QuirkMatch `json:"match"`
	// Facts are what they do differently.
	Facts QuirkFacts `json:"facts"`
	// Source says where that is known from, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Source string `json:"source,omitempty"`
}

// QuirkMatch chooses machines. Every field that is set must fit, without case; a * is any run of characters.
// +kubebuilder:validation:MinProperties=1
type QuirkMatch struct {
	// Vendor as the BMC's service root has it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Vendor string `json:"vendor,omitempty"`
	// Product as the BMC's service root has it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Product string `json:"product,omitempty"`
	// Manufacturer of the System.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Manufacturer string `json:"manufacturer,omitempty"`
	// Model of the System.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Model string `json:"model,omitempty"`
	// Firmware version of the BMC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Firmware string `json:"firmware,omitempty"`
	// BIOS version of the System.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	BIOS string `json:"bios,omitempty"`
}

// QuirkFacts are what machines do differently. What is absent is as the BMC advertises it.
// +kubebuilder:validation:MinProperties=1
type QuirkFacts struct {
	// OverrideOn: System writes a boot override to the System, although there is a settings resource that shows one; Settings writes it
	// to the settings resource where that shows one; SD writes it to SD below the System, which AMI's BMCs don't always link.
	// +optional
	// +kubebuilder:validation:Enum=System;Settings;SD
	OverrideOn string `json:"overrideOn,omitempty"`
	// Mode: Never leaves BootSourceOverrideMode out of what is written; IfPresent sends the one that the BMC shows each time. Where it's
	// absent, one is sent where another is wanted, or the BMC refuses an override without.
	// +optional
	// +kubebuilder:validation:Enum=IfPresent;Never
	Mode string `json:"mode,omitempty"`
	// IfMatch: Never leaves If-Match out; ETag sends it, and what the BMC wants instead where that is refused.
	// +optional
	// +kubebuilder:validation:Enum=ETag;Never
	IfMatch string `json:"ifMatch,omitempty"`
	// StoredAs lists boot targets that the BMC shows under another name once they are set, such as Pxe: UefiBootNext.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	StoredAs map[string]string `json:"storedAs,omitempty"`
	// Continuous: Refused says that an override can't be lasting, though the BMC doesn't say so.
	// +optional
	// +kubebuilder:validation:Enum=Supported;Refused
	Continuous string `json:"continuous,omitempty"`
	// Rungs are the ways in which a boot source may be set: the override (by System or Settings), BootNext, BootOrder for as long as the
	// machine takes to boot, and OEM as oemBoot says. All of them where it's absent.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum=System;Settings;BootNext;BootOrder;OEM
	Rungs []string `json:"rungs,omitempty"`
	// OEMBoot is the vendor's own way to boot once, which is taken where no other one does.
	// +optional
	OEMBoot *OEMBoot `json:"oemBoot,omitempty"`
}

// An OEMBoot is a property of a resource of the vendor's own that says what the next boot is from. What was there is put back where the
// boot doesn't use it up.
type OEMBoot struct {
	// Resources that may have the property, of which the first that the BMC shows counts: paths below {system}, the machine's System, or
	// {manager}, its BMC's Manager.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^\{(system|manager)\}(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$`
	Resources []string `json:"resources"`
	// Target is the JSON pointer of that property, such as /Attributes/ServerBoot.1.FirstBootDevice.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^(/[^/\s]+)+$`
	Target string `json:"target"`
	// Words are those that it takes, by target: Pxe, UefiHttp, Hdd, Cd or BiosSetup.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=5
	Words map[string]string `json:"words"`
	// With are the values of properties of the same resource that make it a boot for once, by their JSON pointers. true and false are sent as
	// such where the resource shows one of them.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=4
	With map[string]string `json:"with,omitempty"`
}

// RedfishEvents says how BMCs tell of changes. What they tell is a hint to look at a machine, and nothing else.
// +kubebuilder:validation:XValidation:rule="has(self.receiverURL) == (has(self.delivery) && self.delivery == 'Push')",message="receiverURL is where BMCs reach the provider: set it with delivery: Push, and with nothing else",fieldPath=".receiverURL"
type RedfishEvents struct {
	// Delivery is Poll (BMCs tell nothing), Stream (they do on a connection of ours, where they can), Push (they send it to receiverURL, by a
	// subscription that the provider makes on each) or Auto (whatever works with a BMC without a write to it: Stream, for now). They are asked once
	// a minute all the same.
	// +optional
	// +kubebuilder:validation:Enum=Poll;Stream;Push;Auto
	// +kubebuilder:default=Poll
	Delivery string `json:"delivery,omitempty"`
	// ReceiverURL is where BMCs reach the provider, such as https://events.example or http://10.0.0.7:9445, with the path before its own
	// (/redfish/events/) where there's one. The provider listens where it was started with --redfish-events-address, by plain HTTP.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?$`
	ReceiverURL string `json:"receiverURL,omitempty"`
}
