package redfish

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// maxOEMPlaces bounds how many resources are looked at for a vendor's own way.
const maxOEMPlaces = 8

// An OEMPlan is a boot for once by a resource of the vendor's own.
type OEMPlan struct {
	// Resource that has it.
	Resource string
	// Was is what its properties were before, in the order of quirk.OEMBoot: the
	// target, then the others by their pointers.
	Was []string
}

// SetOEM carries a plan out for a target, and reads it back. What is so already
// isn't written. Properties that are neither what they were nor what they are to be
// are somebody else's: that is Refused, and they're left alone.
func (c *Client) SetOEM(ctx context.Context, s System, target string, plan OEMPlan) (BootVia, error) {
	o, facts, err := c.oemOf(ctx, s, plan)
	if err != nil {
		return BootVia{}, err
	}
	word := o.vendor.Words[target]
	if word == "" {
		return BootVia{}, unoffered("a word of the vendor's for "+target, nil)
	}
	want := oemValues(o.vendor, word)
	for i, now := range o.values {
		if now != plan.Was[i] && !strings.EqualFold(now, want[i]) {
			return BootVia{}, failf(Refused, "the vendor's own boot setting changed meanwhile, and was left alone")
		}
	}
	body := map[string]any{}
	for i, p := range oemPointers(o.vendor) {
		point(body, p, o.typed(p, want[i]))
	}

	return BootVia{Rung: RungOEM, Resource: o.path}, c.writeOEM(ctx, o, want, body, facts)
}

// ClearOEM undoes SetOEM: the properties get what they were, as far as they're
// something else, since a BMC may have taken one of them and refuse the other. One
// that shows another target by now was used up by the boot, or is somebody else's,
// and is left alone.
func (c *Client) ClearOEM(ctx context.Context, s System, target string, plan OEMPlan) error {
	o, facts, err := c.oemOf(ctx, s, plan)
	if err != nil {
		return err
	}
	if !strings.EqualFold(o.values[0], o.vendor.Words[target]) {
		return nil
	}
	body := map[string]any{}
	for i, p := range oemPointers(o.vendor) {
		if o.values[i] != plan.Was[i] {
			point(body, p, o.typed(p, plan.Was[i]))
		}
	}

	return c.writeOEM(ctx, o, plan.Was, body, facts)
}

// oem is how a boot for once can be had by the vendor's own way, nil where it can't.
func (l *ladder) oem(ctx context.Context) (*OEMPlan, error) {
	if l.facts.OEM.Words[l.want.Target] == "" || !l.plain() || !l.allowed(RungOEM) {
		return nil, nil
	}
	paths, err := l.c.oemPaths(ctx, l.s, l.facts.OEM)
	if err != nil {
		return nil, passed(err)
	}
	for _, path := range paths {
		o, err := l.c.oemAt(ctx, path, l.facts.OEM)
		if err == nil {
			return &OEMPlan{Resource: path, Was: o.values}, nil
		}
		if passed(err) != nil {
			return nil, err
		}
	}

	return nil, nil
}

// passed is nil for the error of what a BMC only hasn't got, or doesn't show.
func passed(err error) error {
	if skippable(err) || IsUnsupported(err) {
		return nil
	}

	return err
}

// oemPlace is a resource of the vendor's own, as it is now.
type oemPlace struct {
	path, etag string
	vendor     quirk.OEMBoot
	body       map[string]any
	// values of its properties, as those of a plan.
	values []string
}

// oemOf reads the resource of a plan, where the rows of quirks still tell of it.
func (c *Client) oemOf(ctx context.Context, s System, plan OEMPlan) (oemPlace, quirk.Facts, error) {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return oemPlace{}, facts, err
	}
	paths, err := c.oemPaths(ctx, s, facts.OEM)
	if err != nil {
		return oemPlace{}, facts, err
	}
	if !slices.ContainsFunc(paths, func(path string) bool { return lenient.SamePath(path, plan.Resource) }) {
		return oemPlace{}, facts, unoffered("a way of the vendor's own at "+bounded(plan.Resource, maxURI), nil)
	}
	o, err := c.oemAt(ctx, plan.Resource, facts.OEM)
	if err == nil && len(plan.Was) != len(o.values) {
		err = unoffered("the properties of a boot by the vendor's own way that was begun by another row of quirks", nil)
	}

	return o, facts, err
}

// oemPaths are where the vendor's own way may be, best first.
func (c *Client) oemPaths(ctx context.Context, s System, vendor quirk.OEMBoot) ([]string, error) {
	var out, managers []string
	for _, of := range vendor.Resources {
		if below, ok := strings.CutPrefix(of, quirk.OfSystem); ok {
			out = append(out, strings.TrimRight(s.path, "/")+below)

			continue
		}
		below, ok := strings.CutPrefix(of, quirk.OfManager)
		if !ok {
			continue
		}
		if managers == nil {
			var err error
			if managers, err = c.ownManagers(ctx, s); err != nil {
				return nil, err
			}
		}
		for _, m := range managers {
			out = append(out, strings.TrimRight(m, "/")+below)
		}
	}

	return out[:min(len(out), maxOEMPlaces)], nil
}

// oemAt reads a resource. All of the properties must be there.
func (c *Client) oemAt(ctx context.Context, path string, vendor quirk.OEMBoot) (oemPlace, error) {
	o := oemPlace{path: path, vendor: vendor, body: map[string]any{}}
	a, err := c.get(ctx, path, &o.body)
	if err != nil {
		return oemPlace{}, err
	}
	o.etag = a.etag
	for _, p := range oemPointers(vendor) {
		value := ""
		switch v := pointed(o.body, p).(type) {
		case string:
			value = v
		case bool:
			value = strconv.FormatBool(v)
		}
		// What can't be kept as it is can't be put back.
		if value == "" || len(value) > maxWord || strings.ContainsAny(value, "\r\n") {
			return oemPlace{}, unoffered(fieldOf(p), nil)
		}
		o.values = append(o.values, value)
	}

	return o, nil
}

// typed is a value as a property takes it: a flag where it shows one.
func (o oemPlace) typed(pointer, value string) any {
	if _, flag := pointed(o.body, pointer).(bool); flag {
		return value == strconv.FormatBool(true)
	}

	return value
}

// writeOEM gives the properties of a resource their values by a body, and reads them
// back. A BMC may spell them in another way.
func (c *Client) writeOEM(ctx context.Context, o oemPlace, values []string, body map[string]any, facts quirk.Facts) error {
	if slices.EqualFunc(o.values, values, strings.EqualFold) {
		return nil
	}
	if _, err := c.patched(ctx, place{path: o.path, etag: o.etag}, body, facts); err != nil {
		return err
	}
	now := o
	ok, err := c.readBack(ctx, func() (bool, error) {
		var err error
		now, err = c.oemAt(ctx, o.path, o.vendor)

		return err == nil && slices.EqualFunc(now.values, values, strings.EqualFold), err
	})
	if err != nil || ok {
		return err
	}
	pointers := oemPointers(o.vendor)
	for i, p := range pointers {
		if !strings.EqualFold(now.values[i], values[i]) {
			return noEffect(fieldOf(p))
		}
	}

	return noEffect(fieldOf(pointers[0]))
}

// oemPointers are those of the properties, in their order.
func oemPointers(vendor quirk.OEMBoot) []string {
	return append([]string{vendor.Target}, slices.Sorted(maps.Keys(vendor.With))...)
}

// oemValues are what the properties are to be.
func oemValues(vendor quirk.OEMBoot, word string) []string {
	out := []string{word}
	for _, p := range slices.Sorted(maps.Keys(vendor.With)) {
		out = append(out, vendor.With[p])
	}

	return out
}

// unescaped is a reference token of a JSON pointer.
var unescaped = strings.NewReplacer("~1", "/", "~0", "~") //nolint:gochecknoglobals // A table.

func tokens(pointer string) []string {
	out := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range out {
		out[i] = unescaped.Replace(out[i])
	}

	return out
}

// fieldOf is a pointer for people.
func fieldOf(pointer string) string { return bounded(strings.TrimPrefix(pointer, "/"), maxURI) }

// pointed is the value at a pointer; nil where there's none.
func pointed(body map[string]any, pointer string) any {
	var v any = body
	for _, name := range tokens(pointer) {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[name]
	}

	return v
}

// point puts a value at a pointer.
func point(body map[string]any, pointer string, v any) {
	names := tokens(pointer)
	last := len(names) - 1
	for _, name := range names[:last] {
		next, ok := body[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			body[name] = next
		}
		body = next
	}
	body[names[last]] = v
}
