package netboxipaddress

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// malformed says what is wrong with the parameters in themselves, or "".
func malformed(p v1alpha1.NetBoxIPAddressParameters) string {
	switch {
	case (len(p.From) > 0) == (p.Address != ""):
		return "exactly one of from and address must be set"
	case p.Address != "" && !parses(p.Address):
		return "address must be an address with its mask, such as 10.77.0.40/24"
	case strings.HasSuffix(p.Address, "/0"):
		return "address needs the mask of its network: NetBox takes none with /0"
	case p.Family != "" && parses(p.Address) && netip.MustParsePrefix(p.Address).Addr().Is4() != (p.Family == v1alpha1.IPv4):
		return "family is another one than that of address"
	case malformedTable(p.VRF) != "":
		return malformedTable(p.VRF)
	}
	return malformedSources(p)
}

func parses(s string) bool {
	_, err := netip.ParsePrefix(s)
	return err == nil
}

// A grant is what the policies of a provider config leave to one namespace.
type grant struct {
	// all: there are no policies, everything goes.
	all      bool
	policies []v1alpha1.NetBoxPolicy
}

// grantOf picks the policies for a namespace. Where there are any, a namespace that none names may ask for nothing.
func grantOf(policies []v1alpha1.NetBoxPolicy, namespace string) grant {
	g := grant{all: len(policies) == 0}
	for _, p := range policies {
		if slices.Contains(p.Namespaces, namespace) {
			g.policies = append(g.policies, p)
		}
	}
	return g
}

// policy returns the first policy that allows addresses of network (an address or a prefix) with this DNS name; ok says whether
// there is one, or need be none. A network that isn't valid is one that isn't known yet: only the name is looked at.
func (g grant) policy(network netip.Prefix, dnsName string) (v1alpha1.NetBoxPolicy, bool) {
	for _, p := range g.policies {
		if allows(p, network, dnsName) {
			return p, true
		}
	}
	return v1alpha1.NetBoxPolicy{}, g.all
}

// allows says whether a policy allows a network, where it's known, and a DNS name.
func allows(p v1alpha1.NetBoxPolicy, network netip.Prefix, dnsName string) bool {
	return (!network.IsValid() || within(network, p.Prefixes)) && inZones(dnsName, p.DNSZones)
}

// within says whether all of network lies in one of cidrs; none of them is no restriction. One that doesn't parse holds nothing.
func within(network netip.Prefix, cidrs []string) bool {
	return len(cidrs) == 0 || slices.ContainsFunc(cidrs, func(c string) bool {
		p, err := netip.ParsePrefix(c)
		return err == nil && p.Bits() <= network.Bits() && p.Contains(network.Addr())
	})
}

// inZones says whether a DNS name is one of zones or below one; none of them is no restriction, and no name is in all.
func inZones(name string, zones []string) bool {
	name = canonical(name)
	return name == "" || len(zones) == 0 || slices.ContainsFunc(zones, func(z string) bool {
		z = strings.TrimPrefix(canonical(z), ".")
		return name == z || strings.HasSuffix(name, "."+z)
	})
}

// canonical is how NetBox keeps a name (it lowers it), and without the last dot.
func canonical(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// tenantOf is the tenant that an address gets: the policy's, whatever is asked for, else the one asked for.
func tenantOf(p v1alpha1.NetBoxIPAddressParameters, policy v1alpha1.NetBoxPolicy) string {
	switch {
	case policy.Tenant != "":
		return policy.Tenant
	case p.Tenant != nil:
		return p.Tenant.Slug
	}
	return ""
}

// requestOf says what a new record is to be.
func requestOf(p v1alpha1.NetBoxIPAddressParameters, policy v1alpha1.NetBoxPolicy, marker string) netbox.Request {
	return netbox.Request{
		Marker: marker, Status: p.Status, Role: deref(p.Role), DNSName: deref(p.DNSName), Description: deref(p.Description), Comments: deref(p.Comments),
		Tenant: tenantOf(p, policy), Tags: p.Tags, PrefixLength: int(p.PrefixLength), CustomFields: valuesOf(p.CustomFields),
	}
}

// deref is what a field says, and "" where it's absent.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// reserved says, by an error, that custom fields name one of those that say whose a record is, or say so in another one: whoever could write these
// could have another's record taken for released, or keep another's from being made. Which other fields say so isn't known: each provider config names
// its own, so does each cluster, and a namespace's ProviderConfig may name any. So it's what is written that tells.
func (e *external) reserved(p v1alpha1.NetBoxIPAddressParameters) error {
	for _, name := range []string{e.inputs.field, e.inputs.note} {
		if _, named := p.CustomFields[name]; named {
			return malformedError{fmt.Sprintf("customFields names %q, which the provider alone writes: take it out", name)}
		}
	}
	if why := malformedFields(p.CustomFields); why != "" {
		return malformedError{why}
	}
	values := valuesOf(p.CustomFields)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := traceIn(values[name], e.us.cluster); ok {
			return malformedError{fmt.Sprintf("customFields gives %q a value that reads as a marker of the provider, or as its note of a release, which say whose a record is: write something else there", name)}
		}
	}
	return nil
}

// malformedFields says what is wrong with custom fields in themselves, or "".
func malformedFields(fields map[string]apiextv1.JSON) string {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || name == "" || strings.Contains(name, "__") {
			return fmt.Sprintf("customFields names %q, as which NetBox has no custom field: a name has letters, digits and underscores, no two of these in a row", name)
		}
		if n := inexact(fields[name].Raw); n != "" {
			return fmt.Sprintf("customFields gives %q the number %s, which JSON doesn't carry exactly: a whole number is at most 9007199254740992 (2^53); write it as a text", name, n)
		}
	}
	return ""
}

// inexact is the first whole number in a JSON value that would be rounded when it's read, "" for none.
func inexact(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return "" // Its end; that it's JSON the API server has seen to.
		}
		n, ok := t.(json.Number)
		if !ok || strings.ContainsAny(string(n), ".eE") {
			continue
		}
		if i, err := n.Int64(); err != nil || i > mostExact || i < -mostExact {
			return string(n)
		}
	}
}

// mostExact is the largest whole number below which a float64 holds each.
const mostExact = 1 << 53

// valuesOf decodes custom fields; the API server has seen to it that they are JSON.
func valuesOf(fields map[string]apiextv1.JSON) map[string]any {
	out := make(map[string]any, len(fields))
	for name, raw := range fields {
		var v any
		if json.Unmarshal(raw.Raw, &v) == nil {
			out[name] = v
		}
	}
	return out
}
