package bootentry

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// checkOwners refuses an entry whose host lists a MAC of another namespace's host. What a tenant's own host says of its MACs, or the
// BMC that the tenant named, is the tenant's word: a machine of the segment's owner isn't taken by it, whoever came first, nor
// another tenant's that was there before.
func checkOwners(in inputs, plan boot.Plan) *problem {
	if !ownHost(in) {
		return nil
	}
	for i := range in.hosts {
		h := &in.hosts[i]
		if h.Namespace == in.host.Namespace || h.Namespace != in.network.Namespace && !earlier(h, in.host) {
			continue
		}
		macs := macsOf(h)
		for _, m := range plan.MACs {
			if slices.Contains(macs, m) {
				return taken(m, "a machine of another namespace")
			}
		}
	}
	return nil
}

// ownHost says whether the host is of another namespace than the segment, such as one that a claim names by its BMC.
func ownHost(in inputs) bool {
	return in.host != nil && in.network != nil && in.host.Namespace != in.network.Namespace
}

// earlier says whether a host was there first, and has shown its machine.
func earlier(a, b *v1alpha1.RedfishHost) bool {
	if a.Status.AtProvider.Identity.SystemURI == "" {
		return false
	}
	if !a.CreationTimestamp.Time.Equal(b.CreationTimestamp.Time) {
		return a.CreationTimestamp.Time.Before(b.CreationTimestamp.Time)
	}
	return a.UID < b.UID
}

// macsOf are the MACs that a host's spec or BMC lists.
func macsOf(h *v1alpha1.RedfishHost) []boot.MAC {
	var out []boot.MAC
	add := func(s string) {
		if m, err := boot.ParseMAC(s); err == nil {
			out = append(out, m)
		}
	}
	for _, s := range h.Spec.ForProvider.MACs {
		add(s)
	}
	for _, m := range h.Status.AtProvider.MACs {
		add(m.Address)
	}
	return out
}

// checkRivals refuses an entry whose MAC, port or address another one has: bound beats raw, one that has it already beats one that asks for it
// now, and of two that have it the earlier one wins. Addresses are NetBox's to keep apart; not every NetBox does.
func checkRivals(in inputs, plan boot.Plan) *problem {
	for i := range in.others {
		o := &in.others[i]
		p := o.Status.AtProvider.Plan
		if p == nil || released(o) || p.Bound && p.HostUID == plan.HostUID {
			continue // Of two entries that were served for one host the one that it's bound to now counts.
		}
		rival := boot.Plan{Bound: p.Bound, Since: o.CreationTimestamp.Time, EntryUID: string(o.UID)}
		if a, same := sameAddress(*p, plan); same && (boot.Precedes(rival, plan) || p.Bound == plan.Bound && movesTo(in.entry, a.Addr())) {
			prob := no(v1alpha1.ReasonConflict, "address %s is already %s's; give another, and see that NetBox refuses duplicates", a.Addr(), rivalName(in.entry, in.network, o))
			prob.address = a.String()
			return prob
		}
		if samePort(*p, plan) && (boot.Precedes(rival, plan) || asksForPort(in.entry, *p.Port)) {
			prob := no(v1alpha1.ReasonConflict, "port %s is already %s's; remove it from one of them", plan.Port, rivalName(in.entry, in.network, o))
			prob.port = p.Port
			return prob
		}
		for _, m := range plan.MACs {
			if !slices.Contains(p.MACs, string(m)) {
				continue
			}
			if boot.Precedes(rival, plan) || p.Bound == plan.Bound && asksAnew(in.entry, m) {
				return taken(m, rivalName(in.entry, in.network, o))
			}
		}
	}
	return nil
}

// samePort says whether two plans of one segment name one port of a switch. Both are of raw machines: no other has one.
func samePort(p v1alpha1.Plan, plan boot.Plan) bool {
	port, err := bootspec.PortOf(p.Port)
	return err == nil && port != nil && plan.Port != nil && *port == *plan.Port &&
		p.Network.Namespace == plan.Network.Namespace && p.Network.Name == plan.Network.Name.Name
}

// asksForPort says whether an entry that is served already, elsewhere, asks for this port.
func asksForPort(e *v1alpha1.BootEntry, port v1alpha1.SwitchPort) bool {
	p := e.Status.AtProvider.Plan
	return p != nil && p.EntryUID == string(e.UID) && (p.Port == nil || *p.Port != port)
}

// released says whether an entry is only going: its machine was given back, or never held.
func released(e *v1alpha1.BootEntry) bool {
	return e.DeletionTimestamp != nil && !slices.Contains(e.Finalizers, v1alpha1.FinalizerHeldByClaim)
}

// sameAddress gives an address that two plans have on one segment.
func sameAddress(p v1alpha1.Plan, plan boot.Plan) (netip.Prefix, bool) {
	if p.Network.Namespace != plan.Network.Namespace || p.Network.Name != plan.Network.Name.Name {
		return netip.Prefix{}, false
	}
	for _, s := range addressesIn(p.Network) {
		its, err := netip.ParsePrefix(s)
		if err != nil {
			continue
		}
		for a := range plan.Network.Addresses() {
			if a.Addr() == its.Addr() {
				return a, true
			}
		}
	}
	return netip.Prefix{}, false
}

// addressesIn are those of a machine, as its plan writes them.
func addressesIn(n v1alpha1.PlanNetwork) []string {
	if n.IPv6 == nil {
		return []string{n.Address}
	}
	return []string{n.Address, n.IPv6.Address}
}

// movesTo says whether an entry that is served already, with others, comes to have this address.
func movesTo(e *v1alpha1.BootEntry, address netip.Addr) bool {
	p := e.Status.AtProvider.Plan
	return p != nil && p.EntryUID == string(e.UID) && !slices.ContainsFunc(addressesIn(p.Network), func(s string) bool {
		is, err := netip.ParsePrefix(s)
		return err == nil && is.Addr() == address
	})
}

// asksAnew says whether an entry that is served already, for other MACs, asks for one more.
func asksAnew(e *v1alpha1.BootEntry, m boot.MAC) bool {
	p := e.Status.AtProvider.Plan
	return p != nil && p.EntryUID == string(e.UID) && !slices.Contains(p.MACs, string(m))
}

func taken(m boot.MAC, by string) *problem {
	p := no(v1alpha1.ReasonConflict, "MAC %s is already %s's; remove it from one of them", m, by)
	p.mac = string(m)
	return p
}

// rivalName names another entry to those who may know it: its own namespace, and the segment's owner.
func rivalName(e *v1alpha1.BootEntry, n *v1alpha1.BootNetwork, o *v1alpha1.BootEntry) string {
	if o.Namespace == e.Namespace || e.Namespace == n.Namespace {
		return fmt.Sprintf("BootEntry %q", o.Namespace+"/"+o.Name)
	}
	return "a machine of another namespace"
}
