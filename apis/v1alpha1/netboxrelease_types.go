package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AdoptPolicy says which records that are in NetBox already may become a resource's.
// +kubebuilder:validation:Enum=Never;IfUnowned;ExternalName
type AdoptPolicy string

// Values of AdoptPolicy.
const (
	// AdoptNever leaves whatever is there alone.
	AdoptNever AdoptPolicy = "Never"
	// AdoptIfUnowned takes the one record that has the fixed address, where it carries no marker.
	AdoptIfUnowned AdoptPolicy = "IfUnowned"
	// AdoptExternalName takes the record that the external name names, where it carries no marker.
	AdoptExternalName AdoptPolicy = "ExternalName"
)

// LostPolicy says what is done about a record that somebody deleted in NetBox.
// +kubebuilder:validation:Enum=Hold;Restore
type LostPolicy string

// Values of LostPolicy.
const (
	// LostHold waits for a person.
	LostHold LostPolicy = "Hold"
	// LostRestore makes the same address again.
	LostRestore LostPolicy = "Restore"
)

// Values of ReleasePolicy.Policy.
const (
	// ReleaseDelete deletes the record: the address is free at once.
	ReleaseDelete = "Delete"
	// ReleaseKeep takes our marker off the record, and leaves the rest as it is.
	ReleaseKeep = "Keep"
	// ReleaseQuarantine makes the record deprecated, and deletes it later.
	ReleaseQuarantine = "Quarantine"
)

// ReleasePolicy says what becomes of the address when its resource goes.
// +kubebuilder:validation:XValidation:rule="!has(self.after) || self.policy == 'Quarantine'",message="after goes with policy: Quarantine",fieldPath=".after"
type ReleasePolicy struct {
	// Policy is Delete (the record is deleted, the address free at once), Keep (the record stays as it is, and is nobody's: the marker
	// moves to the release field), or Quarantine (the record becomes deprecated, without DNS name and assignment, and is deleted after a
	// time, so that the address isn't reused at once).
	// +optional
	// +kubebuilder:validation:Enum=Delete;Keep;Quarantine
	// +kubebuilder:default=Delete
	Policy string `json:"policy,omitempty"`
	// After is how long a quarantine lasts, such as 24h, which it is where absent. It's counted by NetBox's record itself, and so
	// survives restarts of the provider.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}(h|m|s)){1,4}$')",message="after must be a duration in hours, minutes and seconds, such as 24h"
	After *metav1.Duration `json:"after,omitempty"`
}
