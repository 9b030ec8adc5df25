package netbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Filter selects prefixes or IP ranges by what NetBox says of them. What is empty isn't asked for.
type Filter struct {
	// Site, Role, Tenant and Tags are slugs. Ranges have no site.
	Site, Role, Tenant string
	Tags               []string
	// Family is 4 or 6.
	Family int
	VRF    VRFRef
	// Fields are custom fields and the values that they must have.
	Fields map[string]string
}

// String describes the filter for a person, the same for the same filter.
func (f Filter) String() string {
	var out []string
	for _, w := range []struct{ name, value string }{{"site", f.Site}, {"role", f.Role}, {"tenant", f.Tenant}} {
		if w.value != "" {
			out = append(out, w.name+" "+w.value)
		}
	}
	for _, t := range slices.Sorted(slices.Values(f.Tags)) {
		out = append(out, "tag "+t)
	}
	if f.Family != 0 {
		out = append(out, fmt.Sprintf("family IPv%d", f.Family))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		out = append(out, fmt.Sprintf("custom field %s=%s", name, f.Fields[name]))
	}
	switch {
	case f.VRF.Global:
		out = append(out, "global table")
	case f.VRF.ID != 0:
		out = append(out, fmt.Sprintf("VRF number %d", f.VRF.ID))
	case !f.VRF.Any():
		out = append(out, "VRF "+f.VRF.Name+f.VRF.RD)
	}
	return strings.Join(out, ", ")
}

// query is the filter as NetBox spells it. Tags that are repeated must all be there.
func (f Filter) query() url.Values {
	q := url.Values{}
	for key, value := range map[string]string{"site": f.Site, "role": f.Role, "tenant": f.Tenant} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if len(f.Tags) > 0 {
		q["tag"] = f.Tags
	}
	if f.Family != 0 {
		q.Set("family", strconv.Itoa(f.Family))
	}
	for name, value := range f.Fields {
		q.Set("cf_"+name, value)
	}
	f.VRF.query(q)
	return q
}

// matches filters again: NetBox ignores filters that it doesn't know, such as of a custom field that isn't there or isn't filtered,
// and returns everything. Custom fields may be filtered by a part of their text; all of it is asked for. Pure.
func (f Filter) matches(p Parent) bool {
	family := 4
	if p.Prefix.Addr().Is6() {
		family = 6
	}
	switch {
	case f.Site != "" && p.site != nil && *p.site != f.Site,
		f.Role != "" && p.role != f.Role,
		f.Tenant != "" && p.tenant != f.Tenant,
		f.Family != 0 && f.Family != family,
		!f.VRF.Matches(p.VRF):
		return false
	}
	for _, t := range f.Tags {
		if !slices.Contains(p.tags, t) {
			return false
		}
	}
	for name, value := range f.Fields {
		if !saysSo(p.fields[name], value) {
			return false
		}
	}
	return true
}

// saysSo compares the value of a custom field with the text of one. Selections are compared by value, objects by id, and of several
// one is enough.
func saysSo(got any, want string) bool {
	switch got := got.(type) {
	case nil:
		return false
	case string:
		return got == want
	case []any:
		return slices.ContainsFunc(got, func(v any) bool { return saysSo(v, want) })
	case map[string]any:
		if v, ok := got["value"]; ok {
			return saysSo(v, want)
		}
		return saysSo(got["id"], want)
	}
	b, err := json.Marshal(got)
	return err == nil && string(b) == want
}

// FindPrefixes returns all prefixes that match, by network, whatever their VRF, then by number. None is KindNotFound, and so is a tag,
// role, site or tenant that NetBox doesn't have. What was found is remembered for a quarter of one.
func (c *Client) FindPrefixes(ctx context.Context, f Filter) ([]Parent, error) {
	return c.findParents(ctx, ParentPrefix, "ipam/prefixes/", f, decodePrefix)
}

// FindRanges returns all IP ranges that match, as FindPrefixes does.
func (c *Client) FindRanges(ctx context.Context, f Filter) ([]Parent, error) {
	return c.findParents(ctx, ParentRange, "ipam/ip-ranges/", f, decodeRange)
}

func (c *Client) findParents(ctx context.Context, kind ParentKind, path string, f Filter, decode func([]byte) (Parent, error)) ([]Parent, error) {
	return c.parents.of(parentKey{kind: kind, text: fmt.Sprintf("%#v", f)}, matchTTL, func() ([]Parent, error) {
		k := call{
			op: fmt.Sprintf("find a %s with", kind), subject: f.String(), method: http.MethodGet, path: path, want: http.StatusOK, query: f.query(),
		}
		for name := range f.Fields {
			if checkFieldName(strings.ToLower(name)) != nil {
				return nil, invalid(k.op, k.subject, "no custom field can have such a name")
			}
		}
		all, err := listAll(ctx, c, k, decode)
		if IsInvalid(err) { // NetBox says 400 to a slug or VRF that it doesn't have.
			return nil, k.elsewhere("NetBox has no such "+refusedWords(err)+", or the token may not see it", err)
		}
		if err != nil {
			return nil, err
		}
		all = ordered(slices.DeleteFunc(all, func(p Parent) bool { return !f.matches(p) }))
		if len(all) == 0 {
			return nil, k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
		}
		return all, nil
	})
}

// refusedWords names the filters that NetBox refused.
func refusedWords(err error) string {
	words := map[string]string{"site": "site", "role": "role", "tenant": "tenant", "tag": "tag", "vrf_id": "VRF"}
	var out []string
	if e, ok := errors.AsType[*Error](err); ok {
		for _, f := range e.Fields {
			if w, ok := words[f]; ok {
				out = append(out, w)
			}
		}
	}
	if len(out) == 0 {
		return "site, role, tenant, tag or VRF"
	}
	return strings.Join(out, " and ")
}
