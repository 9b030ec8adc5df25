package netboxipaddress

import (
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// mostSent are the changes that are remembered of a resource whose last look found something to do.
const mostSent = 4

// sending notes what is about to be written. Its answer may be lost, and spec be another one before the next look: what that finds as it was
// sent, nobody else has changed.
func (e *external) sending(mg *v1alpha1.NetBoxIPAddress, p netbox.Patch) {
	all, uid := e.connector.sent, mg.GetUID()
	before, _ := all.get(uid)
	all.put(uid, append(before[max(0, len(before)+1-mostSent):len(before):len(before)], p))
}

// sentAs says that a field is as it was lately sent for the resource, whatever status says of a time before.
func (e *external) sentAs(mg *v1alpha1.NetBoxIPAddress, field string) bool {
	all, _ := e.connector.sent.get(mg.GetUID())
	for _, p := range all {
		if asIn(p, field, *e.record) {
			return true
		}
	}
	return false
}

// wasWanted says that a field was last seen as spec wants it, so what it is now is somebody's doing, also where spec was changed elsewhere in the
// same moment. What status doesn't show, comments and a custom field without a value or with a long one, is told by what looks last saw.
func (e *external) wasWanted(p v1alpha1.NetBoxIPAddressParameters, d v1alpha1.FieldDrift) bool {
	was, tenant := e.was, ""
	if p.Tenant != nil {
		tenant = p.Tenant.Slug
	}
	text, ok := map[string]struct{ want, shown string }{
		"status": {p.Status, was.Status}, "role": {deref(p.Role), was.Role}, "dnsName": {canonical(deref(p.DNSName)), canonical(was.DNSName)},
		"description": {deref(p.Description), was.Description}, "tenant": {tenant, was.Tenant},
	}[d.Field]
	switch {
	case was.ID == 0:
		return false
	case ok:
		return strings.TrimSpace(text.want) == strings.TrimSpace(text.shown)
	case d.Field == "tags":
		return missingTags(p.Tags, was.Tags) == nil
	case d.Field == "comments":
		return e.before != nil && p.Comments != nil && exactly(p.Comments, e.before.Comments) == nil
	}
	name, custom := strings.CutPrefix(d.Field, wordCustomFields+".")
	if !custom {
		return false
	}
	want := valuesOf(p.CustomFields)[name]
	value, ok := valuesOf(was.CustomFields)[name]
	return ok && same(want, value) || e.before != nil && same(want, e.before.CustomFields[name])
}

// asIn says that a field of a record is what a patch made of it.
func asIn(p netbox.Patch, field string, got netbox.IPAddress) bool {
	texts := map[string]struct {
		sent *string
		is   string
	}{
		"status": {p.Status, got.Status}, "role": {p.Role, got.Role}, "description": {p.Description, got.Description},
		"comments": {p.Comments, got.Comments}, "tenant": {p.Tenant, got.Tenant},
	}
	switch field {
	case fieldAddress, fieldVRF: // Where a record is, isn't told by what was sent.
		return false
	case "dnsName":
		return p.DNSName != nil && canonical(*p.DNSName) == canonical(got.DNSName)
	case "tags":
		return p.Tags != nil && missingTags(p.Tags, got.Tags) == nil
	case wordAssignTo:
		return p.Assigned != nil && (p.Assigned.ID == 0 && got.Assigned == nil || p.Assigned.Same(got.Assigned))
	}
	if t, ok := texts[field]; ok {
		return t.sent != nil && exactly(t.sent, t.is) == nil
	}
	name := strings.TrimPrefix(field, wordCustomFields+".")
	v, ok := p.CustomFields[name]
	return ok && same(v, got.CustomFields[name])
}
