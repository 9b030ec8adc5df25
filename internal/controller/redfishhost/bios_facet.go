package redfishhost

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// biosBMC is what BIOS settings need of a BMC.
type biosBMC interface {
	BIOS(ctx context.Context, s redfish.System) (redfish.BIOS, error)
	BIOSRegistry(ctx context.Context, b redfish.BIOS) (bios.Registry, error)
	StageBIOS(ctx context.Context, s redfish.System, b redfish.BIOS, changes map[string]bios.Value) (redfish.Receipt, error)
}

// Acts of BIOS settings. Verifying is none: it only has a stopwatch.
const (
	actStageBIOS  action = "StageBIOS"
	actVerifyBIOS action = "VerifyBIOS"
)

// verifyTime is how long a machine may take, after a boot, to show what was
// staged: some reset themselves while they apply it.
const verifyTime = 30 * time.Minute

// How far a declared map has come.
const (
	biosStaged   = "Staged"
	biosVerified = "Verified"
)

// wantBIOS is a declared map.
type wantBIOS struct {
	declared map[string]bios.Value
	digest   string
	apply    v1alpha1.BIOSApply
	// maintenance says that the machine may be reset for it now.
	maintenance bool
}

// biosSeen is what a BMC's BIOS shows of a declared map.
type biosSeen struct {
	digest   string
	current  map[string]bios.Value // of the declared names
	changes  map[string]bios.Value
	problems []bios.Problem
	// missing of the changes aren't staged; foreign attributes are, by others.
	missing, foreign []string
	// back are those of the changes that are in force, and over which something
	// else is staged.
	back     map[string]bios.Value
	writable bool
	// unread says why it can't be judged at the moment; passing that it's looked at
	// again soon.
	unread  *trouble
	passing bool
}

var biosFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actStageBIOS},
	wants:   wantsBIOS, begin: beginBIOS, resume: resumeBIOS, perform: performBIOS, failed: unsent,
	conditions: []xpv2.ConditionType{v1alpha1.ConditionBIOSApplied}, show: showBIOS,
	event: func(act) event.Event {
		return event.Normal("BIOSStaged", "BIOS settings were staged for the next reset")
	},
}

func wantsBIOS(p v1alpha1.RedfishHostParameters, w *want) {
	if p.BIOS == nil || len(p.BIOS.Attributes) == 0 {
		return
	}
	b := &wantBIOS{declared: make(map[string]bios.Value, len(p.BIOS.Attributes)), apply: p.BIOS.Apply, maintenance: p.Maintenance != nil}
	for name, raw := range p.BIOS.Attributes {
		var v bios.Value
		_ = json.Unmarshal(raw.Raw, &v) // It never fails: what is no scalar is null, which no attribute takes.
		b.declared[name] = v
	}
	b.digest = bios.Digest(b.declared)
	w.bios = b
}

// moves says whether something is other than declared, and not only staged so.
func (s *biosSeen) moves() bool { return len(s.changes) > len(s.back) }

// beginBIOS stages a declared map, all of it or nothing, and only while nothing
// stands against it. What was staged and isn't in force some time after a boot
// is given up: another boot would be the beginning of many.
func beginBIOS(v view, j journal) step {
	w, s := v.want.bios, v.seen.bios
	if w == nil {
		return forgetBIOS(j)
	}
	r := j.biosOf(w)
	switch {
	case s == nil || s.digest != w.digest || s.unread != nil || len(s.problems) > 0:
		return step{}
	case len(s.changes) == 0:
		return verified(v, j, r)
	case r.given(v) || !s.writable || len(s.foreign) > 0:
		return step{}
	case r.State == biosStaged && r.bootedSince(v.seen, j):
		return verifying(v, j, r)
	case r.State == biosStaged && v.seen.off() && r.Power != redfish.PowerOff:
		// Not every BMC tells of a reset: what is on next has booted.
		r.Power = redfish.PowerOff
		j.BIOS = r

		return step{journal: &j, why: "the machine is off, with BIOS settings staged"}
	case len(s.missing) > 0 && (r.State != biosStaged || r.Job == ""):
		return stage(v, j, r)
	case r.State != biosStaged:
		r.State, r.Time, r.Power, r.LastReset = biosStaged, v.now.UTC().Truncate(time.Second), v.seen.power, v.seen.lastReset
		j.BIOS = r

		return step{journal: &j, why: "the BIOS settings are staged"}
	case w.apply == v1alpha1.BIOSApplyMaintenance && w.maintenance && v.seen.on() && r.mayReset() && s.moves() && !v.awaitsBoot(j) && !v.writesFirst(j) && !r.Turns.contested(v.now):
		// The count is written with the act: one reset for a map, whatever happens.
		r.Resets++
		r.Turns = r.Turns.next(v.now)
		j.BIOS = r

		// A reset that is asked for as well is this one: a second would meet the
		// firmware while it applies the settings.
		return start(v, j, act{Action: actResetOff, Generation: max(j.Reset, v.want.reset)})
	default:
		return step{}
	}
}

// overridden says whether the next boot is meant for something else.
func (v view) overridden() bool {
	return v.seen.boot.Enabled == redfish.EnabledOnce && !v.seen.boot.Idle()
}

// awaitsBoot says whether a boot for once is asked for, or set by whomever: that is
// for another boot than one for settings.
func (v view) awaitsBoot(j journal) bool {
	return v.overridden() || wantsOnce(v, j) || j.Boot.Moved != nil && j.Boot.Moved.Booted.IsZero()
}

// writesFirst says whether something else comes with a boot, too, and is about to be
// written.
func (v view) writesFirst(j journal) bool {
	return beginSettings(v, j, []action{actSetSecureBoot}).do != actNone || beginOrder(v, j).do != actNone
}

func forgetBIOS(j journal) step {
	none := biosRecord{Turns: j.BIOS.Turns}
	if j.BIOS == none {
		return step{}
	}
	j.BIOS = none

	return step{journal: &j, why: "no BIOS settings are wanted any more"}
}

func verified(_ view, j journal, r biosRecord) step {
	if r.State == biosVerified {
		return step{}
	}
	j.BIOS = biosRecord{Digest: r.Digest, State: biosVerified, Resets: r.Resets, Turns: r.Turns, Adopted: r.Adopted}
	if j.Act != nil && j.Act.Action == actStageBIOS {
		a := *j.Act
		a.Attempts = 0 // They were for this; what drifts later has its own.
		j.Act = &a
	}

	return step{journal: &j, why: "the BIOS settings are in force"}
}

// applying says whether the machine was just reset for its settings: a second reset
// would meet the firmware while it writes them.
func (v view) applying(j journal) bool {
	r := j.BIOS

	return r.State == biosStaged && r.Resets > 0 && r.bootedSince(v.seen, j) && v.rested(actVerifyBIOS, r.Time) < patience[len(patience)-1]
}

func verifying(v view, j journal, r biosRecord) step {
	if !v.seen.on() || v.rested(actVerifyBIOS, r.Time) < verifyTime {
		return step{}
	}

	return giveUpBIOS(v, j, r, v1alpha1.ReasonGaveUp)
}

func giveUpBIOS(v view, j journal, r biosRecord, why xpv2.ConditionReason) step {
	r.State, r.Why, r.Asked = gaveUp, string(why), v.asked
	j.BIOS = r

	return step{journal: &j, why: "BIOS settings were given up: " + string(why)}
}

// stage is the step that stages the map, where the policy allows it now.
func stage(v view, j journal, r biosRecord) step {
	w, a := v.want.bios, act{Action: actStageBIOS, Digest: v.want.bios.digest}
	moves := v.seen.bios.moves() // What is only taken back can't be too early.
	switch {
	case !v.seen.on() && !v.seen.off(),
		moves && w.apply == v1alpha1.BIOSApplyNextPowerOn && !v.seen.off(),
		moves && w.apply == v1alpha1.BIOSApplyMaintenance && !w.maintenance:
		return step{}
	}
	if j.Act != nil && j.Act.Action == actStageBIOS && j.Act.Digest == w.digest && r.State != gaveUp {
		if a = *j.Act; a.last() && a.Attempts > 0 {
			why := v1alpha1.ReasonNoEffect
			if a.State == failed {
				why = v1alpha1.ReasonRefused
			}

			return giveUpBIOS(v, j, r, why)
		}
	}
	r.State, r.Why, r.Job = "", "", ""
	j.BIOS = r

	return start(v, j, a)
}

func resumeBIOS(v view, j journal) step {
	const why = "BIOS settings are being staged"
	a, w, s := *j.Act, v.want.bios, v.seen.bios
	switch {
	case w == nil || w.digest != a.Digest:
		return finish(j, "other BIOS settings are wanted by now")
	case mustGoOff(v):
		return beginOff(v, j)
	case s == nil || s.digest != w.digest || s.unread != nil:
		if v.lap(a).age < a.patience() {
			return step{wait: true, why: why}
		}

		return finish(j, "nobody knows whether the BIOS settings were staged")
	case len(s.changes) == 0, len(s.missing) == 0, v.lap(a).task.Scheduled, bootedSince(a, v.seen) && v.lap(a).ours:
		// Of a boot only who made the call may conclude that it was for it. A BMC that
		// shows nothing of what waits has its job for it.
		r := j.biosOf(w)
		r.State, r.Time, r.Power, r.LastReset = biosStaged, a.Time, a.Power, a.LastReset
		if len(s.missing) > 0 && v.lap(a).task.Scheduled {
			r.Job = a.Task
		}
		j.BIOS = r

		return finish(j, "the BIOS settings are staged")
	case v.running(a), v.lap(a).age < a.patience():
		return step{wait: true, why: why}
	default:
		return finish(j, "the BMC accepted BIOS settings and doesn't show them")
	}
}

// performBIOS plans once more from what the machine and its own registry show now,
// and stages that.
func performBIOS(ctx context.Context, e *external, bmc BMC, s redfish.System, _ act) (redfish.Receipt, error) {
	w := e.want.bios
	if w == nil {
		return redfish.Receipt{}, notCalledError{redfish.Invalidf("no BIOS settings are wanted any more")}
	}
	b, seen, err := e.readBIOS(ctx, bmc, s, *w, true)
	if err != nil {
		return redfish.Receipt{}, notCalledError{err}
	}
	// What is begun next isn't begun on an older look.
	e.bios = seen
	if !seen.passing {
		e.connector.biosLooks.put(e.glance(w.digest, false), seen)
	}
	switch {
	case seen.unread != nil || len(seen.problems) > 0 || len(seen.foreign) > 0 || !seen.writable:
		return redfish.Receipt{}, notCalledError{redfish.Invalidf("the BIOS settings of the machine changed in the meantime: they are looked at again")}
	case len(seen.changes) == 0 || len(seen.missing) == 0:
		return redfish.Receipt{}, nil
	}

	return bmc.StageBIOS(ctx, s, b, seen.changes) //nolint:wrapcheck // The caller asks for its kind.
}
