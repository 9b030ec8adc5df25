package redfishhost

import (
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

var resetFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actResetOff, actResetOn, actLeaveOn, actRestart},
	wants:   func(p v1alpha1.RedfishHostParameters, w *want) { w.reset = p.ResetGeneration },
	begin:   beginReset, resume: resumeReset, perform: performPower, failed: powerFailed, event: powerEvent,
}

// isReset says whether an action is a part of a reset.
func isReset(a action) bool {
	return a == actResetOff || a == actResetOn || a == actLeaveOn || a == actRestart
}

// beginReset resets a machine that runs. One that is off starts afresh anyway.
func beginReset(v view, j journal) step {
	switch {
	case v.want.reset <= j.Reset:
		return step{}
	case v.seen.off():
		j.Reset = v.want.reset

		return step{journal: &j, why: "a machine that is off needs no reset"}
	case v.applying(j):
		return step{wait: true, why: "the firmware applies BIOS settings"}
	case v.seen.on():
		return start(v, j, act{Action: actResetOff, Generation: v.want.reset})
	default:
		return step{wait: true, why: "the machine is between On and Off"}
	}
}

func resumeReset(v view, j journal) step {
	switch j.Act.Action { //nolint:exhaustive // The others aren't of this facet.
	case actResetOff:
		return resumeResetOff(v, j)
	case actResetOn:
		return resumeResetOn(v, j)
	case actRestart:
		return resumeRestart(v, j)
	}
	a := *j.Act
	switch {
	case mustGoOff(v):
		return beginOff(v, j)
	case v.want.power == v1alpha1.PoweredOff && v.seen.off():
		return finish(j, "the machine is off, as wanted by now")
	case a.turnedDown() && v.lap(a).ours && v.early(a):
		return waiting(a, "the machine is left on")
	case a.Attempts < 1, !v.lap(a).ours:
		return start(v, j, a) // Nobody knows whether it was called, and On does no harm.
	default:
		return giveUp(v, j)
	}
}

// leaveOn ends a reset that has no effect. A BMC that shows none may have cut the
// power all the same: the machine isn't left off, unless that is wanted by now.
// Where it's on, On does nothing.
func leaveOn(v view, j journal) step {
	if v.want.power == v1alpha1.PoweredOff {
		return giveUp(v, j)
	}
	j.Reset = j.Act.Generation

	return start(v, j, act{Action: actLeaveOn, Generation: j.Act.Generation})
}

func resumeResetOff(v view, j journal) step {
	const why = "the machine is being reset"
	a := *j.Act
	never := a.Refused || a.turnedDown() // Nothing was carried out.
	switch {
	case v.seen.off() && (never || v.want.power == v1alpha1.PoweredOff):
		j.Reset = a.Generation

		return finish(j, "a machine that is off needs no reset")
	case v.seen.off():
		return start(v, j, act{Action: actResetOn, Generation: a.Generation})
	case v.seen.on() && never && v.want.power == v1alpha1.PoweredOff:
		return beginOff(v, j)
	case v.seen.on() && v.want.leaving && (never || a.Attempts < 1 && !v.early(a)):
		return finish(j, "the machine wasn't reset, and its host is deleted")
	case v.seen.on() && a.Refused:
		return start(v, j, act{Action: actRestart, Generation: a.Generation})
	case !v.seen.on() && v.lap(a).age >= transit:
		return leaveOn(v, j)
	case !v.seen.on(), v.early(a):
		return waiting(a, why)
	case v.stale(a):
		// Somebody may have powered it on again before we saw it off.
		j.Reset = a.Generation

		return finish(j, "the machine may have been reset")
	case v.seen.resetSince(a) && !never:
		// The off was carried out. Either somebody powered it on again before we
		// saw it off, or PowerState lags: On does nothing or ends the reset.
		return start(v, j, act{Action: actResetOn, Generation: a.Generation})
	case a.last() && v.lap(a).quiet() >= v.patience(a):
		return leaveOn(v, j)
	default:
		return again(v, j, why)
	}
}

// resumeRestart never restarts a machine twice: one that may have been restarted
// was.
func resumeRestart(v view, j journal) step {
	a := *j.Act
	switch {
	case !a.turnedDown(), v.seen.off():
		j.Reset = a.Generation
		if v.seen.on() {
			j.PoweredOn = a.Time // Some BMCs tell no other boot.
		}

		return finish(j, "the machine was restarted, or may have been")
	case v.seen.on() && v.want.power == v1alpha1.PoweredOff:
		return beginOff(v, j)
	case v.want.leaving:
		return finish(j, "the machine wasn't restarted, and its host is deleted")
	case !v.seen.on(), v.early(a):
		return waiting(a, "the machine is being restarted")
	default:
		return start(v, j, a)
	}
}

func resumeResetOn(v view, j journal) step {
	const why = "the machine is being reset"
	a := *j.Act
	unsaid := a.Attempts < 1 || !v.lap(a).ours
	switch {
	case v.seen.on() && a.blind() && unsaid && v.lap(a).ours && v.early(a):
		return waiting(a, why)
	case v.seen.on() && a.blind() && unsaid:
		return start(v, j, a) // Nobody knows whether it was called, and On does no harm.
	case v.seen.on():
		j.Reset, j.PoweredOn = a.Generation, a.Time

		return finish(j, "the machine was reset")
	case !v.seen.off():
		return between(v, j, why)
	case v.early(a):
		return waiting(a, why)
	case v.want.power == v1alpha1.PoweredOff:
		j.Reset = a.Generation

		return finish(j, "the machine is off, as wanted by now")
	default:
		return again(v, j, why)
	}
}
