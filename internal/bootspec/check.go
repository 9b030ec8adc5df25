package bootspec

import (
	"fmt"
	"net/netip"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Parts are the objects that an entry names. Absent ones are nil.
type Parts struct {
	Entry   *v1alpha1.BootEntry
	Network *v1alpha1.BootNetwork
	Profile *v1alpha1.BootProfile
	// Addresses of the machine (Addresses), where they're known.
	Addresses []netip.Prefix
	// Secrets are the data of those that the entry names (DataRefs), by name.
	Secrets map[string]map[string][]byte
	// Wrong says where each object stands that is there and can't be taken as it is, by kind and namespace/name, and Unread where something does of
	// which that isn't known; "": nowhere. What an API server admits is right.
	Wrong  map[string]string
	Unread string
	// Made keeps what profiles and networks come to, for whoever resolves many entries of them; nil: it's made each time.
	Made *Made
}

// Made is what profiles and networks come to, as plans need it. They mustn't be changed meanwhile.
type Made struct {
	profiles map[*v1alpha1.BootProfile]boot.Profile
	segments map[*v1alpha1.BootNetwork]boot.SegmentConfig
}

// NewMade makes an empty one.
func NewMade() *Made {
	return &Made{map[*v1alpha1.BootProfile]boot.Profile{}, map[*v1alpha1.BootNetwork]boot.SegmentConfig{}}
}

func (m *Made) profile(p *v1alpha1.BootProfile) boot.Profile {
	if m == nil {
		return Profile(p)
	}
	return once(m.profiles, p, Profile)
}

func (m *Made) segment(n *v1alpha1.BootNetwork) boot.SegmentConfig {
	if m == nil {
		return SegmentConfig(n)
	}
	return once(m.segments, n, SegmentConfig)
}

// once is what something comes to, made where it wasn't yet.
func once[K comparable, V any](made map[K]V, of K, how func(K) V) V {
	out, ok := made[of]
	if !ok {
		out = how(of)
		made[of] = out
	}
	return out
}

func no(reason xpv2.ConditionReason, format string, args ...any) *boot.Problem {
	return &boot.Problem{Reason: string(reason), Message: fmt.Sprintf(format, args...)}
}

// absent says that what an entry names in a field isn't there, or that it is and can't be taken: who looks for a file that's missing won't find
// what is wrong. It's called by the name that's shown.
func (p Parts) absent(kind, name, shown, field string) *boot.Problem {
	if at := p.Wrong[kind+" "+name]; at != "" {
		return no(v1alpha1.ReasonInvalid, "%s %q is there, and is wrong: mend %s", kind, shown, at)
	}
	if p.Unread != "" {
		return no(v1alpha1.ReasonNotFound, "%s %q isn't there, unless it's what is wrong at %s; mend that, create it, or name another in %s", kind, shown, p.Unread, field)
	}
	return no(v1alpha1.ReasonNotFound, "%s %q isn't there; create it, or name another in %s", kind, shown, field)
}

// CheckNetwork says what is wrong with the BootNetwork that an entry names; nil: nothing.
func CheckNetwork(p Parts) *boot.Problem {
	e := p.Entry
	ref := e.Spec.ForProvider.Networks[0].NetworkRef
	name := or(ref.Namespace, e.Namespace) + "/" + ref.Name
	switch {
	case p.Network == nil:
		return p.absent(v1alpha1.BootNetworkKind, name, name, "networks[0].networkRef")
	case !p.Network.Spec.AllowedNamespaces.Allows(e.Namespace, p.Network.Namespace, v1alpha1.AllowedFromSame):
		return no(v1alpha1.ReasonNotAllowed, "BootNetwork %q doesn't allow namespace %q; its owner must add it to spec.allowedNamespaces", name, e.Namespace)
	}
	return nil
}

// CheckRawMachine says whether an entry may name its machine by MACs, or by a port: in the namespace of the segment alone.
func CheckRawMachine(p Parts) *boot.Problem {
	m := p.Entry.Spec.ForProvider.Machine
	if p.Entry.Namespace != p.Network.Namespace {
		field := "macs"
		if len(m.MACs) == 0 {
			field = "port"
		}
		return no(v1alpha1.ReasonNotAllowed, "machine.%s may be set only in the BootNetwork's own namespace %q; use machine.hostClaimRef", field, p.Network.Namespace)
	}
	return checkPort(m.Port, p.Network)
}

// CheckRawAddress says whether an entry may name an address: in the namespace of the segment alone.
func CheckRawAddress(p Parts) *boot.Problem {
	i := slices.IndexFunc(p.Entry.Spec.ForProvider.Networks[0].Addresses, func(a v1alpha1.EntryAddress) bool { return a.Ref == nil })
	if i >= 0 && p.Entry.Namespace != p.Network.Namespace {
		return no(v1alpha1.ReasonNotAllowed, "networks[0].addresses[%d].address may be set only in the BootNetwork's own namespace %q; use ref", i, p.Network.Namespace)
	}
	return nil
}

// CheckProfile says what is wrong with the BootProfile that an entry names; nil: nothing.
func CheckProfile(p Parts) *boot.Problem {
	e := p.Entry
	ref := e.Spec.ForProvider.ProfileRef
	name := or(ref.Namespace, e.Namespace) + "/" + ref.Name
	switch {
	case p.Profile == nil:
		return p.absent(v1alpha1.BootProfileKind, name, name, "profileRef")
	case !p.Profile.Spec.AllowedNamespaces.Allows(e.Namespace, p.Profile.Namespace, v1alpha1.AllowedFromSame):
		return no(v1alpha1.ReasonNotAllowed, "BootProfile %q doesn't allow namespace %q; its owner must add it to spec.allowedNamespaces", name, e.Namespace)
	case !p.Network.Spec.AllowedProfileNamespaces.Allows(p.Profile.Namespace, p.Network.Namespace, v1alpha1.AllowedFromSame):
		return no(v1alpha1.ReasonNotAllowed, "BootNetwork %q doesn't boot profiles of namespace %q; its owner must add it to spec.allowedProfileNamespaces",
			p.Network.Namespace+"/"+p.Network.Name, p.Profile.Namespace)
	}
	return nil
}

// Resolve makes the plan of an entry of raw MACs with an address of its own: all that there is where no host, no claim and no NetBox
// is. installed is the generation that is known to be on the machine's disk.
func Resolve(p Parts, installed int64) (*boot.Plan, map[string][]byte, *boot.Problem) {
	for _, check := range []func(Parts) *boot.Problem{CheckNetwork, CheckRawMachine, CheckProfile, CheckRawAddress} {
		if prob := check(p); prob != nil {
			return nil, nil, prob
		}
	}
	if fromNetBox(p.Entry.Spec.ForProvider.Networks[0].Interface) {
		return nil, nil, no(v1alpha1.ReasonInvalid, "interface.from: NetBox needs a cluster, whose NetBoxIPAddresses say what NetBox has; say ports, bond, VLAN and MTU in interface")
	}
	addresses, prob := RawAddresses(p.Entry)
	if prob != nil {
		return nil, nil, prob
	}
	p.Addresses = addresses
	if prob := CheckData(p); prob != nil {
		return nil, nil, prob
	}
	data := p.Data()
	plan, prob := boot.Resolve(Entry(p.Entry, addresses, data, installed), p.Made.profile(p.Profile), p.Made.segment(p.Network), RawMachine(p.Entry.Spec.ForProvider.Machine))
	return plan, data, prob
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
