package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// Group and Version of the provider's kinds. The ".m." is the ecosystem's mark of namespaced managed
// resources.
const (
	Group   = "baremetal.m.crossplane.io"
	Version = "v1alpha1"
)

// GroupVersion of every kind of this package.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version} //nolint:gochecknoglobals // The ecosystem's convention for API packages.

// SchemeBuilder registers the kinds with a runtime scheme.
var SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion} //nolint:gochecknoglobals // As GroupVersion.

// AddToScheme adds the kinds of this package to a scheme.
var AddToScheme = SchemeBuilder.AddToScheme //nolint:gochecknoglobals // As GroupVersion.

// Kinds of this group.
const (
	ProviderConfigKind        = "ProviderConfig"
	ClusterProviderConfigKind = "ClusterProviderConfig"
	ProviderConfigUsageKind   = "ProviderConfigUsage"
	NetBoxIPAddressKind       = "NetBoxIPAddress"
	RedfishHostKind           = "RedfishHost"
	BootProfileKind           = "BootProfile"
	BootNetworkKind           = "BootNetwork"
	BootEntryKind             = "BootEntry"
	BootSessionKind           = "BootSession"
	BootServerKind            = "BootServer"
	HostClaimKind             = "HostClaim"
)

// GroupVersionKinds of the managed resources.
var (
	NetBoxIPAddressGroupVersionKind       = GroupVersion.WithKind(NetBoxIPAddressKind)       //nolint:gochecknoglobals // As GroupVersion.
	RedfishHostGroupVersionKind           = GroupVersion.WithKind(RedfishHostKind)           //nolint:gochecknoglobals // As GroupVersion.
	BootEntryGroupVersionKind             = GroupVersion.WithKind(BootEntryKind)             //nolint:gochecknoglobals // As GroupVersion.
	HostClaimGroupVersionKind             = GroupVersion.WithKind(HostClaimKind)             //nolint:gochecknoglobals // As GroupVersion.
	ProviderConfigGroupVersionKind        = GroupVersion.WithKind(ProviderConfigKind)        //nolint:gochecknoglobals // As GroupVersion.
	ClusterProviderConfigGroupVersionKind = GroupVersion.WithKind(ClusterProviderConfigKind) //nolint:gochecknoglobals // As GroupVersion.
	ProviderConfigUsageGroupVersionKind   = GroupVersion.WithKind(ProviderConfigUsageKind)   //nolint:gochecknoglobals // As GroupVersion.
)

func init() { //nolint:gochecknoinits // The ecosystem's convention for API packages.
	SchemeBuilder.Register(
		&ProviderConfig{}, &ProviderConfigList{},
		&ClusterProviderConfig{}, &ClusterProviderConfigList{},
		&ProviderConfigUsage{}, &ProviderConfigUsageList{},
		&NetBoxIPAddress{}, &NetBoxIPAddressList{},
		&RedfishHost{}, &RedfishHostList{},
		&BootProfile{}, &BootProfileList{},
		&BootNetwork{}, &BootNetworkList{},
		&BootEntry{}, &BootEntryList{},
		&BootSession{}, &BootSessionList{},
		&BootServer{}, &BootServerList{},
		&HostClaim{}, &HostClaimList{},
	)
}
