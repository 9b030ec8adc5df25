package netboxipaddress

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// diff says what must be written for the record to be what is wanted. What the spec doesn't name stays as people have it: other
// tags, other custom fields, a description where none is named. So does what it doesn't name any more: that nobody wants a value isn't
// said by that.
func diff(p v1alpha1.NetBoxIPAddressParameters, policy v1alpha1.NetBoxPolicy, field, marker string, got netbox.IPAddress) netbox.Patch {
	want := requestOf(p, policy, marker)
	patch := netbox.Patch{
		Address: maskOf(p, got.Address),
		Status:  change(want.Status, got.Status), Tenant: change(want.Tenant, got.Tenant), Tags: missingTags(want.Tags, got.Tags),
		Role: exactly(p.Role, got.Role), DNSName: exactly(p.DNSName, got.DNSName), Description: exactly(p.Description, got.Description), Comments: exactly(p.Comments, got.Comments),
	}
	if canonical(want.DNSName) == canonical(got.DNSName) {
		patch.DNSName = nil
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

// exactly is what to write where a field is named: an empty one too. NetBox trims what it stores.
func exactly(want *string, got string) *string {
	if want == nil || strings.TrimSpace(*want) == strings.TrimSpace(got) {
		return nil
	}
	return want
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

// Words of spec for what NetBox calls otherwise.
const (
	wordCustomFields = "customFields"
	wordAssignTo     = "assignTo"
)

// words lists what a patch would change, for the log. Values may be anybody's business and aren't in it.
func words(p netbox.Patch) string {
	var out []string
	for name, changed := range map[string]bool{
		fieldAddress: p.Address != nil, fieldVRF: p.VRF != nil, "status": p.Status != nil, "role": p.Role != nil, "dnsName": p.DNSName != nil, "description": p.Description != nil,
		"comments": p.Comments != nil, "tenant": p.Tenant != nil, "tags": p.Tags != nil, wordCustomFields: len(p.CustomFields) > 0,
		wordAssignTo: p.Assigned != nil,
	} {
		if changed {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
