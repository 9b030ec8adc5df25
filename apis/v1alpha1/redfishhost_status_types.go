package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HostIdentity is who a machine is.
type HostIdentity struct {
	// SystemURI of the ComputerSystem, such as /redfish/v1/Systems/1.
	// +optional
	SystemURI string `json:"systemURI,omitempty"`
	// UUID as the BMC says it; absent where it's null, zero or FF.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// Serial number, trimmed.
	// +optional
	Serial string `json:"serial,omitempty"`
	// Manufacturer of the machine.
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// Model of the machine.
	// +optional
	Model string `json:"model,omitempty"`
	// SKU of the machine.
	// +optional
	SKU string `json:"sku,omitempty"`
}

// A HostMAC is one MAC address of a machine.
type HostMAC struct {
	// Address, lower case with colons.
	Address string `json:"address"`
	// Port that has it, where the BMC says so.
	// +optional
	Port string `json:"port,omitempty"`
	// Source that it was found in, such as EthernetInterfaces or Spec.
	// +optional
	Source string `json:"source,omitempty"`
	// Permanent says whether the BMC calls it the permanent one.
	// +optional
	Permanent bool `json:"permanent,omitempty"`
	// Enabled is Yes or No, where the BMC says whether the port is.
	// +optional
	Enabled string `json:"enabled,omitempty"`
}

// BMCFacts are what is known of the BMC itself.
type BMCFacts struct {
	// Firmware is its version, as the BMC says.
	// +optional
	Firmware string `json:"firmware,omitempty"`
	// Model of the BMC.
	// +optional
	Model string `json:"model,omitempty"`
	// TLSSHA256 is the SHA-256 fingerprint of the certificate that it showed (DER), lower-case hex.
	// +optional
	TLSSHA256 string `json:"tlsSHA256,omitempty"` //nolint:tagliatelle // SHA256 is an acronym, as MACs and ID are.
	// TLSVerify is how its certificate is judged: as the provider config says, or Plaintext where nothing is encrypted.
	// +optional
	// +kubebuilder:validation:Enum=System;CABundle;Pinned;TrustOnFirstUse;None;Plaintext
	TLSVerify string `json:"tlsVerify,omitempty"`
	// TLSVersion that is spoken: TLS10, TLS11, TLS12 or TLS13.
	// +optional
	TLSVersion string `json:"tlsVersion,omitempty"`
	// Auth is how we are logged in: Session or Basic.
	// +optional
	Auth string `json:"auth,omitempty"`
	// NTP is Enabled or Disabled, where the BMC says whether its clock is set by that.
	// +optional
	NTP string `json:"ntp,omitempty"`
	// Quirks are the names of the rows, the provider's own and the provider config's, that are followed with this machine.
	// +optional
	// +listType=atomic
	Quirks []string `json:"quirks,omitempty"`
}

// A PendingAct is what was begun on a machine and isn't seen to have come about. Nothing in it changes but by what is done.
type PendingAct struct {
	// Action that it is, such as PowerOn, ResetOff or SetBootOnce.
	Action string `json:"action"`
	// Since when its newest attempt is on its way.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Deadline until which it's waited for at least before something else is done about it; absent where nothing else is.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`
	// Attempts at it that the BMC may have carried out; absent where it has only refused it so far.
	// +optional
	Attempts int64 `json:"attempts,omitempty"`
	// Task is where the BMC tells how far it is; absent where it doesn't.
	// +optional
	Task string `json:"task,omitempty"`
	// Message is the MessageId, or the status, by which the BMC refused it last.
	// +optional
	Message string `json:"message,omitempty"`
}

// RedfishHostObservation is what the BMC says of the machine.
type RedfishHostObservation struct {
	// Identity of the machine.
	// +optional
	Identity HostIdentity `json:"identity,omitempty"`
	// Systems that the BMC has, at most 16, while it isn't clear which one is meant.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Systems []SystemFacts `json:"systems,omitempty"`
	// Power as the BMC sees it: PoweredOn, PoweredOff, PoweringOn or PoweringOff.
	// +optional
	// +kubebuilder:validation:Enum=PoweredOn;PoweredOff;PoweringOn;PoweringOff
	Power PowerState `json:"power,omitempty"`
	// Boot source as the BMC shows it.
	// +optional
	Boot BootObservation `json:"boot,omitempty"`
	// BIOS settings that are declared, as the machine has them.
	// +optional
	BIOS *BIOSObservation `json:"bios,omitempty"`
	// Health is OK, Warning or Critical.
	// +optional
	Health string `json:"health,omitempty"`
	// MACs of the machine.
	// +optional
	// +listType=atomic
	MACs []HostMAC `json:"macs,omitempty"`
	// MACsDiscarded are addresses that the BMC lists and that aren't the machine's.
	// +optional
	// +listType=atomic
	MACsDiscarded []DiscardedMAC `json:"macsDiscarded,omitempty"`
	// Inventory of the machine.
	// +optional
	Inventory *HostInventory `json:"inventory,omitempty"`
	// BMC itself.
	// +optional
	BMC BMCFacts `json:"bmc,omitempty"`
	// VirtualMedia are the BMC's drives, 8 at most, where virtualMedia is set.
	// +optional
	// +listType=atomic
	VirtualMedia []MediumObservation `json:"virtualMedia,omitempty"`
	// Indicator is the machine's light: Off, Lit or Blinking.
	// +optional
	Indicator string `json:"indicator,omitempty"`
	// AssetTag of the machine.
	// +optional
	AssetTag string `json:"assetTag,omitempty"`
	// SecureBoot is Enabled or Disabled, as of the machine's current boot; shown where secureBoot is set.
	// +optional
	SecureBoot string `json:"secureBoot,omitempty"`
	// BMCResetGeneration is the newest bmcResetGeneration that was carried out.
	// +optional
	BMCResetGeneration int64 `json:"bmcResetGeneration,omitempty"`
	// CredentialsRotation is the newest rotation of the BMC's password that was carried out.
	// +optional
	CredentialsRotation *RotationObservation `json:"credentialsRotation,omitempty"`
	// Events says how changes of the machine are heard of, where the provider config has BMCs tell of them.
	// +optional
	Events *EventsObservation `json:"events,omitempty"`
	// PoweredOnAt is when we last powered the machine on.
	// +optional
	PoweredOnAt *metav1.Time `json:"poweredOnAt,omitempty"`
	// Pending is what was begun and isn't seen to have come about.
	// +optional
	Pending *PendingAct `json:"pending,omitempty"`
}
