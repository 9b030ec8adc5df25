package config

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A Known is a NetBox that a provider config names, whoever uses it.
type Known struct {
	NetBox

	// Object is the provider config, for events.
	Object resource.ProviderConfig
}

// NetBoxes lists the NetBoxes of all provider configs that are there and have a token. What one that is left out lacks, its condition
// Ready says.
func (r *Resolver) NetBoxes(ctx context.Context) ([]Known, error) {
	local, cluster := &v1alpha1.ProviderConfigList{}, &v1alpha1.ClusterProviderConfigList{}
	if err := r.kube.List(ctx, cluster); err != nil {
		return nil, fmt.Errorf("cannot list ClusterProviderConfigs: %w", err)
	}
	if err := r.kube.List(ctx, local); err != nil {
		return nil, fmt.Errorf("cannot list ProviderConfigs: %w", err)
	}
	var all []config
	for i := range cluster.Items {
		all = append(all, clustered{&cluster.Items[i]})
	}
	for i := range local.Items {
		all = append(all, namespaced{&local.Items[i]})
	}
	var out []Known
	for _, c := range all {
		if n, ok := r.known(ctx, c); ok {
			out = append(out, Known{NetBox: n, Object: c.object()})
		}
	}
	return out, nil
}

func (r *Resolver) known(ctx context.Context, c config) (n NetBox, ok bool) {
	spec := *c.spec()
	if spec.NetBox == nil {
		return NetBox{}, false
	}
	at, err := secretOf(refTo(c), spec)
	if err != nil {
		return NetBox{}, false
	}
	s, err := r.read(ctx, at, false)
	if err != nil || missingKey(s.data, keysOf(spec)) != "" {
		return NetBox{}, false
	}
	return *netBoxOf(c, s), true
}
