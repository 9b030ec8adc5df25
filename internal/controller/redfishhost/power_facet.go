package redfishhost

import (
	"context"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// powerBMC is what power needs of a BMC.
type powerBMC interface {
	Reset(ctx context.Context, s redfish.System, act redfish.Act) (redfish.Receipt, error)
	Again(ctx context.Context, s redfish.System) (redfish.System, error)
	Task(ctx context.Context, r redfish.Receipt) (redfish.Progress, error)
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
		return start(v, j, a)
	case a.Action == actGracefulOff && !w.force:
		return waiting(a, "the operating system hasn't shut down, and powerOff.then is Never")
	case forced && (a.Refused || v.lap(a).age >= w.grace):
		return start(v, j, act{Action: actForceOff})
	case a.Action == actForceOff:
		return again(v, j, "the machine is shutting down")
	default:
		return waiting(a, "the machine is shutting down")
	}
}

// unheard says whether the operating system may not have been asked to shut down:
// the BMC refused to, or its task for it failed, a moment ago, or another process
// began it, which may have been killed before its call. Asking twice does no harm,
// and power isn't cut on one that was never asked.
func unheard(v view, a act) bool {
	l := v.lap(a)
	if a.Refused || a.last() || v.want.force && l.age >= v.want.grace {
		return false
	}
	denied := a.Unasked || l.task.State == redfish.TaskFailed

	return denied && !v.early(a) || !l.ours
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
	unwanted := v.want.power != v1alpha1.PoweredOn
	switch {
	case v.seen.on():
		j.PoweredOn = j.Act.Time

		return finish(j, "the machine is on")
	case v.seen.power == redfish.PowerPoweringOn:
		return between(v, j, why)
	case unwanted && j.Act.turnedDown():
		return finish(j, "the machine isn't wanted on any more, and wasn't switched on")
	case v.early(*j.Act):
		return waiting(*j.Act, why)
	case unwanted:
		return finish(j, "the machine isn't wanted on any more")
	default:
		return again(v, j, why)
	}
}
