package composition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// networkResource names a pool's BootNetwork within its composite; a host's resource has the host's name after hostResource.
const networkResource = "network"

// A pool is everything that decides what a RackPool is composed of.
type pool struct {
	owner

	spec platform.RackPoolSpec

	// hosts are those observed, by name: listed ones and ones that were taken out of the list.
	hosts   map[string]*v1alpha1.RedfishHost
	network *v1alpha1.BootNetwork
}

// readPool decodes a pool from a request.
func readPool(in *input) (*pool, error) {
	xr := struct {
		Spec platform.RackPoolSpec `json:"spec"`
	}{}
	if err := decode(in.composite, &xr); err != nil {
		return nil, fmt.Errorf("cannot read composite: %w", err)
	}
	p := &pool{owner: in.owner, spec: xr.Spec, hosts: map[string]*v1alpha1.RedfishHost{}}
	for key := range in.observed {
		name, ok := strings.CutPrefix(key, hostResource+"-")
		if !ok {
			continue
		}
		h, err := observe[v1alpha1.RedfishHost](in, key)
		if err != nil {
			return nil, err
		}
		p.hosts[name] = h
	}
	var err error
	p.network, err = observe[v1alpha1.BootNetwork](in, networkResource)
	return p, err
}

// composePool decides what a pool consists of: a RedfishHost for each listed host, those that must stay though they were taken out,
// and the network.
func composePool(p *pool) (*output, error) {
	out := &output{resources: map[string]desired{}, status: p.status()}
	for _, h := range p.spec.Hosts {
		obj, err := p.hostObject(h)
		if err != nil {
			return nil, err
		}
		if err := out.add(hostResource+"-"+h.Name, obj, v1alpha1.RedfishHostGroupVersionKind, looked(p.hosts[h.Name])); err != nil {
			return nil, err
		}
	}
	for _, name := range p.removed() {
		was := p.hosts[name]
		if !p.stays(was) {
			continue
		}
		if err := out.add(hostResource+"-"+name, p.keptHost(name, was), v1alpha1.RedfishHostGroupVersionKind, true); err != nil {
			return nil, err
		}
	}
	if p.spec.Network != nil {
		obj := &v1alpha1.BootNetwork{ObjectMeta: p.meta(p.Name), Spec: *p.releasing(p.spec.Network)}
		if err := out.add(networkResource, obj, networkKind, p.network != nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// releasing is the pool's network, whose addresses are let go as the pool says, where a subnet doesn't say otherwise.
func (p *pool) releasing(network *v1alpha1.BootNetworkSpec) *v1alpha1.BootNetworkSpec {
	out := network.DeepCopy()
	if p.spec.Reclaim == nil || p.spec.Reclaim.Addresses == nil {
		return out
	}
	for i := range out.Subnets {
		if from := out.Subnets[i].AddressesFrom; from != nil && from.Release == nil {
			from.Release = p.spec.Reclaim.Addresses.DeepCopy()
		}
	}
	return out
}

// hostObject is the RedfishHost of a listed host, the pool's defaults filled in.
func (p *pool) hostObject(h platform.PoolHost) (*redfishHost, error) {
	d := platform.HostDefaults{}
	if p.spec.Defaults != nil {
		d = *p.spec.Defaults
	}
	if h.RedfishProviderConfigRef != nil {
		d.RedfishProviderConfigRef = h.RedfishProviderConfigRef
	}
	if len(h.CommandLine) > 0 {
		d.CommandLine = h.CommandLine
	}
	if h.LocalBoot != "" {
		d.LocalBoot = h.LocalBoot
	}
	if h.FirstStage != "" {
		d.FirstStage = h.FirstStage
	}
	if d.RedfishProviderConfigRef == nil {
		return nil, fmt.Errorf("cannot compose host %q of pool %q: it has no redfishProviderConfigRef, nor has defaults", h.Name, p.Name)
	}

	out := &v1alpha1.RedfishHost{ObjectMeta: p.meta(h.Name)}
	out.Labels = p.labels(h)
	out.Spec.ProviderConfigReference = configReference(*d.RedfishProviderConfigRef)
	out.Spec.AllowedNamespaces = p.spec.AllowedNamespaces
	out.Spec.ForProvider = v1alpha1.RedfishHostParameters{
		Address:              h.Address,
		System:               h.System,
		CredentialsSecretRef: h.CredentialsSecretRef,
		TLS:                  h.TLS,
		MACs:                 h.MACs,
		NetBoxDevice:         h.NetBoxDevice,
		Unschedulable:        h.Unschedulable,
		Maintenance:          h.Maintenance,
		CommandLine:          d.CommandLine,
		LocalBoot:            d.LocalBoot,
		FirstStage:           d.FirstStage,
	}
	return &redfishHost{out}, nil
}

// labels of a host: its own, then the pool's, which win: a host can't say that it stands elsewhere.
func (p *pool) labels(h platform.PoolHost) map[string]string {
	out := map[string]string{}
	for k, v := range h.Labels {
		out[k] = string(v)
	}
	for k, v := range p.spec.Topology {
		out[v1alpha1.LabelTopologyPrefix+k] = string(v)
	}
	out[v1alpha1.LabelPool] = p.Name
	return out
}

// removed are the observed hosts that aren't listed any more, by name.
func (p *pool) removed() []string {
	listed := map[string]bool{}
	for _, h := range p.spec.Hosts {
		listed[h.Name] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.hosts)), func(name string) bool { return listed[name] })
}

// stays says whether a host that isn't listed any more is kept: always while it's bound, and until it's seen closed for new claims. A
// claim binds only the revision of a host that it read, so none binds a closed one, and one that was faster is seen here. A host
// deleted on sight could be bound a moment before, and its machine, just claimed, would be switched off.
func (p *pool) stays(was *v1alpha1.RedfishHost) bool {
	return was.Spec.ClaimRef != nil || p.spec.RemovalPolicy != platform.RemovalDelete || !was.Spec.ForProvider.Unschedulable
}

// keptHost renders a host again that isn't listed any more, as it was rendered last, but out of new claims' reach. The claim that
// holds it keeps its right to it: that is checked at each use.
func (p *pool) keptHost(name string, was *v1alpha1.RedfishHost) *redfishHost {
	out := &v1alpha1.RedfishHost{ObjectMeta: p.meta(name)}
	out.Labels = kept(was.GetLabels())
	out.Spec.ProviderConfigReference = was.Spec.ProviderConfigReference
	out.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromNone}
	if was.Spec.ClaimRef != nil {
		out.Spec.AllowedNamespaces = was.Spec.AllowedNamespaces
	}
	f := was.Spec.ForProvider
	out.Spec.ForProvider = v1alpha1.RedfishHostParameters{
		Address:              f.Address,
		System:               f.System,
		CredentialsSecretRef: f.CredentialsSecretRef,
		TLS:                  f.TLS,
		MACs:                 f.MACs,
		NetBoxDevice:         f.NetBoxDevice,
		Unschedulable:        true,
		Maintenance:          f.Maintenance,
		CommandLine:          f.CommandLine,
		LocalBoot:            f.LocalBoot,
		FirstStage:           f.FirstStage,
	}
	return &redfishHost{out}
}

// kept are the labels that aren't Crossplane's own.
func kept(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(k, _ string) bool { return strings.HasPrefix(k, "crossplane.io/") })
	return out
}
