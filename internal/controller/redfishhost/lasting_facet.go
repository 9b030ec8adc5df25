package redfishhost

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

var lastingFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actSetBoot},
	begin:   beginLasting, resume: resumeLasting, failed: bootFailed, noted: bootNoted, readBack: lasted,
	perform: func(ctx context.Context, _ *external, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
		return setBoot(ctx, bmc, s, a, true)
	},
	event: func(a act) event.Event { return event.Normal("BootOverrideSet", "every boot goes to "+a.Target) },
}

// is says whether the BMC shows the source that was set, perhaps by a name of its own.
func (l lasting) is(b redfish.Boot) bool {
	return b.Enabled == redfish.EnabledContinuous && (b.Target == l.Target || l.Shown == "" || b.Target == l.Shown)
}

// stands says whether a lasting source is as it's asked for.
func stands(s v1alpha1.BootSource, b redfish.Boot) bool {
	return b.Enabled == redfish.EnabledContinuous && b.Target == string(s.Target) &&
		(s.URI == "" || b.URI == s.URI) && (s.DevicePath == "" || b.DevicePath == s.DevicePath)
}

// beginLasting sets a lasting source. A boot for once, ours or somebody else's,
// comes first: the override is one, and comes back after it.
func beginLasting(v view, j journal) step {
	if v.want.persistent == nil {
		return step{}
	}
	a, b := bootAct(v, actSetBoot, *v.want.persistent, 0), v.seen.boot
	ours := j.Boot.Lasting != nil && j.Boot.Lasting.Wish == a.Wish
	renamed := ours && j.Boot.Lasting.is(b) && b.Target != a.Target
	t := j.Boot.Lastly.of(a.Wish)
	switch {
	case stands(*v.want.persistent, b), b.Enabled == redfish.EnabledOnce && !b.Idle(), wantsOnce(v, j), j.Boot.Moved != nil && j.Boot.Moved.ofOverride():
		return step{}
	case renamed && j.Boot.Lasting.Shown == "":
		l := *j.Boot.Lasting
		l.Shown = b.Target
		j.Boot.Lasting = &l

		return step{journal: &j, why: "the BMC has a name of its own for the boot source"}
	case renamed, t.hopeless(v), t.resting(v, actSetBoot) && !t.Over:
		return step{}
	case t.Over:
		j.Boot.Lastly = nil // What stood in the way may be mended.
	case ours && j.Boot.Lasting.Turns.contested(v.now):
		return contested(v, j, a)
	}

	return start(v, j, a)
}

// contested ends a wish that somebody else changes back each time.
func contested(v view, j journal, a act) step {
	slot := j.Boot.trials(a.Action)
	t := (*slot).of(a.Wish)
	t.Reason, t.Tried = v1alpha1.ReasonConflict, maxTurns
	t = t.end(v)
	*slot = &t

	return step{journal: &j, why: "something else changes it back"}
}

func resumeLasting(v view, j journal) step {
	a, b := *j.Act, v.seen.boot
	there := b.Enabled == redfish.EnabledContinuous && !b.Idle() && (b.Target == a.Target || shownBoot(b) != a.Shown)
	switch {
	case there, v.want.persistent == nil:
		j.setLasting(v, a)

		return finish(j, "the lasting source is set, or not wanted any more")
	case mustGoOff(v):
		return beginOff(v, j)
	}
	now := bootAct(v, actSetBoot, *v.want.persistent, 0)
	if now.Wish != a.Wish {
		return start(v, j, now)
	}

	return retry(v, j, now)
}

// setLasting writes down that a lasting source was set.
func (j *journal) setLasting(v view, a act) {
	l := &lasting{Wish: a.Wish, Target: a.Target}
	if was := j.Boot.Lasting; was != nil && was.Wish == a.Wish {
		l.Turns = was.Turns
	}
	l.Turns = l.Turns.next(v.now)
	j.Boot.Lasting, j.Boot.Lastly, j.Boot.Clear = l, nil, nil
}

// lasted is how things are after a lasting source was set.
func lasted(v view, j journal, r redfish.Receipt) (*journal, seen) {
	a, s := *j.Act, v.seen
	j.setLasting(v, a)
	j.Boot.Via = viaOf(r, nil)
	s.boot.Target, s.boot.Enabled, s.boot.URI, s.boot.DevicePath = a.Target, redfish.EnabledContinuous, a.URI, a.Path

	return finish(j, "").journal, s
}
