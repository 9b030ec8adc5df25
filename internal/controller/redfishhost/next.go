package redfishhost

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// settle is how long PowerState may lag behind an accepted action. Only after
// it a state that didn't change is evidence that an action didn't happen.
const settle = 20 * time.Second

// stale is when the power state stops being evidence about a reset that was
// begun: after so long (a BMC that was away, a restored backup) somebody else
// may have ended the off, so a machine that is On counts as reset.
const stale = time.Hour

// seen is what the BMC shows.
type seen struct {
	power     redfish.Power
	boot      redfish.Boot
	lastReset time.Time
}

func seenOf(s redfish.System) seen { return seen{power: s.Power, boot: s.Boot, lastReset: s.LastReset} }

// on says whether the machine has power that must be taken away to be off.
func (s seen) on() bool { return s.power == redfish.PowerOn || s.power == redfish.PowerPaused }

func (s seen) off() bool { return s.power == redfish.PowerOff }

// step is what is done next: write the journal, make a call, both, or wait.
type step struct {
	// journal to write, before the call if there is one; nil leaves it.
	journal *journal
	// do is the call to make.
	do action
	// wait says that an act is on its way: look again soon.
	wait bool
	// why is a few words for logs.
	why string
}

// idle says that everything is as wanted.
func (s step) idle() bool { return s.journal == nil && s.do == actNone && !s.wait }

// next decides ONE step. It is pure: now is only compared with what this
// provider wrote into the journal itself.
//
// What a crash leaves behind is an act that is begun. Whether its call was made
// is told from the machine: SetBootOnce and ClearBoot by the override (or by a
// boot since, which used it up), power by the power state. A reset is an off
// and an on: nothing but our own ResetOn ends the off, so a machine that is
// still On after the settle time, with the LastResetTime it had, wasn't reset,
// and one that is Off was. A reset that may have happened is never repeated.
func next(w want, j *journal, s seen, now time.Time) step {
	if j == nil {
		return step{journal: adopted(w), why: "no journal: what is asked for now counts as done"}
	}
	if !j.pending() {
		return begin(w, *j, s, now)
	}
	st := resume(w, *j, s, now)
	if st.do != actNone || st.journal == nil {
		return st
	}
	// An act is over. The one that follows is begun in the same write.
	if more := begin(w, *st.journal, s, now); more.journal != nil {
		return more
	}

	return st
}

// begin starts the next act: off before everything else, then the override (it
// must be there before the machine starts), a reset, and on.
func begin(w want, j journal, s seen, now time.Time) step {
	switch {
	case w.power == v1alpha1.PoweredOff && !s.off():
		return beginOff(w, j, s, now)
	case w.once != nil && w.once.Generation > j.BootOnce:
		return start(j, act{Action: actSetBootOnce, Generation: w.once.Generation, Target: string(w.once.Target)}, s, now)
	case w.once == nil && j.Override != "":
		return beginClear(j, s, now)
	case w.reset > j.Reset:
		return beginReset(w, j, s, now)
	case w.power == v1alpha1.PoweredOn && s.off():
		return start(j, act{Action: actPowerOn}, s, now)
	case w.power == v1alpha1.PoweredOn && s.power == redfish.PowerPoweringOff:
		return step{wait: true, why: "the machine is powering off"}
	default:
		return step{}
	}
}

func beginOff(w want, j journal, s seen, now time.Time) step {
	switch {
	case !s.on():
		return step{wait: true, why: "the machine is between On and Off"}
	case w.grace <= 0 && w.force:
		return start(j, act{Action: actForceOff}, s, now)
	default:
		return start(j, act{Action: actGracefulOff}, s, now)
	}
}

// beginClear takes away an override of ours that the machine hasn't used up. A
// foreign one, or none, isn't ours to clear.
func beginClear(j journal, s seen, now time.Time) step {
	if s.boot.Enabled == redfish.EnabledOnce && !s.boot.Idle() {
		return start(j, act{Action: actClearBoot}, s, now)
	}
	j.Override = ""

	return step{journal: &j, why: "the override was used up"}
}

// beginReset resets a machine that runs. One that is off starts afresh anyway.
func beginReset(w want, j journal, s seen, now time.Time) step {
	switch {
	case s.off():
		j.Reset = w.reset

		return step{journal: &j, why: "a machine that is off needs no reset"}
	case s.on():
		return start(j, act{Action: actResetOff, Generation: w.reset}, s, now)
	default:
		return step{wait: true, why: "the machine is between On and Off"}
	}
}

// start is the step that begins a: journal first, then the call.
func start(j journal, a act, s seen, now time.Time) step {
	a.State, a.Time, a.Power, a.LastReset = begun, now.UTC().Truncate(time.Second), s.power, s.lastReset

	return step{journal: j.with(a), do: a.Action, why: string(a.Action)}
}

// finish is the step that records the act of j as done.
func finish(j journal, why string) step {
	a := *j.Act
	a.State = done

	return step{journal: j.with(a), why: why}
}

// resume goes on with an act that was begun.
func resume(w want, j journal, s seen, now time.Time) step {
	a := *j.Act
	switch a.Action {
	case actSetBootOnce:
		return resumeSetBoot(w, j, s, now)
	case actClearBoot:
		if s.boot.Idle() {
			j.Override = ""

			return finish(j, "the override is cleared")
		}
		if mustGoOff(w, s) {
			return beginOff(w, j, s, now)
		}

		return start(j, a, s, now)
	case actPowerOn:
		return resumeOn(w, j, s, now)
	case actGracefulOff, actForceOff:
		return resumeOff(w, j, s, now)
	case actResetOff:
		return resumeResetOff(w, j, s, now)
	case actResetOn:
		return resumeResetOn(w, j, s, now)
	default:
		return finish(j, "an act of another version")
	}
}

func mustGoOff(w want, s seen) bool { return w.power == v1alpha1.PoweredOff && s.on() }

// settled says that an act began long enough ago for its effect to be seen.
func settled(a act, now time.Time) bool { return now.Sub(a.Time) >= settle }

// bootedSince says that the machine booted after an act began.
func bootedSince(a act, s seen) bool {
	return (a.Power == redfish.PowerOff && s.on()) || !s.lastReset.Equal(a.LastReset)
}

func resumeSetBoot(w want, j journal, s seen, now time.Time) step {
	a := *j.Act
	carriedOut := func(why string) step {
		j.BootOnce, j.Override = a.Generation, a.Target

		return finish(j, why)
	}
	switch {
	case s.boot.Enabled == redfish.EnabledOnce && !s.boot.Idle():
		return carriedOut("the override is set")
	case bootedSince(a, s):
		return carriedOut("the machine booted since: the override, if set, was used up")
	case mustGoOff(w, s):
		return beginOff(w, j, s, now)
	case w.once == nil:
		return carriedOut("the override isn't wanted any more")
	default:
		a.Generation, a.Target = w.once.Generation, string(w.once.Target)

		return start(j, a, s, now)
	}
}

func resumeOn(w want, j journal, s seen, now time.Time) step {
	switch {
	case s.on():
		j.PoweredOn = j.Act.Time

		return finish(j, "the machine is on")
	case s.power == redfish.PowerPoweringOn || !settled(*j.Act, now):
		return step{wait: true, why: "the machine is powering on"}
	case w.power != v1alpha1.PoweredOn:
		return finish(j, "the machine isn't wanted on any more")
	default:
		return start(j, *j.Act, s, now)
	}
}

func resumeOff(w want, j journal, s seen, now time.Time) step {
	a := *j.Act
	switch {
	case s.off():
		return finish(j, "the machine is off")
	case w.power != v1alpha1.PoweredOff:
		return finish(j, "the machine isn't wanted off any more")
	case !s.on():
		return step{wait: true, why: "the machine is powering off"}
	case a.Action == actGracefulOff && !w.force:
		return step{wait: true, why: "the operating system hasn't shut down, and powerOff.then is Never"}
	case a.Action == actGracefulOff && (a.Refused || now.Sub(a.Time) >= w.grace):
		return start(j, act{Action: actForceOff}, s, now)
	case a.Action == actForceOff && settled(a, now):
		return start(j, a, s, now)
	default:
		return step{wait: true, why: "the machine is shutting down"}
	}
}

func resumeResetOff(w want, j journal, s seen, now time.Time) step {
	a := *j.Act
	switch {
	case s.off() && w.power == v1alpha1.PoweredOff:
		j.Reset = a.Generation

		return finish(j, "the machine is off, as wanted by now")
	case s.off():
		return start(j, act{Action: actResetOn, Generation: a.Generation}, s, now)
	case !s.on() || !settled(a, now):
		return step{wait: true, why: "the machine is being reset"}
	case !s.lastReset.Equal(a.LastReset) || now.Sub(a.Time) >= stale:
		// Somebody powered it on again before we saw it off, or may have.
		j.Reset = a.Generation

		return finish(j, "the machine was reset")
	default:
		return start(j, a, s, now)
	}
}

func resumeResetOn(w want, j journal, s seen, now time.Time) step {
	a := *j.Act
	switch {
	case s.on():
		j.Reset, j.PoweredOn = a.Generation, a.Time

		return finish(j, "the machine was reset")
	case !s.off() || !settled(a, now):
		return step{wait: true, why: "the machine is being reset"}
	case w.power == v1alpha1.PoweredOff:
		j.Reset = a.Generation

		return finish(j, "the machine is off, as wanted by now")
	default:
		return start(j, a, s, now)
	}
}
