package netbox

import (
	"context"
	"maps"
	"net/http"
	"time"
)

// A Request is what a new address is to be, beside where it comes from.
type Request struct {
	// Marker is our identity on the record; it must not be empty.
	Marker string
	// Status and Role are NetBox's values; "" leaves NetBox's default.
	Status, Role         string
	DNSName, Description string
	Comments             string
	// Tenant and Tags are slugs.
	Tenant string
	Tags   []string
	// PrefixLength is the mask of an address that is allocated; 0 is its parent's.
	PrefixLength int
	// CustomFields beside the marker, as JSON values.
	CustomFields map[string]any
	// Assigned is the interface that it's for; nil leaves it unassigned.
	Assigned *Place
	// NotAfter is when it's too late to send it, by the clock on the wall, which goes on while this machine stands still: IsTooLate. The zero time
	// is never.
	NotAfter time.Time
}

// A Patch is what an existing address is to become. Nil and absent values stay as they are.
type Patch struct {
	Status, Role         *string
	DNSName, Description *string
	Comments             *string
	Tenant               *string
	// Address with its mask.
	Address *string
	// VRF is the number of the table that it moves to; 0 is the global one.
	VRF *int64
	// Tags replace all tags of the record, where not nil.
	Tags []string
	// CustomFields are merged by key; null clears one. The marker may be among them.
	CustomFields map[string]any
	// Assigned is the interface that it moves to; one without a number takes it away from where it is. NetBox refuses both for an
	// address in a seat of another device or virtual machine: Seat clears that first.
	Assigned *Place
	// NotAfter is Request.NotAfter.
	NotAfter time.Time
}

// Empty says whether there is nothing to write. NetBox writes, and tells its webhooks, even {}.
func (p Patch) Empty() bool {
	return p.Status == nil && p.Role == nil && p.DNSName == nil && p.Description == nil &&
		p.Comments == nil && p.Tenant == nil && p.Address == nil && p.VRF == nil && p.Tags == nil && len(p.CustomFields) == 0 && p.Assigned == nil
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
		"comments": r.Comments,
	} {
		if value != "" {
			m[key] = value
		}
	}
	if vrf != 0 {
		m["vrf"] = vrf
	}
	if r.PrefixLength != 0 {
		m["prefix_length"] = r.PrefixLength
	}
	if r.Tenant != "" {
		m["tenant"] = slug(r.Tenant)
	}
	if len(r.Tags) > 0 {
		m["tags"] = slugs(r.Tags)
	}
	r.Assigned.into(m)
	return m
}

// into puts a place into a body: both halves, as one alone is refused (363, 364).
func (p *Place) into(body map[string]any) {
	switch {
	case p == nil:
	case p.ID == 0:
		body["assigned_object_type"], body["assigned_object_id"] = nil, nil
	default:
		body["assigned_object_type"], body["assigned_object_id"] = p.Kind.api().object, p.ID
	}
}

// body is the PATCH's. A tenant of "" takes it away.
func (p Patch) body() map[string]any {
	m := map[string]any{}
	for key, value := range map[string]*string{
		"status": p.Status, "role": p.Role, "dns_name": p.DNSName, "description": p.Description,
		"comments": p.Comments, "address": p.Address,
	} {
		if value != nil {
			m[key] = *value
		}
	}
	if p.VRF != nil {
		m["vrf"] = nil
		if *p.VRF != 0 {
			m["vrf"] = *p.VRF
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
	p.Assigned.into(m)
	return m
}

// Patch writes only what p holds, to the record as the caller read it: a change in between is KindConflict, and nothing is written.
// NetBox sees to that from 4.6 on. Before, and where the caller knows the record from a list, it's read once more right before; what
// somebody writes in the moment after that can't be told from what was there. An empty patch is no call, and returns the record as
// it was.
func (c *Client) Patch(ctx context.Context, ip IPAddress, p Patch) (IPAddress, error) {
	if p.Empty() {
		return ip, nil
	}
	k := c.idCall("update", http.MethodPatch, ip.ID, http.StatusOK)
	if ip.ETag == "" {
		now, err := c.Get(ctx, ip.ID)
		if err != nil {
			return IPAddress{}, err
		}
		if now.LastUpdated != ip.LastUpdated {
			return IPAddress{}, c.spared(k, "somebody changed it meanwhile")
		}
		ip = now
	}
	k.body, k.ifMatch, k.notAfter = p.body(), ip.ETag, p.NotAfter
	is, err := c.one(ctx, k)
	if IsUnknownOutcome(err) { // What is known of it may not be so any more.
		c.Forget(ip.ID)
	}
	return is, err
}
