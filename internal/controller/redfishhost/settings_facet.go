package redfishhost

import (
	"context"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// settingsBMC is what small settings need of a BMC.
type settingsBMC interface {
	SetIndicator(ctx context.Context, s redfish.System, indicator string) error
	SetAssetTag(ctx context.Context, s redfish.System, tag string) error
	SecureBoot(ctx context.Context, s redfish.System) (redfish.SecureBoot, error)
	SetSecureBoot(ctx context.Context, s redfish.System, on bool) error
}

const (
	actSetIndicator  action = "SetIndicator"
	actSetAssetTag   action = "SetAssetTag"
	actSetSecureBoot action = "SetSecureBoot"
)

// secureBootOn is the value of secureBoot that switches it on.
const secureBootOn = "Enabled"

// wantSettings are the small settings that are wanted; what is nil, or "", stays
// as it is.
type wantSettings struct {
	indicator  string
	assetTag   *string
	secureBoot string
}

// secureBootSeen is what a System shows of its Secure Boot.
type secureBootSeen struct {
	redfish.SecureBoot

	// unread says that it couldn't be read, and nothing is known.
	unread bool
}

// secureBootWaits is a Secure Boot that was written. Some BMCs show it at once,
// others after the boot that it comes with.
type secureBootWaits struct {
	Target string `json:"target"`
	// Tries are how often it was written.
	Tries int `json:"tries"`
	// Power and LastReset as they were seen then; Booted is when a boot was seen
	// since.
	Power     redfish.Power `json:"power,omitempty"`
	LastReset time.Time     `json:"lastReset,omitzero"`
	Booted    time.Time     `json:"booted,omitzero"`
}

// Rows of the table of facets. Secure Boot is set before the machine starts, a
// light after everything else.
var (
	secureBootFacet = settingsFacetOf(actSetSecureBoot)                //nolint:gochecknoglobals // A table.
	settingsFacet   = settingsFacetOf(actSetIndicator, actSetAssetTag) //nolint:gochecknoglobals // A table.
)

func settingsFacetOf(actions ...action) facet {
	f := facet{
		actions: actions,
		begin:   func(v view, j journal) step { return beginSettings(v, j, actions) },
		resume:  func(v view, j journal) step { return resumeSettings(v, j, actions) },
		perform: performSetting, failed: unsent, readBack: wasSet,
		event: func(a act) event.Event {
			return event.Normal("SettingApplied", string(a.Action)+" "+strconv.Quote(a.Target)+" was carried out")
		},
	}
	if actions[0] == actSetIndicator {
		f.wants = func(p v1alpha1.RedfishHostParameters, w *want) {
			w.settings = wantSettings{indicator: p.Indicator, assetTag: p.AssetTag, secureBoot: p.SecureBoot}
		}
		f.conditions, f.show = []xpv2.ConditionType{v1alpha1.ConditionSettingsApplied}, showSettings
	}

	return f
}

func performSetting(ctx context.Context, _ *external, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
	var err error
	switch a.Action {
	case actSetIndicator:
		err = bmc.SetIndicator(ctx, s, a.Target)
	case actSetAssetTag:
		err = bmc.SetAssetTag(ctx, s, a.Target)
	default:
		err = bmc.SetSecureBoot(ctx, s, a.Target == secureBootOn)
	}

	return redfish.Receipt{}, err //nolint:wrapcheck // The caller asks for its kind.
}

// wasSet is how things are after a setting was written and read back. Secure Boot
// may be shown later.
func wasSet(v view, j journal, _ redfish.Receipt) (*journal, seen) {
	s := v.seen
	switch a := *j.Act; a.Action {
	case actSetIndicator:
		s.small.Indicator = a.Target
		j.Settings = j.Settings.turned(a, v.now)
	case actSetAssetTag:
		s.small.AssetTag = redfish.Tag(a.Target)
		j.Settings = j.Settings.turned(a, v.now)
	default:
		w := &secureBootWaits{Target: a.Target, Tries: 1, Power: a.Power, LastReset: a.LastReset}
		if was := j.Settings.Waits; was != nil && was.Target == a.Target {
			w.Tries += was.Tries
		}
		j.Settings.Waits = w
	}

	return finish(j, "").journal, s
}

// differing is the first of some small settings that isn't as wanted, as the act
// that would set it; none where all are, or can't be.
func (w wantSettings) differing(s seen, of []action) (act, bool) {
	for _, a := range of {
		switch {
		case a == actSetIndicator && w.indicator != "" && s.small.CanIndicate() && !s.small.Shows(w.indicator):
			return act{Action: a, Target: w.indicator}, true
		case a == actSetAssetTag && w.assetTag != nil && s.small.CanTag && s.small.AssetTag != redfish.Tag(*w.assetTag):
			return act{Action: a, Target: *w.assetTag}, true
		case a == actSetSecureBoot && w.secureBoot != "" && s.secureBoot != nil && !s.secureBoot.unread && s.secureBoot.Enabled != (w.secureBoot == secureBootOn):
			return act{Action: a, Target: w.secureBoot}, true
		}
	}

	return act{}, false
}

func beginSettings(v view, j journal, of []action) step {
	a, ok := v.want.settings.differing(v.seen, of)
	switch {
	case !ok && of[0] == actSetSecureBoot:
		return forgetWaits(v, j)
	case !ok, j.Settings.given(a, v.asked), j.Settings.contested(a, v.now):
		return step{}
	case a.Action == actSetSecureBoot:
		if st, waits := awaited(v, j, a); waits {
			return st
		}
	}

	return attempt(v, j, a)
}

// awaited says what is done about a Secure Boot that was written and isn't shown:
// nothing before a boot, since iDRACs make a job of it, and for a while after it.
// What doesn't come with three boots is given up.
func awaited(v view, j journal, a act) (st step, waits bool) {
	if j.Settings.Waits == nil || j.Settings.Waits.Target != a.Target {
		return step{}, false
	}
	w := *j.Settings.Waits
	switch {
	case w.Booted.IsZero() && v.seen.off() && w.Power != redfish.PowerOff:
		w.Power = redfish.PowerOff // The next time that it's on is a boot.
	case w.Booted.IsZero() && bootedSince(act{Power: w.Power, LastReset: w.LastReset}, v.seen):
		w.Booted = v.now.UTC().Truncate(time.Second)
	case w.Booted.IsZero(), v.rested(actSetSecureBoot, w.Booted) < stagedRest:
		return step{}, true
	case w.Tries >= len(patience):
		j.Settings.Waits = nil

		return giveIn(v, j, a), true
	default:
		return step{}, false
	}
	j.Settings.Waits = &w

	return step{journal: &j, why: "Secure Boot waits for a boot"}, true
}

// forgetWaits drops what is shown by now, or isn't wanted any more.
func forgetWaits(v view, j journal) step {
	b := v.seen.secureBoot
	if j.Settings.Waits == nil || v.want.settings.secureBoot != "" && (b == nil || b.unread) {
		return step{}
	}
	j.Settings.Waits = nil

	return step{journal: &j, why: "Secure Boot is as wanted, or isn't wanted any more"}
}

// resumeSettings has what may not have been called begun anew: it does no harm.
func resumeSettings(v view, j journal, of []action) step {
	if mustGoOff(v) {
		return beginOff(v, j)
	}
	if a, ok := v.want.settings.differing(v.seen, of); ok && a.Action == j.Act.Action && a.Target == j.Act.Target {
		again := *j.Act
		again.State = failed

		return step{journal: j.with(again), why: "the setting is written again"}
	}

	return finish(j, "the setting is as wanted, or isn't wanted any more")
}

// titles of settings, for people.
var titles = map[action]string{actSetIndicator: "indicator", actSetAssetTag: "assetTag", actSetSecureBoot: "secureBoot"} //nolint:gochecknoglobals // A table.
