package redfishhost

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// bootBMC is what boot sources need of a BMC. Its calls read back what they wrote.
type bootBMC interface {
	SetBoot(ctx context.Context, s redfish.System, want redfish.BootSource) (redfish.BootVia, error)
	ClearBoot(ctx context.Context, s redfish.System, resource string) error
	SetBootOrder(ctx context.Context, s redfish.System, want []string) (redfish.BootVia, error)
	PutFirst(ctx context.Context, s redfish.System, plan redfish.OrderPlan) (redfish.BootVia, error)
	PutBack(ctx context.Context, s redfish.System, plan redfish.OrderPlan) error
	SetOEM(ctx context.Context, s redfish.System, target string, plan redfish.OEMPlan) (redfish.BootVia, error)
	ClearOEM(ctx context.Context, s redfish.System, target string, plan redfish.OEMPlan) error
}

// Rows of the table of facets.
var (
	onceFacet = facet{ //nolint:gochecknoglobals // A table.
		actions: []action{actSetBootOnce},
		wants:   wantBoot, begin: beginOnce, resume: resumeOnce, perform: performOnce, failed: bootFailed, noted: bootNoted, readBack: overridden,
		conditions: []xpv2.ConditionType{v1alpha1.ConditionBootApplied}, show: showBoot,
		event: func(a act) event.Event { return event.Normal("BootOverrideSet", "the next boot goes to "+a.Target) },
	}
	restoreFacet = facet{ //nolint:gochecknoglobals // A table.
		actions: []action{actClearBoot, actPutBack},
		begin:   beginRestore, resume: resumeRestore, perform: performRestore, failed: bootFailed, noted: bootNoted, readBack: restored,
		event: func(a act) event.Event {
			switch {
			case a.Action == actPutBack && a.oem().OfOverride():
				return event.Normal("BootOverrideCleared", "the boot override is what it was before the boot for once")
			case a.Action == actPutBack && a.byOEM():
				return event.Normal("BootOverrideCleared", "the vendor's own boot setting isn't for the boot for once any more")
			case a.Action == actPutBack:
				return event.Normal("BootOrderPutBack", "the boot order is as it was before the boot for once")
			}

			return event.Normal("BootOverrideCleared", "the boot override was cleared")
		},
	}
)

func wantBoot(p v1alpha1.RedfishHostParameters, w *want) {
	if p.Boot != nil {
		w.once, w.persistent, w.order = p.Boot.Once, p.Boot.Persistent, p.Boot.Order
	}
}

// sourceOf is what is booted once.
func sourceOf(o v1alpha1.BootOnce) v1alpha1.BootSource {
	return v1alpha1.BootSource{Target: o.Target, Mode: o.Mode, URI: o.URI, DevicePath: o.DevicePath, BootOption: o.BootOption}
}

// bootAct is an act that sets a source.
func bootAct(v view, a action, s v1alpha1.BootSource, generation int64) act {
	return act{
		Action: a, Generation: generation, Wish: wishOf(s, generation), Shown: shownBoot(v.seen.boot),
		Target: string(s.Target), Mode: string(s.Mode), URI: s.URI, Path: s.DevicePath, Option: s.BootOption,
	}
}

// wishOf is the digest of a source that is asked for.
func wishOf(s v1alpha1.BootSource, generation int64) string {
	return digest(string(s.Target), string(s.Mode), s.URI, s.DevicePath, s.BootOption, strconv.FormatInt(generation, 10))
}

// shownBoot is the digest of the override that a BMC shows.
func shownBoot(b redfish.Boot) string {
	return digest(b.Target, b.Enabled, b.URI, b.DevicePath, b.Next)
}

// byOrder says whether a boot for once goes by the persistent boot order.
func (a act) byOrder() bool { return a.Rung == string(redfish.RungOrder) }

// lines are the words of an act's option.
func (a act) lines() []string { return strings.Split(a.Option, "\n") }

// plan is what an act by the boot order does: what comes to the front, and the
// order as it was.
func (a act) plan() redfish.OrderPlan {
	l := a.lines()

	return redfish.OrderPlan{First: l[0], Was: l[1:]}
}

// wantsOnce says whether a boot for once is asked for that wasn't set yet.
func wantsOnce(v view, j journal) bool {
	return v.want.once != nil && v.want.once.Generation > j.BootOnce
}

// beginOnce sets a boot for once. While the machine can't be told, it isn't
// started either: it would boot something else.
func beginOnce(v view, j journal) step {
	if !wantsOnce(v, j) {
		return step{}
	}
	a := bootAct(v, actSetBootOnce, sourceOf(*v.want.once), v.want.once.Generation)
	a.Was = shownOverride(v.seen.boot)
	t := j.Boot.Once.of(a.Wish)
	switch {
	case t.hopeless(v):
		return beginHopeless(v, j)
	case t.resting(v, actSetBootOnce) && !t.Over:
		return step{wait: true, why: "the BMC didn't take the boot source"}
	case j.Boot.Moved != nil && (len(v.want.order) == 0 || j.Boot.Moved.byOEM()) && !j.Boot.Moved.isOf(a, t):
		return beginPutBack(v, j) // Else ours would be taken for what was there before.
	case t.Over:
		j.Boot.Once = nil // What stood in the way may be mended.
	case len(t.Plan) > 0 && len(v.want.order) == 0:
		a.Rung, a.Option = string(redfish.RungOrder), strings.Join(t.Plan, "\n")
		a.Time, a.Power, a.LastReset = v.now.UTC().Truncate(time.Second), v.seen.power, v.seen.lastReset
		j.expect(a)
	case len(t.OEM) > 0:
		a.Rung, a.Option, a.At, a.Set = string(redfish.RungOEM), strings.Join(t.OEM, "\n"), t.At, t.Set
		a.Time, a.Power, a.LastReset = v.now.UTC().Truncate(time.Second), v.seen.power, v.seen.lastReset
		j.keep(a)
		j.expect(a)
	}

	return start(v, j, a)
}

// bootedSince says that the machine booted after an act began. A BMC that starts
// may not tell its last reset, and that is no boot.
func bootedSince(a act, s seen) bool {
	told := !a.LastReset.IsZero() && !s.lastReset.IsZero()

	return (a.Power == redfish.PowerOff && s.on()) || told && s.resetSince(a)
}

// inFront says whether a boot order begins with some references.
func inFront(order, first []string) bool {
	if len(order) < len(first) {
		return false
	}
	for i := range first {
		if order[i] != first[i] {
			return false
		}
	}

	return len(first) > 0
}

func resumeOnce(v view, j journal) step {
	a, b := *j.Act, v.seen.boot
	carriedOut := func(why string) step {
		j.setOnce(a)
		j.keepOverride(a, v.seen)

		return finish(j, why)
	}
	switch {
	case a.byOrder() && inFront(b.Order, a.lines()[:1]):
		j.unexpect(a)

		return carriedOut("the boot order begins with it")
	case a.Rung == "" && b.Enabled == redfish.EnabledOnce && !b.Idle() && (b.Target == a.Target || shownBoot(b) != a.Shown):
		return carriedOut("the override is set")
	case bootedSince(a, v.seen):
		return carriedOut("the machine booted since: the override, if set, was used up")
	case mustGoOff(v):
		j.move(a)
		j.keepOverride(a, v.seen)
		j.doubt(a, true)

		return beginOff(v, j)
	case a.Rung != "" && otherOnce(v, a) && v.lap(a).age < settle:
		return step{wait: true, why: "what was begun isn't wanted any more, but may come about yet"}
	case v.want.once == nil:
		return carriedOut("the override isn't wanted any more")
	case a.Rung != "" && otherOnce(v, a):
		j.move(a) // It goes back first: the next wish would take it for what was there before.
		j.doubt(a, true)
		a.State, a.Option, a.At, a.Set = failed, "", nil, nil

		return step{journal: j.with(a), why: "another boot is wanted than the one that was begun"}
	}
	now := bootAct(v, actSetBootOnce, sourceOf(*v.want.once), v.want.once.Generation)
	now.Was = a.Was // What is shown by now may be ours.
	if otherOnce(v, a) {
		return start(v, j, now)
	}
	if a.Rung != "" {
		now.Rung, now.Option, now.At, now.Set = a.Rung, a.Option, a.At, a.Set
	}
	if a.byOEM() {
		j.keep(a) // Of a journal of an older version.
	}

	return retry(v, j, now)
}

// otherOnce says whether another boot for once, or none, is wanted than an act is for.
func otherOnce(v view, a act) bool {
	return v.want.once == nil || a.Wish != "" && a.Wish != wishOf(sourceOf(*v.want.once), v.want.once.Generation)
}

// retry makes a boot act once more, after its patience. After the last time it
// isn't tried any more: nobody knows what the BMC does with it.
func retry(v view, j journal, now act) step {
	a := *j.Act
	now.Attempts = a.Attempts
	switch {
	case a.Attempts > 1 && v.lap(a).age < a.patience():
		return step{wait: true, why: "the BMC doesn't show what it was told to boot"}
	case a.last():
		slot := j.Boot.trials(a.Action)
		t := (*slot).of(now.Wish)
		t.Reason, t.Tried = v1alpha1.ReasonGaveUp, a.Attempts
		if a.Action.undoes() {
			t.Time = v.now.UTC().Truncate(time.Second)
		}
		t = t.end(v)
		*slot = &t
		j.move(a)
		j.keepOverride(a, v.seen)
		j.doubt(a, true)
		a.State, a.Option, a.At, a.Set = failed, "", nil, nil

		return step{journal: j.with(a), why: "given up: the BMC answers to " + string(a.Action) + " with errors"}
	default:
		return start(v, j, now)
	}
}

// setOnce writes down that a boot for once was set.
func (j *journal) setOnce(a act) {
	j.BootOnce, j.Boot.Once, j.Boot.Clear, j.Boot.Back = a.Generation, nil, nil, nil
	j.move(a)
	if a.Rung == "" {
		j.Override = a.Target
	}
	if l := j.Boot.Lasting; l != nil {
		again := *l
		again.Turns = turns{} // It was covered by us.
		j.Boot.Lasting = &again
	}
}

func performOnce(ctx context.Context, _ *external, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
	switch {
	case a.byOrder():
		via, err := bmc.PutFirst(ctx, s, a.plan())

		return redfish.Receipt{Via: &via}, err //nolint:wrapcheck // The caller asks for its kind.
	case a.byOEM():
		via, err := bmc.SetOEM(ctx, s, a.Target, a.oem())

		return redfish.Receipt{Via: &via}, err //nolint:wrapcheck // The caller asks for its kind.
	}

	return setBoot(ctx, bmc, s, a, false)
}

func setBoot(ctx context.Context, bmc BMC, s redfish.System, a act, lasting bool) (redfish.Receipt, error) {
	via, err := bmc.SetBoot(ctx, s, redfish.BootSource{
		Target: a.Target, Mode: a.Mode, URI: a.URI, DevicePath: a.Path, Option: a.Option, Lasting: lasting,
	})

	return redfish.Receipt{Via: &via}, err //nolint:wrapcheck // The caller asks for its kind.
}

// overridden is how things are after a boot for once was set.
func overridden(v view, j journal, r redfish.Receipt) (*journal, seen) {
	a, s := *j.Act, v.seen
	why := j.Boot.Once
	j.setOnce(a)
	j.Boot.Via = viaOf(r, why)
	if r.Via != nil && r.Via.Staged {
		j.doubt(a, true)
	} else {
		j.unexpect(a) // It's there.
	}
	switch {
	case a.byOrder():
		s.boot.Order = append([]string{a.lines()[0]}, without(s.boot.Order, a.lines()[0])...)
	case !a.byOEM(): // What the vendor's own way sets isn't shown as an override.
		s.boot.Target, s.boot.Enabled = a.Target, redfish.EnabledOnce
	}

	return finish(j, "").journal, s
}

func without(order []string, ref string) []string {
	var out []string
	for _, r := range order {
		if r != ref {
			out = append(out, r)
		}
	}

	return out
}

// viaOf is by what a source was set. What stood in the way of better rungs was
// said by a call before.
func viaOf(r redfish.Receipt, before *trial) *v1alpha1.BootVia {
	if r.Via == nil {
		return nil
	}
	via := &v1alpha1.BootVia{Rung: string(r.Via.Rung), Resource: bounded(r.Via.Resource, 512), Why: bounded(r.Via.Why, 512)}
	if via.Why == "" && before != nil {
		via.Why = bounded(before.Before, 512)
	}

	return via
}
