package netboxipaddress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A candidate is a prefix or range that a source names, and what keeps it from serving, if anything does.
type candidate struct {
	// words name it for a person: as the spec does where nothing was found.
	words string
	// parent is what was found, and policy the one that allows it.
	parent netbox.Parent
	policy v1alpha1.NetBoxPolicy
	// err is why it can't serve; nil where it may.
	err error
}

// candidates finds all that may be asked for an address, in their order. One that can't serve is no trouble as long as another can;
// where none can, the trouble of the first is.
func (e *external) candidates(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters) ([]candidate, error) {
	var out []candidate
	for _, f := range p.From {
		found, err := e.resolve(ctx, f, p.DNSName)
		switch {
		case err == nil:
			out = append(out, e.judge(f, found, p)...)
		case skips(err):
			out = append(out, candidate{words: sourceWords(f), err: err})
		default:
			return nil, err
		}
	}
	for _, c := range out {
		if c.err == nil {
			return out, nil
		}
	}
	if len(out) == 0 {
		return nil, malformedError{"no source was found"}
	}
	return out, out[0].err
}

// skips says that a source can't serve, while another may.
func skips(err error) bool {
	var n notAllowedError
	var m malformedError
	var u unfitError
	return errors.As(err, &n) || errors.As(err, &m) || errors.As(err, &u) || netbox.IsNotFound(err) || netbox.IsAmbiguous(err) || netbox.IsInvalid(err)
}

// resolve finds what a source names. What isn't allowed isn't even looked for, where it is named by its addresses.
func (e *external) resolve(ctx context.Context, s v1alpha1.AddressSource, dnsName string) ([]netbox.Parent, error) {
	for _, text := range []string{cidrOf(s), startOf(s)} {
		if n, err := netip.ParsePrefix(text); err == nil {
			if _, err := e.allowed(n, dnsName); err != nil {
				return nil, err
			}
		}
	}
	if s.Range != nil {
		return e.resolveRange(ctx, *s.Range)
	}
	switch p := s.Prefix; {
	case p.Filter != nil:
		return e.netbox.FindPrefixes(ctx, prefixFilter(*p.Filter))
	case p.ID != nil:
		return inTable(p.VRF)(e.netbox.GetPrefix(ctx, *p.ID))
	default:
		return single(e.netbox.FindPrefix(ctx, p.CIDR, vrfRef(p.VRF)))
	}
}

func (e *external) resolveRange(ctx context.Context, r v1alpha1.RangeSource) ([]netbox.Parent, error) {
	switch {
	case r.Filter != nil:
		return e.netbox.FindRanges(ctx, rangeFilter(*r.Filter))
	case r.ID != nil:
		return inTable(r.VRF)(e.netbox.GetRange(ctx, *r.ID))
	}
	return single(e.netbox.FindRange(ctx, r.Start, vrfRef(r.VRF)))
}

func single(p netbox.Parent, err error) ([]netbox.Parent, error) { return []netbox.Parent{p}, err }

// inTable refuses what is named by its number and lies in another table than the one that is said with it.
func inTable(s *v1alpha1.VRFSelector) func(netbox.Parent, error) ([]netbox.Parent, error) {
	return func(p netbox.Parent, err error) ([]netbox.Parent, error) {
		if err == nil && !vrfRef(s).Matches(p.VRF) {
			err = malformedError{fmt.Sprintf("%s number %d is %s, not of %s", p.Kind, p.ID, p, vrfRef(s))}
		}
		return []netbox.Parent{p}, err
	}
}

// judge says of each that was found whether it may serve. What a filter finds and a policy doesn't leave to the namespace isn't named:
// its owner may not even know that it's there.
func (e *external) judge(s v1alpha1.AddressSource, found []netbox.Parent, p v1alpha1.NetBoxIPAddressParameters) []candidate {
	var out []candidate
	hidden := 0
	filtered := filters(s)
	for _, parent := range found {
		c := candidate{words: parent.String(), parent: parent}
		c.policy, c.err = e.allowedAll(parent, p.DNSName)
		if c.err != nil && filtered {
			hidden++
			continue
		}
		if c.err == nil && filtered {
			c.err = unfit(parent)
		}
		if c.err == nil {
			c.err = fits(parent, p.PrefixLength)
		}
		if c.err == nil && e.wished != nil {
			c.err = e.mayAssign(e.wished, ends(parent)...)
		}
		out = append(out, c)
	}
	if hidden > 0 {
		what := fmt.Sprintf("%d of what %s finds", hidden, sourceWords(s))
		if hidden == len(found) {
			what = "all that " + sourceWords(s) + " finds"
		}
		out = append(out, candidate{words: sourceWords(s), err: notAllowedError{what: what, namespace: e.us.namespace}})
	}
	return out
}

// unfit says why what a filter found isn't used, though NetBox would allocate from it: it looks at neither status nor marks.
func unfit(p netbox.Parent) error {
	switch {
	case slices.Contains([]string{"container", "reserved", "deprecated"}, p.Status):
		return unfitError{fmt.Sprintf("%s has status %s, which a filter skips; name it by itself to use it all the same", p, p.Status)}
	case p.Utilized:
		return unfitError{fmt.Sprintf("%s is marked as utilized, which a filter skips; name it by itself to use it all the same", p)}
	case p.Populated:
		return unfitError{fmt.Sprintf("%s is marked as populated: it has no address to give", p)}
	}
	return nil
}

// fits says why addresses of a mask can't be from a parent.
func fits(p netbox.Parent, length int32) error {
	switch bits := p.Prefix.Addr().BitLen(); {
	case length == 0:
		return nil
	case int(length) > bits:
		return malformedError{fmt.Sprintf("prefixLength %d is longer than an address of %s has, which is %d", length, p, bits)}
	case int(length) < p.Prefix.Bits():
		return malformedError{fmt.Sprintf("prefixLength %d is shorter than that of %s", length, p)}
	}
	return nil
}

// allowed returns the policy that allows network and name.
func (e *external) allowed(network netip.Prefix, dnsName string) (v1alpha1.NetBoxPolicy, error) {
	policy, ok := e.grant.policy(network, dnsName)
	if !ok {
		return policy, e.notAllowed(network, dnsName)
	}
	return policy, nil
}

// allowedAll returns the policy that allows all addresses of a parent. Both ends of a range must be in one of a policy's prefixes: what
// lies between them then is, too.
func (e *external) allowedAll(p netbox.Parent, dnsName string) (v1alpha1.NetBoxPolicy, error) {
	if p.Kind == netbox.ParentPrefix {
		return e.allowed(p.Prefix, dnsName)
	}
	first, last := netip.PrefixFrom(p.First, p.Prefix.Bits()), netip.PrefixFrom(p.Last, p.Prefix.Bits())
	for _, policy := range e.grant.policies {
		one := slices.ContainsFunc(policy.Prefixes, func(c string) bool { return within(first, []string{c}) && within(last, []string{c}) })
		if (one || len(policy.Prefixes) == 0) && inZones(dnsName, policy.DNSZones) {
			return policy, nil
		}
	}
	if e.grant.all {
		return v1alpha1.NetBoxPolicy{}, nil
	}
	if _, err := e.allowed(first, dnsName); err != nil {
		return v1alpha1.NetBoxPolicy{}, err
	}
	return v1alpha1.NetBoxPolicy{}, e.notAllowed(last, dnsName)
}

// notAllowed names the half that isn't: the network, or the DNS name.
func (e *external) notAllowed(network netip.Prefix, dnsName string) error {
	what := fmt.Sprintf("prefix or address %q", network)
	if _, ok := e.grant.policy(network, ""); ok {
		what = fmt.Sprintf("DNS name %q", dnsName)
	}
	return notAllowedError{what: what, namespace: e.us.namespace}
}

func filters(s v1alpha1.AddressSource) bool {
	return (s.Prefix != nil && s.Prefix.Filter != nil) || (s.Range != nil && s.Range.Filter != nil)
}

func cidrOf(s v1alpha1.AddressSource) string {
	if s.Prefix == nil {
		return ""
	}
	return s.Prefix.CIDR
}

func startOf(s v1alpha1.AddressSource) string {
	if s.Range == nil {
		return ""
	}
	return s.Range.Start
}

// prefixFilter is a filter as the client takes it.
func prefixFilter(f v1alpha1.PrefixFilter) netbox.Filter {
	return netbox.Filter{
		Site: f.Site, Role: f.Role, Tenant: f.Tenant, Tags: f.Tags, Family: familyOf(f.Family), VRF: vrfRef(f.VRF), Fields: f.CustomFields,
	}
}

func rangeFilter(f v1alpha1.RangeFilter) netbox.Filter {
	return netbox.Filter{Role: f.Role, Tenant: f.Tenant, Tags: f.Tags, Family: familyOf(f.Family), VRF: vrfRef(f.VRF), Fields: f.CustomFields}
}

func familyOf(f v1alpha1.IPFamily) int {
	return map[v1alpha1.IPFamily]int{v1alpha1.IPv4: 4, v1alpha1.IPv6: 6}[f]
}

// sourceWords names a source for a person, as the spec does.
func sourceWords(s v1alpha1.AddressSource) string {
	switch p, r := s.Prefix, s.Range; {
	case p != nil && p.ID != nil:
		return fmt.Sprintf("prefix number %d", *p.ID)
	case p != nil && p.Filter != nil:
		return fmt.Sprintf("a prefix with %q", prefixFilter(*p.Filter))
	case p != nil:
		return fmt.Sprintf("prefix %q of %s", p.CIDR, vrfRef(p.VRF))
	case r != nil && r.ID != nil:
		return fmt.Sprintf("range number %d", *r.ID)
	case r != nil && r.Filter != nil:
		return fmt.Sprintf("a range with %q", rangeFilter(*r.Filter))
	case r != nil:
		return fmt.Sprintf("the range of %s that starts at %q", vrfRef(r.VRF), r.Start)
	}
	return "a source that names nothing"
}

// fromWords lists where an address is asked for from.
func fromWords(p v1alpha1.NetBoxIPAddressParameters) string {
	var out []string
	for _, f := range p.From {
		out = append(out, sourceWords(f))
	}
	return strings.Join(out, " and ")
}

// malformedSources says what is wrong with sources in themselves, or "".
func malformedSources(p v1alpha1.NetBoxIPAddressParameters) string {
	for _, s := range p.From {
		switch f, r := s.Prefix, s.Range; {
		case (f == nil) == (r == nil):
			return "each entry of from must name a prefix or a range"
		case f != nil && f.CIDR == "" && f.ID == nil && f.Filter == nil:
			return "each prefix of from must be named by cidr, id or filter"
		case r != nil && r.Start == "" && r.ID == nil && r.Filter == nil:
			return "each range of from must be named by id, start or filter"
		}
	}
	return ""
}

// maskOf is what to write for a record to have the mask that is wanted: NetBoxes before 4.5.1 give an address its parent's. Another
// address than before is never written.
func maskOf(p v1alpha1.NetBoxIPAddressParameters, got netip.Prefix) *string {
	bits := int(p.PrefixLength)
	if p.Address != "" {
		given, err := netip.ParsePrefix(p.Address)
		if err != nil || given.Addr() != got.Addr() {
			return nil
		}
		bits = given.Bits()
	}
	if bits == 0 || bits == got.Bits() || bits > got.Addr().BitLen() {
		return nil
	}
	return new(netip.PrefixFrom(got.Addr(), bits).String())
}

// network is where an address is to come from, where that is one prefix or range alone.
func (p plan) network() netip.Prefix {
	var out netip.Prefix
	for _, c := range p.candidates {
		switch {
		case c.err != nil:
			continue
		case out.IsValid():
			return netip.Prefix{}
		}
		out = c.parent.Prefix
		if c.parent.Kind == netbox.ParentRange {
			out = netip.PrefixFrom(c.parent.First, out.Bits())
		}
	}
	return out
}
