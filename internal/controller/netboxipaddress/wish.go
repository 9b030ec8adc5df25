package netboxipaddress

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A wish is where an address is to be, as far as Kubernetes tells.
type wish struct {
	// holder is of no kind where the interface is to be found by its MAC address alone.
	holder netbox.HolderRef
	iface  netbox.InterfaceRef
	use    v1alpha1.AddressUse
	// host that the holder is of, as sentences name it; its serial number where it's known. Both "" where none is named.
	host, serial string
	// lent says that the host is another namespace's, and bound to a claim of this one.
	lent bool
	// searched says that spec names no interface: it's the one with a MAC address of the host. macs are those to look for first; none
	// where they are as good as one another.
	searched bool
	macs     []string
}

// likely is the interface to look for first.
func (w *wish) likely() netbox.InterfaceRef {
	if len(w.macs) == 0 {
		return w.iface
	}
	return netbox.InterfaceRef{MACs: w.macs}
}

// wish reads what spec says of the assignment, and the host that it names; nil where it says nothing.
func (e *external) wish(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (*wish, error) {
	a := mg.Spec.ForProvider.AssignTo
	if a == nil {
		return nil, nil
	}
	w := &wish{use: cmp.Or(a.Use, v1alpha1.UseAdditional)}
	if i := a.Interface; i != nil {
		w.iface = netbox.InterfaceRef{Name: i.Name}
		if i.ID != nil {
			w.iface.ID = *i.ID
		}
		if i.MAC != "" {
			w.iface.MACs = []string{i.MAC}
		}
	}
	switch {
	case a.HostRef != nil || a.HostSelector != nil:
		return w, e.wishOfHost(ctx, w, a.HostRef)
	case a.VirtualMachine != nil:
		w.holder = holderRef(netbox.VirtualMachine, *a.VirtualMachine)
	case a.Device != nil:
		w.holder = holderRef(netbox.Device, *a.Device)
	case len(w.iface.MACs) == 0:
		return nil, malformedError{"assignTo must name a device, a virtualMachine or a host, or an interface by its mac"}
	}
	return w, nil
}

func holderRef(kind netbox.HolderKind, d v1alpha1.NetBoxDevice) netbox.HolderRef {
	r := netbox.HolderRef{Kind: kind, Name: d.Name, Site: d.Site}
	if d.ID != nil {
		r.ID = *d.ID
	}
	return r
}

// wishOfHost fills in what a RedfishHost tells of its device.
func (e *external) wishOfHost(ctx context.Context, w *wish, ref *xpv2.NamespacedReference) error {
	h, err := e.host(ctx, ref)
	if err != nil {
		return err
	}
	w.host, w.lent = h.Namespace+"/"+h.Name, h.Namespace != e.us.namespace && h.BoundTo(e.us.namespace)
	w.serial = strings.TrimSpace(h.Status.AtProvider.Identity.Serial)
	w.holder = netbox.HolderRef{Kind: netbox.Device, Name: h.Name}
	if d := h.Spec.ForProvider.NetBoxDevice; d != nil {
		w.holder = holderRef(netbox.Device, *d)
	}
	if w.iface.ID == 0 && w.iface.Name == "" && len(w.iface.MACs) == 0 {
		w.searched = true
		w.iface.MACs, w.macs = macsOf(h)
		if len(w.iface.MACs) == 0 {
			return hostError{v1alpha1.ReasonNotFound, fmt.Sprintf("RedfishHost %q, which assignTo names, has no MAC address yet by which its interface in NetBox is found: set assignTo.interface, or wait until its BMC has told", w.host)}
		}
	}
	return nil
}

// macsOf are the MAC addresses of a host, and those among them to look for first: what its owner wrote down, else what the BMC calls
// permanent. A server has more interfaces than the one that it boots from, and NetBox may know them all.
func macsOf(h *v1alpha1.RedfishHost) (all, first []string) {
	written := h.Spec.ForProvider.MACs
	var permanent []string
	all = slices.Clone(written)
	for _, m := range h.Status.AtProvider.MACs {
		all = append(all, m.Address)
		if m.Permanent {
			permanent = append(permanent, m.Address)
		}
	}
	first = written
	if len(first) == 0 {
		first = permanent
	}
	if len(first) == len(all) {
		first = nil
	}
	return all, first
}

// host reads the RedfishHost that the spec names, if the namespace may name it. Of a host that it may not, it's not even said whether
// there is one.
func (e *external) host(ctx context.Context, ref *xpv2.NamespacedReference) (*v1alpha1.RedfishHost, error) {
	if ref == nil {
		return nil, hostError{v1alpha1.ReasonNotFound, "assignTo.hostSelector has chosen no RedfishHost yet: see that one matches it"}
	}
	key := types.NamespacedName{Namespace: cmp.Or(ref.Namespace, e.us.namespace), Name: ref.Name}
	h := &v1alpha1.RedfishHost{}
	err := e.connector.Kube.Get(ctx, key, h)
	switch {
	case err == nil && h.LentTo(e.us.namespace):
		return h, nil
	case apimeta.IsNoMatchError(err):
		return nil, hostError{v1alpha1.ReasonNotFound, "this cluster has no kind RedfishHost: name the device in assignTo.device"}
	case err != nil && !kerrors.IsNotFound(err):
		return nil, &trouble{v1alpha1.ReasonUnreachable, fmt.Sprintf("cannot read RedfishHost %q, which assignTo names: it is tried again", key), err}
	case err != nil && key.Namespace == e.us.namespace:
		return nil, hostError{v1alpha1.ReasonNotFound, fmt.Sprintf("RedfishHost %q, which assignTo.hostRef names, doesn't exist: correct the name", key)}
	}
	return nil, e.notLent(key.String())
}

func (e *external) notLent(host string) error {
	return hostError{v1alpha1.ReasonNotAllowed, fmt.Sprintf("RedfishHost %q, which assignTo.hostRef names, isn't there, or isn't another namespace's that is bound to a HostClaim of namespace %q: claim it first", host, e.us.namespace)}
}

// A hostError says what is wrong with the host that an assignment names.
type hostError struct {
	reason  xpv2.ConditionReason
	message string
}

func (e hostError) Error() string { return e.message }

func (e hostError) words(inputs) (reason xpv2.ConditionReason, message string) {
	return e.reason, e.message
}

// scope is the widest that any policy leaves to its namespace for assigning, of those that allow all of the networks.
func (g grant) scope(dnsName string, networks ...netip.Prefix) v1alpha1.AssignmentScope {
	if g.all {
		return v1alpha1.AssignAll
	}
	out := v1alpha1.AssignNone
	for _, p := range g.policies {
		switch {
		case !inZones(dnsName, p.DNSZones) || !holds(p.Prefixes, networks):
		case p.AssignTo == v1alpha1.AssignAll:
			return v1alpha1.AssignAll
		case p.AssignTo == v1alpha1.AssignOwnHosts:
			out = v1alpha1.AssignOwnHosts
		}
	}
	return out
}

// holds says whether one of cidrs has all of the networks; none of them is no restriction.
func holds(cidrs []string, networks []netip.Prefix) bool {
	return len(cidrs) == 0 || slices.ContainsFunc(cidrs, func(c string) bool {
		return !slices.ContainsFunc(networks, func(n netip.Prefix) bool { return !within(n, []string{c}) })
	})
}

// ends are what all addresses of a parent lie between.
func ends(p netbox.Parent) []netip.Prefix {
	if p.Kind == netbox.ParentPrefix {
		return []netip.Prefix{p.Prefix}
	}
	return []netip.Prefix{netip.PrefixFrom(p.First, p.Prefix.Bits()), netip.PrefixFrom(p.Last, p.Prefix.Bits())}
}

// mayAssign says, by an error, that the policies don't leave this assignment of the addresses of networks to the namespace. With less than
// all devices left to it, a host of its own doesn't count: whoever makes a host, under whatever name, names a device by that.
func (e *external) mayAssign(w *wish, networks ...netip.Prefix) error {
	switch e.grant.scope(e.dnsName, networks...) {
	case v1alpha1.AssignAll:
		return nil
	case v1alpha1.AssignOwnHosts:
		switch {
		case w.lent:
			return nil
		case w.host != "":
			return e.notLent(w.host)
		}
		return notAllowedError{what: "assignTo other than by hostRef or hostSelector", namespace: e.us.namespace}
	case v1alpha1.AssignNone:
	}
	return notAllowedError{what: "assignTo", namespace: e.us.namespace}
}

// network is the address, or where it's to come from: that of a plan with several sources isn't known yet.
func (e *external) network() netip.Prefix {
	switch {
	case e.strayed():
		return e.held.address
	case e.record != nil:
		return e.record.Address
	case e.plan.address.IsValid():
		return e.plan.address
	}
	return e.plan.network()
}

// policy is the one that allows a resource what it has, or asks for. A mask that somebody has changed in NetBox since allows and forbids nothing: then
// it's that of the address as it was given, or else of the address alone.
func (e *external) policy(dnsName string) (v1alpha1.NetBoxPolicy, bool) {
	n := e.network()
	policy, ok := e.grant.policy(n, dnsName)
	if ok || e.record == nil || !n.IsValid() {
		return policy, ok
	}
	given := netip.PrefixFrom(n.Addr(), n.Addr().BitLen())
	if from := e.was.Prefix; from != nil {
		if p, err := netip.ParsePrefix(from.CIDR); err == nil && p.Contains(n.Addr()) {
			given = netip.PrefixFrom(n.Addr(), p.Bits())
		}
	}
	return e.grant.policy(given, dnsName)
}
