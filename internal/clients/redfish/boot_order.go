package redfish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// Bounds on a boot order: that is changed at all, and that is kept in a journal
// to be put back.
const (
	maxOrder       = 256
	maxKeptOrder   = 64
	maxKeptLetters = 2048
)

// An OrderPlan is a boot for once by the persistent boot order.
type OrderPlan struct {
	// Was is the order before.
	Was []string
	// First is the reference of the boot option that is moved to the front.
	First string
}

// SetBootOrder moves what want names to the front of the persistent boot order:
// references, aliases, or MAC addresses, which stand for all of their boot
// options. Everything else comes behind as it was: nothing is ever dropped.
func (c *Client) SetBootOrder(ctx context.Context, s System, want []string) (BootVia, error) {
	o, err := c.order(ctx, s)
	if err != nil {
		return BootVia{}, err
	}
	var options []bootOption
	if !knows(o.now, want) {
		if options, err = c.bootOptions(ctx, s); err != nil {
			return BootVia{}, err
		}
	}
	first, err := resolve(want, o.now, options)
	if err != nil {
		return BootVia{}, err
	}
	via := BootVia{Rung: RungOrder, First: first}
	via.Resource, via.Staged, err = o.write(ctx, arranged(o.now, first))

	return via, err
}

// PutFirst carries a plan out. An order that isn't the plan's any more is left
// alone: the plan is of another day.
func (c *Client) PutFirst(ctx context.Context, s System, plan OrderPlan) (BootVia, error) {
	o, err := c.order(ctx, s)
	if err != nil {
		return BootVia{}, err
	}
	if o.now[0] != plan.First && !slices.Equal(o.now, plan.Was) {
		return BootVia{}, failf(Refused, "the machine's boot order changed meanwhile, and was left alone")
	}
	via := BootVia{Rung: RungOrder, First: []string{plan.First}}
	via.Resource, via.Staged, err = o.write(ctx, arranged(o.now, via.First))

	return via, err
}

// PutBack undoes PutFirst: the option goes back behind those that it came after.
// Everything else stays as it is by now, such as the entry of an operating system
// that was installed meanwhile; where somebody else put another one first, all does.
func (c *Client) PutBack(ctx context.Context, s System, plan OrderPlan) error {
	o, err := c.order(ctx, s)
	if err != nil {
		return err
	}
	_, _, err = o.write(ctx, putBack(o.now, plan))

	return err
}

// order is a machine's persistent boot order.
type order struct {
	c     *Client
	facts quirk.Facts
	// places that show one, best first: the settings resource, where it has one.
	places []place
	now    []string
}

// order reads the persistent boot order, strictly.
func (c *Client) order(ctx context.Context, s System) (order, error) {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return order{}, err
	}
	all, err := c.showing(ctx, s, facts)
	if err != nil {
		return order{}, err
	}
	o := order{c: c, facts: facts}
	for _, p := range all {
		switch {
		case !p.boot.hasOrder:
		case lenient.SamePath(p.path, s.path):
			o.places = append(o.places, p)
		default:
			o.places = slices.Insert(o.places, 0, p)
		}
	}
	for _, p := range o.places {
		if len(o.now) == 0 {
			o.now = p.boot.Order // An empty one of the settings resource: nothing is staged.
		}
	}
	if len(o.now) == 0 || len(o.now) > maxOrder {
		return order{}, unoffered("Boot."+propOrder+" as a list of boot options", nil)
	}

	return o, nil
}

// write sets the order and reads it back. One that is there already isn't written.
func (o order) write(ctx context.Context, want []string) (resource string, staged bool, err error) {
	if slices.Equal(o.now, want) {
		return o.places[0].path, false, nil
	}
	var paths []string
	for _, p := range o.places {
		paths = append(paths, p.path)
	}
	body := map[string]any{"Boot": map[string]any{propOrder: want}}
	for _, p := range o.places {
		a, patchErr := o.c.patched(ctx, p, body, o.facts)
		if patchErr != nil {
			if err == nil {
				err = patchErr
			}
			if climbs(patchErr) {
				continue // Some settings resources show an order and take none.
			}

			return "", false, patchErr
		}
		_, ok, readErr := o.c.until(ctx, paths, func(b Boot) bool { return slices.Equal(b.Order, want) })
		if readErr != nil {
			return "", false, readErr
		}
		if job := a.header.Get("Location"); !ok && job != "" {
			return p.path, true, nil // A job has it (iDRAC), which runs at the next boot.
		}
		if ok {
			return p.path, false, nil
		}

		return "", false, noBootEffect(propOrder)
	}

	return "", false, err
}

// knows says whether all words are references of a boot order.
func knows(order, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return reference(order, w) == "" })
}

// reference is a word as the order spells it, "" where it isn't there.
func reference(order []string, word string) string {
	i := slices.IndexFunc(order, func(r string) bool { return strings.EqualFold(r, strings.TrimSpace(word)) })
	if i < 0 {
		return ""
	}

	return order[i]
}

// resolve turns words into references of the order, each once. It is pure.
func resolve(words, now []string, options []bootOption) ([]string, error) {
	var out []string
	for _, w := range words {
		refs := []string{reference(now, w)}
		if refs[0] == "" {
			refs = nil
			for _, o := range named(options, w) {
				if r := reference(now, o.reference); r != "" {
					refs = append(refs, r)
				}
			}
		}
		if len(refs) == 0 && len(options) == 0 {
			return nil, unoffered(fmt.Sprintf("%q in its boot order", w), now)
		}
		if len(refs) == 0 {
			return nil, unoffered(fmt.Sprintf("%q in its boot order", w), shown(options))
		}
		out = union(out, refs)
	}

	return out, nil
}

// arranged is the order with some of its references in front.
func arranged(now, first []string) []string {
	out := slices.Clone(first)
	for _, r := range now {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}

	return out
}

// putBack is the order without a plan's move. It is pure.
func putBack(now []string, plan OrderPlan) []string {
	was := slices.Index(plan.Was, plan.First)
	if len(now) == 0 || now[0] != plan.First || was < 0 {
		return now
	}
	rest := now[1:]
	for i := was - 1; i >= 0; i-- {
		if at := slices.Index(rest, plan.Was[i]); at >= 0 {
			return slices.Insert(slices.Clone(rest), at+1, plan.First)
		}
	}

	return now
}
