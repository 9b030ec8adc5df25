package config

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A config is a ProviderConfig or a ClusterProviderConfig: the same thing in two scopes.
type config interface {
	object() resource.ProviderConfig
	spec() *v1alpha1.ProviderConfigSpec
	status() *v1alpha1.ProviderConfigStatus
}

type namespaced struct{ *v1alpha1.ProviderConfig }

func (c namespaced) object() resource.ProviderConfig        { return c.ProviderConfig }
func (c namespaced) spec() *v1alpha1.ProviderConfigSpec     { return &c.Spec }
func (c namespaced) status() *v1alpha1.ProviderConfigStatus { return &c.Status }

type clustered struct {
	*v1alpha1.ClusterProviderConfig
}

func (c clustered) object() resource.ProviderConfig        { return c.ClusterProviderConfig }
func (c clustered) spec() *v1alpha1.ProviderConfigSpec     { return &c.Spec }
func (c clustered) status() *v1alpha1.ProviderConfigStatus { return &c.Status }

// newConfig returns an empty config of a kind.
func newConfig(kind string) config {
	if kind == v1alpha1.ClusterProviderConfigKind {
		return clustered{&v1alpha1.ClusterProviderConfig{}}
	}
	return namespaced{&v1alpha1.ProviderConfig{}}
}

// configOf returns the config that o is, or nil.
func configOf(o any) config {
	switch c := o.(type) {
	case *v1alpha1.ProviderConfig:
		return namespaced{c}
	case *v1alpha1.ClusterProviderConfig:
		return clustered{c}
	}
	return nil
}

// refTo a config.
func refTo(c config) Ref {
	kind := v1alpha1.ProviderConfigKind
	if _, ok := c.(clustered); ok {
		kind = v1alpha1.ClusterProviderConfigKind
	}
	return Ref{Kind: kind, Namespace: c.object().GetNamespace(), Name: c.object().GetName()}
}
