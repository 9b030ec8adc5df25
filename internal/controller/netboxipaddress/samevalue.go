package netboxipaddress

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// mostCompared is how long a list or an object may be that is decoded for being compared, in bytes.
const mostCompared = 512 << 10

// same says whether a custom field has a value that is wanted, in whichever of its forms it is written and read: else it would be
// written again at each look. The order of a list says nothing: NetBox gives selections and objects back in one of its own. How often it has
// each element does.
func same(want, got any) bool {
	if u, ok := got.(netbox.Undecoded); ok {
		return len(u) <= mostCompared && same(want, u.Decoded())
	}
	switch w := want.(type) {
	case string:
		g, ok := plain(got).(string)
		return ok && (strings.TrimSpace(w) == strings.TrimSpace(g) || sameTime(w, g))
	case []any:
		g, ok := got.([]any)
		return ok && sameElements(w, g)
	case map[string]any:
		if namesObject(w, got) {
			return true
		}
	}
	return reflect.DeepEqual(want, got) || reflect.DeepEqual(want, plain(got))
}

// sameElements says that two lists have the same elements, each as often.
func sameElements(want, got []any) bool {
	if len(want) != len(got) {
		return false
	}
	left := slices.Clone(got)
	for _, w := range want {
		i := slices.IndexFunc(left, func(g any) bool { return same(w, g) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// namesObject says that an object is named as NetBox takes it in a custom field, by its id or by others of its values such as a slug, and that
// it's the one that is there: all that is named of it is so.
func namesObject(want map[string]any, got any) bool {
	if id, ok := want["id"]; ok && len(want) == 1 {
		return reflect.DeepEqual(id, plain(got))
	}
	g, ok := got.(map[string]any)
	if !ok || len(want) == 0 || g["id"] == nil || g["url"] == nil {
		return false
	}
	for name, v := range want {
		if has, ok := g[name]; !ok || !reflect.DeepEqual(v, has) {
			return false
		}
	}
	return true
}

// sameTime says whether both are one time, which NetBox takes in several forms and gives back in one of its own: 2026-08-01 10:00+00:00 as
// 2026-08-01T10:00:00Z. One with a zone is none without.
func sameTime(a, b string) bool {
	for _, forms := range [][]string{
		{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700"},
		{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly},
	} {
		t, ok := timeIn(a, forms)
		if u, is := timeIn(b, forms); ok && is {
			return t.Equal(u)
		}
	}
	return false
}

// timeIn reads a time in one of some forms, with a space for their T, too.
func timeIn(s string, forms []string) (time.Time, bool) {
	for _, form := range forms {
		if t, err := time.Parse(form, strings.Replace(s, " ", "T", 1)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// reordered says that a list is what is wanted but for the order of its elements, which may say something: NetBox would show selections and objects
// as such.
func reordered(want, got any) bool {
	if u, ok := got.(netbox.Undecoded); ok {
		return len(u) <= mostCompared && reordered(want, u.Decoded())
	}
	w, is := want.([]any)
	g, too := got.([]any)
	return is && too && !slices.ContainsFunc(g, func(v any) bool { return !reflect.DeepEqual(v, plain(v)) }) && !reflect.DeepEqual(w, g) && sameElements(w, g)
}

// reorder adds to a patch the lists that somebody put into another order, of those fields whose values are any JSON. NetBox is asked which these are
// only where there's such a list. As long as it can't say, the order of none counts.
func (e *external) reorder(ctx context.Context, p v1alpha1.NetBoxIPAddressParameters, patch netbox.Patch) netbox.Patch {
	for name, want := range valuesOf(p.CustomFields) {
		if name == e.inputs.field || !reordered(want, e.record.CustomFields[name]) {
			continue
		}
		known, err := e.netbox.JSONFields(ctx)
		if err != nil {
			return patch
		}
		if known[name] {
			patch.CustomFields[name] = want
		}
	}
	return patch
}
