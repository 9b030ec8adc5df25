package netbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Explain finds out, by reading, what NetBox may have against a request that it has refused: its own sentences follow the language
// of whoever runs it. Each part says one thing, on our input. What the token may not read is left out; empty means nothing is known.
func (c *Client) Explain(ctx context.Context, r Request) []string {
	var out []string
	for _, explain := range []func(context.Context, Request) ([]string, error){c.explainTags, c.explainTenant, c.explainFields} {
		why, err := explain(ctx, r)
		if IsUnreachable(err) { // It has other troubles.
			break
		}
		out = append(out, why...)
	}
	return out
}

// A named is the part of a tag or tenant that matters here.
type named struct {
	slug string
	// objects are the types that a tag is for; none means all.
	objects []string
}

func decodeNamed(b []byte) (named, error) {
	var w struct {
		Slug    text   `json:"slug"`
		Objects []text `json:"object_types"`
	}
	if err := json.Unmarshal(b, &w); err != nil || w.Slug == "" {
		return named{}, errors.New("object has no slug")
	}
	n := named{slug: string(w.Slug)}
	for _, o := range w.Objects {
		n.objects = append(n.objects, string(o))
	}
	return n, nil
}

// bySlug lists tags or tenants, as many at a time as a URL has room for.
func (c *Client) bySlug(ctx context.Context, path string, slugs ...string) (map[string]named, error) {
	out := map[string]named{}
	for len(slugs) > 0 {
		n := roomFor("slug", slugs)
		k := call{
			op: "look up", subject: path, method: http.MethodGet, path: path, want: http.StatusOK, query: url.Values{"slug": slugs[:n]},
		}
		all, err := listAll(ctx, c, k, decodeNamed)
		if err != nil {
			return nil, err
		}
		for _, n := range all {
			out[n.slug] = n
		}
		slugs = slugs[n:]
	}
	return out, nil
}

func (c *Client) explainTags(ctx context.Context, r Request) ([]string, error) {
	if len(r.Tags) == 0 {
		return nil, nil
	}
	known, err := c.bySlug(ctx, "extras/tags/", r.Tags...)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range r.Tags {
		n, ok := known[t]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("NetBox has no tag with slug %q, or the token may not see it", t))
		case len(n.objects) > 0 && !slices.Contains(n.objects, typeAddress):
			out = append(out, fmt.Sprintf("tag %q isn't for IP addresses", t))
		}
	}
	return out, nil
}

func (c *Client) explainTenant(ctx context.Context, r Request) ([]string, error) {
	if r.Tenant == "" {
		return nil, nil
	}
	known, err := c.bySlug(ctx, "tenancy/tenants/", r.Tenant)
	if _, ok := known[r.Tenant]; ok || err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("NetBox has no tenant with slug %q, or the token may not see it", r.Tenant)}, nil
}

// explainFields compares values with what the custom fields of addresses take.
func (c *Client) explainFields(ctx context.Context, r Request) ([]string, error) {
	known, err := c.addressFields(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.CustomFields)) {
		f, ok := known[name]
		if !ok {
			out = append(out, fmt.Sprintf("NetBox has no custom field %q for IP addresses", name))
		} else if wants := f.misfit(r.CustomFields[name]); wants != "" {
			out = append(out, fmt.Sprintf("custom field %q takes %s", name, wants))
		}
	}
	for _, name := range c.lacking(known, r.CustomFields) {
		out = append(out, fmt.Sprintf("custom field %q is required on IP addresses", name))
	}
	return out, nil
}

// addressFields are the custom fields of addresses, by their names.
func (c *Client) addressFields(ctx context.Context) (map[string]customField, error) {
	k := call{
		op: "list the custom fields of addresses", method: http.MethodGet, path: "extras/custom-fields/", want: http.StatusOK,
		query: url.Values{"object_type": {typeAddress}},
	}
	all, err := listAll(ctx, c, k, decodeCustomField)
	if err != nil {
		return nil, err
	}
	known := map[string]customField{}
	for _, f := range all {
		if slices.Contains(f.ObjectTypes, typeAddress) {
			known[f.Name] = f
		}
	}
	return known, nil
}

// lacking are the required ones of some fields, but for the marker's, that have no value.
func (c *Client) lacking(known map[string]customField, values map[string]any) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if v, ok := values[name]; known[name].Required && name != c.field && (!ok || v == nil || v == "") {
			out = append(out, name)
		}
	}
	return out
}

// unreleased says what NetBox may have against the release of a record, which it refused by a rule that isn't about one field: what it requires of
// addresses by now, as far as that can be read, or what such rules are.
func (c *Client) unreleased(ctx context.Context, ip IPAddress, r Release) string {
	known, err := c.addressFields(ctx)
	delete(known, c.note) // That is given a value.
	if missing := c.lacking(known, ip.CustomFields); err == nil && len(missing) > 0 {
		for i, name := range missing {
			missing[i] = strconv.Quote(name)
		}
		return fmt.Sprintf("NetBox refuses each change of the record, since it has no value in custom field %s, which is required on IP addresses by now: fill it in there", strings.Join(missing, ", "))
	}
	may := "a custom field may be required on IP addresses by now that the record has no value in, or a value there may be none of its field's choices"
	if r.Retire && ip.Assigned != nil {
		may = "it may have become the primary or out-of-band address of its machine, " + may
	}
	return "NetBox refuses it by a rule of its own: " + may
}

// misfit says what a field takes where a value is of another type, or out of its bounds, or "". Whether a choice or an object is there isn't known
// here.
func (f customField) misfit(v any) string {
	if v == nil {
		return ""
	}
	words, isText := v.(string)
	number, isNumber := v.(float64)
	_, isBool := v.(bool)
	_, isList := v.([]any)
	_, isObject := v.(map[string]any)
	for _, t := range []struct {
		types []string
		fits  bool
		wants string
	}{
		{[]string{"text", "longtext", "url"}, isText, "a text"},
		{[]string{"date", "datetime"}, isText, "a date, written as a text such as 2026-08-01"},
		{[]string{"select"}, isText, "one of its choices, as a text"},
		{[]string{"integer"}, isNumber && number == math.Trunc(number), "a whole number"},
		{[]string{"decimal"}, isNumber, "a number"},
		{[]string{"boolean"}, isBool, "true or false"},
		{[]string{"multiselect"}, isList, "a list of its choices"},
		{[]string{"multiobject"}, isList, "a list of objects' ids"},
		{[]string{"object"}, isNumber || isObject, "an object's id"},
	} {
		if slices.Contains(t.types, f.Type) && !t.fits {
			return t.wants
		}
	}
	switch {
	case isNumber && f.Least != nil && number < *f.Least:
		return fmt.Sprintf("a number that is at least %g", *f.Least)
	case isNumber && f.Most != nil && number > *f.Most:
		return fmt.Sprintf("a number that is at most %g", *f.Most)
	case isText && f.Pattern != "":
		return f.mismatch(words)
	}
	return ""
}

// mismatch is misfit for a text, which NetBox wants to begin with its pattern. Python's may be none of Go's.
func (f customField) mismatch(words string) string {
	if len(f.Pattern) > longestName {
		return ""
	}
	pattern, err := regexp.Compile("^(?:" + f.Pattern + ")")
	if err != nil || pattern.MatchString(words) {
		return ""
	}
	return "a text of the pattern that NetBox has for it"
}
