package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// Rung is one of the ways in which a boot source is set, from the standard one
// down to those that are left where a BMC lacks it.
type Rung string

// The rungs.
const (
	// RungSettings and RungSystem are the override, by the resource that takes it.
	RungSettings Rung = "Settings"
	RungSystem   Rung = "System"
	// RungNext is UefiBootNext with the reference of a boot option.
	RungNext Rung = "BootNext"
	// RungOrder moves a boot option to the front of the persistent boot order,
	// until the machine has booted.
	RungOrder Rung = "BootOrder"
	// RungOEM is a resource of the vendor's own, that a row of quirks tells of.
	RungOEM Rung = "OEM"
)

// NoOverride is the Field of a machine that has no override at all.
const NoOverride = "Boot." + propTarget

// A BootVia says by what a boot source was set.
type BootVia struct {
	Rung Rung
	// Resource that shows it.
	Resource string
	// Why a better rung wasn't it; "" for the best one.
	Why string
	// First are the references that the words of a boot order stand for, as they
	// are at its front now.
	First []string
	// Staged says that the BMC has taken an order, and has it at the next boot.
	Staged bool
}

// SetBoot sets a boot source, and reads it back. One that is set already is left
// alone. What the machine doesn't offer is refused before anything is written:
// the error is Unsupported, with what it offers, with a Fallback where a boot for
// once can be had by the boot order, and with OEM where the vendor has a way of its own.
func (c *Client) SetBoot(ctx context.Context, s System, want BootSource) (BootVia, error) {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return BootVia{}, err
	}
	l := &ladder{c: c, s: s, facts: facts, want: want}
	if l.places, err = c.showing(ctx, s, facts); err != nil {
		return BootVia{}, err
	}
	via, err := l.climb(ctx)
	if err != nil {
		return BootVia{}, err
	}
	via.Why = strings.Join(l.why, "; ")

	return via, nil
}

// ladder is one attempt at setting a boot source.
type ladder struct {
	c      *Client
	s      System
	facts  quirk.Facts
	want   BootSource
	places []place

	// options of the machine, once they were read.
	options []bootOption
	read    bool
	// fell is why each rung wasn't it, and why the same in words.
	fell []error
	why  []string
	// kept is how to boot once by an override that the BMC keeps for every boot.
	kept *OEMPlan
}

func (l *ladder) climb(ctx context.Context) (BootVia, error) {
	for _, rung := range []func(context.Context) (BootVia, error){l.override, l.next, l.byPath} {
		via, err := rung(ctx)
		if err == nil {
			return via, nil
		}
		if l.kept != nil {
			break
		}
		if !climbs(err) {
			return BootVia{}, err
		}
	}

	return BootVia{}, l.refusal(ctx)
}

// climbs says whether an error of one rung leads to the next one: the BMC hasn't
// got it, refuses it, or does nothing. A BMC that is busy or away is asked again.
func climbs(err error) bool {
	switch KindOf(err) {
	case Unsupported, NoEffect, NotFound:
		return true
	case Refused:
		s := statusOf(err)

		return s == http.StatusBadRequest || s == http.StatusMethodNotAllowed || s == http.StatusNotImplemented
	default:
		return false
	}
}

// allowed says whether the quirks leave a rung.
func (l *ladder) allowed(r Rung) bool {
	return len(l.facts.Rungs) == 0 || slices.Contains(l.facts.Rungs, string(r))
}

// fall notes why a rung wasn't it.
func (l *ladder) fall(r Rung, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	l.fell = append(l.fell, err)
	switch {
	case e.Kind == Unsupported && e.Field != "":
		l.why = append(l.why, string(r)+" doesn't offer "+e.Field)
	case e.Kind == NoEffect:
		l.why = append(l.why, string(r)+" accepted "+e.Field+" without effect")
	case e.MessageID != "":
		l.why = append(l.why, string(r)+" refused it ("+e.MessageID+")")
	default:
		l.why = append(l.why, string(r)+" refused it")
	}

	return err
}

// override is the standard's way. Of two resources the one that lists the target
// comes first; the other one is tried only for a target that one of them lists.
func (l *ladder) override(ctx context.Context) (BootVia, error) {
	if l.want.Target == TargetBootOption {
		return BootVia{}, unoffered(TargetBootOption, nil)
	}
	var listing, others []place
	for _, p := range l.places {
		switch {
		case !p.takesOverride() || !l.allowed(rungOf(l.s, p.path)):
		case l.lists(p):
			listing = append(listing, p)
		default:
			others = append(others, p)
		}
	}
	if len(listing) == 0 {
		field := propTarget + " " + l.want.Target
		if len(others) == 0 {
			field = NoOverride
		}

		return BootVia{}, l.fall(l.firstRung(), unoffered(field, l.targets()))
	}
	var err error
	for _, p := range append(listing, others...) {
		var via BootVia
		if via, err = l.set(ctx, p, rungOf(l.s, p.path), l.setting(p)); err == nil || !climbs(err) || l.kept != nil {
			return via, err
		}
	}

	return BootVia{}, err
}

func (l *ladder) firstRung() Rung { return rungOf(l.s, l.places[0].path) }

// targets are those that the machine lists, at either resource.
func (l *ladder) targets() []string {
	var out []string
	for _, p := range l.places {
		out = union(out, p.boot.Targets)
	}

	return out
}

// lists says whether a resource takes the target: by its own list, by being set
// to it (BlueField's rests at a target that it doesn't list), or, where it has no
// list (GH200), by the other resource's.
func (l *ladder) lists(p place) bool {
	list := p.boot.Targets
	if len(list) == 0 {
		list = l.targets()
	}

	return len(list) == 0 || listed(list, l.want.Target) != "" || p.boot.Target == l.want.Target
}

// setting is the want in the words of a resource.
func (l *ladder) setting(p place) setting {
	w := setting{target: l.want.Target, enabled: EnabledOnce, mode: l.want.Mode, uri: l.want.URI, path: l.want.DevicePath}
	if word := listed(p.boot.Targets, w.target); word != "" {
		w.target = word
	}
	if l.want.Lasting {
		w.enabled = EnabledContinuous
	}
	if w.mode == "" && (w.target == targetUefiHTTP || w.target == targetUefi) {
		w.mode = modeUEFI
	}

	return w
}

// set writes a setting to a resource and reads it back.
func (l *ladder) set(ctx context.Context, p place, r Rung, w setting) (BootVia, error) {
	via := BootVia{Rung: r, Resource: p.path}
	// An override of another name isn't ours before it was written.
	if w.reached(p.boot, quirk.Facts{}) {
		return via, nil
	}
	if err := l.offered(p, w); err != nil {
		return BootVia{}, l.fall(r, err)
	}
	if err := l.c.write(ctx, p, w, l.facts); err != nil {
		return BootVia{}, l.fall(r, err)
	}
	paths := []string{p.path}
	if r == RungSettings {
		paths = append(paths, l.s.path)
	}
	now, ok, err := l.c.until(ctx, paths, func(b Boot) bool { return w.reached(b, l.facts) })
	if err != nil {
		return BootVia{}, err
	}
	if !ok {
		return BootVia{}, l.fall(r, l.ineffective(ctx, p, w, now))
	}

	return via, nil
}

// offered says what of a setting, beside its target, a resource doesn't take.
func (l *ladder) offered(p place, w setting) error {
	now := p.boot
	enabling, modes := now.Enabling, now.Modes
	for _, other := range l.places {
		if len(now.Enabling) == 0 {
			enabling = union(enabling, other.boot.Enabling)
		}
		if len(now.Modes) == 0 {
			modes = union(modes, other.boot.Modes)
		}
	}
	switch {
	case w.enabled == EnabledContinuous && l.facts.Continuous == quirk.Refused:
		return unoffered(propEnabled+" "+w.enabled, []string{EnabledOnce})
	case len(enabling) > 0 && !slices.Contains(enabling, w.enabled):
		return unoffered(propEnabled+" "+w.enabled, slices.DeleteFunc(slices.Clone(enabling), func(s string) bool { return s == EnabledDisabled }))
	case w.uri != "" && !now.hasURI:
		return unoffered(propURI, nil)
	case w.path != "" && (!now.hasPath || len(now.paths) > 0 && !slices.Contains(now.paths, w.path)):
		return unoffered(propPath+" "+w.path, now.paths)
	case l.want.Mode != "" && now.Mode == "":
		return unoffered(propMode+" "+l.want.Mode, nil)
	case w.otherMode(now) && (l.facts.Mode == quirk.Never || len(modes) > 0 && !slices.Contains(modes, w.mode)):
		return unoffered(propMode+" "+w.mode, []string{now.Mode})
	default:
		return nil
	}
}

// next boots a boot option by UefiBootNext, where a resource has that and the
// machine a fitting option.
func (l *ladder) next(ctx context.Context) (BootVia, error) {
	missing := unoffered(propNext, nil)
	if l.want.Lasting || l.want.URI != "" || !l.allowed(RungNext) || listed(l.targets(), targetNext) == "" {
		return BootVia{}, missing
	}
	i := slices.IndexFunc(l.places, func(p place) bool { return p.boot.hasNext && p.takesOverride() })
	if i < 0 {
		return BootVia{}, missing
	}
	o, err := l.option(ctx)
	if err != nil {
		return BootVia{}, err
	}

	return l.set(ctx, l.places[i], RungNext, setting{target: targetNext, enabled: EnabledOnce, next: o.reference, mode: l.want.Mode})
}

// byPath boots a boot option by its UEFI device path, where the machine takes one.
func (l *ladder) byPath(ctx context.Context) (BootVia, error) {
	missing := unoffered(propTarget+" "+targetUefi, nil)
	if l.want.Target != TargetBootOption || l.want.Lasting || listed(l.targets(), targetUefi) == "" {
		return BootVia{}, missing
	}
	o, err := l.option(ctx)
	if err != nil {
		return BootVia{}, err
	}
	err = missing
	for _, p := range l.places {
		r := rungOf(l.s, p.path)
		if o.path == "" || !p.takesOverride() || !l.allowed(r) {
			continue
		}
		mode := l.want.Mode
		if mode == "" {
			mode = modeUEFI
		}
		via, setErr := l.set(ctx, p, r, setting{target: targetUefi, enabled: EnabledOnce, path: o.path, mode: mode})
		if setErr == nil || !climbs(setErr) {
			return via, setErr
		}
		err = setErr
	}

	return BootVia{}, err
}
