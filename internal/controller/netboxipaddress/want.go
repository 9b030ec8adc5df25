package netboxipaddress

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// unsupported names the first field that is set and isn't supported yet, or "". Admission refuses these too.
func unsupported(p v1alpha1.NetBoxIPAddressParameters) string {
	for _, s := range p.From {
		switch {
		case s.Range != nil:
			return "from[].range"
		case s.Prefix != nil && s.Prefix.Filter != nil:
			return "from[].prefix.filter"
		}
	}
	switch {
	case p.AssignTo != nil:
		return "assignTo"
	case keeps(p):
		return "release.policy " + p.Release.Policy
	}
	return ""
}

// keeps says whether the record must outlive the resource.
func keeps(p v1alpha1.NetBoxIPAddressParameters) bool {
	return p.Release != nil && p.Release.Policy != "" && p.Release.Policy != "Delete"
}

// malformed says what is wrong with the parameters in themselves, or "".
func malformed(p v1alpha1.NetBoxIPAddressParameters) string {
	switch {
	case (len(p.From) > 0) == (p.Address != ""):
		return "exactly one of from and address must be set"
	case p.Address != "" && !parses(p.Address):
		return "address must be an address with its mask, such as 10.77.0.40/24"
	}
	for _, s := range p.From {
		if s.Range == nil && (s.Prefix == nil || (s.Prefix.CIDR == "" && s.Prefix.ID == nil && s.Prefix.Filter == nil)) {
			return "each entry of from must name a prefix by cidr or id"
		}
	}
	return ""
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
		if (!network.IsValid() || within(network, p.Prefixes)) && inZones(dnsName, p.DNSZones) {
			return p, true
		}
	}
	return v1alpha1.NetBoxPolicy{}, g.all
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
		Marker: marker, Status: p.Status, Role: p.Role, DNSName: p.DNSName, Description: p.Description,
		Tenant: tenantOf(p, policy), Tags: p.Tags, CustomFields: valuesOf(p.CustomFields),
	}
}

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

// diff says what must be written for the record to be what is wanted. What the spec doesn't say stays as people have it: other
// tags, other custom fields, a description where none is wanted.
func diff(p v1alpha1.NetBoxIPAddressParameters, policy v1alpha1.NetBoxPolicy, field, marker string, got netbox.IPAddress) netbox.Patch {
	want := requestOf(p, policy, marker)
	patch := netbox.Patch{
		Status: change(want.Status, got.Status), Role: change(want.Role, got.Role),
		Description: change(want.Description, got.Description), Tenant: change(want.Tenant, got.Tenant),
		Tags: missingTags(want.Tags, got.Tags),
	}
	if canonical(want.DNSName) != canonical(got.DNSName) {
		patch.DNSName = change(want.DNSName, got.DNSName)
	}
	fields := want.CustomFields
	delete(fields, field)
	for name, v := range fields {
		if same(v, got.CustomFields[name]) {
			delete(fields, name)
		}
	}
	if got.Marker(field) != marker {
		fields[field] = marker
	}
	patch.CustomFields = fields
	return patch
}

// change is what to write where something else is wanted; nothing is wanted by "". NetBox trims what it stores.
func change(want, got string) *string {
	if strings.TrimSpace(want) == "" || strings.TrimSpace(want) == got {
		return nil
	}
	return &want
}

// same says whether a custom field has a value that is wanted, in whichever of its forms it is written and read: else it would be
// written again at each look.
func same(want, got any) bool {
	switch w := want.(type) {
	case string:
		g, ok := plain(got).(string)
		return ok && strings.TrimSpace(w) == strings.TrimSpace(g)
	case []any:
		g, ok := got.([]any)
		return ok && len(w) == len(g) && !slices.ContainsFunc(w, func(v any) bool {
			return !slices.ContainsFunc(g, func(x any) bool { return same(v, x) })
		})
	case map[string]any:
		if id, ok := w["id"]; ok && len(w) == 1 {
			return reflect.DeepEqual(id, plain(got)) || reflect.DeepEqual(want, got)
		}
	}
	return reflect.DeepEqual(want, got) || reflect.DeepEqual(want, plain(got))
}

// missingTags is nil where all wanted tags are there, else all that are to be: NetBox replaces tags as a whole.
func missingTags(want, got []string) []string {
	all := slices.Clone(got)
	for _, t := range want {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	if len(all) == len(got) {
		return nil
	}
	return all
}

// plain is a custom field's value as it is written: selections read as {value, label} on 4.7, objects as nested ones.
func plain(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if value, ok := m["value"]; ok && m["label"] != nil {
		return value
	}
	if id, ok := m["id"]; ok && m["url"] != nil {
		return id
	}
	return v
}

// wordCustomFields is spec's word for what NetBox calls custom_fields.
const wordCustomFields = "customFields"

// words lists what a patch would change, for the log. Values may be anybody's business and aren't in it.
func words(p netbox.Patch) string {
	var out []string
	for name, changed := range map[string]bool{
		"status": p.Status != nil, "role": p.Role != nil, "dnsName": p.DNSName != nil, "description": p.Description != nil,
		"tenant": p.Tenant != nil, "tags": p.Tags != nil, wordCustomFields: len(p.CustomFields) > 0,
	} {
		if changed {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
