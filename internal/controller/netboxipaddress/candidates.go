package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A candidate is a prefix or range that a source names, and what keeps it from serving, if anything does.
type candidate struct {
	// words name it for a person: as the spec does where nothing was found, or nothing may be told of it.
	words string
	// parent is what was found, and policy the one that allows it.
	parent netbox.Parent
	policy v1alpha1.NetBoxPolicy
	// err is why it can't serve; nil where it may. refused says that it's what NetBox had against giving an address of it.
	err     error
	refused bool
}

// candidates finds the first that may be asked for an address. One that can't serve is no trouble as long as another can; where none
// can, it's the trouble of the foremost.
func (e *external) candidates(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) error {
	e.plan.rest = mg.Spec.ForProvider.From
	i, err := e.usable(ctx, mg, 0)
	switch {
	case err != nil || i >= 0:
		return err
	case len(e.plan.candidates) == 0:
		return malformedError{"no source was found: name another one in from"}
	}
	return e.plan.foremost()
}

// usable is the index of the first candidate, from one on, that may serve; -1 for none. Sources are looked for only as far as that takes:
// whatever is wrong with one that is behind is no matter as long as those before it serve.
func (e *external) usable(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, from int) (int, error) {
	for i := from; ; i++ {
		for i >= len(e.plan.candidates) {
			if len(e.plan.rest) == 0 {
				return -1, nil
			}
			if err := e.look(ctx, mg, e.plan.rest[0]); err != nil {
				return -1, err
			}
			e.plan.rest = e.plan.rest[1:]
		}
		c := &e.plan.candidates[i]
		if c.err == nil && e.seated != nil {
			c.err = e.seated(c.parent.Prefix.Addr())
		}
		e.spurnedLately(mg, c)
		if c.err == nil {
			return i, nil
		}
	}
}

// look adds the candidates of a source to the plan. It fails where only asking again can tell what they are: the next source
// isn't taken just because NetBox doesn't answer for a moment.
func (e *external) look(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, s v1alpha1.AddressSource) error {
	found, err := e.resolve(ctx, s, deref(mg.Spec.ForProvider.DNSName))
	switch {
	case err == nil:
		e.plan.candidates = append(e.plan.candidates, e.judge(mg.Spec.ForProvider, s, found)...)
	case skips(err):
		e.plan.candidates = append(e.plan.candidates, candidate{words: sourceWords(s), err: err})
	default:
		return err
	}
	return nil
}

// skips says that a source can't serve, while another may.
func skips(err error) bool {
	kinds := []netbox.Kind{netbox.KindNotFound, netbox.KindAmbiguous, netbox.KindInvalid, netbox.KindForbidden, netbox.KindUnexpected}
	return slices.Contains(kinds, netbox.KindOf(err)) || errors.As(err, new(notAllowedError))
}

// judge says of each that was found whether it may serve. What the policies don't leave to the namespace isn't told anything of, however
// it was named: its owner may not even know that it's there.
func (e *external) judge(p v1alpha1.NetBoxIPAddressParameters, s v1alpha1.AddressSource, found []netbox.Parent) []candidate {
	var out []candidate
	var hidden []netbox.Parent
	for _, parent := range found {
		c := candidate{words: parent.String(), parent: parent}
		if c.policy, c.err = e.allowedAll(parent, deref(p.DNSName)); c.err != nil {
			hidden = append(hidden, parent)
			continue
		}
		for _, judge := range []func() error{
			func() error { return inTable(s, parent) },
			func() error { return unfit(s, parent) },
			func() error { return ofFamily(parent, p.Family) },
			func() error { return fits(parent, p.PrefixLength) },
			func() error { return e.assignable(parent) },
		} {
			if c.err = judge(); c.err != nil {
				break
			}
		}
		out = append(out, c)
	}
	out = oneTable(s, out)
	if len(hidden) > 0 {
		out = append(out, candidate{words: sourceWords(s), err: e.hides(s, hidden, len(found), deref(p.DNSName))})
	}
	return out
}

// hides says that the policies don't leave what a source names to the namespace, and nothing that the spec doesn't say itself.
func (e *external) hides(s v1alpha1.AddressSource, hidden []netbox.Parent, of int, dnsName string) error {
	out := notAllowedError{what: sourceWords(s), namespace: e.us.namespace}
	_, err := e.allowedAll(hidden[0], "")
	switch {
	case err == nil && !filters(s):
		out.what = fmt.Sprintf("DNS name %q", dnsName)
	case filters(s) && len(hidden) == of:
		out.what = "all that " + out.what + " finds"
	case filters(s):
		out.what = fmt.Sprintf("%d of what %s finds", len(hidden), out.what)
	}
	return out
}

// inTable refuses what is named by its number and lies in another table than the one that is said with it.
func inTable(s v1alpha1.AddressSource, p netbox.Parent) error {
	if ref := vrfRef(tableSaid(s)); !ref.Matches(p.VRF) {
		return malformedError{fmt.Sprintf("%s number %d is %s, not of %s: correct either, or leave the vrf out", p.Kind, p.ID, p, ref)}
	}
	return nil
}

// oneTable refuses what a filter finds in several tables: which one is meant is never by accident.
func oneTable(s v1alpha1.AddressSource, all []candidate) []candidate {
	var able []netbox.Parent
	for _, c := range all {
		if c.err == nil {
			able = append(able, c.parent)
		}
	}
	if !filters(s) || len(able) == 0 {
		return all
	}
	several := filterOf(s).Several(able)
	if several == nil {
		return all
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.err == nil })
	return slices.Insert(all, 0, candidate{words: sourceWords(s), err: several})
}

// unfit says why what a filter found isn't used, though NetBox would allocate from it: it looks at neither status nor marks.
func unfit(s v1alpha1.AddressSource, p netbox.Parent) error {
	switch {
	case !filters(s):
	case slices.Contains([]string{"container", "reserved", "deprecated"}, p.Status):
		return unfitError{fmt.Sprintf("%s has status %s, which a filter skips; name it by itself to use it all the same", p, p.Status)}
	case p.Utilized:
		return unfitError{fmt.Sprintf("%s is marked as utilized, which a filter skips; name it by itself to use it all the same", p)}
	case p.Populated:
		return unfitError{fmt.Sprintf("%s is marked as populated and has no address to give: name another source, or have the mark taken off in NetBox", p)}
	}
	return nil
}

// ofFamily refuses a parent of another family than the one that is asked for, if any is.
func ofFamily(p netbox.Parent, family v1alpha1.IPFamily) error {
	if want := familyOf(family); want == 0 || p.Prefix.Addr().Is4() == (want == 4) {
		return nil
	}
	return malformedError{fmt.Sprintf("family is %s, of which %s has no address: name a source of that family", family, p)}
}

// fits says why addresses of a mask can't be from a parent.
func fits(p netbox.Parent, length int32) error {
	switch bits := p.Prefix.Addr().BitLen(); {
	case length == 0 && p.Prefix.Bits() == 0:
		return malformedError{fmt.Sprintf("%s gives its addresses the mask /0, which NetBox takes on none: name a prefix inside it", p)}
	case length == 0:
		return nil
	case int(length) > bits:
		return malformedError{fmt.Sprintf("prefixLength %d is longer than an address of %s has, which is %d: ask for that at most", length, p, bits)}
	case int(length) < p.Prefix.Bits():
		return malformedError{fmt.Sprintf("prefixLength %d is shorter than that of %s: ask for %d at least, or leave it out", length, p, p.Prefix.Bits())}
	}
	return nil
}

// assignable says, by an error, that the policies that allow a parent don't leave the assignment to the namespace: no address of it is
// taken in vain.
func (e *external) assignable(p netbox.Parent) error {
	if e.wished == nil {
		return nil
	}
	return e.mayAssign(e.wished, ends(p)...)
}

// allowed returns the policy that allows network and name.
func (e *external) allowed(network netip.Prefix, dnsName string) (v1alpha1.NetBoxPolicy, error) {
	policy, ok := e.grant.policy(network, dnsName)
	if !ok {
		return policy, e.notAllowed(network, dnsName)
	}
	return policy, nil
}

// allowedAll returns the policy that allows all addresses of a parent.
func (e *external) allowedAll(p netbox.Parent, dnsName string) (v1alpha1.NetBoxPolicy, error) {
	for _, policy := range e.grant.policies {
		if allowsAll(policy, p, dnsName) {
			return policy, nil
		}
	}
	if e.grant.all {
		return v1alpha1.NetBoxPolicy{}, nil
	}
	return v1alpha1.NetBoxPolicy{}, e.notAllowed(p.Prefix, dnsName)
}

// allowsAll says whether a policy allows all addresses of a parent. Both ends of a range must be in one of its prefixes: what lies
// between them then is, too.
func allowsAll(policy v1alpha1.NetBoxPolicy, p netbox.Parent, dnsName string) bool {
	return holds(policy.Prefixes, ends(p)) && inZones(dnsName, policy.DNSZones)
}

// notAllowed names what isn't: the network, its mask alone, or the DNS name.
func (e *external) notAllowed(network netip.Prefix, dnsName string) error {
	what := fmt.Sprintf("prefix or address %q", network)
	if _, ok := e.grant.policy(network, ""); ok {
		what = fmt.Sprintf("DNS name %q", dnsName)
	} else if _, ok := e.grant.policy(netip.PrefixFrom(network.Addr(), network.Addr().BitLen()), ""); ok {
		what += " (its mask counts, too, and is wider than their prefix)"
	}
	return notAllowedError{what: what, namespace: e.us.namespace}
}

// network is where an address will be asked for first: each candidate that may serve was judged by itself.
func (p plan) network() netip.Prefix {
	i := slices.IndexFunc(p.candidates, func(c candidate) bool { return c.err == nil })
	if i < 0 {
		return netip.Prefix{}
	}
	c := p.candidates[i]
	if c.parent.Kind == netbox.ParentRange {
		return netip.PrefixFrom(c.parent.First, c.parent.Prefix.Bits())
	}
	return c.parent.Prefix
}
