package redfishhost

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

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

// settingsRecord remembers what a BMC didn't take, so that a light isn't
// switched for ever and stands in nobody's way.
type settingsRecord struct {
	// Refused values, by their act.
	Refused map[action]string `json:"refused,omitempty"`
	// Asked is the look that was asked for last by then.
	Asked string `json:"asked,omitempty"`
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

// unsent is what becomes of a failed act that is tried a few times: what was
// never sent, or never looked at, was no attempt.
func unsent(_ view, a act, err error) act {
	if notCalled(err) || statusOf(err) == http.StatusServiceUnavailable {
		a.Attempts--
		a.State = failed
	} else if answered(err) {
		a.State = failed
	}

	return a
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

// wasSet is how things are after a setting was written and read back.
func wasSet(v view, j journal, _ redfish.Receipt) (*journal, seen) {
	s := v.seen
	switch a := *j.Act; a.Action {
	case actSetIndicator:
		s.small.Indicator = a.Target
	case actSetAssetTag:
		s.small.AssetTag = strings.TrimSpace(a.Target)
	default:
		now := redfish.SecureBoot{}
		if s.secureBoot != nil {
			now = *s.secureBoot
		}
		now.Enabled = a.Target == secureBootOn
		s.secureBoot = &now
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
		case a == actSetAssetTag && w.assetTag != nil && s.small.CanTag && s.small.AssetTag != strings.TrimSpace(*w.assetTag):
			return act{Action: a, Target: *w.assetTag}, true
		case a == actSetSecureBoot && w.secureBoot != "" && s.secureBoot != nil && s.secureBoot.Enabled != (w.secureBoot == secureBootOn):
			return act{Action: a, Target: w.secureBoot}, true
		}
	}

	return act{}, false
}

// given says whether an act was given up.
func (r settingsRecord) given(a act, asked string) bool {
	value, ok := r.Refused[a.Action]

	return ok && value == a.Target && r.Asked == asked
}

// with returns a record in which an act is given up, too.
func (r settingsRecord) with(a act, asked string) settingsRecord {
	refused := map[action]string{}
	if r.Asked == asked {
		maps.Copy(refused, r.Refused)
	}
	refused[a.Action] = a.Target

	return settingsRecord{Refused: refused, Asked: asked}
}

func beginSettings(v view, j journal, of []action) step {
	a, ok := v.want.settings.differing(v.seen, of)
	if !ok || j.Settings.given(a, v.asked) {
		return step{}
	}
	if last := j.Act; last != nil && last.Action == a.Action && last.Target == a.Target && (last.State == failed || a.Action == actSetSecureBoot) {
		if last.State == done && last.Attempts > 0 && !bootedSince(*last, v.seen) {
			return step{} // Written, and not shown before a boot (iDRAC makes a job of it).
		}
		if a.Attempts = last.Attempts; last.last() && last.Attempts > 0 {
			j.Settings = j.Settings.with(a, v.asked)

			return step{journal: &j, why: "given up: " + string(a.Action)}
		}
	}

	return start(v, j, a)
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

// showSettings says how far the small settings have come.
func showSettings(v view, in inputs) []xpv2.Condition {
	w, s := v.want.settings, v.seen
	if w == (wantSettings{}) {
		return nil
	}
	is := func(status corev1.ConditionStatus, reason xpv2.ConditionReason, format string, args ...any) []xpv2.Condition {
		return []xpv2.Condition{condition(v1alpha1.ConditionSettingsApplied, status, reason, fmt.Sprintf(format, args...))}
	}
	if lacks := w.lacking(s); len(lacks) > 0 {
		return is(corev1.ConditionFalse, v1alpha1.ReasonNotSupported, "the BMC at %q doesn't offer %s: take it out of the spec", in.address, strings.Join(lacks, " and "))
	}
	if a, ok := w.differing(s, []action{actSetSecureBoot, actSetIndicator, actSetAssetTag}); ok {
		if v.j != nil && v.j.Settings.given(a, v.asked) {
			return is(corev1.ConditionFalse, v1alpha1.ReasonNoEffect,
				"the BMC at %q doesn't take %s %q: it was tried %d times; another value, or annotation crossplane.io/reconcile-requested-at of this host, has it tried again", in.address, titles[a.Action], a.Target, len(patience))
		}

		return is(corev1.ConditionFalse, v1alpha1.ReasonApplying, "%s is being set", titles[a.Action])
	}
	if b := s.secureBoot; w.secureBoot != "" && b != nil && b.Known && b.Current != (w.secureBoot == secureBootOn) {
		return is(corev1.ConditionFalse, v1alpha1.ReasonWaitingForReset, "Secure Boot is to be %s, from the machine's next reset on", w.secureBoot)
	}

	return is(corev1.ConditionTrue, v1alpha1.ReasonApplied, "")
}

// lacking are the wanted settings that the BMC doesn't have.
func (w wantSettings) lacking(s seen) []string {
	var out []string
	if w.indicator != "" && !s.small.CanIndicate() {
		out = append(out, "an indicator")
	}
	if w.assetTag != nil && !s.small.CanTag {
		out = append(out, "an asset tag")
	}
	if w.secureBoot != "" && s.secureBoot == nil {
		out = append(out, "Secure Boot")
	}

	return out
}

// secureBootOf is what status shows of it.
func secureBootOf(b *redfish.SecureBoot) string {
	switch {
	case b == nil || !b.Known:
		return ""
	case b.Current:
		return secureBootOn
	default:
		return "Disabled"
	}
}
