package netbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// typeAddress is how NetBox names the type of addresses.
const typeAddress = "ipam.ipaddress"

// An IPAddress is the part of ipam/ip-addresses that we read (4.2 to 4.7).
type IPAddress struct {
	ID int64
	// Address with its mask, which is the prefix's at allocation.
	Address netip.Prefix
	// VRF is nil in the global table.
	VRF *VRF
	// Status and Role are NetBox's values ("active", "vip"); Role may be "".
	Status, Role         string
	DNSName, Description string
	Comments             string
	// Tenant is its slug, or "".
	Tenant string
	// Tags are slugs, in NetBox's order.
	Tags []string
	// CustomFields as JSON values; fields without a value are nil.
	CustomFields map[string]any
	// Assigned is what it's assigned to; nil for nothing.
	Assigned *Place
	// URL is the page of the record that a person can open, as this NetBox writes it.
	URL string
	// LastUpdated is NetBox's text: it changes with every PATCH, even an empty one.
	LastUpdated string
	// ETag is set when one record was read from NetBox 4.6 or later.
	ETag string
}

// Marker returns the text in custom field name, or "".
func (ip IPAddress) Marker(name string) string {
	s, _ := ip.CustomFields[name].(string)
	return s
}

// Unmarked says that there is nothing at all in custom field name: neither a marker, nor anything else.
func (ip IPAddress) Unmarked(name string) bool {
	v := ip.CustomFields[name]
	return v == nil || v == ""
}

// A VRF as records refer to it. Names need not be unique; RD may be "".
type VRF struct {
	ID       int64
	Name, RD string
}

// A customField is the part of extras/custom-fields that the marker depends on.
type customField struct {
	Name        string
	ObjectTypes []string
	Type        string
	Unique      bool
	FilterLogic string
	Required    bool
	// Pattern that a text must match from its beginning, and Least and Most that a number may be; "" and nil are none.
	Pattern     string
	Least, Most *float64
}

// text takes a string and makes anything else "": descriptions have been null, names numbers.
type text string

// UnmarshalJSON never fails.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

// longestName is more bytes than any name has that NetBox takes.
const longestName = 1024

// nameOf is a text that NetBox bounds; "" for one that is longer than any.
func nameOf(t text) text {
	if len(t) > longestName {
		return ""
	}
	return t
}

// choice takes "active", {"value": "active", "label": …} with any label, or null.
type choice string

// UnmarshalJSON never fails.
func (c *choice) UnmarshalJSON(b []byte) error {
	var o struct {
		Value text `json:"value"`
	}
	var s string
	switch {
	case json.Unmarshal(b, &s) == nil:
		*c = choice(s)
	case json.Unmarshal(b, &o) == nil:
		*c = choice(o.Value)
	}
	return nil
}

// id takes 4711 and "4711", and nothing that isn't a positive integer.
type id int64

// UnmarshalJSON leaves 0 for what isn't an id.
func (i *id) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	if err == nil && n > 0 {
		*i = id(n)
	}
	return nil
}

// number takes 1.5 and "1.5", and makes anything else none.
type number struct{ value *float64 }

// UnmarshalJSON never fails.
func (n *number) UnmarshalJSON(b []byte) error {
	if v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64); err == nil {
		n.value = &v
	}
	return nil
}

// ref takes a nested object of any completeness, a bare id, or null.
type ref struct {
	ID   id
	Name text
	Slug text
	RD   text
}

// UnmarshalJSON never fails.
func (r *ref) UnmarshalJSON(b []byte) error {
	var o struct {
		ID   id   `json:"id"`
		Name text `json:"name"`
		Slug text `json:"slug"`
		RD   text `json:"rd"`
	}
	if json.Unmarshal(b, &o) == nil {
		*r = ref{ID: o.ID, Name: nameOf(o.Name), Slug: nameOf(o.Slug), RD: nameOf(o.RD)}
		return nil
	}
	return r.ID.UnmarshalJSON(b)
}

func (r *ref) vrf() *VRF {
	if r.ID == 0 {
		return nil
	}
	return &VRF{ID: int64(r.ID), Name: string(r.Name), RD: string(r.RD)}
}

// refs takes a list of references and makes anything else empty.
type refs []ref

// mostTags is more than any record has.
const mostTags = 4096

// errDense says that a record has more tags or custom fields than any has, or would take more memory than is kept of one.
var errDense = fmt.Errorf("it has more than %d tags, or than %d custom fields, or they would take more than %d KiB of memory", mostTags, mostFields, mostRecord>>10)

// UnmarshalJSON fails for a record with more tags than any has: whoever adds one writes all of them.
func (r *refs) UnmarshalJSON(b []byte) error {
	var l []ref
	for raw := range elements(b) {
		if len(l) == mostTags {
			return errDense
		}
		var one ref
		_ = one.UnmarshalJSON(raw) // It never fails.
		l = append(l, one)
	}
	*r = l
	return nil
}

func (r *refs) slugs() []string {
	var out []string
	for _, t := range *r {
		if t.Slug != "" {
			out = append(out, string(t.Slug))
		}
	}
	return out
}

// decodeIPAddress fails only where identity is at stake: no id, or no address.
func decodeIPAddress(b []byte) (IPAddress, error) {
	var w struct {
		ID           id     `json:"id"`
		URL          text   `json:"url"`
		Page         text   `json:"display_url"`
		Address      text   `json:"address"`
		VRF          ref    `json:"vrf"`
		Tenant       ref    `json:"tenant"`
		Status       choice `json:"status"`
		Role         choice `json:"role"`
		DNSName      text   `json:"dns_name"`
		Description  text   `json:"description"`
		Comments     text   `json:"comments"`
		Tags         refs   `json:"tags"`
		CustomFields values `json:"custom_fields"`
		ObjectType   text   `json:"assigned_object_type"`
		ObjectID     id     `json:"assigned_object_id"`
		Object       part   `json:"assigned_object"`
		LastUpdated  text   `json:"last_updated"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return IPAddress{}, fmt.Errorf("address isn't an object: %w", err)
	}
	a, err := netip.ParsePrefix(string(w.Address))
	if err != nil || w.ID == 0 {
		return IPAddress{}, errors.New("address has no id or no address")
	}
	return IPAddress{
		ID: int64(w.ID), URL: cmp.Or(string(w.Page), pageOf(w.URL)), Address: a, VRF: w.VRF.vrf(), Tenant: string(w.Tenant.Slug),
		Status: string(w.Status), Role: string(w.Role), DNSName: string(w.DNSName),
		Description: string(w.Description), Comments: string(w.Comments), Tags: w.Tags.slugs(), CustomFields: w.CustomFields,
		Assigned: w.Object.place(string(w.ObjectType), int64(w.ObjectID)), LastUpdated: string(w.LastUpdated),
	}, nil
}

// pageOf is the page for people of what the API has at a URL. Nested objects have but that one, and all versions' pages differ from it in
// the same way (display_url).
func pageOf(url text) string { return strings.Replace(string(url), "/api/ipam/", "/ipam/", 1) }

// decodeVRF fails where there is no id.
func decodeVRF(b []byte) (VRF, error) {
	var r ref
	_ = r.UnmarshalJSON(b)
	v := r.vrf()
	if v == nil {
		return VRF{}, errors.New("VRF has no id")
	}
	return *v, nil
}

// decodeCustomField fails where there is no name.
func decodeCustomField(b []byte) (customField, error) {
	var w struct {
		Name        text   `json:"name"`
		ObjectTypes []text `json:"object_types"`
		Type        choice `json:"type"`
		Unique      bool   `json:"unique"`
		FilterLogic choice `json:"filter_logic"`
		Required    bool   `json:"required"`
		Pattern     text   `json:"validation_regex"`
		Least       number `json:"validation_minimum"`
		Most        number `json:"validation_maximum"`
	}
	if err := json.Unmarshal(b, &w); err != nil || w.Name == "" {
		return customField{}, errors.New("custom field has no name")
	}
	f := customField{
		Name: string(w.Name), Type: string(w.Type), Unique: w.Unique,
		FilterLogic: string(w.FilterLogic), Required: w.Required, Pattern: string(w.Pattern), Least: w.Least.value, Most: w.Most.value,
	}
	for _, t := range w.ObjectTypes {
		f.ObjectTypes = append(f.ObjectTypes, string(t))
	}
	return f, nil
}
