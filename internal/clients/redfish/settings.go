package redfish

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// States of an indicator (schema ComputerSystem v1.x, IndicatorLED).
const (
	IndicatorOff      = "Off"
	IndicatorLit      = "Lit"
	IndicatorBlinking = "Blinking"
)

// Properties of ComputerSystem that are settings of their own.
const (
	propIndicator = "IndicatorLED"
	propLocation  = "LocationIndicatorActive" // since v1.12, in place of IndicatorLED
	propAssetTag  = "AssetTag"
)

// smallBody is what a System shows of its small settings: null is none.
type smallBody struct {
	Indicator *text        `json:"IndicatorLED"`
	Location  lenient.Flag `json:"LocationIndicatorActive"`
	AssetTag  *text
}

// SmallSettings are what a System shows of its light and its asset tag.
type SmallSettings struct {
	// Indicator is Off, Lit or Blinking; "" where there's none.
	Indicator string
	// AssetTag that was given to the machine.
	AssetTag string
	// CanTag says whether it has an asset tag.
	CanTag bool

	// LED and Location say which of the two properties of an indicator it has.
	LED, Location bool
}

func (b smallBody) small() SmallSettings {
	s := SmallSettings{LED: b.Indicator != nil, Location: b.Location.Known, CanTag: b.AssetTag != nil}
	if s.CanTag {
		s.AssetTag = clip(*b.AssetTag)
	}
	switch {
	case s.LED:
		for _, known := range []string{IndicatorOff, IndicatorLit, IndicatorBlinking} {
			if strings.EqualFold(string(*b.Indicator), known) {
				s.Indicator = known
			}
		}
	case b.Location.True:
		s.Indicator = IndicatorBlinking
	case s.Location:
		s.Indicator = IndicatorOff
	}

	return s
}

// Shows says whether an indicator is as wanted. A machine that only knows on and
// off is found by any light.
func (s SmallSettings) Shows(indicator string) bool {
	if s.Indicator == indicator {
		return true
	}

	return !s.LED && s.Location && indicator != IndicatorOff && s.Indicator != IndicatorOff
}

// CanIndicate says whether the machine has an indicator.
func (s SmallSettings) CanIndicate() bool { return s.LED || s.Location }

// SetIndicator switches the light by which the machine is found (Off, Lit or
// Blinking), and reads it back.
func (c *Client) SetIndicator(ctx context.Context, s System, indicator string) error {
	var body map[string]any
	switch {
	case s.LED:
		body = map[string]any{propIndicator: indicator}
	case s.Location:
		body = map[string]any{propLocation: indicator != IndicatorOff}
	default:
		return unsupported(propIndicator)
	}

	return c.setSmall(ctx, s, body, propIndicator, func(now System) bool { return now.Shows(indicator) })
}

// Tag is an asset tag as SmallSettings show it.
func Tag(tag string) string { return clip(text(tag)) }

// SetAssetTag writes the machine's asset tag, and reads it back.
func (c *Client) SetAssetTag(ctx context.Context, s System, tag string) error {
	if !s.CanTag {
		return unsupported(propAssetTag)
	}

	return c.setSmall(ctx, s, map[string]any{propAssetTag: tag}, propAssetTag, func(now System) bool { return now.AssetTag == Tag(tag) })
}

func (c *Client) setSmall(ctx context.Context, s System, body map[string]any, field string, reached func(System) bool) error {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return err
	}
	if err := c.patch(ctx, place{path: s.path, etag: s.etag}, body, facts); err != nil {
		return err
	}

	ok, err := c.readBack(ctx, func() (bool, error) {
		now, err := c.SystemAt(ctx, s.path)

		return err == nil && reached(now), err
	})
	if err != nil || ok {
		return err
	}

	return noEffect(field)
}

// SecureBoot is whether UEFI Secure Boot is on (Redfish schema SecureBoot v1.x).
type SecureBoot struct {
	// Enabled from the next boot on.
	Enabled bool
	// Current says whether it was on for this boot; Known where the BMC tells.
	Current, Known bool

	place place
}

// SecureBoot reads whether Secure Boot is on. Unsupported: the System doesn't
// tell.
func (c *Client) SecureBoot(ctx context.Context, s System) (SecureBoot, error) {
	if s.secureBoot == "" {
		return SecureBoot{}, unsupported("SecureBoot")
	}
	var b struct {
		Enable  lenient.Flag `json:"SecureBootEnable"`
		Current text         `json:"SecureBootCurrentBoot"`
	}
	a, err := c.get(ctx, s.secureBoot, &b)
	if IsNotFound(err) || err == nil && !b.Enable.Known {
		return SecureBoot{}, unsupported("SecureBootEnable")
	}
	if err != nil {
		return SecureBoot{}, err
	}

	return SecureBoot{
		Enabled: b.Enable.True, Current: strings.EqualFold(string(b.Current), "Enabled"), Known: b.Current != "",
		place: place{path: s.secureBoot, etag: a.etag},
	}, nil
}

// SetSecureBoot switches Secure Boot on or off for the next boot, and reads it
// back where the BMC shows it before.
func (c *Client) SetSecureBoot(ctx context.Context, s System, on bool) error {
	now, err := c.SecureBoot(ctx, s)
	if err != nil || now.Enabled == on {
		return err
	}
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return err
	}

	return c.patch(ctx, now.place, map[string]any{"SecureBootEnable": on}, facts)
}

// ResetBMC restarts the manager of s: gracefully, where it offers that.
func (c *Client) ResetBMC(ctx context.Context, s System) error {
	managers, err := c.managersOf(ctx, s)
	if e, ok := errors.AsType[*Error](err); ok && e.Status >= http.StatusBadRequest && e.Status < http.StatusInternalServerError {
		return err // It has none to show.
	}
	if err != nil {
		return unsent(err)
	}
	reset, err := c.managerReset(ctx, managers, len(s.managers) > 0)
	if err != nil {
		return unsent(err)
	}
	if reset == nil {
		return unsupported("Manager.Reset")
	}
	types := []string(reset.Types)
	if info := string(reset.ActionInfo); len(types) == 0 && info != "" {
		if types, err = c.resetTypesAt(ctx, info); err != nil && !skippable(err) {
			return unsent(err)
		}
	}
	_, err = c.do(ctx, http.MethodPost, string(reset.Target), map[string]string{"ResetType": restartOf(types)}, "")

	return err
}

// managerReset is the action of the first manager that has one and calls itself a
// BMC, or else of the first that has one: others may be an enclosure's. Nil: none has,
// or several call themselves BMC, of which the machine named none: they may be its
// neighbours'.
func (c *Client) managerReset(ctx context.Context, managers []string, named bool) (*resetBody, error) {
	var first, bmc *resetBody
	for _, uri := range managers {
		var b struct {
			Type    text `json:"ManagerType"`
			Actions struct {
				Reset *resetBody `json:"#Manager.Reset"`
			}
		}
		if _, err := c.get(ctx, uri, &b); err != nil && !skippable(err) && (first == nil || !named) {
			return nil, err
		}
		switch reset := b.Actions.Reset; {
		case reset == nil || reset.Target == "":
		case strings.EqualFold(string(b.Type), "BMC") && bmc != nil:
			return nil, nil
		case strings.EqualFold(string(b.Type), "BMC") && !named:
			bmc = reset
		case strings.EqualFold(string(b.Type), "BMC"), len(managers) == 1:
			return reset, nil
		case first == nil:
			first = reset
		}
	}
	if bmc != nil {
		return bmc, nil
	}

	return first, nil
}

// restartOf is the gentlest restart that is offered; the standard's where
// nothing is said.
func restartOf(offered []string) string {
	for _, gentle := range []string{string(schemas.GracefulRestartResetType), string(schemas.ForceRestartResetType)} {
		for _, o := range offered {
			if strings.EqualFold(o, gentle) {
				return o
			}
		}
	}

	return string(schemas.GracefulRestartResetType)
}
