package redfish

import (
	"context"
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
	// At are the JSON pointers of these properties, and Set what they're given, by
	// the row of quirks that the plan was made by: it may be another one by the time
	// that they're put back. A plan of an older version has neither.
	At, Set []string
}

// Fields of a plan that can't be gone on with.
const (
	// OtherRow is of one that the rows of quirks tell nothing of any more.
	OtherRow = "what a boot by the vendor's own way was begun by: its row of quirks was changed, or taken out"
	// Unlisted is of one whose row is as it was, while the BMC doesn't list whose
	// resource it is, as BMCs do while they start.
	Unlisted = "the resource that a boot by the vendor's own way was begun by: its manager isn't listed just now"
)

// SetOEM carries a plan out for a target, and reads it back. What is so already
// isn't written. Properties that are neither what they were nor what they are to be
// are somebody else's: that is Refused, and they're left alone.
func (c *Client) SetOEM(ctx context.Context, s System, target string, plan OEMPlan) (BootVia, error) {
	o, facts, err := c.oemOf(ctx, s, plan, false)
	if err != nil {
		return BootVia{}, err
	}
	word := o.vendor.Words[target]
	if plan.OfOverride() {
		word = plan.Set[0]
	}
	if word == "" {
		return BootVia{}, unoffered("a word of the vendor's for "+target, nil)
	}
	want := oemValues(o.vendor, word)
	if len(plan.At) > 0 && !slices.Equal(want, plan.Set) {
		return BootVia{}, unoffered(OtherRow, nil) // What was kept doesn't tell of this one.
	}
	for i, now := range o.values {
		if now != plan.Was[i] && !strings.EqualFold(now, want[i]) {
			return BootVia{}, failf(Refused, "the vendor's own boot setting changed meanwhile, and was left alone")
		}
	}
	body := map[string]any{}
	for i, p := range oemPointers(o.vendor) {
		point(body, p, o.typed(p, want[i]))
	}

	via := BootVia{Rung: RungOEM, Resource: o.path}
	if plan.OfOverride() {
		via.Rung = RungSystem
	}

	return via, c.writeOEM(ctx, o, want, body, facts)
}

// ClearOEM undoes SetOEM: the properties get what they were, as far as they're
// something else, since a BMC may have taken one of them and refuse the other. One
// that shows another target by now was used up by the boot, or is somebody else's,
// and is left alone; so is a property beside the target that isn't what it was set to. What was set is the plan's word, whatever the rows of quirks
// say by now; where none of them tells of such properties, of this machine or another
// one's, nothing is written: a journal alone opens no resource.
func (c *Client) ClearOEM(ctx context.Context, s System, target string, plan OEMPlan) error {
	o, facts, err := c.oemOf(ctx, s, plan, true)
	if err != nil {
		return err
	}
	set := o.vendor.Words[target]
	if len(plan.Set) > 0 {
		set = plan.Set[0]
	}
	if !strings.EqualFold(o.values[0], set) {
		return nil
	}
	body, want := map[string]any{}, slices.Clone(o.values)
	for i, p := range oemPointers(o.vendor) {
		others := len(plan.Set) == len(o.values) && !strings.EqualFold(o.values[i], plan.Set[i])
		if o.values[i] != plan.Was[i] && !others {
			want[i] = plan.Was[i]
			point(body, p, o.typed(p, plan.Was[i]))
		}
	}

	return c.writeOEM(ctx, o, want, body, facts)
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
			at, set := oemPointers(o.vendor), oemValues(o.vendor, o.vendor.Words[l.want.Target])

			return &OEMPlan{Resource: path, Was: o.values, At: at, Set: set}, nil
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

// oemOf reads the resource of a plan, where the rows of quirks still tell of it:
// those that are followed, or, to undo it, any of them.
func (c *Client) oemOf(ctx context.Context, s System, plan OEMPlan, undo bool) (oemPlace, quirk.Facts, error) {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return oemPlace{}, facts, err
	}
	var missed error
	for _, vendor := range c.vendorsOf(facts, plan, undo) {
		paths, err := c.oemPaths(ctx, s, vendor)
		if err != nil {
			return oemPlace{}, facts, err
		}
		if !slices.ContainsFunc(paths, func(path string) bool { return lenient.SamePath(path, plan.Resource) }) {
			if missed == nil && ofManager(vendor, plan.Resource) {
				missed = unoffered(Unlisted, nil)
			}

			continue
		}
		o, err := c.oemAt(ctx, plan.Resource, vendor)
		switch {
		case err == nil && len(plan.Was) == len(o.values):
			return o, facts, nil
		case err != nil:
			missed = err
		}
	}
	if missed == nil {
		missed = unoffered(OtherRow, nil)
	}

	return oemPlace{}, facts, missed
}

// ofManager says whether a row tells of such a resource of a manager's.
func ofManager(vendor quirk.OEMBoot, resource string) bool {
	return slices.ContainsFunc(vendor.Resources, func(of string) bool {
		below, ok := strings.CutPrefix(of, quirk.OfManager)

		return ok && below != "" && strings.HasSuffix(strings.ToLower(strings.TrimRight(resource, "/")), strings.ToLower(strings.TrimRight(below, "/")))
	})
}

// vendorsOf are the ways of vendors' own that a plan may have been made by: this
// machine's, and to undo it, where that is about other properties by now, those of
// any row.
func (c *Client) vendorsOf(facts quirk.Facts, plan OEMPlan, undo bool) []quirk.OEMBoot {
	out := []quirk.OEMBoot{facts.OEM}
	if plan.OfOverride() {
		out = []quirk.OEMBoot{keptOverride()}
	}
	if len(plan.At) > 0 && undo {
		for _, r := range c.cfg.Quirks {
			out = append(out, r.Facts.OEM)
		}
	}

	return slices.DeleteFunc(out, func(o quirk.OEMBoot) bool {
		return o.Target == "" || len(plan.At) > 0 && (!slices.Equal(oemPointers(o), plan.At) || len(plan.Set) != len(plan.At))
	})
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
