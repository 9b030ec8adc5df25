package redfishhost

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// bootBMC is what boot overrides need of a BMC. Its calls read back what they wrote.
type bootBMC interface {
	SetBootOnce(ctx context.Context, s redfish.System, target string) error
	ClearBoot(ctx context.Context, s redfish.System) error
}

// Rows of the table of facets.
var (
	onceFacet = facet{ //nolint:gochecknoglobals // A table.
		actions: []action{actSetBootOnce},
		wants:   wantOnce, begin: beginOnce, resume: resumeOnce,
		perform: func(ctx context.Context, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
			return redfish.Receipt{}, bmc.SetBootOnce(ctx, s, a.Target) //nolint:wrapcheck // The caller asks for its kind.
		},
		readBack: overridden,
		event:    func(a act) event.Event { return event.Normal("BootOverrideSet", "the next boot goes to "+a.Target) },
	}
	restoreFacet = facet{ //nolint:gochecknoglobals // A table.
		actions: []action{actClearBoot},
		begin:   beginClear, resume: resumeClear,
		perform: func(ctx context.Context, bmc BMC, s redfish.System, _ act) (redfish.Receipt, error) {
			return redfish.Receipt{}, bmc.ClearBoot(ctx, s) //nolint:wrapcheck // The caller asks for its kind.
		},
		readBack: cleared,
		event:    func(act) event.Event { return event.Normal("BootOverrideCleared", "the boot override was cleared") },
	}
)

func wantOnce(p v1alpha1.RedfishHostParameters, w *want) {
	if p.Boot != nil {
		w.once = p.Boot.Once
	}
}

func beginOnce(v view, j journal) step {
	if v.want.once == nil || v.want.once.Generation <= j.BootOnce {
		return step{}
	}

	return start(v, j, act{Action: actSetBootOnce, Generation: v.want.once.Generation, Target: string(v.want.once.Target)})
}

// bootedSince says that the machine booted after an act began.
func bootedSince(a act, s seen) bool {
	return (a.Power == redfish.PowerOff && s.on()) || !s.lastReset.Equal(a.LastReset)
}

func resumeOnce(v view, j journal) step {
	a := *j.Act
	carriedOut := func(why string) step {
		j.BootOnce, j.Override = a.Generation, a.Target

		return finish(j, why)
	}
	switch {
	case v.seen.boot.Enabled == redfish.EnabledOnce && !v.seen.boot.Idle():
		return carriedOut("the override is set")
	case bootedSince(a, v.seen):
		return carriedOut("the machine booted since: the override, if set, was used up")
	case mustGoOff(v):
		return beginOff(v, j)
	case v.want.once == nil:
		return carriedOut("the override isn't wanted any more")
	default:
		a.Generation, a.Target = v.want.once.Generation, string(v.want.once.Target)

		return start(v, j, a)
	}
}

// overridden is how things are after an override was set.
func overridden(j journal, s seen) (*journal, seen) {
	j.BootOnce, j.Override = j.Act.Generation, j.Act.Target
	s.boot.Target, s.boot.Enabled = j.Act.Target, redfish.EnabledOnce

	return finish(j, "").journal, s
}

// beginClear takes away an override of ours that the machine hasn't used up. A
// foreign one, or none, isn't ours to clear.
func beginClear(v view, j journal) step {
	switch {
	case v.want.once != nil || j.Override == "":
		return step{}
	case v.seen.boot.Enabled == redfish.EnabledOnce && !v.seen.boot.Idle():
		return start(v, j, act{Action: actClearBoot})
	default:
		j.Override = ""

		return step{journal: &j, why: "the override was used up"}
	}
}

func resumeClear(v view, j journal) step {
	switch {
	case v.seen.boot.Idle():
		j.Override = ""

		return finish(j, "the override is cleared")
	case mustGoOff(v):
		return beginOff(v, j)
	default:
		return start(v, j, *j.Act)
	}
}

// cleared is how things are after an override was taken away.
func cleared(j journal, s seen) (*journal, seen) {
	j.Override = ""
	s.boot.Target, s.boot.Enabled = redfish.TargetNone, redfish.EnabledDisabled

	return finish(j, "").journal, s
}
