package composition

import (
	"fmt"
	"net/netip"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A problem is why something can't be composed yet: a word for a script and a sentence for the tenant.
type problem struct {
	reason  xpv2.ConditionReason
	message string
}

// problemf formats a problem's sentence.
func problemf(reason xpv2.ConditionReason, format string, args ...any) *problem {
	return &problem{reason: reason, message: fmt.Sprintf(format, args...)}
}

// An addressPlan is where one address of a node comes from.
type addressPlan struct {
	configRef v1alpha1.ProviderConfigRef
	from      []v1alpha1.AddressSource
	// family is set where a source doesn't say of which one it is.
	family   v1alpha1.IPFamily
	address  string
	vrf      *v1alpha1.VRFSelector
	release  *v1alpha1.ReleasePolicy
	assignTo *v1alpha1.MachineAssignment
}

// usable says whether machines of namespace may be on the network, which lies in the network's namespace.
func usable(n *v1alpha1.BootNetwork, namespace string) *problem {
	if n.Spec.AllowedNamespaces.Allows(namespace, n.GetNamespace(), v1alpha1.AllowedFromSame) {
		return nil
	}
	return problemf(v1alpha1.ReasonNotAllowed,
		"BootNetwork %s/%s does not allow machines of namespace %q; ask its operator to add it to spec.allowedNamespaces",
		n.GetNamespace(), n.GetName(), namespace)
}

// planAddress says where the address comes from that a node of namespace asks for: from the network's sources, or the given one.
func planAddress(n *v1alpha1.BootNetwork, want platform.AddressRequest, namespace string) (*addressPlan, *problem) {
	if p := usable(n, namespace); p != nil {
		return nil, p
	}
	plan, p := fromSubnets(n, want)
	if p != nil {
		return nil, p
	}
	if plan.configRef.Kind == v1alpha1.ProviderConfigKind && namespace != n.GetNamespace() {
		return nil, problemf(v1alpha1.ReasonInvalid,
			"BootNetwork %s/%s takes its addresses by a ProviderConfig, which serves its own namespace alone; its operator must name a ClusterProviderConfig in addressesFrom",
			n.GetNamespace(), n.GetName())
	}
	return plan, nil
}

// fromSubnets picks the subnets that can serve.
func fromSubnets(n *v1alpha1.BootNetwork, want platform.AddressRequest) (*addressPlan, *problem) {
	if want.Address != "" {
		return fixed(n, want)
	}
	var plan *addressPlan
	for _, s := range n.Spec.Subnets {
		prefix, err := netip.ParsePrefix(s.CIDR)
		if err != nil || familyOf(prefix.Addr()) != want.Family || s.AddressesFrom == nil {
			continue
		}
		if plan == nil {
			plan = &addressPlan{configRef: s.AddressesFrom.NetBoxProviderConfigRef, release: s.AddressesFrom.Release, assignTo: s.AddressesFrom.AssignTo}
		}
		// One address comes from one NetBox: the first one named.
		if plan.configRef == s.AddressesFrom.NetBoxProviderConfigRef {
			plan.from = append(plan.from, inFamily(s.AddressesFrom.Sources, want.Family)...)
		}
	}
	if plan != nil && len(plan.from) == 0 {
		return nil, problemf(v1alpha1.ReasonInvalid,
			"the sources of the %[3]s subnets of BootNetwork %[1]s/%[2]s are all of the other family; its operator must name %[3]s ones in addressesFrom", n.GetNamespace(), n.GetName(), want.Family)
	}
	if plan != nil && slices.ContainsFunc(plan.from, numbered) {
		plan.family = want.Family
	}
	if plan == nil {
		return nil, problemf(v1alpha1.ReasonInvalid,
			"BootNetwork %s/%s has no %s subnet with addressesFrom; its operator must say where addresses come from", n.GetNamespace(), n.GetName(), want.Family)
	}
	return plan, nil
}

// familyOf an address.
func familyOf(a netip.Addr) v1alpha1.IPFamily {
	if a.Is4() {
		return v1alpha1.IPv4
	}
	return v1alpha1.IPv6
}

// numbered says that a source is named by its number: which family it's of NetBox alone knows.
func numbered(s v1alpha1.AddressSource) bool {
	return s.Prefix != nil && s.Prefix.ID != nil || s.Range != nil && s.Range.ID != nil
}

// ofOther says that a source says itself that it's of the other family: a network that was stored before that was refused may have one.
func ofOther(s v1alpha1.AddressSource, family v1alpha1.IPFamily) bool {
	var text string
	var said v1alpha1.IPFamily
	if p := s.Prefix; p != nil {
		text = p.CIDR
		if p.Filter != nil {
			said = p.Filter.Family
		}
	}
	if r := s.Range; r != nil {
		text = r.Start
		if r.Filter != nil {
			said = r.Filter.Family
		}
	}
	if named, err := netip.ParsePrefix(text); err == nil {
		said = familyOf(named.Addr())
	}
	return said != "" && said != family
}

// inFamily are sources as a machine asks for them: those of its family, and a filter that leaves that open finds that of its subnet alone.
func inFamily(sources []v1alpha1.AddressSource, family v1alpha1.IPFamily) []v1alpha1.AddressSource {
	var out []v1alpha1.AddressSource
	for _, s := range sources {
		if ofOther(s, family) {
			continue
		}
		s = *s.DeepCopy()
		if s.Prefix != nil && s.Prefix.Filter != nil && s.Prefix.Filter.Family == "" {
			s.Prefix.Filter.Family = family
		}
		if s.Range != nil && s.Range.Filter != nil && s.Range.Filter.Family == "" {
			s.Range.Filter.Family = family
		}
		out = append(out, s)
	}
	return out
}

// fixed checks a given address against the network's subnets, and completes its prefix length.
func fixed(n *v1alpha1.BootNetwork, want platform.AddressRequest) (*addressPlan, *problem) {
	given := want.Address
	addr, bits, err := parseAddress(given)
	if err != nil || familyOf(addr) != want.Family {
		return nil, problemf(v1alpha1.ReasonInvalid, "address %q is not an %s address, with or without prefix length", given, want.Family)
	}
	for _, s := range n.Spec.Subnets {
		prefix, err := netip.ParsePrefix(s.CIDR)
		if err != nil || !prefix.Contains(addr) {
			continue
		}
		if s.AddressesFrom == nil {
			return nil, problemf(v1alpha1.ReasonInvalid,
				"subnet %s of BootNetwork %s/%s has no addressesFrom; its operator must say where addresses come from", s.CIDR, n.GetNamespace(), n.GetName())
		}
		if bits >= 0 && bits != prefix.Bits() {
			return nil, problemf(v1alpha1.ReasonInvalid, "address %q must have the prefix length of subnet %s, or none", given, s.CIDR)
		}
		if what := taken(s, prefix, addr); what != "" {
			return nil, problemf(v1alpha1.ReasonInvalid, "address %q is %s of subnet %s; choose another", given, what, s.CIDR)
		}
		return &addressPlan{
			configRef: s.AddressesFrom.NetBoxProviderConfigRef,
			address:   netip.PrefixFrom(addr, prefix.Bits()).String(),
			vrf:       vrfOf(s.AddressesFrom.Sources, addr),
			release:   s.AddressesFrom.Release,
			assignTo:  s.AddressesFrom.AssignTo,
		}, nil
	}
	return nil, problemf(v1alpha1.ReasonNotAllowed,
		"address %q is in no subnet of BootNetwork %s/%s; choose one of its own subnets' addresses", given, n.GetNamespace(), n.GetName())
}

// parseAddress reads an address with or without prefix length; bits is -1 without.
func parseAddress(s string) (addr netip.Addr, bits int, err error) {
	if prefix, err := netip.ParsePrefix(s); err == nil {
		addr, bits = prefix.Addr(), prefix.Bits()
	} else if addr, err = netip.ParseAddr(s); err != nil {
		return netip.Addr{}, 0, fmt.Errorf("cannot parse address %q: %w", s, err)
	} else {
		bits = -1
	}
	if addr.Is4In6() || addr.Zone() != "" {
		return netip.Addr{}, 0, fmt.Errorf("address %q is neither IPv4 nor of a whole network of IPv6", s)
	}
	return addr, bits, nil
}

// taken names what an address of a subnet already is; "" where it is free for machines.
func taken(s v1alpha1.Subnet, prefix netip.Prefix, addr netip.Addr) string {
	is := func(s string) bool { // IPv6 is written in several ways.
		other, err := netip.ParseAddr(s)
		return err == nil && other == addr
	}
	if is(s.Gateway) {
		return "the gateway"
	}
	if slices.ContainsFunc(s.DNS, is) {
		return "a DNS server"
	}
	if addr.BitLen()-prefix.Bits() < 2 { // RFC 3021 and RFC 6164: a /31 has neither network nor broadcast address, a /127 no routers' one.
		return ""
	}
	if addr == prefix.Masked().Addr() {
		if addr.Is6() {
			return "the routers' anycast address" // RFC 4291, 2.6.1.
		}
		return "the network address"
	}
	if addr.Is4() && !prefix.Contains(addr.Next()) {
		return "the broadcast address"
	}
	return ""
}

// vrfOf is the VRF of the prefix that an address is in, else that of the first source: a given address must not land in another
// VRF than an allocated one. Nil leaves it to the prefix in NetBox that holds the address.
func vrfOf(sources []v1alpha1.AddressSource, addr netip.Addr) *v1alpha1.VRFSelector {
	for _, s := range sources {
		if s.Prefix == nil {
			continue
		}
		if prefix, err := netip.ParsePrefix(s.Prefix.CIDR); err == nil && prefix.Contains(addr) {
			return s.Prefix.VRF
		}
	}
	if len(sources) == 0 {
		return nil
	}
	return sourceVRF(sources[0])
}

// sourceVRF is the VRF that a source names.
func sourceVRF(s v1alpha1.AddressSource) *v1alpha1.VRFSelector {
	switch {
	case s.Prefix != nil && s.Prefix.Filter != nil:
		return s.Prefix.Filter.VRF
	case s.Prefix != nil:
		return s.Prefix.VRF
	case s.Range != nil && s.Range.Filter != nil:
		return s.Range.Filter.VRF
	case s.Range != nil:
		return s.Range.VRF
	}
	return nil
}
