package bootplane

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// reports are what the live bootds of a network say of it, by their names.
func reports(network types.NamespacedName, all []v1alpha1.BootServer, now time.Time) []v1alpha1.BootServerNetwork {
	var live []*v1alpha1.BootServer
	for i := range all {
		if all[i].Live(now) {
			live = append(live, &all[i])
		}
	}
	slices.SortFunc(live, func(a, b *v1alpha1.BootServer) int { return strings.Compare(a.Name, b.Name) })
	var out []v1alpha1.BootServerNetwork
	for _, s := range live {
		for _, n := range s.Status.Networks {
			if n.Namespace == network.Namespace && n.Name == network.Name {
				n.Message = prefixed(s.Name, n.Message)
				out = append(out, n)
			}
		}
	}
	return out
}

func prefixed(server, message string) string {
	if message == "" {
		return ""
	}
	return "on " + server + ": " + message
}

// showReports says in a network's status which other servers are on it, and why it isn't served as its spec says. It's Ready as long as
// one bootd serves it.
func showReports(n *v1alpha1.BootNetwork, reports []v1alpha1.BootServerNetwork) {
	var wrong []v1alpha1.BootServerNetwork
	var foreign []v1alpha1.ForeignServer
	elsewhere := slices.ContainsFunc(reports, func(r v1alpha1.BootServerNetwork) bool { return !lacksInterface(r) })
	for _, r := range reports {
		if r.Message != "" && (!elsewhere || !lacksInterface(r)) { // Of all nodes few may have a segment's interface.
			wrong = append(wrong, r)
		}
		foreign = append(foreign, r.ForeignServers...)
	}
	n.Status.ForeignServers = nil
	for _, f := range foreign {
		if !slices.Contains(n.Status.ForeignServers, f.Address) {
			n.Status.ForeignServers = append(n.Status.ForeignServers, f.Address)
		}
	}
	slices.Sort(n.Status.ForeignServers)
	authoritative := n.Spec.DHCP == nil || n.Spec.DHCP.Mode == "" || n.Spec.DHCP.Mode == v1alpha1.DHCPAuthoritative
	var ready xpv2.Condition
	switch {
	case len(wrong) > 0:
		ready = xpv2.Available().WithMessage(wrong[0].Message)
		if len(wrong) == len(reports) && wrong[0].Reason != "" { // Without a reason it's a note.
			ready = xpv2.Unavailable().WithMessage(wrong[0].Message)
			ready.Reason = xpv2.ConditionReason(wrong[0].Reason)
		}
	case len(foreign) > 0 && authoritative:
		ready = xpv2.Available().WithMessage(told(foreign))
	default:
		return
	}
	n.SetConditions(ready.WithObservedGeneration(n.Generation))
}

// lacksInterface says that a bootd's node has none of the interfaces that a network is served on.
func lacksInterface(r v1alpha1.BootServerNetwork) bool {
	return r.Reason == string(v1alpha1.ReasonInterfaceMissing)
}

// told is a sentence about the first of the servers, by address: since when it's heard, not until when, so that the status isn't written anew
// for each of its packets.
func told(all []v1alpha1.ForeignServer) string {
	f := slices.MinFunc(all, func(a, b v1alpha1.ForeignServer) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), strings.Compare(b.MAC, a.MAC))
	})
	who := f.Address
	if f.MAC != "" {
		who += " (" + f.MAC + ")"
	}
	if f.Since != nil {
		who += ", heard since " + f.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("another DHCP server answers on this network: %s; stop it, or set dhcp.mode to Proxy if it's to give the addresses", who)
}
