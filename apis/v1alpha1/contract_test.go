package v1alpha1_test

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// The managed resources keep Crossplane's contract.
var (
	_ resource.ModernManaged            = &v1alpha1.NetBoxIPAddress{}
	_ resource.ModernManaged            = &v1alpha1.RedfishHost{}
	_ resource.ModernManaged            = &v1alpha1.BootEntry{}
	_ resource.ProviderConfig           = &v1alpha1.ProviderConfig{}
	_ resource.ProviderConfig           = &v1alpha1.ClusterProviderConfig{}
	_ resource.TypedProviderConfigUsage = &v1alpha1.ProviderConfigUsage{}
)
