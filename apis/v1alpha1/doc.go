// Package v1alpha1 holds every kind of the provider's own API group: configuration, managed
// resources, host claims, and the records that bootd keeps.
// +kubebuilder:object:generate=true
// +groupName=baremetal.m.crossplane.io
// +versionName=v1alpha1
package v1alpha1
