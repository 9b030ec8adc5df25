package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Grant is the permission for one destructive boot.
type Grant struct {
	// ID of the grant, unique.
	ID string `json:"id"`
	// HostUID of the machine it's for.
	HostUID string `json:"hostUID"`
	// EntryUID of the BootEntry it's for.
	EntryUID string `json:"entryUID"`
	// Generation that was asked for.
	// +kubebuilder:validation:Maximum=9007199254740991
	Generation int64 `json:"generation"`
	// PlanDigest that may be installed.
	PlanDigest string `json:"planDigest"`
	// Expires is when it's too late.
	Expires metav1.Time `json:"expires"`
}

// A Revocation takes back whatever was granted, for good: it closes the session.
type Revocation struct {
	// ID of the revocation, which bootd repeats as its acknowledgement.
	ID string `json:"id"`
	// Reason of the revocation.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// BootSessionSpec is written by the provider alone.
type BootSessionSpec struct {
	// EntryUID of the BootEntry that this is the session of.
	EntryUID string `json:"entryUID"`
	// Network (namespace/name) that the machine boots on.
	// +optional
	Network string `json:"network,omitempty"`
	// Grant that is live, if any.
	// +optional
	Grant *Grant `json:"grant,omitempty"`
	// Revocation closes the session: nothing of it is honoured any more.
	// +optional
	Revocation *Revocation `json:"revocation,omitempty"`
}

// An Opened is one install script that was served, or asked for after the last one.
type Opened struct {
	// Nonce of the boot token in it.
	Nonce string `json:"nonce"`
	// At is when.
	At metav1.MicroTime `json:"at"`
	// By is the BootServer that served it.
	By string `json:"by"`
}

// A Consumption says who used a grant, before the first destructive byte.
type Consumption struct {
	// GrantID that was used.
	GrantID string `json:"grantID"`
	// HostUID of the machine.
	HostUID string `json:"hostUID"`
	// EntryUID of the entry.
	EntryUID string `json:"entryUID"`
	// Generation that was asked for.
	Generation int64 `json:"generation"`
	// PlanDigest that was installed.
	PlanDigest string `json:"planDigest"`
	// Nonce of the boot that used it. The same boot goes on with it. Empty where an earlier entry
	// of the machine used it: no boot does.
	Nonce string `json:"nonce"`
	// At is when.
	At metav1.MicroTime `json:"at"`
	// By is the BootServer that wrote it.
	By string `json:"by"`
}

// A BootResult is how an install ended, by the machine's own report, or by the signs of one that never reports.
type BootResult struct {
	// GrantID of the install.
	GrantID string `json:"grantID"`
	// Generation that was asked for.
	Generation int64 `json:"generation"`
	// PlanDigest that was installed.
	PlanDigest string `json:"planDigest"`
	// At is when the machine said so, or its system was seen.
	At metav1.MicroTime `json:"at"`
	// Message of a failure, or by what signs an install is known.
	// +optional
	Message string `json:"message,omitempty"`
}

// BootSigns speak for an install whose installer never says that it's done.
type BootSigns struct {
	// Given is when the boot that used the grant had its user data whole.
	// +optional
	Given *metav1.MicroTime `json:"given,omitempty"`
	// SentToDisk is when the newest boot since then was sent to its disk.
	// +optional
	SentToDisk *metav1.MicroTime `json:"sentToDisk,omitempty"`
	// System is when a system asked for an address since then. The install counts as done once the machine didn't come back for a while.
	// +optional
	System *metav1.MicroTime `json:"system,omitempty"`
	// Returns counts how often the machine's firmware came back to the network after it was sent to its disk.
	// +optional
	Returns int64 `json:"returns,omitempty"`
}

// BootSessionStatus is written by bootd alone.
type BootSessionStatus struct {
	// OpenedGrantID is the grant that the opened scripts are of.
	// +optional
	OpenedGrantID string `json:"openedGrantID,omitempty"`
	// Opened scripts of that grant, the newest last. Only the newest one's token counts. A sixth one was asked for, and not
	// given: the machine began again, and no token of that grant counts any more (BootLoop).
	// +optional
	// +listType=atomic
	Opened []Opened `json:"opened,omitempty"`
	// Consumed grant, the newest.
	// +optional
	Consumed *Consumption `json:"consumed,omitempty"`
	// Installed is the newest success.
	// +optional
	Installed *BootResult `json:"installed,omitempty"`
	// Failed is the newest failure of the consumed grant.
	// +optional
	Failed *BootResult `json:"failed,omitempty"`
	// AcknowledgedRevocation is the ID of the revocation that bootd has seen.
	// +optional
	AcknowledgedRevocation string `json:"acknowledgedRevocation,omitempty"`
	// Stage of the newest boot.
	// +optional
	Stage BootStage `json:"stage,omitempty"`
	// StageReason says why the machine was told what it was told.
	// +optional
	StageReason string `json:"stageReason,omitempty"`
	// Timeline of the newest boot.
	// +optional
	Timeline BootTimeline `json:"timeline,omitempty"`
	// Boot is what is known of that boot beside its times.
	// +optional
	Boot *BootFacts `json:"boot,omitempty"`
	// Signs speak for an install whose installer never says that it's done (a profile's installer.report: None).
	// +optional
	Signs *BootSigns `json:"signs,omitempty"`
	// Boots counts the DHCP conversations of its firmware.
	// +optional
	Boots int64 `json:"boots,omitempty"`
	// LastReport is what the machine said last.
	// +optional
	LastReport string `json:"lastReport,omitempty"`
	// Declined is the newest address that the machine declined, since another one uses it.
	// +optional
	Declined *DeclinedAddress `json:"declined,omitempty"`
}

// A DeclinedAddress is one that a machine was given by DHCP, and found another machine of its segment to use (RFC 2131 §3.1, RFC 8415 §18.2.8).
type DeclinedAddress struct {
	// Address that was declined.
	Address string `json:"address"`
	// MAC of the NIC that declined it.
	MAC string `json:"mac"`
	// At is when.
	At metav1.MicroTime `json:"at"`
}

// BootFacts are what is known of a boot beside its times.
type BootFacts struct {
	// Firmware that began it: BIOS, UEFI, UEFIHTTP or RaspberryPi, by DHCP (RFC 4578 §2.1).
	// +optional
	Firmware string `json:"firmware,omitempty"`
	// Arch is the architecture that it named, such as amd64.
	// +optional
	Arch string `json:"arch,omitempty"`
	// Server is the BootServer that answered its newest script, or else its DHCP.
	// +optional
	Server string `json:"server,omitempty"`
	// Bytes of kernels, initrds and images that it was sent by HTTP and TFTP, by any BootServer. They're written with what is written next.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,baremetal},shortName=bsess
// +kubebuilder:printcolumn:name="STAGE",type="string",JSONPath=".status.stage"
// +kubebuilder:printcolumn:name="GRANTED",type="integer",JSONPath=".spec.grant.generation"
// +kubebuilder:printcolumn:name="CONSUMED",type="integer",JSONPath=".status.consumed.generation"
// +kubebuilder:printcolumn:name="INSTALLED",type="integer",JSONPath=".status.installed.generation"
// +kubebuilder:printcolumn:name="BOOTS",type="integer",JSONPath=".status.boots"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A BootSession is the record of one machine's boots. The provider writes its spec, bootd its status.
type BootSession struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BootSessionSpec   `json:"spec"`
	Status BootSessionStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// BootSessionList is a list of BootSessions.
type BootSessionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []BootSession `json:"items"`
}
