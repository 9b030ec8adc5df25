package netbox

import (
	"maps"

	api "github.com/netbox-community/go-netbox/v4"
)

// A Request is what a new address is to be, beside where it comes from.
type Request struct {
	// Marker is our identity on the record; it must not be empty.
	Marker string
	// Status and Role are NetBox's values; "" leaves NetBox's default.
	Status, Role         string
	DNSName, Description string
	// Tenant and Tags are slugs.
	Tenant string
	Tags   []string
	// CustomFields beside the marker, as JSON values.
	CustomFields map[string]any
}

// A Patch is what an existing address is to become. Nil and absent values stay as they are.
type Patch struct {
	Status, Role         *string
	DNSName, Description *string
	Tenant               *string
	// Tags replace all tags of the record, where not nil.
	Tags []string
	// CustomFields are merged by key; null clears one. The marker may be among them.
	CustomFields map[string]any
}

// Empty says whether there is nothing to write. NetBox writes, and tells its webhooks, even {}.
func (p Patch) Empty() bool {
	return p.Status == nil && p.Role == nil && p.DNSName == nil && p.Description == nil &&
		p.Tenant == nil && p.Tags == nil && len(p.CustomFields) == 0
}

// slug is how tags and tenants are named: go-netbox would send an empty name beside it, and lose.
func slug(s string) map[string]any { return map[string]any{"slug": s} }

func slugs(tags []string) []map[string]any {
	out := make([]map[string]any, 0, len(tags))
	for _, t := range tags {
		out = append(out, slug(t))
	}
	return out
}

// body is the POST's, made by go-netbox as far as that can express it. An address of "" stands for
// "the first free one": NetBox overwrites it and the VRF at available-ips, and a VRF number of 0 means
// the global table.
func (r Request) body(field, address string, vrf int64) (map[string]any, error) {
	q := api.NewIPAddressRequest(address)
	if r.Status != "" {
		q.Status = api.IPAddressStatusValue(r.Status).Ptr()
	}
	if r.Role != "" {
		q.Role = api.IPAddressRoleValue(r.Role).Ptr()
	}
	if r.DNSName != "" {
		q.SetDnsName(r.DNSName)
	}
	if r.Description != "" {
		q.SetDescription(r.Description)
	}
	fields := maps.Clone(r.CustomFields)
	if fields == nil {
		fields = map[string]any{}
	}
	fields[field] = r.Marker
	q.SetCustomFields(fields)
	m, err := q.ToMap()
	if err != nil {
		return nil, err
	}
	if address == "" {
		delete(m, "address")
	}
	if vrf != 0 {
		m["vrf"] = vrf
	}
	if r.Tenant != "" {
		m["tenant"] = slug(r.Tenant)
	}
	if len(r.Tags) > 0 {
		m["tags"] = slugs(r.Tags)
	}
	return m, nil
}

// body is the PATCH's.
func (p Patch) body() (map[string]any, error) {
	q := api.NewPatchedWritableIPAddressRequest()
	if p.Status != nil {
		q.SetStatus(api.PatchedWritableIPAddressRequestStatus(*p.Status))
	}
	if p.Role != nil {
		q.SetRole(api.PatchedWritableIPAddressRequestRole(*p.Role))
	}
	q.DnsName, q.Description = p.DNSName, p.Description
	if len(p.CustomFields) > 0 {
		q.SetCustomFields(p.CustomFields)
	}
	m, err := q.ToMap()
	if err != nil {
		return nil, err
	}
	if p.Tenant != nil {
		m["tenant"] = slug(*p.Tenant)
		if *p.Tenant == "" {
			m["tenant"] = nil
		}
	}
	if p.Tags != nil {
		m["tags"] = slugs(p.Tags)
	}
	return m, nil
}
