package netbox

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// page answers a list: 50 a page unless limit says so, at most 1000, 0 meaning that; garbage is 50.
func page[T any](c *exchange, all []T, render func(T) map[string]any) *response {
	q := c.r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 0 {
		limit = 50
	}
	if limit == 0 || limit > 1000 {
		limit = 1000
	}
	offset, _ := strconv.Atoi(q.Get("offset"))
	from := min(max(0, offset), len(all))
	to := min(from+limit, len(all))
	results := []any{}
	for _, v := range all[from:to] {
		results = append(results, c.only(render(v)))
	}
	m := map[string]any{"count": len(all), "next": nil, "previous": nil, "results": results}
	if to < len(all) {
		m["next"] = c.link(q, limit, to)
	}
	if from > 0 {
		m["previous"] = c.link(q, limit, max(0, from-limit))
	}
	return answer(http.StatusOK, m)
}

// asIs renders what is rendered already.
func asIs(m map[string]any) map[string]any { return m }

// link is absolute, as NetBox believes to be called.
func (c *exchange) link(q url.Values, limit, offset int) string {
	q.Set("limit", strconv.Itoa(limit))
	q.Set("offset", strconv.Itoa(offset))
	if offset == 0 {
		q.Del("offset")
	}
	return c.base + c.r.URL.Path + "?" + q.Encode()
}

// only keeps the keys that fields= or brief= ask for.
func (c *exchange) only(m map[string]any) map[string]any {
	var keep []string
	q := c.r.URL.Query()
	switch {
	case q.Get("fields") != "":
		keep = strings.Split(q.Get("fields"), ",")
	case q.Get("brief") != "":
		keep = []string{"id", "url", "display", "family", "prefix", "address", "name", "rd", "description", "_depth"}
	default:
		return m
	}
	out := map[string]any{}
	for _, k := range keep {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	return out
}

// one answers a single object, with its ETag where the version has them.
func (c *exchange) one(status int, m map[string]any, tag string) *response {
	res := answer(status, c.only(m))
	if c.s.traits.etags() {
		res.header.Set("ETag", tag)
	}
	return res
}

// made is one, with the Location of a new object.
func (c *exchange) made(m map[string]any, tag string) *response {
	res := c.one(http.StatusCreated, m, tag)
	res.header.Set("Location", fmt.Sprint(m["url"]))
	return res
}

// vrfFilter is ?vrf_id and ?vrf (an RD); "null" is the global table; an unknown one is a 400.
func (c *exchange) vrfFilter() (func(int64) bool, *response) {
	q := c.r.URL.Query()
	keep := func(int64) bool { return true }
	for _, key := range []string{"vrf_id", "vrf"} {
		v := q.Get(key)
		switch v {
		case "":
			continue
		case "null":
			keep = func(id int64) bool { return id == 0 }
			continue
		}
		i := slices.IndexFunc(c.s.state.vrfs, func(x VRF) bool {
			return (key == "vrf" && x.RD == v) || (key == "vrf_id" && strconv.FormatInt(x.ID, 10) == v)
		})
		if i < 0 {
			return nil, fieldError(key, "Select a valid choice. "+v+" is not one of the available choices.")
		}
		want := c.s.state.vrfs[i].ID
		keep = func(id int64) bool { return id == want }
	}
	return keep, nil
}

// idFilter is ?id, repeatable; an unknown one is an empty list.
func (c *exchange) idFilter() func(int64) bool {
	ids := c.r.URL.Query()["id"]
	return func(id int64) bool {
		return len(ids) == 0 || slices.Contains(ids, strconv.FormatInt(id, 10))
	}
}

// addressFilter is ?address: without a mask any mask, with one exactly that, nonsense is empty.
func (c *exchange) addressFilter() func(Address) bool {
	all := c.r.URL.Query()["address"]
	return func(a Address) bool {
		return len(all) == 0 || slices.ContainsFunc(all, func(v string) bool {
			addr, err := netip.ParseAddr(v)
			p, perr := netip.ParsePrefix(v)
			return (err == nil && addr == a.Address.Addr()) || (perr == nil && p == a.Address)
		})
	}
}

// fieldFilters are ?cf_NAME of fields that exist and are filtered; any other is ignored and returns
// everything (626, 793, 796). Empty is no filter (616), null is unset (752), repeated is OR (623).
func (c *exchange) fieldFilters() func(Address) bool {
	q := c.r.URL.Query()
	return func(a Address) bool {
		for _, f := range c.s.state.fields {
			if f.FilterLogic == "disabled" || !f.forAddresses() {
				continue
			}
			if !lookups(q, f.Name, a.CustomFields[f.Name]) {
				return false
			}
			all := slices.DeleteFunc(slices.Clone(q["cf_"+f.Name]), func(v string) bool { return v == "" })
			if len(all) == 0 {
				continue
			}
			if !slices.ContainsFunc(all, func(v string) bool { return fieldMatches(f, a.CustomFields[f.Name], v) }) {
				return false
			}
		}
		return true
	}
}

// lookups are the filters of text fields with a suffix: begins with, contains, equals, without case, and isn't (617 to 622).
func lookups(q url.Values, name string, value any) bool {
	got, _ := value.(string)
	for suffix, holds := range map[string]func(want string) bool{
		"isw": func(want string) bool { return strings.HasPrefix(strings.ToLower(got), strings.ToLower(want)) },
		"ic":  func(want string) bool { return strings.Contains(strings.ToLower(got), strings.ToLower(want)) },
		"ie":  func(want string) bool { return strings.EqualFold(got, want) },
		"n":   func(want string) bool { return got != want },
	} {
		if want := q.Get("cf_" + name + "__" + suffix); want != "" && !holds(want) {
			return false
		}
	}
	return true
}

func fieldMatches(f CustomField, got any, want string) bool {
	if got == nil || want == "null" {
		return got == nil && want == "null"
	}
	s := fmt.Sprint(got)
	if f.FilterLogic == "loose" {
		return strings.Contains(strings.ToLower(s), strings.ToLower(want))
	}
	return s == want
}

func (c *exchange) listAddresses() *response {
	vrf, res := c.vrfFilter()
	if res != nil {
		return res
	}
	id, address, fields := c.idFilter(), c.addressFilter(), c.fieldFilters()
	var all []Address
	for _, a := range c.s.state.sorted() {
		if c.token.sees(a) && vrf(a.VRF) && id(a.ID) && address(a) && fields(a) {
			all = append(all, a)
		}
	}
	if c.r.URL.Query().Get("ordering") == "id" {
		slices.SortFunc(all, func(a, b Address) int { return cmp.Compare(a.ID, b.ID) })
	}
	return page(c, all, c.renderAddress)
}

// listPrefixes is in NetBox's order: the global table first, then by VRF's name, then by network.
func (c *exchange) listPrefixes() *response {
	vrf, res := c.vrfFilter()
	if res != nil {
		return res
	}
	want, filtered := c.r.URL.Query()["prefix"]
	id := c.idFilter()
	sorted := slices.Clone(c.s.state.prefixes)
	slices.SortStableFunc(sorted, func(a, b Prefix) int {
		av, _ := c.s.state.vrf(a.VRF)
		bv, _ := c.s.state.vrf(b.VRF)
		return cmp.Or(cmp.Compare(av.Name, bv.Name), a.Prefix.Addr().Compare(b.Prefix.Addr()), cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()), cmp.Compare(a.ID, b.ID))
	})
	var all []Prefix
	for _, p := range sorted {
		if vrf(p.VRF) && id(p.ID) && (!filtered || slices.Contains(want, p.Prefix.String())) {
			all = append(all, p)
		}
	}
	return page(c, all, c.renderPrefix)
}
