package composition

import (
	"cmp"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// The names of a node's composed resources within its composite; an address has its network's and family's after it.
const (
	hostClaimResource = "host-claim"
	hostResource      = "host"
	bootEntryResource = "boot-entry"
	addressResource   = "address"
)

// networkKind is the one kind that this function asks Crossplane for.
var networkKind = v1alpha1.GroupVersion.WithKind(v1alpha1.BootNetworkKind) //nolint:gochecknoglobals // A constant that Go can't declare as one.

// A node is everything that decides what a BareMetalNode is composed of.
type node struct {
	owner

	spec platform.BareMetalNodeSpec

	// network is the BootNetwork that the node boots from; nil where it doesn't exist, or isn't fetched yet.
	network        *v1alpha1.BootNetwork
	networkFetched bool

	// What is observed of the composed resources; nil where there is none yet.
	hostClaim *v1alpha1.HostClaim
	host      *v1alpha1.RedfishHost
	entry     *v1alpha1.BootEntry
	addresses map[v1alpha1.IPFamily]*v1alpha1.NetBoxIPAddress
}

// readNode decodes a node from a request.
func readNode(in *input) (*node, error) {
	xr := struct {
		Spec platform.BareMetalNodeSpec `json:"spec"`
	}{}
	if err := decode(in.composite, &xr); err != nil {
		return nil, fmt.Errorf("cannot read composite: %w", err)
	}
	n := &node{owner: in.owner, spec: xr.Spec}
	if err := n.complete(); err != nil {
		return nil, err
	}
	var err error
	if n.hostClaim, err = observe[v1alpha1.HostClaim](in, hostClaimResource); err != nil {
		return nil, err
	}
	if n.host, err = observe[v1alpha1.RedfishHost](in, hostResource); err != nil {
		return nil, err
	}
	if n.entry, err = observe[v1alpha1.BootEntry](in, bootEntryResource); err != nil {
		return nil, err
	}
	n.addresses = map[v1alpha1.IPFamily]*v1alpha1.NetBoxIPAddress{}
	for _, want := range n.wanted() {
		if n.addresses[want.Family], err = observe[v1alpha1.NetBoxIPAddress](in, n.addressKey(want.Family)); err != nil {
			return nil, err
		}
	}
	n.network, n.networkFetched, err = require[v1alpha1.BootNetwork](in, n.networkKey())
	return n, err
}

// complete fills in what a reference may leave out, and refuses what admission refuses: a composite may have been made before a
// rule was.
func (n *node) complete() error {
	for i := range n.spec.Networks {
		for j := range n.spec.Networks[i].Addresses {
			a := &n.spec.Networks[i].Addresses[j]
			a.Family = cmp.Or(a.Family, v1alpha1.IPv4)
		}
	}
	if len(n.spec.Networks) != 1 || !oneOfEach(n.spec.Networks[0].Addresses) {
		return fmt.Errorf("cannot compose node %q: exactly one network with an address of IPv4, of IPv6, or one of each, is supported yet", n.Name)
	}
	if (n.spec.Host.Ref == nil) == (n.spec.Host.BMC == nil) {
		return fmt.Errorf("cannot compose node %q: exactly one of host.ref and host.bmc is supported yet", n.Name)
	}
	n.spec.ProfileRef = n.resolve(n.spec.ProfileRef)
	n.spec.Networks[0].NetworkRef = n.resolve(n.spec.Networks[0].NetworkRef)
	if n.spec.Hostname == "" {
		n.spec.Hostname = n.Name
	}
	return nil
}

// oneOfEach says whether there's one address, or one of each family.
func oneOfEach(as []platform.AddressRequest) bool {
	seen := map[v1alpha1.IPFamily]bool{}
	for _, a := range as {
		if a.Family != v1alpha1.IPv4 && a.Family != v1alpha1.IPv6 || seen[a.Family] {
			return false
		}
		seen[a.Family] = true
	}
	return len(as) > 0
}

// resolve puts the node's own namespace where a reference leaves it out.
func (n *node) resolve(r v1alpha1.NamespacedReference) v1alpha1.NamespacedReference {
	if r.Namespace == "" {
		r.Namespace = n.Namespace
	}
	return r
}

// networkKey names the requirement of the node's network.
func (n *node) networkKey() string { return "network-" + n.spec.Networks[0].Name }

// composeNode decides what a node consists of. Every object is rendered at once and finds the others by reference, so that nothing
// waits for a pass of this function.
func composeNode(n *node) (*output, error) {
	addresses := n.addressing()
	story := tell(n, addresses)
	out := &output{
		resources:  map[string]desired{},
		status:     story.status,
		conditions: story.conditions,
		networks:   map[string]schemaName{n.networkKey(): {n.spec.Networks[0].NetworkRef.Namespace, n.spec.Networks[0].NetworkRef.Name}},
	}
	if err := out.add(hostClaimResource, n.hostClaimObject(), v1alpha1.HostClaimGroupVersionKind, story.bound); err != nil {
		return nil, err
	}
	if err := out.add(bootEntryResource, n.bootEntryObject(), v1alpha1.BootEntryGroupVersionKind, story.ready); err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if a.object == nil {
			continue
		}
		if err := out.add(n.addressKey(a.want.Family), a.object, v1alpha1.NetBoxIPAddressGroupVersionKind, a.given()); err != nil {
			return nil, err
		}
	}
	if n.spec.Host.BMC == nil {
		return out, nil
	}
	// A bound host is a found one. Its own Ready follows its BMC, which is never a node's Ready.
	if err := out.add(hostResource, n.hostObject(), v1alpha1.RedfishHostGroupVersionKind, story.bound); err != nil {
		return nil, err
	}
	return out, nil
}

// add renders one composed resource into the output.
func (o *output) add(name string, obj object, kind schema.GroupVersionKind, ready bool) error {
	m, err := render(obj, kind)
	if err != nil {
		return err
	}
	o.resources[name] = desired{object: m, ready: ready}
	return nil
}

// hostClaimObject asks for the host.
func (n *node) hostClaimObject() *v1alpha1.HostClaim {
	ref := &v1alpha1.HostReference{Kind: v1alpha1.RedfishHostKind, Namespace: n.Namespace, Name: n.Name}
	if r := n.spec.Host.Ref; r != nil {
		at := n.resolve(v1alpha1.NamespacedReference{Namespace: r.Namespace, Name: r.Name})
		ref.Namespace, ref.Name = at.Namespace, at.Name
	}
	return &v1alpha1.HostClaim{
		ObjectMeta: n.meta(n.Name),
		Spec: v1alpha1.HostClaimSpec{
			HostRef:          ref,
			BootEntryRef:     &v1alpha1.LocalReference{Name: n.Name},
			Power:            v1alpha1.PowerState(n.spec.Power),
			ReclaimPolicy:    n.spec.ReclaimPolicy,
			RebindGeneration: n.spec.Host.RebindGeneration,
			Confirm:          n.spec.Confirm,
		},
	}
}

// hostObject is the host of a node that names its own BMC: for this namespace alone.
func (n *node) hostObject() *redfishHost {
	bmc := n.spec.Host.BMC
	h := &v1alpha1.RedfishHost{ObjectMeta: n.meta(n.Name)}
	h.Spec.ProviderConfigReference = configReference(bmc.ProviderConfigRef)
	h.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromSame}
	h.Spec.ForProvider = v1alpha1.RedfishHostParameters{Address: bmc.Address, System: bmc.System, MACs: bmc.MACs, FirstStage: bmc.FirstStage}
	return &redfishHost{h}
}

// bootEntryObject says what the machine boots, with which addresses.
func (n *node) bootEntryObject() *v1alpha1.BootEntry {
	e := &v1alpha1.BootEntry{ObjectMeta: n.meta(n.Name)}
	network := n.spec.Networks[0]
	e.Spec.ForProvider = v1alpha1.BootEntryParameters{
		Machine:    v1alpha1.MachineSelector{HostClaimRef: &v1alpha1.LocalReference{Name: n.Name}},
		ProfileRef: n.spec.ProfileRef,
		Parameters: n.spec.Parameters,
		Networks: []v1alpha1.EntryNetwork{{
			Name:       network.Name,
			NetworkRef: network.NetworkRef,
			Addresses:  n.entryAddresses(),
			Interface:  entryInterface(network.Interface),
		}},
		Hostname:             n.spec.Hostname,
		UserDataSecretRef:    n.spec.UserDataSecretRef,
		NetworkDataSecretRef: n.spec.NetworkDataSecretRef,
		VendorDataSecretRef:  n.spec.VendorDataSecretRef,
		Install:              v1alpha1.EntryInstall{Generation: n.spec.InstallGeneration},
		Confirm:              n.spec.Confirm,
	}
	for _, k := range n.spec.SSHAuthorizedKeys {
		e.Spec.ForProvider.SSHAuthorizedKeys = append(e.Spec.ForProvider.SSHAuthorizedKeys, string(k))
	}
	return e
}

// entryAddresses name the objects of the node's addresses, which may not be there yet.
func (n *node) entryAddresses() []v1alpha1.EntryAddress {
	var out []v1alpha1.EntryAddress
	for _, want := range n.wanted() {
		out = append(out, v1alpha1.EntryAddress{Ref: &v1alpha1.LocalReference{Name: n.addressName(want.Family)}})
	}
	return out
}

// entryInterface says it in an entry's words. Ports stay names here: which MACs those are is looked up at the bound host, where the plan is made.
func entryInterface(i *platform.NodeInterface) *v1alpha1.EntryInterface {
	if i == nil {
		return nil
	}
	out := &v1alpha1.EntryInterface{From: i.From, Addressing: i.Addressing, MTU: i.MTU}
	if i.VLANID != nil {
		out.VLANID = *i.VLANID
	}
	if i.Name != "" {
		out.Ports = []string{string(i.Name)}
	}
	if i.Bond != nil {
		out.Bond = &v1alpha1.EntryBond{Name: i.Bond.Name, Mode: v1alpha1.BondMode(i.Bond.Mode)}
		for _, m := range i.Bond.Members {
			out.Ports = append(out.Ports, string(m))
		}
	}
	return out
}

// meta puts an object into the owner's namespace: a namespaced kind without one would wedge its composite for good.
func (o owner) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: o.Namespace, Name: name}
}

// configReference says it in Crossplane's words.
func configReference(r v1alpha1.ProviderConfigRef) *xpv2.ProviderConfigReference {
	if r.Kind == "" {
		r.Kind = v1alpha1.ClusterProviderConfigKind
	}
	return &xpv2.ProviderConfigReference{Kind: r.Kind, Name: r.Name}
}
