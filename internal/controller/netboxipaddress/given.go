package netboxipaddress

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// fixed plans for the one address that the spec names. Who waits for one that another has, or that isn't to be had for another reason that
// lasts, looks for it the less often the more of them there are.
func (e *external) fixed(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	all, uid := e.connector.ungiven, mg.GetUID()
	was, ok := all.get(uid, e.settings)
	if ok && e.connector.Now().Sub(was.at) < e.connector.patience(all.count(e.of.UID)) {
		return was.err
	}
	var err error
	if e.plan, err = e.given(ctx, mg.Spec.ForProvider); err == nil && mg.Spec.ForProvider.Adopt == v1alpha1.AdoptIfUnowned {
		err = e.adoptUnowned(ctx, mg)
	}
	t := takenError{} // Whose record was deleted is known here, without a request.
	if known := errors.As(err, &t) && t.lost; known || !lasts(err) && !errors.As(err, new(adoptError)) && !errors.As(err, new(outsideError)) {
		all.forget(uid)
		return err
	}
	all.put(uid, failure{err: err, at: e.connector.Now(), settings: e.settings, of: e.of.UID})
	return err
}

// given plans for the one address that the spec names: in the table of the prefix that holds it, where nobody else has it.
func (e *external) given(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters) (plan, error) {
	a, err := netip.ParsePrefix(p.Address)
	if err != nil {
		return plan{}, malformedError{err.Error()}
	}
	out := plan{address: a, duplicates: p.Duplicates}
	if out.policy, err = e.allowed(a, deref(p.DNSName)); err != nil {
		return out, err
	}
	if out.vrf, err = e.tableOf(ctx, a.Addr(), vrfRef(p.VRF)); err != nil {
		return out, err
	}
	if p.Adopt == v1alpha1.AdoptIfUnowned {
		return out, nil // Who has it is looked at there.
	}
	if err = e.free(ctx, out, deref(p.Role)); err == nil {
		err = e.unlost(ctx, p, out.address, out.vrf)
	}
	return out, err
}

// tableOf is the table of the prefix that holds an address; nil is the global one. An address outside any prefix belongs to no
// network, and nobody would ever find it.
func (e *external) tableOf(ctx context.Context, a netip.Addr, ref netbox.VRFRef) (*netbox.VRF, error) {
	holder, err := e.netbox.FindAround(ctx, a, ref)
	if err == nil {
		return holder.VRF, nil
	}
	if !netbox.IsNotFound(err) {
		return nil, err
	}
	if !ref.Any() && !ref.Global {
		// That there's no such VRF says more. Whether there is one takes a right that a token may lack.
		if _, verr := e.netbox.FindVRF(ctx, ref); netbox.IsNotFound(verr) || netbox.IsAmbiguous(verr) || netbox.IsUnreachable(verr) {
			return nil, verr
		}
	}
	return nil, outsideError{address: a.String(), table: ref, cause: err}
}

// free says who else has the planned address, where that isn't wanted.
func (e *external) free(ctx context.Context, p plan, role string) error {
	others, err := e.others(ctx, p, role)
	if err != nil || len(others) == 0 {
		return err
	}
	return e.takenFrom(p, others[0])
}

// takenBy says who has the planned address, which NetBox refused.
func (e *external) takenBy(ctx context.Context, cause error) error {
	p := e.plan
	p.duplicates = v1alpha1.DuplicatesRefuse
	var t takenError
	if err := e.free(ctx, p, ""); errors.As(err, &t) {
		t.cause, t.shared = cause, e.plan.duplicates != "" && e.plan.duplicates != v1alpha1.DuplicatesRefuse
		return t
	}
	return takenError{address: e.plan.address.String(), cause: cause, inside: e.populatedAround(ctx, p)}
}

// populatedAround is the range marked as populated that holds the planned address, as sentences name it; "" where there is none, or the
// token sees none: NetBox takes no record in it, and says so as it says that an address is taken (423).
func (e *external) populatedAround(ctx context.Context, p plan) string {
	found, err := e.netbox.PopulatedAround(ctx, p.address.Addr(), p.vrf)
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0].String()
}

// placeWordsOf says where a record is assigned; nothing where there are policies, which may hide it.
func (e *external) placeWordsOf(ip netbox.IPAddress) string {
	if ip.Assigned == nil || !e.grant.all {
		return ""
	}
	return ip.Assigned.String()
}

// sharesRole says that NetBox takes several records of one address with such a role.
func sharesRole(role string) bool {
	return slices.Contains([]string{"anycast", "vip", "vrrp", "hsrp", "glbp", "carp"}, role)
}

// ownerWordsOf says whose a record is, without naming anything of another namespace.
func (e *external) ownerWordsOf(ip netbox.IPAddress) string {
	switch e.whose(ip) {
	case ownerOther, ownerRestored, ownerTwin:
		return "another resource of this cluster"
	case ownerCluster:
		return "another cluster"
	case ownerNobody, ownerUs, ownerReleased:
	}
	if t, marked := e.markedElsewhere(ip); marked {
		return e.traceWords(t)
	}
	return "somebody else"
}
