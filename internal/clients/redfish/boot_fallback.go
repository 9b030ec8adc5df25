package redfish

import (
	"context"
	"slices"
	"strings"
)

// plan is how a boot for once can be had by the boot order, nil where it can't.
func (l *ladder) plan(ctx context.Context) (*OrderPlan, error) {
	if !l.plain() || !l.allowed(RungOrder) {
		return nil, nil
	}
	o, err := l.c.order(ctx, l.s)
	if err != nil {
		return nil, err
	}
	option, err := l.option(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(o.now, option.reference) || len(o.now) > maxKeptOrder || len(strings.Join(o.now, "")) > maxKeptLetters {
		return nil, nil
	}

	return &OrderPlan{Was: o.now, First: option.reference}, nil
}

// plain says whether a target for one boot is all that is wanted.
func (l *ladder) plain() bool {
	return l.ownMode() && !l.want.Lasting && l.want.URI == ""
}

// ownMode says whether no other boot mode is wanted than the machine's own.
func (l *ladder) ownMode() bool {
	return l.want.Mode == "" || strings.EqualFold(l.want.Mode, l.places[0].boot.Mode)
}

// left are the ways that are left. One that can't be read hides no other one; where
// there's none, it may be the one that can't.
func (l *ladder) left(ctx context.Context) (*OrderPlan, *OEMPlan, error) {
	plan, orderErr := l.plan(ctx)
	oem, oemErr := l.oem(ctx)
	switch {
	case plan != nil, oem != nil:
		return plan, oem, nil
	case orderErr != nil && !climbs(orderErr):
		return nil, nil, orderErr
	default:
		return nil, nil, oemErr
	}
}

// refusal is the error of a ladder without a rung: what was tried and didn't
// work, else what the machine offers.
func (l *ladder) refusal(ctx context.Context) error {
	if l.kept != nil {
		e := unoffered(propEnabled+" "+EnabledOnce, nil)
		e.OEM = l.kept

		return e
	}
	plan, oem, err := l.left(ctx)
	if err != nil {
		return err
	}
	if l.want.Target == TargetBootOption && len(l.fell) == 0 {
		if _, err := l.option(ctx); err != nil {
			return err
		}
		l.fell = append(l.fell, unoffered("a boot by boot option", l.targets()))
	}
	worst := l.fell[0]
	for _, e := range l.fell {
		if KindOf(worst) == Unsupported && KindOf(e) != Unsupported {
			worst = e
		}
	}
	e, ok := worst.(*Error) //nolint:errorlint // fall takes no others.
	if !ok {
		return worst
	}
	out := *e
	out.Fallback, out.OEM = plan, oem
	if len(out.Offers) > 0 || out.Kind != Unsupported {
		return &out
	}
	if _, err := l.all(ctx); err != nil {
		return err
	}
	out.Offers = l.bootable()

	return &out
}

// bootable are the kinds of boot options that a machine without a list of targets
// has, best first.
func (l *ladder) bootable() []string {
	var out []string
	for _, o := range l.options {
		if k := o.kind(); k != "" {
			out = union(out, []string{k})
		}
	}

	return out
}
