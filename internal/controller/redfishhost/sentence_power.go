package redfishhost

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// deafSentence says what a person can do about a system that doesn't obey.
const deafSentence = "the operating system was asked to shut down and hasn't: shut it down by hand, or set powerOff.then to Force, which cuts its power at once where powerOff.grace is over"

// orders are what a BMC was told, in words that follow "accepts" and "refuses".
var orders = map[action]string{ //nolint:gochecknoglobals // A table.
	actPowerOn: "power on", actResetOn: "power on again after a reset", actLeaveOn: "a reset", actResetOff: "a reset", actRestart: "a reset",
	actGracefulOff: "to ask the operating system to shut down", actForceOff: "power off",
}

// gaveUpSentence says what has no effect, or can't be done, and what starts it anew.
func gaveUpSentence(a act, in inputs) string {
	if a.Refused {
		return notOfferedSentence(a, in)
	}
	anew := "nothing more is sent until the power state, its LastResetTime or this host's spec changes, or annotation crossplane.io/reconcile-requested-at of this host"
	switch {
	case a.Action == actResetOn:
		anew = "it's told once more by annotation crossplane.io/reconcile-requested-at of this host, or by power: PoweredOn"
	case isReset(a.Action):
		anew = "raise resetGeneration for another one"
	}
	said := ""
	if a.Message != "" {
		said = " (" + a.Message + ")"
	}

	return fmt.Sprintf("the BMC at %q accepts %s and doesn't carry it out%s: %s; look at the machine, and restart its BMC; %s", in.address, orders[a.Action], said, stuck(a), anew)
}

// stuck says for how long the power state hasn't followed.
func stuck(a act) string {
	switch a.Power {
	case redfish.PowerPoweringOn, redfish.PowerPoweringOff:
		return fmt.Sprintf("its power state has been %q for %.0f minutes", powerState(a.Power), transit.Minutes())
	case redfish.PowerUnknown:
		return "it doesn't tell its power state"
	case redfish.PowerOn, redfish.PowerOff, redfish.PowerPaused:
	}
	if a.Action == actLeaveOn {
		return fmt.Sprintf("its power state is %q", powerState(a.Power))
	}

	return fmt.Sprintf("after %s its power state is %q", times(a.Attempts), powerState(a.Power))
}

func times(attempts int) string {
	if attempts <= 1 {
		return "1 attempt"
	}

	return fmt.Sprintf("%d attempts", attempts)
}

// notOfferedSentence says what a BMC can't do, what it can, and the way round.
func notOfferedSentence(a act, in inputs) string {
	var what, instead string
	switch a.Action {
	case actPowerOn, actResetOn, actLeaveOn:
		what, instead = "can't switch the machine on", "switch it on by hand, or set power to Unmanaged"
	case actGracefulOff:
		what, instead = "can't ask the operating system to shut down", "set powerOff.then to Force, or shut it down by hand"
	case actForceOff:
		what, instead = "can't cut the machine's power", "shut it down by hand, or set power to Unmanaged"
	default:
		what, instead = "can't reset the machine", "reset it by hand"
	}
	offers := "no power action at all"
	if a.Offers != "" {
		offers = a.Offers
	}

	return fmt.Sprintf("the BMC at %q %s: it offers %s; %s", in.address, what, offers, instead)
}

// refusedSentence says what a BMC doesn't do now, with the reason where that is
// trouble. One that says that it's too soon isn't.
func refusedSentence(a act, in inputs) (reason xpv2.ConditionReason, message string) {
	said := a.Message
	if said == "" {
		said = "without a reason"
	}
	if redfish.TooSoon(a.Message) {
		return "", fmt.Sprintf("the BMC at %q takes %s later (%s), as while the machine starts: it's told again", in.address, orders[a.Action], said)
	}

	return v1alpha1.ReasonRefused, fmt.Sprintf("the BMC at %q refuses %s (%s): look what it says on its own page, and whether its user has the Operator role; it's told again, less and less often", in.address, orders[a.Action], said)
}

// noEffectSentence says that an order is repeated.
func noEffectSentence(a act, in inputs) string {
	return fmt.Sprintf("the BMC at %q accepted %s and its power state doesn't follow: it was told %d times of %d", in.address, orders[a.Action], a.attempt()+1, len(patience))
}
