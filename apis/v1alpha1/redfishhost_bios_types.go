package v1alpha1

import (
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// BIOSApply says when BIOS settings are applied.
// +kubebuilder:validation:Enum=NextReset;NextPowerOn;Maintenance
type BIOSApply string

// Values of BIOSApply.
const (
	// BIOSApplyNextReset stages settings at once: whatever resets the machine next applies them.
	BIOSApplyNextReset BIOSApply = "NextReset"
	// BIOSApplyNextPowerOn stages settings only while the machine is off.
	BIOSApplyNextPowerOn BIOSApply = "NextPowerOn"
	// BIOSApplyMaintenance resets the machine for them at once, while the host has a maintenance.
	BIOSApplyMaintenance BIOSApply = "Maintenance"
)

// HostBIOS is what is wanted of a machine's BIOS.
type HostBIOS struct {
	// Attributes by their names in the BMC's attribute registry: texts, numbers, true or false.
	// +optional
	// +kubebuilder:validation:MaxProperties=512
	Attributes map[string]apiextv1.JSON `json:"attributes,omitempty"`
	// Apply is NextReset (staged at once, also for a reset by the operating system), NextPowerOn (staged while the machine is off), or
	// Maintenance (reset for it at once, while maintenance is set). NextReset where absent.
	// +optional
	Apply BIOSApply `json:"apply,omitempty"`
}

// BIOSDifference is one declared BIOS attribute that isn't as declared.
type BIOSDifference struct {
	// Name of the attribute.
	Name string `json:"name"`
	// Current value, of which 64 bytes are shown.
	// +optional
	Current string `json:"current,omitempty"`
	// Wanted value, as the machine takes it.
	// +optional
	Wanted string `json:"wanted,omitempty"`
	// Reason why it can't be set: Unknown, ReadOnly, Invalid, Dependency or Password.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Nearest names of attributes that the machine has.
	// +optional
	// +listType=atomic
	Nearest []string `json:"nearest,omitempty"`
}

// BIOSObservation is what the machine shows of the declared BIOS settings.
type BIOSObservation struct {
	// Attributes that are declared, as they are in force, 32 at most.
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`
	// Pending are the attributes that differ and can be set, 32 at most.
	// +optional
	// +listType=atomic
	Pending []BIOSDifference `json:"pending,omitempty"`
	// Failed are the attributes that can't be set as declared, 32 at most. Nothing is staged while there are any.
	// +optional
	// +listType=atomic
	Failed []BIOSDifference `json:"failed,omitempty"`
	// AppliedDigest names the declared settings that were found in force.
	// +optional
	AppliedDigest string `json:"appliedDigest,omitempty"`
	// Resets that were made for the settings that are declared, one at most.
	// +optional
	Resets int64 `json:"resets,omitempty"`
}
