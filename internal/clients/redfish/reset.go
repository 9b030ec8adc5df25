package redfish

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// Act is a power action.
type Act string

// The power actions.
const (
	// ActOn powers on.
	ActOn Act = "On"
	// ActGracefulOff asks the operating system to shut down.
	ActGracefulOff Act = "GracefulOff"
	// ActForceOff takes power away.
	ActForceOff Act = "ForceOff"
	// ActRestart resets a running machine.
	ActRestart Act = "Restart"
)

// resetTypes are the ResetTypes for an act, best first.
var resetTypes = map[Act][]string{ //nolint:gochecknoglobals // A table.
	ActOn:          {string(schemas.OnResetType), string(schemas.ForceOnResetType)},
	ActGracefulOff: {string(schemas.GracefulShutdownResetType)},
	// Cray's node controllers say Off, which isn't in the schema.
	ActForceOff: {string(schemas.ForceOffResetType), "Off"},
	ActRestart: {
		string(schemas.ForceRestartResetType), string(schemas.PowerCycleResetType), string(schemas.FullPowerCycleResetType),
	},
}

const pushButton = string(schemas.PushPowerButtonResetType)

// lastResort is the power button, which does different things in different
// states: tried only where the state makes it mean what is wanted.
var lastResort = map[Act]Power{ActOn: PowerOff, ActGracefulOff: PowerOn} //nolint:gochecknoglobals // A table.

// goal is the power state that an act leads to; a restart has none to see.
func (a Act) goal() Power {
	switch a {
	case ActOn:
		return PowerOn
	case ActGracefulOff, ActForceOff:
		return PowerOff
	default:
		return PowerUnknown
	}
}

// chooseReset picks the ResetType for an act out of those advertised. A BMC
// that advertises none gets the standard one. Vendors glue two values together
// by mistake ("GracefulShutdownGracefulRestart"): the standard value is sent
// where an advertised one begins or ends with it and has no exact match.
func chooseReset(advertised []string, act Act, now Power) (string, bool) {
	wanted := resetTypes[act]
	if len(advertised) == 0 && len(wanted) > 0 {
		return wanted[0], true
	}
	for _, w := range wanted {
		if i := slices.IndexFunc(advertised, func(a string) bool { return strings.EqualFold(a, w) }); i >= 0 {
			return advertised[i], true
		}
	}
	for _, w := range wanted {
		if len(w) > len("ForceOn") && slices.ContainsFunc(advertised, func(a string) bool { return strings.Contains(a, w) }) {
			return w, true
		}
	}
	state, ok := lastResort[act]
	if ok && state == now && slices.Contains(advertised, pushButton) {
		return pushButton, true
	}

	return "", false
}

// Reset carries out a power action on s. A state that is already there is
// success. It returns when the BMC has accepted, not when the state is reached:
// PowerState lags, and the caller looks again.
func (c *Client) Reset(ctx context.Context, s System, act Act) (Receipt, error) {
	if g := act.goal(); g != PowerUnknown && g == s.Power {
		return Receipt{}, nil
	}
	if !s.CanReset {
		return Receipt{}, unsupported("ComputerSystem.Reset")
	}
	advertised, err := c.advertised(ctx, s)
	if err != nil {
		return Receipt{}, unsent(err)
	}
	resetType, ok := chooseReset(advertised, act, s.Power)
	if !ok {
		return Receipt{}, unsupported("ResetType for " + string(act))
	}
	a, err := c.do(ctx, http.MethodPost, s.resetTarget, map[string]string{"ResetType": resetType}, "")
	if err != nil {
		return Receipt{}, c.settle(ctx, s, act, err)
	}

	return receiptOf(a), nil
}

// settle reads back after a refused action: a redundant one is refused by some
// BMCs (400 or 409) and the goal is reached all the same.
func (c *Client) settle(ctx context.Context, s System, act Act, err error) error {
	status := statusOf(err)
	if status != http.StatusConflict && status != http.StatusBadRequest {
		return err
	}
	now, readErr := c.SystemAt(ctx, s.path)
	if readErr == nil && act.goal() != PowerUnknown && now.Power == act.goal() {
		return nil
	}

	return err
}

// advertised returns the ResetTypes of a System: inline and from its
// ActionInfo, which real BMCs have one without the other, or both.
func (c *Client) advertised(ctx context.Context, s System) ([]string, error) {
	if len(s.resetTypes) > 0 || s.resetInfo == "" {
		return s.resetTypes, nil
	}
	var b struct {
		Parameters []struct {
			Name            text
			AllowableValues texts
		}
	}
	if _, err := c.get(ctx, s.resetInfo, &b); err != nil && !IsNotFound(err) {
		return nil, err
	}
	for _, p := range b.Parameters {
		if strings.EqualFold(string(p.Name), "ResetType") {
			return p.AllowableValues, nil
		}
	}

	return nil, nil
}

func unsupported(field string) error {
	err := failf(Unsupported, "the BMC doesn't offer %s", field)
	err.Field = field

	return err
}
