package redfish

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// Values of the override's properties that this package writes.
const (
	TargetNone      = "None"
	EnabledOnce     = "Once"
	EnabledDisabled = "Disabled"
	modeUEFI        = "UEFI"
	targetUefiHTTP  = "UefiHttp"
)

// Properties of ComputerSystem.Boot (schema ComputerSystem 1.5 and later; Mode 1.1).
const (
	propTarget  = "BootSourceOverrideTarget"
	propEnabled = "BootSourceOverrideEnabled"
	propMode    = "BootSourceOverrideMode"
)

// readBacks is how often a write is looked for before it counts as lost.
const readBacks = 3

// SetBootOnce makes the next boot of s go to target (Pxe, UefiHttp, Hdd, Cd,
// BiosSetup) and reads it back. A target that is already set is left alone.
func (c *Client) SetBootOnce(ctx context.Context, s System, target string) error {
	if len(s.Boot.Targets) > 0 && !slices.Contains(s.Boot.Targets, target) {
		return unsupported(propTarget + " " + target)
	}

	return c.override(ctx, s, target, EnabledOnce)
}

// ClearBoot takes an override away: Target None alone leaves it enabled on
// some BMCs, Enabled Disabled alone leaves the target on others.
func (c *Client) ClearBoot(ctx context.Context, s System) error {
	return c.override(ctx, s, TargetNone, EnabledDisabled)
}

func (c *Client) override(ctx context.Context, s System, target, enabled string) error {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return err
	}
	place, err := c.overridePlace(ctx, s, facts)
	if err != nil {
		return err
	}
	if reached(place.boot, target, enabled, facts) {
		return nil
	}
	if place.boot.Enabled == "" && !place.takesOverride() {
		if enabled == EnabledDisabled {
			return nil
		}

		return unsupported("Boot." + propTarget)
	}
	if err := c.write(ctx, place, target, enabled, facts); err != nil {
		return err
	}

	return c.readBack(ctx, place.path, target, enabled, facts)
}

// write sends an override. A BMC that shows a mode and refuses it in a PATCH
// (some want it elsewhere, some set it by a BIOS job only) is asked without.
func (c *Client) write(ctx context.Context, p place, target, enabled string, facts quirk.Facts) error {
	err := c.patch(ctx, p, payload(p.boot, target, enabled, facts), facts)
	if statusOf(err) != http.StatusBadRequest || p.boot.Mode == "" || facts.Mode == quirk.Never || enabled == EnabledDisabled {
		return err
	}
	facts.Mode = quirk.Never
	if again := c.patch(ctx, p, payload(p.boot, target, enabled, facts), facts); statusOf(again) != http.StatusBadRequest {
		return again
	}

	return err
}

// payload is the PATCH for an override. It is pure.
func payload(now Boot, target, enabled string, facts quirk.Facts) map[string]any {
	boot := map[string]string{propTarget: target, propEnabled: enabled}
	if now.Mode != "" && facts.Mode != quirk.Never && enabled != EnabledDisabled {
		boot[propMode] = now.Mode
		if target == targetUefiHTTP {
			boot[propMode] = modeUEFI
		}
	}

	return map[string]any{"Boot": boot}
}

// reached says whether an override is as wanted. Once may be used up between
// write and read by a boot, but not while it is this package that boots.
func reached(now Boot, target, enabled string, facts quirk.Facts) bool {
	if enabled == EnabledDisabled {
		return now.Idle()
	}

	return now.Enabled == enabled && (now.Target == target || (facts.StoredAs[target] != "" && now.Target == facts.StoredAs[target]))
}

// place is the resource that takes the override, as it is now.
type place struct {
	path string
	etag string
	boot Boot
}

// takesOverride says whether the resource has an override target.
func (p place) takesOverride() bool { return p.boot.Target != "" || len(p.boot.Targets) > 0 }

// overridePlace is the settings resource where it has a target, else the
// System: some BMCs publish a settings resource that doesn't take overrides.
// With overrideOn: System it is the other way round.
func (c *Client) overridePlace(ctx context.Context, s System, facts quirk.Facts) (place, error) {
	if s.settings == "" {
		return c.placeAt(ctx, s.path)
	}
	first, second := s.settings, s.path
	if facts.OverrideOn == quirk.OnSystem {
		first, second = second, first
	}
	p, err := c.placeAt(ctx, first)
	if err == nil && p.takesOverride() || err != nil && !skippable(err) {
		return p, err
	}
	other, otherErr := c.placeAt(ctx, second)
	if otherErr != nil && err == nil && skippable(otherErr) {
		return p, nil
	}

	return other, otherErr
}

func (c *Client) placeAt(ctx context.Context, path string) (place, error) {
	var b struct{ Boot bootBody }
	a, err := c.get(ctx, path, &b)
	if err != nil {
		return place{}, err
	}

	return place{path: path, etag: a.etag, boot: b.Boot.boot()}, nil
}

// patch climbs down the If-Match ladder: the ETag as given, a fresh one, as a
// strong one, none. Only 412 and 428 lead to the next rung.
func (c *Client) patch(ctx context.Context, p place, body any, facts quirk.Facts) error {
	if facts.IfMatch == quirk.Never {
		_, err := c.do(ctx, http.MethodPatch, p.path, body, "")

		return err
	}
	_, err := c.do(ctx, http.MethodPatch, p.path, body, p.etag)
	if !precondition(err) {
		return err
	}
	fresh, readErr := c.placeAt(ctx, p.path)
	if readErr != nil {
		return readErr
	}
	for _, etag := range rungs(p.etag, fresh.etag) {
		if _, err = c.do(ctx, http.MethodPatch, p.path, body, etag); !precondition(err) {
			return err
		}
	}

	return err
}

// rungs are the If-Match values to try after the first was refused, in order;
// "" is without the header, "*" is for BMCs that insist on one (428) and have none.
func rungs(first, fresh string) []string {
	var out []string
	for _, etag := range []string{fresh, strings.TrimPrefix(fresh, "W/"), "*", ""} {
		if !slices.Contains(out, etag) && etag != first {
			out = append(out, etag)
		}
	}

	return out
}

func precondition(err error) bool {
	s := statusOf(err)

	return s == http.StatusPreconditionFailed || s == http.StatusPreconditionRequired
}

// readBack looks whether a write took effect, a few times.
func (c *Client) readBack(ctx context.Context, path, target, enabled string, facts quirk.Facts) error {
	var now place
	for try := range readBacks {
		if try > 0 {
			if err := sleep(ctx, c.cfg.ReadBackInterval); err != nil {
				return err
			}
		}
		var err error
		if now, err = c.placeAt(ctx, path); err != nil {
			return err
		}
		if reached(now.boot, target, enabled, facts) {
			return nil
		}
	}
	field := "Boot." + propTarget
	if now.boot.Target == target {
		field = "Boot." + propEnabled
	}
	err := failf(NoEffect, "the BMC accepted a change of %s and didn't make it", field)
	err.Field = field

	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return &Error{Kind: Unreachable, what: "gave up reading back from the BMC", cause: ctx.Err()}
	}
}
