package composition

import (
	"cmp"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A nodeAddress is one address that a node asks for, and what becomes of it.
type nodeAddress struct {
	want    platform.AddressRequest
	network v1alpha1.NamespacedReference
	// was is what is observed of it; nil where there is none yet.
	was *v1alpha1.NetBoxIPAddress

	// object is to be rendered; nil where there's nothing to render. held is why there's no address, if a person must know.
	object *v1alpha1.NetBoxIPAddress
	held   *problem
}

// wanted are the addresses that the node asks for: that of IPv4 first, whatever order the claim has, so that one who reads the first
// alone reads what it was before there was a second.
func (n *node) wanted() []platform.AddressRequest {
	out := slices.Clone(n.spec.Networks[0].Addresses)
	slices.SortStableFunc(out, func(a, b platform.AddressRequest) int { return cmp.Compare(a.Family, b.Family) })
	return out
}

// addressSuffix is the end of an address's names: its network and family.
func (n *node) addressSuffix(f v1alpha1.IPFamily) string {
	return "-" + n.spec.Networks[0].Name + "-" + strings.ToLower(string(f))
}

// addressKey names an address within the composite.
func (n *node) addressKey(f v1alpha1.IPFamily) string { return addressResource + n.addressSuffix(f) }

// addressName names an address's object.
func (n *node) addressName(f v1alpha1.IPFamily) string { return n.Name + n.addressSuffix(f) }

// addressing decides what becomes of each address. One that can't be had keeps no other from being asked for.
func (n *node) addressing() []nodeAddress {
	var out []nodeAddress
	for _, want := range n.wanted() {
		a := nodeAddress{want: want, network: n.spec.Networks[0].NetworkRef, was: n.addresses[want.Family]}
		a.object, a.held = n.addressObject(a)
		out = append(out, a)
	}
	return out
}

// addressObject is an address that the node asks for. Once there is one, its source stays what it was, whatever becomes of the
// network: a machine must not lose its address by an edit elsewhere. Without a usable network there is nothing new to render, and, as
// long as NetBox gave no address, a problem to tell.
func (n *node) addressObject(a nodeAddress) (*v1alpha1.NetBoxIPAddress, *problem) {
	plan, held := n.addressPlan(a.want)
	assignTo, waits := n.assignment(a.was, plan)
	if a.was != nil && allocated(a.was) {
		return n.keptAddress(a, plan, assignTo), nil
	}
	if a.was != nil && plan == nil {
		return n.keptAddress(a, nil, assignTo), held
	}
	if plan == nil || waits != nil {
		return nil, cmp.Or(held, waits)
	}
	out := &v1alpha1.NetBoxIPAddress{ObjectMeta: n.meta(n.addressName(a.want.Family))}
	out.Spec.ProviderConfigReference = configReference(plan.configRef)
	out.Spec.ForProvider = v1alpha1.NetBoxIPAddressParameters{
		From:        plan.from,
		Family:      plan.family,
		Address:     plan.address,
		VRF:         plan.vrf,
		DNSName:     n.dnsName(),
		Description: new("BareMetalNode " + n.Namespace + "/" + n.Name),
		AssignTo:    assignTo,
		Release:     plan.release,
	}
	return out, nil
}

// addressPlan asks the network, once it was fetched.
func (n *node) addressPlan(want platform.AddressRequest) (*addressPlan, *problem) {
	if n.network != nil {
		return planAddress(n.network, want, n.Namespace)
	}
	if !n.networkFetched {
		return nil, nil //nolint:nilnil // Not known yet: neither a plan nor a problem.
	}
	ref := n.spec.Networks[0].NetworkRef
	return nil, problemf(v1alpha1.ReasonNotFound, "BootNetwork %s/%s does not exist; check networks[0].networkRef", ref.Namespace, ref.Name)
}

// keptAddress renders an address again as it was rendered first, but for what may be asked for anew: where it's assigned to, and, as the network says by
// then, if it says anything, what becomes of it when it goes.
func (n *node) keptAddress(a nodeAddress, plan *addressPlan, assignTo *v1alpha1.Assignment) *v1alpha1.NetBoxIPAddress {
	was := a.was.Spec.ForProvider
	out := &v1alpha1.NetBoxIPAddress{ObjectMeta: n.meta(n.addressName(a.want.Family))}
	out.Spec.ProviderConfigReference = a.was.Spec.ProviderConfigReference
	out.Spec.ForProvider = v1alpha1.NetBoxIPAddressParameters{
		From:        was.From,
		Family:      was.Family,
		Address:     was.Address,
		VRF:         was.VRF,
		DNSName:     was.DNSName,
		Description: was.Description,
		AssignTo:    assignTo,
		Release:     was.Release,
	}
	if plan != nil {
		out.Spec.ForProvider.Release = plan.release
	}
	if n.network != nil {
		out.Spec.ForProvider.DNSName = n.dnsName()
	}
	return out
}

// dnsName is the machine's name in the network's domain; nil where it has none.
func (n *node) dnsName() *string {
	if n.network.Spec.Domain == "" {
		return nil
	}
	return new(n.spec.Hostname + "." + n.network.Spec.Domain)
}

// allocated says whether NetBox gave an address already.
func allocated(a *v1alpha1.NetBoxIPAddress) bool {
	return a.GetAnnotations()["crossplane.io/external-name"] != "" || a.Status.AtProvider.Address != ""
}

// addressedCondition says whether the node has all addresses that it asks for, else why it lacks one: of several the first about which a
// person must do something.
func addressedCondition(all []nodeAddress) xpv2.Condition {
	out := xpv2.Condition{Type: conditionAddressed, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonAvailable}
	var given []string
	for _, a := range all {
		c := a.condition(len(all) > 1)
		if c.Status != corev1.ConditionTrue {
			if out.Status == corev1.ConditionTrue || waiting(out.Reason) && !waiting(c.Reason) {
				out = c
			}
			continue
		}
		given = append(given, c.Message)
		if out.Status == corev1.ConditionTrue && c.LastTransitionTime.After(out.LastTransitionTime.Time) {
			out.LastTransitionTime = c.LastTransitionTime
		}
	}
	if out.Status == corev1.ConditionTrue {
		out.Message = strings.Join(given, ", ")
	}
	return out
}

// given says whether there is the address.
func (a nodeAddress) given() bool { return a.condition(false).Status == corev1.ConditionTrue }

// condition says whether there is the address, else why not. Where there's another, its family is named.
func (a nodeAddress) condition(named bool) xpv2.Condition {
	c := xpv2.Condition{Type: conditionAddressed, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonWaitingForAddress}
	if a.held != nil {
		c.Reason, c.Message = a.held.reason, a.held.message
		return c
	}
	c.Message = asksNetBox
	if named {
		c.Message = strings.Replace(asksNetBox, "an address", "an "+string(a.want.Family)+" address", 1)
	}
	if a.was == nil {
		return c
	}
	ready, synced := a.was.GetCondition(xpv2.TypeReady), a.was.GetCondition(xpv2.TypeSynced)
	address := a.was.Status.AtProvider.Address
	// An address that was given stays given until its resource isn't Ready any more: NetBox being away later, which shows in Synced, is
	// no reason to call a running machine unaddressed.
	if address != "" && ready.Status != corev1.ConditionFalse {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, v1alpha1.ReasonAvailable, address
		c.LastTransitionTime = ready.LastTransitionTime
		return c
	}
	switch {
	case ready.Status == corev1.ConditionFalse && tellsMore(ready):
		c.Reason, c.Message, c.LastTransitionTime = ready.Reason, ready.Message, ready.LastTransitionTime
		c.Message += a.whoseInterface(ready)
	case synced.Status == corev1.ConditionFalse && synced.Message != "":
		c.Message, c.LastTransitionTime = cause(synced.Message), synced.LastTransitionTime
	}
	return c
}
