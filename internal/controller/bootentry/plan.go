package bootentry

import (
	"fmt"
	"net/netip"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// problem is why there's no plan, in the tenant's words.
type problem struct {
	reason  xpv2.ConditionReason
	message string
	// mac or address is what another has, where that's the problem.
	mac, address string
	// port is it, too.
	port *v1alpha1.SwitchPort
}

func no(reason xpv2.ConditionReason, format string, args ...any) *problem {
	return &problem{reason: reason, message: fmt.Sprintf(format, args...)}
}

// resolve makes the plan of an entry from its inputs, or says what is missing. machine says whether the
// machine and its address at least are known and still the entry's own.
func resolve(in inputs) (plan *boot.Plan, prob *problem) {
	for _, check := range []func(inputs) *problem{checkNetwork, checkMachine, checkProfile, checkAddresses, checkData} {
		if p := check(in); p != nil {
			return nil, p
		}
	}
	addresses, p := addressesOf(in)
	if p != nil {
		return nil, p
	}
	named, np := bootspec.Named(in.entry, in.host)
	if np != nil {
		return nil, told(np)
	}
	entry := bootspec.Entry(named, addresses, machineData(in), installedGeneration(in))
	i, wp := bootspec.Wired(named.Spec.ForProvider.Networks[0].Interface, in.addresses, machineOf(in).MACs)
	if wp != nil {
		return nil, told(wp)
	}
	entry.Interface = bootspec.Interface(i)
	r, bp := boot.Resolve(entry, bootspec.Profile(in.profile), bootspec.SegmentConfig(in.network), machineOf(in))
	if bp != nil {
		return nil, told(bp)
	}
	for _, check := range []func(inputs, boot.Plan) *problem{checkOwners, checkRivals} {
		if p := check(in, *r); p != nil {
			return nil, p
		}
	}
	return r, nil
}

// parts are those of an entry's objects that bootd has, too.
func parts(in inputs) bootspec.Parts {
	addresses, _ := addressesOf(in) // What is wrong with them is told where they're looked at.
	return bootspec.Parts{Entry: in.entry, Network: in.network, Profile: in.profile, Addresses: addresses, Secrets: tenantData(in)}
}

// told is a problem of the domain's, in its own words.
func told(p *boot.Problem) *problem {
	if p == nil {
		return nil
	}
	return &problem{reason: xpv2.ConditionReason(p.Reason), message: p.Message}
}

func checkNetwork(in inputs) *problem { return told(bootspec.CheckNetwork(parts(in))) }

func checkMachine(in inputs) *problem {
	m := in.entry.Spec.ForProvider.Machine
	if m.HostClaimRef == nil {
		return told(bootspec.CheckRawMachine(parts(in)))
	}
	switch {
	case in.claim == nil:
		return no(v1alpha1.ReasonNotFound, "HostClaim %q isn't there; create it, or name another in machine.hostClaimRef", m.HostClaimRef.Name)
	case !bound(in):
		// Not with the claim's own words: each change of theirs would be one more change of this entry, and
		// Crossplane stops listening to a composite whose parts change too often.
		return no(v1alpha1.ReasonWaitingForBinding, "HostClaim %q isn't bound to a host yet; its status says why", m.HostClaimRef.Name)
	}
	return nil
}

// bound says whether claim and host name each other, by UID.
func bound(in inputs) bool {
	if in.claim == nil || in.host == nil || in.claim.Spec.Bound == nil || in.host.Spec.ClaimRef == nil {
		return false
	}
	return in.claim.Spec.Bound.UID == in.host.UID && in.host.Spec.ClaimRef.UID == in.claim.UID
}

func checkProfile(in inputs) *problem { return told(bootspec.CheckProfile(parts(in))) }

func checkAddresses(in inputs) *problem {
	if p := told(bootspec.CheckRawAddress(parts(in))); p != nil {
		return p
	}
	for i, a := range in.entry.Spec.ForProvider.Networks[0].Addresses {
		if a.Ref == nil {
			continue
		}
		if p := checkAddress(a, in.address(i)); p != nil {
			return p
		}
	}
	return nil
}

// address is the NetBoxIPAddress that the entry names where it stands there; nil: it isn't there, or the entry says the address itself.
func (in inputs) address(i int) *v1alpha1.NetBoxIPAddress {
	if i >= len(in.addresses) {
		return nil
	}
	return in.addresses[i]
}

func checkAddress(a v1alpha1.EntryAddress, is *v1alpha1.NetBoxIPAddress) *problem {
	if is == nil {
		return no(v1alpha1.ReasonWaitingForAddress, "NetBoxIPAddress %q isn't there yet", a.Ref.Name)
	}
	if is.Status.AtProvider.Address != "" {
		return nil
	}
	ready, synced := is.GetCondition(xpv2.TypeReady), is.GetCondition(xpv2.TypeSynced)
	for _, c := range []xpv2.Condition{ready, synced} {
		if c.Message != "" {
			return no(or2(c.Reason, v1alpha1.ReasonWaitingForAddress), "NetBoxIPAddress %q has no address yet: %s", a.Ref.Name, c.Message)
		}
	}
	return no(v1alpha1.ReasonWaitingForAddress, "NetBoxIPAddress %q has no address yet", a.Ref.Name)
}

// or2 keeps a reason that says something, such as Exhausted, and not the runtime's own.
func or2(r, fallback xpv2.ConditionReason) xpv2.ConditionReason {
	if r == "" || slices.Contains([]xpv2.ConditionReason{xpv2.ReasonCreating, xpv2.ReasonUnavailable, xpv2.ReasonReconcileError, xpv2.ReasonReconcileSuccess}, r) {
		return fallback
	}
	return r
}

func checkData(in inputs) *problem { return told(bootspec.CheckData(parts(in))) }

// addressesOf are all that the entry names, in the order of a plan.
func addressesOf(in inputs) ([]netip.Prefix, *problem) {
	all, prob := bootspec.Addresses(addressTexts(in))
	return all, told(prob)
}

// addressTexts are the addresses that the entry names, where they're known.
func addressTexts(in inputs) (texts []string) {
	for i, a := range in.entry.Spec.ForProvider.Networks[0].Addresses {
		s := a.Address
		if is := in.address(i); a.Ref != nil && is != nil {
			s = is.Status.AtProvider.Address
		}
		texts = append(texts, s)
	}
	return texts
}

// installedGeneration is what is known to be installed on this host, for this entry: by the records, or by the session before they
// are written. A host that lacks the record which its entry has was given back since, and may have been another's.
func installedGeneration(in inputs) int64 {
	uid := string(in.entry.UID)
	var g int64
	if r := installRecord(in.entry.Annotations); r != nil && r.EntryUID == uid && r.HostUID == hostUID(in) {
		if in.host != nil {
			if h := installRecord(in.host.Annotations); h == nil || h.EntryUID != uid {
				return 0
			}
		}
		g = r.Generation
	}
	s := in.session
	if s == nil || s.Status.Installed == nil || s.Spec.EntryUID != uid {
		return g
	}
	if c := s.Status.Consumed; c != nil && c.HostUID != hostUID(in) {
		return g
	}
	return max(g, s.Status.Installed.Generation)
}

// hostUID is the host's own UID, or for raw MACs a hash of them.
func hostUID(in inputs) string {
	if in.host != nil {
		return string(in.host.UID)
	}
	return bootspec.RawUID(in.entry.Spec.ForProvider.Machine)
}

func machineOf(in inputs) boot.Machine {
	if in.host == nil {
		return bootspec.RawMachine(in.entry.Spec.ForProvider.Machine)
	}
	return bootspec.HostMachine(in.host)
}
