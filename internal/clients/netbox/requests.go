package netbox

import "maps"

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

// slug is how tags and tenants are named. A name beside it would have to match too.
func slug(s string) map[string]any { return map[string]any{"slug": s} }

func slugs(tags []string) []map[string]any {
	out := make([]map[string]any, 0, len(tags))
	for _, t := range tags {
		out = append(out, slug(t))
	}
	return out
}

// body is the POST's. An address of "" stands for "the first free one", which available-ips puts in with its VRF, and a VRF number
// of 0 means the global table. What is empty isn't sent: NetBox's own default stands.
func (r Request) body(field, address string, vrf int64) map[string]any {
	fields := maps.Clone(r.CustomFields)
	if fields == nil {
		fields = map[string]any{}
	}
	fields[field] = r.Marker
	m := map[string]any{"custom_fields": fields}
	for key, value := range map[string]string{
		"address": address, "status": r.Status, "role": r.Role, "dns_name": r.DNSName, "description": r.Description,
	} {
		if value != "" {
			m[key] = value
		}
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
	return m
}

// body is the PATCH's. A tenant of "" takes it away.
func (p Patch) body() map[string]any {
	m := map[string]any{}
	for key, value := range map[string]*string{
		"status": p.Status, "role": p.Role, "dns_name": p.DNSName, "description": p.Description,
	} {
		if value != nil {
			m[key] = *value
		}
	}
	if len(p.CustomFields) > 0 {
		m["custom_fields"] = p.CustomFields
	}
	if p.Tenant != nil {
		m["tenant"] = nil
		if *p.Tenant != "" {
			m["tenant"] = slug(*p.Tenant)
		}
	}
	if p.Tags != nil {
		m["tags"] = slugs(p.Tags)
	}
	return m
}
