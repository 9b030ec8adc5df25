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
	// ActResetOff is ActForceOff where the BMC can power on again, too.
	ActResetOff Act = "ResetOff"
	// ActRestart resets a running machine.
	ActRestart Act = "Restart"
)

// forceOff takes power away. Cray's node controllers say Off, which isn't in the schema.
var forceOff = []string{string(schemas.ForceOffResetType), "Off"} //nolint:gochecknoglobals // A table.

// resetTypes are the ResetTypes for an act, best first.
var resetTypes = map[Act][]string{ //nolint:gochecknoglobals // A table.
	ActOn:          {string(schemas.OnResetType), string(schemas.ForceOnResetType)},
	ActGracefulOff: {string(schemas.GracefulShutdownResetType)},
	ActForceOff:    forceOff,
	ActResetOff:    forceOff,
	// FullPowerCycle may take the BMC along, so it comes last.
	ActRestart: {
		string(schemas.ForceRestartResetType), string(schemas.PowerCycleResetType), string(schemas.GracefulRestartResetType), string(schemas.FullPowerCycleResetType),
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
	case ActGracefulOff, ActForceOff, ActResetOff:
		return PowerOff
	default:
		return PowerUnknown
	}
}

// chooseReset picks the ResetType for an act out of those advertised. A BMC
// that advertises none gets the standard one. Vendors spell values in ways of
// their own ("Force Off"), which they take, and glue two together by mistake
// ("GracefulShutdownGracefulRestart"): the standard value is sent where it is a
// part of an advertised one and has no match.
func chooseReset(advertised []string, act Act, now Power) (string, bool) {
	wanted := resetTypes[act]
	if len(advertised) == 0 && len(wanted) > 0 {
		return wanted[0], true
	}
	if act == ActResetOff && !offersOn(advertised) {
		return "", false // It would stay off.
	}
	for _, w := range wanted {
		if i := slices.IndexFunc(advertised, func(a string) bool { return letters(a) == letters(w) }); i >= 0 {
			return advertised[i], true
		}
	}
	for _, w := range wanted {
		if len(w) > len("ForceOn") && slices.ContainsFunc(advertised, func(a string) bool { return strings.Contains(letters(a), letters(w)) }) {
			return w, true
		}
	}
	state, ok := lastResort[act]
	if ok && state == now && slices.Contains(advertised, pushButton) {
		return pushButton, true
	}

	return "", false
}

// offersOn says whether a machine that is off can be powered on.
func offersOn(advertised []string) bool {
	_, ok := chooseReset(advertised, ActOn, PowerOff)

	return ok
}

// letters are what counts of a word.
func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}

		return r
	}, strings.ToLower(word))
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
		delete(c.offers, s.resetInfo) // Asked again before it's said again.

		return Receipt{}, notOffered("ResetType for "+string(act), advertised)
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
	delete(c.offers, s.resetInfo) // It may offer something else by now.
	if act.goal() == PowerUnknown {
		return err
	}
	now, readErr := c.Again(ctx, s)
	if readErr == nil && now.Power == act.goal() || redundant(err) {
		return nil
	}

	return err
}

// Again reads a System once more, and nothing around it: its override is the one
// of s, which may be shown elsewhere.
func (c *Client) Again(ctx context.Context, s System) (System, error) {
	a, err := c.get(ctx, s.path, nil)
	if err != nil {
		return System{}, err
	}
	now, err := decodeSystem(s.path, a.body, a.etag)
	if err != nil {
		return System{}, err
	}
	now.URI, now.path, now.Boot, now.Sharing = s.URI, s.path, s.Boot, s.Sharing

	return now, nil
}

// advertised returns the ResetTypes of a System: inline and from its
// ActionInfo, which real BMCs have one without the other, or both.
func (c *Client) advertised(ctx context.Context, s System) ([]string, error) {
	if len(s.resetTypes) > 0 || s.resetInfo == "" {
		return s.resetTypes, nil
	}
	if known, ok := c.offers[s.resetInfo]; ok {
		return known, nil
	}
	types, err := c.resetTypesAt(ctx, s.resetInfo)
	if err != nil {
		return nil, passed(err) // One that can't be read is as one that isn't there: the BMC refuses what it doesn't have.
	}
	if c.offers == nil {
		c.offers = map[string][]string{}
	}
	c.offers[s.resetInfo] = types

	return types, nil
}

// resetTypesAt are the ResetTypes of an ActionInfo; none where that isn't there.
func (c *Client) resetTypesAt(ctx context.Context, info string) ([]string, error) {
	var b struct {
		Parameters []struct {
			Name            text
			AllowableValues texts
		}
	}
	if _, err := c.get(ctx, info, &b); err != nil && !IsNotFound(err) {
		return nil, err
	}
	var types []string
	for _, p := range b.Parameters {
		if strings.EqualFold(string(p.Name), "ResetType") {
			types = p.AllowableValues
		}
	}

	return types, nil
}

func unsupported(field string) *Error {
	err := failf(Unsupported, "the BMC doesn't offer %s", field)
	err.Field = field

	return err
}

// notOffered is unsupported, with what the BMC offers instead.
func notOffered(field string, offers []string) *Error {
	const most = 16
	err := unsupported(field)
	for _, o := range offers[:min(most, len(offers))] {
		if word := offered(o); word != "" {
			err.Offers = append(err.Offers, word)
		}
	}

	return err
}

// offered is a word of a BMC's as far as people are shown it.
func offered(word string) string {
	const limit = 64
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}

		return r
	}, word)

	return strings.TrimSpace(printable[:min(limit, len(printable))])
}
