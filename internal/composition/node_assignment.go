package composition

import (
	"cmp"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// assignment says where an address is to be in NetBox: on the device of the host that is bound, where the claim asks for interface.from: NetBox, or the
// network says so of all claims. A plan that isn't known leaves it where it was: a machine doesn't lose it by an edit elsewhere. Without a bound host
// there is none to name yet, and a new address waits for it: it's made on its interface, and never on that of a machine which another claim gets.
func (n *node) assignment(was *v1alpha1.NetBoxIPAddress, plan *addressPlan) (*v1alpha1.Assignment, *problem) {
	var before *v1alpha1.Assignment
	if was != nil {
		before = was.Spec.ForProvider.AssignTo
	}
	if plan == nil {
		return before, nil
	}
	if plan.assignTo == nil && !n.fromNetBox() {
		return nil, nil
	}
	host := n.boundTo()
	switch {
	case host == nil && was == nil:
		return nil, problemf(v1alpha1.ReasonWaitingForHost, "the address is given on the machine's interface in NetBox, once a host is bound")
	case host == nil:
		return before, nil
	}
	out := &v1alpha1.Assignment{HostRef: &xpv2.NamespacedReference{Namespace: host.Namespace, Name: host.Name}, Use: v1alpha1.UseAdditional}
	if a := plan.assignTo; a != nil {
		out.Use = cmp.Or(a.Use, out.Use)
		if a.InterfaceName != "" {
			out.Interface = &v1alpha1.NetBoxInterface{Name: a.InterfaceName}
		}
	}
	return out, nil
}

// fromNetBox says whether the system's network is what NetBox has of the machine's interface.
func (n *node) fromNetBox() bool {
	i := n.spec.Networks[0].Interface
	return i != nil && i.From == v1alpha1.InterfaceFromNetBox
}

// whoseInterface says who corrects a mistake about the machine's interface in NetBox, where that is what an address lacks: its own words name fields that
// a claim doesn't have.
func (a nodeAddress) whoseInterface(lacks xpv2.Condition) string {
	about := []xpv2.ConditionReason{v1alpha1.ReasonNotFound, v1alpha1.ReasonAmbiguous, v1alpha1.ReasonConflict}
	if a.was.Spec.ForProvider.AssignTo == nil || !slices.Contains(about, lacks.Reason) {
		return ""
	}
	// The reasons are the same for a source that isn't found, and for an address that somebody else has.
	named := func(s string) bool { return strings.Contains(lacks.Message, s) }
	if !slices.ContainsFunc([]string{"the interface", `device "`, "assignTo", "netboxDevice"}, named) {
		return ""
	}
	return "; where it's put an operator says, by netboxDevice of the host and addressesFrom.assignTo of BootNetwork " + a.network.Namespace + "/" + a.network.Name
}
