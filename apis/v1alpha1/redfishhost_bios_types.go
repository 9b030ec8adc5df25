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
