package netboxipaddress

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

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
		return single(e.netbox.GetPrefix(ctx, *p.ID))
	default:
		return single(e.netbox.FindPrefix(ctx, p.CIDR, vrfRef(p.VRF)))
	}
}

func (e *external) resolveRange(ctx context.Context, r v1alpha1.RangeSource) ([]netbox.Parent, error) {
	switch {
	case r.Filter != nil:
		return e.netbox.FindRanges(ctx, rangeFilter(*r.Filter))
	case r.ID != nil:
		return single(e.netbox.GetRange(ctx, *r.ID))
	}
	return single(e.netbox.FindRange(ctx, r.Start, vrfRef(r.VRF)))
}

func single(p netbox.Parent, err error) ([]netbox.Parent, error) { return []netbox.Parent{p}, err }

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

// filterOf is the filter of a source that has one.
func filterOf(s v1alpha1.AddressSource) netbox.Filter {
	if s.Prefix != nil {
		return prefixFilter(*s.Prefix.Filter)
	}
	return rangeFilter(*s.Range.Filter)
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

// tableSaid is what a source says of its table, nil where it says nothing.
func tableSaid(s v1alpha1.AddressSource) *v1alpha1.VRFSelector {
	switch p, r := s.Prefix, s.Range; {
	case p != nil && p.Filter != nil:
		return p.Filter.VRF
	case p != nil:
		return p.VRF
	case r != nil && r.Filter != nil:
		return r.Filter.VRF
	case r != nil:
		return r.VRF
	}
	return nil
}

// malformedTable says what is wrong with a selector that names no table, or "": it would mean any.
func malformedTable(s *v1alpha1.VRFSelector) string {
	if s != nil && vrfRef(s).Any() {
		return "a vrf must be named by table, name, rd or id, none of which may be empty"
	}
	return ""
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
		if why := malformedTable(tableSaid(s)); why != "" {
			return why
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
