package redfishhost

import (
	"context"
	"errors"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// powerActs are the client's words for ours.
var powerActs = map[action]redfish.Act{ //nolint:gochecknoglobals // A table.
	actPowerOn: redfish.ActOn, actResetOn: redfish.ActOn, actLeaveOn: redfish.ActOn,
	actGracefulOff: redfish.ActGracefulOff,
	actForceOff:    redfish.ActForceOff, actResetOff: redfish.ActResetOff,
	actRestart: redfish.ActRestart,
}

// isPower says whether an action is one on the machine's power.
func isPower(a action) bool { return powerActs[a] != "" }

func performPower(ctx context.Context, _ *external, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
	afterOff := a.Action == actResetOn || a.Action == actLeaveOn
	again := afterOff || a.Action == actPowerOn || a.Action == actGracefulOff
	if afterOff && s.Power != redfish.PowerOff || again && a.attempt() > 0 {
		// It's sent whatever the BMC says of the power, which may lag. A power
		// button isn't pressed then: it would turn round what happened by now.
		s.Power = redfish.PowerUnknown
	}

	return bmc.Reset(ctx, s, powerActs[a.Action]) //nolint:wrapcheck // The caller asks for its kind.
}

// powerFailed is what becomes of a power act whose call failed.
func powerFailed(v view, a act, err error) act {
	first := a.Attempts <= 1 // Nothing of it can have been carried out before.
	switch {
	case redfish.IsUnsupported(err):
		return notOffered(v, a, err)
	case a.Action == actGracefulOff && (notCalled(err) || busy(err)), first && notCalled(err) && !isReset(a.Action):
		// It's begun anew, with its whole grace, or what goes before by now. Force
		// wouldn't get through to such a BMC either.
		a.State = failed
	case notCalled(err), busy(err) && a.Action != actRestart:
		// It wasn't tried. A reset stays begun all the same: who asked for it may
		// have counted it.
		a.Attempts--
		// A 503 may come after the effect: that isn't known not to have been told.
		a.Unasked = notCalled(err) && (a.Action == actResetOff || a.Action == actRestart)
	case answered(err), a.blind():
		// Who doesn't hear whether a machine is on says so again.
		return refusedPower(v, a, err)
	}

	return a
}

// refusedPower is an act that the BMC says it doesn't do now. It stays begun, so
// that a reset doesn't lose its second half, and that was no attempt.
func refusedPower(v view, a act, err error) act {
	const enough = 3
	a.Refusals++
	if a.Message = redfish.MessageOf(err); a.Message == "" {
		a.Message = "no answer"
	}
	a.Unasked = a.Action == actGracefulOff
	soon := redfish.TooSoon(a.Message)
	switch {
	case a.Action == actLeaveOn && !soon && a.Refusals >= enough:
		a.State, a.Spec, a.Asked = gaveUp, v.spec, v.asked // It was the last thing to try.
	case a.Action == actGracefulOff && v.want.force && !soon:
		// Asked a few times, and then grace runs on.
	default:
		a.Attempts--
	}

	return a
}

// notOffered is an act that the BMC can't do, now and later.
func notOffered(v view, a act, err error) act {
	const most = 256 // of a journal
	if a.attempt() > 0 {
		return a // There's but a button, which was pressed: nothing is sent again.
	}
	a.Refused = true
	if e, ok := errors.AsType[*redfish.Error](err); ok {
		offers := strings.Join(e.Offers, ", ")
		a.Offers = offers[:min(most, len(offers))]
	}
	switch {
	case a.Action == actGracefulOff && v.want.force, a.Action == actResetOff:
		// Nothing to wait for: the next step may use force, or a restart.
	default:
		a.State, a.Spec, a.Asked = gaveUp, v.spec, v.asked
	}

	return a
}

func powerEvent(a act) event.Event {
	switch a.Action {
	case actPowerOn:
		return event.Normal("PoweredOn", "power was switched on")
	case actGracefulOff:
		return event.Normal("ShutdownRequested", "the operating system was asked to shut down")
	case actResetOff:
		return event.Normal("ResetBegun", "power was switched off for a reset")
	case actResetOn:
		return event.Normal("Reset", "power was switched on again for a reset")
	case actRestart:
		return event.Normal("Reset", "the machine was restarted, since its BMC can't switch it off and on")
	case actLeaveOn:
		return event.Normal("PoweredOn", "power was switched on, since nobody knows whether the reset switched it off")
	default:
		return event.Normal("PowerCut", "power was switched off")
	}
}
