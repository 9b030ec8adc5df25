package redfishhost

import (
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// settle is how long PowerState may lag behind an accepted action. Only after
// it a state that didn't change is evidence that an action didn't happen.
const settle = 20 * time.Second

// patience is how long the effect of the first, second and last attempt at an
// act is waited for. After that the act is given up: a BMC that accepts and
// accepts and shows no change isn't helped by one more.
var patience = []time.Duration{settle, time.Minute, 5 * time.Minute} //nolint:gochecknoglobals // A table.

// transit is how long a machine may be between On and Off.
const transit = 15 * time.Minute

// stale is when the power state stops being evidence about a reset that was
// begun: after so long (a BMC that was away, a restored backup) somebody else
// may have ended the off, so a machine that is On counts as reset.
const stale = time.Hour

// taskPatience is how long a task that isn't over is waited for. Then it's
// believed as little as a BMC that tells nothing.
const taskPatience = 10 * time.Minute

// jitter is by how much the LastResetTime of one reset may differ from one look
// to the next: some BMCs reckon it from their uptime.
const jitter = 5 * time.Second

// seen is what the BMC shows.
type seen struct {
	// uri of the System.
	uri       string
	power     redfish.Power
	boot      redfish.Boot
	lastReset time.Time
	// bios is what is known of the BIOS settings that are wanted; nil: nothing.
	bios *biosSeen
	// small settings, and Secure Boot where it's wanted and told.
	small      redfish.SmallSettings
	secureBoot *secureBootSeen
	media      mediaIn
	rotation   rotationSeen
	push       pushSeen
	// shared says that another host of the same BMC has something on its way.
	shared bool
}

func seenOf(s redfish.System) seen {
	return seen{uri: s.URI, power: s.Power, boot: s.Boot, lastReset: credible(s.LastReset), small: s.SmallSettings}
}

// credible is a time that can be written down; the zero time for one that a BMC
// made up.
func credible(at time.Time) time.Time {
	const earliest, last = 2000, 9999
	if at = at.UTC(); at.Year() < earliest || at.Year() > last {
		return time.Time{}
	}

	return at
}

// seen is what the BMC shows, of its System and of what was looked at beside it.
func (e *external) seen(s redfish.System) seen {
	out := seenOf(s)
	out.bios, out.secureBoot, out.media, out.rotation, out.push, out.shared = e.bios, e.secureBoot, e.media, e.rotation, e.push, e.shared
	out.media.accounts = e.accounts

	return out
}

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
	// refused says that it's waited for since the BMC refuses it.
	refused bool
	// why is a few words for logs.
	why string
}

// idle says that everything is as wanted.
func (s step) idle() bool { return s.journal == nil && s.do == actNone && !s.wait }

// following decides ONE step. It is pure.
//
// What a crash leaves behind is an act that is begun. Whether its call was made
// is told from the machine: SetBootOnce and ClearBoot by the override (or by a
// boot since, which used it up), power by the power state. A reset is an off
// and an on: nothing but our own ResetOn ends the off, so a machine that is
// still On after the settle time, with the LastResetTime it had, wasn't reset,
// and one that is Off was. A reset that may have happened is never repeated,
// and nothing is attempted more often than patience says.
func following(v view) step {
	if v.j == nil {
		return step{journal: adopted(v.want), why: "no journal: what is asked for now counts as done"}
	}
	if !v.j.pending() {
		return begin(v, *v.j)
	}
	if st, ok := aheadOfRotation(v, *v.j); ok {
		return st
	}
	st := resume(v, *v.j)
	if st.do != actNone || st.journal == nil || st.journal.gaveUp() {
		return st
	}
	// An act is over. The one that follows is begun in the same write.
	if more := begin(v, *st.journal); more.journal != nil {
		return more
	}

	return st
}

// begin starts the next act. One that was given up stands in the way of all
// others until there is reason to hope: they would be done to a machine whose
// state nobody knows. One that the BMC doesn't offer stands in its own way only.
func begin(v view, j journal) step {
	held, was := actNone, step{}
	if j.Held != nil {
		was = unheld(j)
		j = *was.journal
	}
	switch {
	case !j.gaveUp():
	case v.askedOn(*j.Act):
		return start(v, j, act{Action: actResetOn, Generation: j.Act.Generation})
	case !v.hopeless(*j.Act):
		was = finish(j, "what was given up is over: the machine or the spec changed since")
		j = *was.journal
		if st := managerFacet.begin(v, j); st.do != actNone {
			return st // It was raised for that.
		}
	case !j.Act.Refused:
		return besides(v, j, was)
	default:
		held = j.Act.Action
	}
	for _, f := range v.facets() {
		if held != actNone && slices.Contains(f.actions, held) {
			continue
		}
		st := f.begin(v, j)
		if st.idle() {
			continue
		}
		if st.journal == nil && st.do == actNone {
			// It only waits, for what may never come: the BMC's restart is the last resort.
			if other := besides(v, j, step{}); other.do != actNone {
				return other
			}
		}
		if st.journal == nil {
			st.journal = was.journal
		}

		return st
	}

	return was
}

// resume goes on with an act that was begun.
func resume(v view, j journal) step {
	f, ok := facetOf(j.Act.Action)
	if !ok {
		return finish(j, "an act of another version")
	}

	return f.resume(v, j)
}

// start is the step that begins a, or one more attempt at it: journal first,
// then the call.
func start(v view, j journal, a act) step {
	a.State, a.Time, a.Power, a.LastReset = begun, v.now.UTC().Truncate(time.Second), v.seen.power, v.seen.lastReset
	a.Task, a.Unasked = "", false
	a.Attempts++

	return step{journal: j.with(a), do: a.Action, why: string(a.Action)}
}

// finish is the step that records the act of j as done.
func finish(j journal, why string) step {
	a := *j.Act
	a.State, a.Task = done, ""

	return step{journal: j.with(a), why: why}
}

// waiting is the step that waits for an act.
func waiting(a act, why string) step {
	return step{wait: true, why: why, refused: a.Refusals > 0 && !redfish.TooSoon(a.Message)}
}

// again is one more attempt at an act whose effect isn't there when its time is
// over; after the last one the act is given up.
func again(v view, j journal, why string) step {
	a := *j.Act
	switch {
	case v.early(a), v.lap(a).quiet() < v.patience(a):
		return waiting(a, why)
	case a.last():
		return giveUp(v, j)
	default:
		return start(v, j, a)
	}
}

// giveUp is the step that ends an act which has no effect. A reset isn't asked
// for any more by the generation that it was for: it may have happened.
func giveUp(v view, j journal) step {
	a := *j.Act
	a.State, a.Task, a.Spec, a.Asked, a.Power, a.LastReset = gaveUp, "", v.spec, v.asked, v.seen.power, v.seen.lastReset
	if id := v.lap(a).task.MessageID; id != "" {
		a.Message = id
	}
	if a.Generation > j.Reset && isReset(a.Action) {
		j.Reset = a.Generation
	}

	return step{journal: j.with(a), why: "given up: " + string(a.Action) + " has no effect"}
}

// hopeless says whether everything is still as it was when an act was given up,
// and nobody has asked for another look since.
func (v view) hopeless(a act) bool {
	same := a.LastReset.Sub(v.seen.lastReset).Abs() <= time.Minute

	return a.Spec == v.spec && a.Asked == v.asked && a.Power == v.seen.power && same
}

// askedOn says whether somebody asks, by annotation alone, for the On of a reset
// that was given up. Nothing else begins it anew where power isn't ours, and no
// other change does: the machine may be under repair.
func (v view) askedOn(a act) bool {
	return a.Action == actResetOn && a.Asked != v.asked && v.seen.off() && v.want.power != v1alpha1.PoweredOff
}

// resetSince says whether the machine was reset after an act began.
func (s seen) resetSince(a act) bool { return s.lastReset.Sub(a.LastReset).Abs() > jitter }

// between waits for a machine that is on its way between On and Off, but not
// for ever.
func between(v view, j journal, why string) step {
	if v.lap(*j.Act).age >= transit {
		return giveUp(v, j)
	}

	return step{wait: true, why: why}
}

// running says whether the BMC's task for an act isn't over, as far as is known.
func (v view) running(a act) bool {
	l := v.lap(a)

	return a.Task != "" && !l.task.Over() && l.age < taskPatience
}

// patience is how long the effect of an act is waited for when it's due. One whose
// task is gone may come about all the same, or got lost with its BMC's restart:
// nothing is told again soon, since the two could meet.
func (v view) patience(a act) time.Duration {
	if a.Task != "" && v.lap(a).task.State == redfish.TaskGone {
		return patience[len(patience)-1]
	}

	return a.patience()
}

// early says that the state of the machine doesn't tell yet whether an act was
// carried out, or that the BMC is left alone that refused it.
func (v view) early(a act) bool {
	return v.running(a) || v.lap(a).quiet() < max(settle, a.pause())
}

// stale says that an act is, or may be, so old that the machine's state says
// nothing about it. Only the date tells that of acts that aren't this process's
// own; a clock that jumped makes them stale too early, which is the safe side.
func (v view) stale(a act) bool {
	l := v.lap(a)

	return l.age >= stale || (!l.ours && v.now.Sub(a.Time).Abs() >= stale)
}
