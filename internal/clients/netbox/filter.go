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
// role, site, tenant, VRF or custom field that NetBox doesn't have; more than mostMatches to look through are KindAmbiguous. What was
// found is remembered for a quarter of a minute.
func (c *Client) FindPrefixes(ctx context.Context, f Filter) ([]Parent, error) {
	return c.findParents(ctx, ParentPrefix, "ipam/prefixes/", prefixFields, f, decodePrefix)
}

// FindRanges returns all IP ranges that match, as FindPrefixes does.
func (c *Client) FindRanges(ctx context.Context, f Filter) ([]Parent, error) {
	return c.findParents(ctx, ParentRange, rangesPath, rangeFields, f, decodeRange)
}

const (
	// mostMatches is how many records a filter may leave to be looked through: what NetBox can't filter by is looked for among them.
	mostMatches = 20000
	// parentsFields are what prefixes and ranges are decoded from, and what each has beside.
	parentsFields = "id,vrf,tenant,role,status,tags,custom_fields,mark_utilized,"
	prefixFields  = parentsFields + "prefix,is_pool,vlan,scope_type,scope"
	rangeFields   = parentsFields + "start_address,end_address,mark_populated"
)

func (c *Client) findParents(
	ctx context.Context, kind ParentKind, path, fields string, f Filter, decode func([]byte) (Parent, error),
) ([]Parent, error) {
	return c.parents.of(parentKey{kind: kind, text: fmt.Sprintf("%#v", f)}, matchTTL, func() ([]Parent, error) {
		k := call{
			op: fmt.Sprintf("find a %s with", kind), subject: f.String(), method: http.MethodGet, path: path, want: http.StatusOK, query: f.query(),
			most: c.room.limits.Page,
		}
		k.query.Set("fields", fields)
		for name := range f.Fields {
			if checkFieldName(strings.ToLower(name)) != nil {
				return nil, invalid(k.op, k.subject, "no custom field can have such a name")
			}
		}
		if err := c.narrow(ctx, k, f.VRF); err != nil {
			return nil, err
		}
		all, err := matching(ctx, c, kind, k, f, decode)
		if IsInvalid(err) { // NetBox says 400 to a slug or VRF that it doesn't have.
			return nil, k.elsewhere("NetBox has no such "+refusedWords(err)+", or the token may not see it", err)
		}
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, k.failed(KindNotFound, "NetBox has none, or the token may not see it", nil)
		}
		return ordered(all), nil
	})
}

// A sieve keeps what a filter is really about, of what NetBox returns for it.
type sieve struct {
	Filter

	in   *reading
	kept []Parent
	// missing are the custom fields that no record has had: every record has all that there are, if only as null.
	missing map[string]string
	// elsewhere says that there were records of other sites.
	elsewhere bool
}

// take looks at one record.
func (s *sieve) take(p Parent) error {
	maps.DeleteFunc(s.missing, func(name, _ string) bool { _, ok := p.fields[name]; return ok })
	s.elsewhere = s.elsewhere || s.Site != "" && p.site != nil && *p.site != s.Site
	if !s.matches(p) {
		return nil
	}
	s.kept = append(s.kept, p.bare())
	return s.in.add(p.bare().weight())
}

// found is what was kept. What lies in a part of a site, or in a region, doesn't say its site: NetBox has seen to it, unless it showed others.
func (s *sieve) found() []Parent {
	return slices.DeleteFunc(s.kept, func(p Parent) bool { return s.elsewhere && p.site == nil })
}

// matching reads what a filter leaves, and keeps what it's really about.
func matching(ctx context.Context, c *Client, kind ParentKind, k call, f Filter, decode func([]byte) (Parent, error)) ([]Parent, error) {
	s := &sieve{Filter: f, in: &reading{k: k, l: c.room}, missing: maps.Clone(f.Fields)}
	defer s.in.end()
	k.in = s.in
	for read := 0; read < mostMatches; {
		k.query = paged(k.query, lookPage, read)
		a, err := c.do(ctx, k)
		if err != nil {
			return nil, err
		}
		p, err := readIn(k, a, func(b []byte) (struct{}, error) {
			one, err := decode(b)
			if err == nil {
				err = s.take(one)
			}
			return struct{}{}, err
		})
		if err != nil {
			return nil, err
		}
		if len(p.Items) > 0 && len(s.missing) > 0 && read == 0 {
			return nil, k.elsewhere(fmt.Sprintf("NetBox has no custom field %q for a %s", slices.Min(slices.Collect(maps.Keys(s.missing))), kind), nil)
		}
		if p.Count > mostMatches {
			break
		}
		read += len(p.Items)
		if !p.More || len(p.Items) == 0 {
			return s.found(), nil
		}
		c.short(len(p.Items), lookPage)
	}
	how := "narrow it by another field of the filter"
	if f.VRF.Name != "" && !k.query.Has("vrf_id") {
		how = "name the VRF by its rd or id, as the token may not list VRFs"
	}
	return nil, k.failed(KindAmbiguous, fmt.Sprintf("NetBox answers with more than the %d records that are looked through: %s", mostMatches, how), nil)
}

// Several says, as an error, that what a filter found is in several tables, and how to name one of them. It is nil where all is in one.
func (f Filter) Several(found []Parent) error {
	tables := map[int64]bool{}
	for _, p := range found {
		tables[vrfNumber(p.VRF)] = true
	}
	if len(tables) < 2 {
		return nil
	}
	why := fmt.Sprintf("what it finds is in %d VRFs of that name: name one by its rd or id", len(tables))
	if f.VRF.Any() {
		why = "what it finds is not in one table: " + severalTables(found)
	}
	return &Error{Kind: KindAmbiguous, Op: fmt.Sprintf("find a %s with", found[0].Kind), Subject: f.String(), Reason: why}
}

// refusedWords names the filters that NetBox refused.
func refusedWords(err error) string {
	words := map[string]string{"site": "site", "role": "role", "tenant": "tenant", "tag": "tag", "vrf": "VRF", "vrf_id": "VRF"}
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
