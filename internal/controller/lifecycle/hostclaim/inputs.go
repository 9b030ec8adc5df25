package hostclaim

import (
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// inputs are the objects that a claim's next step rests on. Absent ones are nil.
type inputs struct {
	now       time.Time
	claim     *v1alpha1.HostClaim
	host      *v1alpha1.RedfishHost
	entry     *v1alpha1.BootEntry
	session   *v1alpha1.BootSession
	addresses []v1alpha1.NetBoxIPAddress
	servers   []v1alpha1.BootServer
	// forsaken says that the host is bound to a claim that isn't there.
	forsaken bool
	// kindGoes says of a deleted claim why its deletion isn't believed: HostClaim itself is being deleted. Nil of any other.
	kindGoes error
}

// hostName is where the claim's host is: its binding knows best, then its reference.
func hostName(c *v1alpha1.HostClaim) client.ObjectKey {
	if b := c.Spec.Bound; b != nil {
		return client.ObjectKey{Namespace: b.Namespace, Name: b.Name}
	}
	if r := c.Spec.HostRef; r != nil {
		ns := r.Namespace
		if ns == "" {
			ns = c.Namespace
		}
		return client.ObjectKey{Namespace: ns, Name: r.Name}
	}
	return client.ObjectKey{}
}

// holdsHost says whether the host's half of the binding is ours.
func (in inputs) holdsHost() bool {
	return in.host != nil && in.host.Spec.ClaimRef != nil && in.host.Spec.ClaimRef.UID == in.claim.UID
}

// bound says whether both halves of the binding name each other, by UID.
func (in inputs) bound() bool {
	return in.holdsHost() && in.claim.Spec.Bound != nil && in.claim.Spec.Bound.UID == in.host.UID
}

// ownSession is the session, if it's our entry's.
func (in inputs) ownSession() *v1alpha1.BootSession {
	if in.session == nil || in.entry == nil || in.session.Spec.EntryUID != string(in.entry.UID) {
		return nil
	}
	return in.session
}

// consumed says whether the grant that stands was used: by the entry's status, or by the session, which was read just now.
func (in inputs) consumed() bool {
	if in.entry.Status.AtProvider.Grant != nil && in.entry.Status.AtProvider.GrantConsumed {
		return true
	}
	s := in.ownSession()
	return s != nil && s.Spec.Grant != nil && s.Status.Consumed != nil && s.Status.Consumed.GrantID == s.Spec.Grant.ID
}

func (in inputs) serial() string {
	if in.host == nil {
		return ""
	}
	return in.host.Status.AtProvider.Identity.Serial
}

func (in inputs) power() v1alpha1.PowerState {
	if in.host == nil {
		return ""
	}
	return in.host.Status.AtProvider.Power
}

// seenOff says whether the BMC said Off after it was asked for Off.
func (in inputs) seenOff() bool {
	h := in.host
	s := h.GetCondition(xpv2.TypeSynced)
	return h.Spec.ForProvider.Power == v1alpha1.PoweredOff && h.Status.AtProvider.Power == v1alpha1.PoweredOff &&
		s.Status == corev1.ConditionTrue && s.ObservedGeneration >= h.Generation &&
		h.GetCondition(v1alpha1.ConditionReachable).Status == corev1.ConditionTrue
}

// off says whether the machine is off and nobody asks for it to be on.
func (in inputs) off() bool {
	return in.power() == v1alpha1.PoweredOff && in.host.Spec.ForProvider.Power != v1alpha1.PoweredOn
}

// liveServers counts the live boot servers that may honour the session: of the network that it was made for, and of the one that the
// machine boots on by now.
func (in inputs) liveServers() int {
	var networks []string
	if in.session != nil {
		networks = append(networks, in.session.Spec.Network)
	}
	if in.entry != nil && in.entry.Status.AtProvider.Plan != nil {
		p := in.entry.Status.AtProvider.Plan.Network
		networks = append(networks, p.Namespace+"/"+p.Name)
	}
	n := 0
	for _, s := range in.servers {
		if !s.Live(in.now) {
			continue
		}
		for _, x := range s.Status.Networks {
			if slices.Contains(networks, x.Namespace+"/"+x.Name) {
				n++
				break
			}
		}
	}
	return n
}
