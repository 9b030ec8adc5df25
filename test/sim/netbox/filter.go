package netbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A filter makes a test of records of one of a query's values, or says why they are refused.
type filter[T any] func(c *exchange, values []string) (keep func(T) bool, why string)

// filters by their names in a query.
type filters[T any] map[string]filter[T]

// sift keeps the records that all known filters let through. Unknown ones are ignored, as NetBox ignores them (675), and so are empty
// ones (616).
func sift[T any](c *exchange, all []T, known filters[T]) ([]T, *response) {
	wrong := map[string]any{}
	var keeps []func(T) bool
	for key, values := range c.r.URL.Query() {
		f, ok := known[key]
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
		if !ok || len(values) == 0 {
			continue
		}
		keep, why := f(c, values)
		if why != "" {
			wrong[key] = []string{why}
			continue
		}
		keeps = append(keeps, keep)
	}
	if len(wrong) > 0 {
		return nil, answer(http.StatusBadRequest, wrong)
	}
	var out []T
	for _, v := range all {
		if !slices.ContainsFunc(keeps, func(keep func(T) bool) bool { return !keep(v) }) {
			out = append(out, v)
		}
	}
	return out, nil
}

// noChoice is how a filter refuses a value that is none of its choices.
func noChoice(v string) string {
	return "Select a valid choice. " + v + " is not one of the available choices."
}

// anyOf keeps what one of the values is about.
func anyOf[T any](one func(v string) func(T) bool) filter[T] {
	return func(_ *exchange, values []string) (func(T) bool, string) {
		return func(x T) bool {
			return slices.ContainsFunc(values, func(v string) bool { return one(v)(x) })
		}, ""
	}
}

// text adds the filter of a text and those with a suffix (617 to 622). Names of devices are compared without case (179).
func (fs filters[T]) text(key string, anyCase bool, of func(T) string) filters[T] {
	lower := strings.ToLower
	for suffix, holds := range map[string]func(got, want string) bool{
		"":      func(got, want string) bool { return got == want || anyCase && strings.EqualFold(got, want) },
		"__isw": func(got, want string) bool { return strings.HasPrefix(lower(got), lower(want)) },
		"__iew": func(got, want string) bool { return strings.HasSuffix(lower(got), lower(want)) },
		"__ic":  func(got, want string) bool { return strings.Contains(lower(got), lower(want)) },
		"__ie":  strings.EqualFold,
		"__n":   func(got, want string) bool { return got != want },
	} {
		fs[key+suffix] = anyOf(func(want string) func(T) bool {
			return func(x T) bool { return holds(of(x), want) }
		})
	}
	return fs
}

// numbers adds the filter of a number and those that compare.
func (fs filters[T]) numbers(key string, of func(T) int64) filters[T] {
	for suffix, holds := range map[string]func(got, want int64) bool{
		"":      func(got, want int64) bool { return got == want },
		"__n":   func(got, want int64) bool { return got != want },
		"__gt":  func(got, want int64) bool { return got > want },
		"__gte": func(got, want int64) bool { return got >= want },
		"__lt":  func(got, want int64) bool { return got < want },
		"__lte": func(got, want int64) bool { return got <= want },
	} {
		fs[key+suffix] = func(_ *exchange, values []string) (func(T) bool, string) {
			var wants []int64
			for _, v := range values {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					return nil, "Enter a whole number."
				}
				wants = append(wants, n)
			}
			return func(x T) bool {
				return slices.ContainsFunc(wants, func(n int64) bool { return holds(of(x), n) })
			}, ""
		}
	}
	return fs
}

// truth adds the filter of a yes or no.
func (fs filters[T]) truth(key string, of func(T) bool) filters[T] {
	fs[key] = anyOf(func(v string) func(T) bool {
		return func(x T) bool { return of(x) == (strings.ToLower(v) == "true" || v == "1") }
	})
	return fs
}

// choice adds the filter of a choice; a value that is none is refused (259).
func (fs filters[T]) choice(key string, of func(T) string, allowed ...string) filters[T] {
	fs[key] = func(_ *exchange, values []string) (func(T) bool, string) {
		for _, v := range values {
			if !slices.Contains(allowed, v) {
				return nil, noChoice(v)
			}
		}
		return func(x T) bool { return slices.Contains(values, of(x)) }, ""
	}
	return fs
}

// times adds the filters of a time.
func (fs filters[T]) times(key string, of func(T) time.Time) filters[T] {
	for suffix, holds := range map[string]func(got, want time.Time) bool{
		"":      func(got, want time.Time) bool { return got.Equal(want) },
		"__gt":  func(got, want time.Time) bool { return got.After(want) },
		"__gte": func(got, want time.Time) bool { return !got.Before(want) },
		"__lt":  func(got, want time.Time) bool { return got.Before(want) },
		"__lte": func(got, want time.Time) bool { return !got.After(want) },
	} {
		fs[key+suffix] = func(_ *exchange, values []string) (func(T) bool, string) {
			want, err := time.Parse(time.RFC3339Nano, strings.Replace(values[0], " ", "+", 1))
			if err != nil {
				want, err = time.Parse(time.DateOnly, values[0])
			}
			if err != nil {
				return nil, "Enter a valid date/time."
			}
			return func(x T) bool { return holds(of(x), want) }, ""
		}
	}
	return fs
}

// A target is what a relation leads to: it finds the number of a value, such as a slug.
type target func(c *exchange, v string) (id int64, ok bool)

// related adds the filter of a relation: null is none, an unknown target is refused (230, 234, 240), several are OR.
func (fs filters[T]) related(key string, to target, of func(T) int64) filters[T] {
	find := func(c *exchange, values []string) (wants []int64, why string) {
		for _, v := range values {
			if v == "null" {
				wants = append(wants, 0)
				continue
			}
			if _, err := strconv.Atoi(v); err != nil && strings.HasSuffix(key, "_id") {
				return nil, "“" + v + "” is not a valid value."
			}
			id, ok := to(c, v)
			if !ok {
				return nil, noChoice(v)
			}
			wants = append(wants, id)
		}
		return wants, ""
	}
	for suffix, holds := range map[string]bool{"": true, "__n": false} {
		fs[key+suffix] = func(c *exchange, values []string) (func(T) bool, string) {
			wants, why := find(c, values)
			return func(x T) bool { return slices.Contains(wants, of(x)) == holds }, why
		}
	}
	return fs
}

// things adds the filters of a relation to a tenant, site or role: by slug, and by number.
func (fs filters[T]) things(kind string, of func(T) int64) filters[T] {
	find := func(is func(n Named, v string) bool) target {
		return func(c *exchange, v string) (int64, bool) {
			i := slices.IndexFunc(c.s.state.named[kind], func(n Named) bool { return is(n, v) })
			if i < 0 {
				return 0, false
			}
			return c.s.state.named[kind][i].ID, true
		}
	}
	fs.related(kind, find(func(n Named, v string) bool { return n.Slug == v }), of)
	return fs.related(kind+"_id", find(func(n Named, v string) bool { return strconv.FormatInt(n.ID, 10) == v }), of)
}

// vrfs adds the filters of the VRF: vrf is the RD, not the name (223, 224); null is the global table.
func (fs filters[T]) vrfs(of func(T) int64) filters[T] {
	find := func(is func(v VRF, want string) bool) target {
		return func(c *exchange, want string) (int64, bool) {
			i := slices.IndexFunc(c.s.state.vrfs, func(v VRF) bool { return is(v, want) })
			if i < 0 {
				return 0, false
			}
			return c.s.state.vrfs[i].ID, true
		}
	}
	number := find(func(v VRF, want string) bool { return strconv.FormatInt(v.ID, 10) == want })
	fs.related("vrf", find(func(v VRF, want string) bool { return v.RD == want }), of)
	fs.related("present_in_vrf_id", number, of)
	return fs.related("vrf_id", number, of)
}

// tags adds the filter of tags by slug. Several are AND (635); an unknown one is refused (237).
func (fs filters[T]) tags(of func(T) []int64) filters[T] {
	for suffix, holds := range map[string]bool{"": true, "__n": false} {
		fs["tag"+suffix] = func(c *exchange, values []string) (func(T) bool, string) {
			var wants []int64
			for _, v := range values {
				i := slices.IndexFunc(c.s.state.named["tag"], func(n Named) bool { return n.Slug == v })
				if i < 0 {
					return nil, noChoice(v)
				}
				wants = append(wants, c.s.state.named["tag"][i].ID)
			}
			return func(x T) bool {
				return !slices.ContainsFunc(wants, func(id int64) bool { return slices.Contains(of(x), id) != holds })
			}, ""
		}
	}
	return fs
}

// custom adds ?cf_NAME and its relatives for each custom field of the type of objects that is filtered; that of any other field is
// unknown, and so returns everything (626, 793, 796).
func (fs filters[T]) custom(c *exchange, objects string, of func(T) map[string]any) filters[T] {
	for _, f := range c.s.state.fields {
		if f.FilterLogic == "disabled" || !f.on(objects) {
			continue
		}
		key, value := "cf_"+f.Name, func(x T) any { return of(x)[f.Name] }
		if f.Type == "integer" {
			fs.numbers(key, func(x T) int64 { return wholeOr(value(x), -1<<62) })
			continue
		}
		fs.text(key, false, func(x T) string { return plain(value(x)) })
		fs[key] = anyOf(func(want string) func(T) bool { return func(x T) bool { return f.matches(value(x), want) } })
		fs.truth(key+"__empty", func(x T) bool { return value(x) == nil || value(x) == "" })
		if !c.s.traits.atLeast(4, 4) { // which finds nothing, whatever is asked (617, 618)
			fs[key+"__empty"] = anyOf(func(string) func(T) bool { return func(T) bool { return false } })
		}
	}
	return fs
}

// matches is null for unset (752), and by the field's own filter logic.
func (f *CustomField) matches(got any, want string) bool {
	if got == nil || want == "null" {
		return got == nil && want == "null"
	}
	if f.FilterLogic == "loose" && f.Type == "text" {
		return strings.Contains(strings.ToLower(plain(got)), strings.ToLower(want))
	}
	return plain(got) == want
}
