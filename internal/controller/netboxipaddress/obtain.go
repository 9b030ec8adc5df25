package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// retryAfter is when NetBox is asked again to write what it refused.
	retryAfter = 30 * time.Second
	// retryFull is when a full prefix is asked again, once it has shown a free address.
	retryFull = 5 * time.Second
	// retryUnkept is when NetBox is asked again to store what it didn't keep.
	retryUnkept = 10 * time.Minute
)

// A plan is how a record is to be made: a given address, or the first source that has one.
type plan struct {
	// address, where valid, is the one to create, in vrf.
	address netip.Prefix
	vrf     *netbox.VRF
	// again says that this resource had it before, and its record is gone: lost says more.
	again bool
	lost  lostError
	// adopt, where not nil, is the record to take over instead of making one.
	adopt   *netbox.IPAddress
	policy  v1alpha1.NetBoxPolicy
	sources []source
}

// A source is a prefix that may be asked, and the policy that allows it.
type source struct {
	prefix netbox.Prefix
	policy v1alpha1.NetBoxPolicy
}

// prepare makes the plan, by reading, and returns what would keep it from being carried out.
func (e *external) prepare(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	p := mg.Spec.ForProvider
	if why := malformed(p); why != "" {
		return malformedError{why}
	}
	if field := unsupported(p); field != "" {
		return unsupportedError{field}
	}
	var err error
	switch {
	case meta.GetExternalName(mg) != "":
		e.plan, err = e.gone(ctx, mg)
	case p.Address != "":
		e.plan, err = e.given(ctx, p)
		if err == nil && p.Adopt == v1alpha1.AdoptIfUnowned {
			err = e.adoptUnowned(ctx, mg)
		}
	default:
		e.plan.sources, err = e.sources(ctx, p)
	}
	if err != nil {
		return err
	}
	return e.refusedLately(ctx, mg)
}

// given plans for the one address that the spec names.
func (e *external) given(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters) (plan, error) {
	a, err := netip.ParsePrefix(p.Address)
	if err != nil {
		return plan{}, malformedError{err.Error()}
	}
	out := plan{address: a}
	if out.policy, err = e.allowed(a, p.DNSName); err != nil || p.VRF == nil {
		return out, err
	}
	vrf, err := e.netbox.FindVRF(ctx, vrfRef(p.VRF))
	out.vrf = &vrf
	return out, err
}

// sources finds all prefixes that may be asked. One that is missing or not allowed is no trouble as long as another is there.
func (e *external) sources(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters) ([]source, error) {
	var out []source
	var first error
	for _, f := range p.From {
		s, err := e.source(ctx, f.Prefix, p.DNSName)
		switch {
		case err == nil:
			out = append(out, s)
		case skips(err):
			first = earlier(first, err)
		default:
			return nil, err
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, first
}

// earlier returns the first of two errors that is one.
func earlier(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// skips says that a source can't serve, while another may.
func skips(err error) bool {
	var n notAllowedError
	return errors.As(err, &n) || netbox.IsNotFound(err) || netbox.IsAmbiguous(err) || netbox.IsInvalid(err)
}

// source finds one prefix. What isn't allowed isn't even looked for, where it is named by its CIDR.
func (e *external) source(ctx context.Context, s *v1alpha1.PrefixSource, dnsName string) (source, error) {
	if s.CIDR != "" {
		if n, err := netip.ParsePrefix(s.CIDR); err == nil {
			if _, err := e.allowed(n, dnsName); err != nil {
				return source{}, err
			}
		}
	}
	p, err := e.lookUp(ctx, s)
	if err != nil {
		return source{}, err
	}
	policy, err := e.allowed(p.Prefix, dnsName)
	return source{p, policy}, err
}

func (e *external) lookUp(ctx context.Context, s *v1alpha1.PrefixSource) (netbox.Prefix, error) {
	if s.ID != nil {
		return e.netbox.GetPrefix(ctx, *s.ID)
	}
	return e.netbox.FindPrefix(ctx, s.CIDR, vrfRef(s.VRF))
}

// allowed returns the policy that allows network and name.
func (e *external) allowed(network netip.Prefix, dnsName string) (v1alpha1.NetBoxPolicy, error) {
	policy, ok := e.grant.policy(network, dnsName)
	if !ok {
		return policy, e.notAllowed(network, dnsName)
	}
	return policy, nil
}

// notAllowed names the half that isn't: the network, or the DNS name.
func (e *external) notAllowed(network netip.Prefix, dnsName string) error {
	what := fmt.Sprintf("prefix or address %q", network)
	if _, ok := e.grant.policy(network, ""); ok {
		what = fmt.Sprintf("DNS name %q", dnsName)
	}
	return notAllowedError{what: what, namespace: e.us.namespace}
}

// knownSources are the prefixes of the sources, for status, where it doesn't say yet where an address is from. It's a nicety:
// what can't be read is left out.
func (e *external) knownSources(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) []netbox.Prefix {
	if prefixOf(nil, mg.Status.AtProvider.Prefix, *e.record) != nil {
		e.connector.origins.forget(mg.GetUID())
		return nil
	}
	if p, ok := e.connector.origins.get(mg.GetUID()); ok {
		return []netbox.Prefix{p}
	}
	var out []netbox.Prefix
	for _, f := range mg.Spec.ForProvider.From {
		if f.Prefix == nil || f.Prefix.Filter != nil {
			continue
		}
		if s, err := e.lookUp(ctx, f.Prefix); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// refusedLately returns why the last Create failed, as long as asking again is pointless: a full prefix is asked by reading, other
// refusals are left alone for a while. New settings are tried at once.
func (e *external) refusedLately(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	f, ok := e.connector.failures.get(mg.GetUID(), e.settings)
	if !ok {
		return nil
	}
	age := e.connector.Now().Sub(f.at)
	if !netbox.IsFull(f.err) {
		if age >= retryAfter {
			return nil
		}
		return f.err
	}
	for _, s := range e.plan.sources {
		free, err := e.netbox.HasFree(ctx, s.prefix)
		if err != nil {
			return err
		}
		if free && age >= retryFull {
			return nil
		}
	}
	return f.err
}

// remember why Create failed, unless only asking again can tell.
func (e *external) remember(mg *v1alpha1.NetBoxIPAddress, err error) {
	if netbox.IsUnknownOutcome(err) || netbox.IsUnreachable(err) {
		return
	}
	e.connector.failures.put(mg.GetUID(), failure{err: err, at: e.connector.Now(), settings: e.settings})
}

// obtain carries the plan out. A refusal or a lost answer is looked into by marker before it's believed: the record may be there
// all the same, from this try or an earlier one.
func (e *external) obtain(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (netbox.IPAddress, error) {
	if e.field == netbox.FieldMissing {
		if err := e.netbox.CreateMarkerField(ctx); err != nil {
			return netbox.IPAddress{}, err
		}
	}
	ip, err := e.post(ctx, mg)
	if err == nil || !mustLook(err) {
		return ip, err
	}
	found, lerr := e.netbox.FindByMarker(ctx, e.us.marker())
	switch {
	case lerr == nil:
		return found, nil
	case netbox.IsAmbiguous(lerr):
		return netbox.IPAddress{}, lerr
	case e.plan.again && taken(err):
		return netbox.IPAddress{}, e.plan.lost
	case taken(err) && e.plan.address.IsValid():
		return netbox.IPAddress{}, takenError{e.plan.address.String(), err}
	}
	return netbox.IPAddress{}, err
}

// mustLook says whether a failed POST may hide a record of ours.
func mustLook(err error) bool {
	return netbox.IsUnknownOutcome(err) || netbox.IsMarkerTaken(err) || netbox.IsFull(err) || taken(err)
}

// taken says that NetBox has a given address already.
func taken(err error) bool {
	var e *netbox.Error
	return errors.As(err, &e) && e.Kind == netbox.KindInvalid && slices.Contains(e.Fields, "address")
}

// post asks for the address: the planned one, or one of the first source that isn't full.
func (e *external) post(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (netbox.IPAddress, error) {
	p := mg.Spec.ForProvider
	if e.plan.adopt != nil {
		return e.adopt(ctx, mg)
	}
	if e.plan.address.IsValid() {
		return e.netbox.Create(ctx, e.plan.address, e.plan.vrf, e.request(p, e.plan.policy))
	}
	var ip netbox.IPAddress
	err := error(malformedError{"no source was found"})
	for _, s := range e.plan.sources {
		ip, err = e.netbox.Allocate(ctx, s.prefix, e.request(p, s.policy))
		if err == nil {
			e.connector.origins.put(mg.GetUID(), s.prefix)
		}
		if !netbox.IsFull(err) {
			return ip, err
		}
	}
	return ip, err
}

// fromWords lists where an address is asked for from.
func fromWords(p v1alpha1.NetBoxIPAddressParameters) string {
	var out []string
	for _, f := range p.From {
		switch {
		case f.Prefix != nil && f.Prefix.ID != nil:
			out = append(out, fmt.Sprintf("prefix number %d", *f.Prefix.ID))
		case f.Prefix != nil:
			out = append(out, fmt.Sprintf("prefix %q of %s", f.Prefix.CIDR, vrfRef(f.Prefix.VRF)))
		}
	}
	return strings.Join(out, " and ")
}
