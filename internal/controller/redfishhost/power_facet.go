package redfishhost

import (
	"context"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// powerBMC is what power needs of a BMC.
type powerBMC interface {
	Reset(ctx context.Context, s redfish.System, act redfish.Act) (redfish.Receipt, error)
}

// Rows of the table of facets.
var (
	offFacet = facet{ //nolint:gochecknoglobals // A table.
		actions: []action{actGracefulOff, actForceOff},
		wants:   wantPower, begin: beginOff, resume: resumeOff, perform: performPower, failed: powerFailed, event: powerEvent,
		conditions: []xpv2.ConditionType{v1alpha1.ConditionPowerApplied}, show: showPower,
	}
	onFacet = facet{ //nolint:gochecknoglobals // A table.
		actions: []action{actPowerOn},
		begin:   beginOn, resume: resumeOn, perform: performPower, failed: powerFailed, event: powerEvent,
	}
)

func wantPower(p v1alpha1.RedfishHostParameters, w *want) {
	w.power, w.grace, w.force = p.Power, defaultGrace, true
	if p.PowerOff != nil {
		w.grace = p.PowerOff.Grace.Duration
		w.force = p.PowerOff.Then != "Never"
	}
}

func beginOff(v view, j journal) step {
	switch {
	case v.want.power != v1alpha1.PoweredOff || v.seen.off():
		return step{}
	case !v.seen.on():
		return step{wait: true, why: "the machine is between On and Off"}
	case v.want.grace <= 0 && v.want.force:
		return start(v, j, act{Action: actForceOff})
	default:
		return start(v, j, act{Action: actGracefulOff})
	}
}

// mustGoOff says whether a machine that has power shouldn't: that can't wait.
func mustGoOff(v view) bool { return v.want.power == v1alpha1.PoweredOff && v.seen.on() }

func resumeOff(v view, j journal) step {
	a, w := *j.Act, v.want
	forced := a.Action == actGracefulOff && w.force // after the grace
	switch {
	case v.seen.off():
		return finish(j, "the machine is off")
	case w.power != v1alpha1.PoweredOff:
		return finish(j, "the machine isn't wanted off any more")
	case !v.seen.on() && forced && v.lap(a).age >= w.grace+transit:
		return start(v, j, act{Action: actForceOff})
	case !v.seen.on() && a.Action == actGracefulOff:
		return step{wait: true, why: "the machine is powering off"}
	case !v.seen.on():
		return between(v, j, "the machine is powering off")
	case a.Action == actGracefulOff && unheard(v, a):
		a.Unasked = false

		return start(v, j, a)
	case a.Action == actGracefulOff && !w.force:
		return step{wait: true, why: "the operating system hasn't shut down, and powerOff.then is Never"}
	case forced && (a.Refused || v.lap(a).age >= w.grace):
		return start(v, j, act{Action: actForceOff})
	case a.Action == actForceOff:
		return again(v, j, "the machine is shutting down")
	default:
		return step{wait: true, why: "the machine is shutting down"}
	}
}

// unheard says whether the operating system may not have been asked to shut down:
// the BMC refused to, a moment ago, or another process began it, which may have
// been killed before its call. Asking twice does no harm, and power isn't cut on
// one that was never asked.
func unheard(v view, a act) bool {
	if a.Refused || a.last() || v.want.force && v.lap(a).age >= v.want.grace {
		return false
	}

	return a.Unasked && v.settled(a) || !v.lap(a).ours
}

func beginOn(v view, j journal) step {
	switch {
	case v.want.power != v1alpha1.PoweredOn:
		return step{}
	case v.seen.off():
		return start(v, j, act{Action: actPowerOn})
	case v.seen.power == redfish.PowerPoweringOff:
		return step{wait: true, why: "the machine is powering off"}
	default:
		return step{}
	}
}

func resumeOn(v view, j journal) step {
	const why = "the machine is powering on"
	switch {
	case v.seen.on():
		j.PoweredOn = j.Act.Time

		return finish(j, "the machine is on")
	case v.seen.power == redfish.PowerPoweringOn:
		return between(v, j, why)
	case !v.settled(*j.Act):
		return step{wait: true, why: why}
	case v.want.power != v1alpha1.PoweredOn:
		return finish(j, "the machine isn't wanted on any more")
	default:
		return again(v, j, why)
	}
}

// powerActs are the client's words for ours.
var powerActs = map[action]redfish.Act{ //nolint:gochecknoglobals // A table.
	actPowerOn: redfish.ActOn, actResetOn: redfish.ActOn, actLeaveOn: redfish.ActOn,
	actGracefulOff: redfish.ActGracefulOff,
	actForceOff:    redfish.ActForceOff, actResetOff: redfish.ActForceOff,
}

// isPower says whether an action is one on the machine's power.
func isPower(a action) bool { return powerActs[a] != "" }

func performPower(ctx context.Context, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
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
	carriedOut := !answered(err)
	unheard := notCalled(err) || statusOf(err) == http.StatusServiceUnavailable
	switch {
	case a.Action == actLeaveOn && unheard:
		a.Attempts-- // It wasn't tried yet.
	case a.Action == actLeaveOn:
		a.State, a.Spec, a.Asked = gaveUp, v.spec, v.asked // It was the last thing to try.
	case a.Action == actGracefulOff && a.attempt() == 0 && redfish.IsUnsupported(err):
		a.Refused = true // Nothing to wait for: the next step may use force.
	case a.Action == actGracefulOff && unheard:
		// Nobody was asked: it's begun anew, with its whole grace. Force wouldn't
		// get through to such a BMC either.
		a.State = failed
	case a.Action == actGracefulOff && !carriedOut && !redfish.IsUnsupported(err):
		a.Unasked = true // Refused: asked again, a few times.
	case a.Action == actGracefulOff:
		// It may have been asked: grace runs on.
	case a.Action == actPowerOn && a.attempt() > 0 && redfish.IsUnsupported(err):
		// Nothing is sent again, since there's but a button, which was pressed.
	case isReset(a.Action) && !carriedOut, isPower(a.Action) && statusOf(err) == http.StatusServiceUnavailable:
		// It stays begun: a reset must not lose its second half. But what the BMC
		// refused, or was too busy to look at, was no attempt.
		a.Attempts--
	case !carriedOut:
		a.State = failed
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
	case actLeaveOn:
		return event.Normal("PoweredOn", "power was switched on, since nobody knows whether the reset switched it off")
	default:
		return event.Normal("PowerCut", "power was switched off")
	}
}

// showPower says how far the power has come, of a host whose power is ours, or
// whose reset was given up.
func showPower(v view, in inputs) []xpv2.Condition {
	is := func(status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) []xpv2.Condition {
		return []xpv2.Condition{condition(v1alpha1.ConditionPowerApplied, status, reason, message)}
	}
	ours := v.want.power == v1alpha1.PoweredOn || v.want.power == v1alpha1.PoweredOff
	switch {
	case v.j.gaveUp() && isPower(v.j.Act.Action) && v.hopeless(*v.j.Act):
		return is(corev1.ConditionFalse, v1alpha1.ReasonGaveUp, gaveUpSentence(*v.j.Act, in))
	case !ours:
		return nil
	case v.want.power == v1alpha1.PoweredOn && v.seen.on(), v.want.power == v1alpha1.PoweredOff && v.seen.off():
		return is(corev1.ConditionTrue, v1alpha1.ReasonApplied, "")
	case v.want.power == v1alpha1.PoweredOn:
		return is(corev1.ConditionFalse, v1alpha1.ReasonWaitingForPowerOn, "the machine isn't on yet")
	case v.j.pending() && v.j.Act.Action == actGracefulOff && !v.want.force:
		return is(corev1.ConditionFalse, v1alpha1.ReasonWaitingForPowerOff, "the operating system was asked to shut down and hasn't: shut it down by hand, or set powerOff.then to Force")
	default:
		return is(corev1.ConditionFalse, v1alpha1.ReasonWaitingForPowerOff, "the machine isn't off yet")
	}
}
