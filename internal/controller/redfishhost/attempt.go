package redfishhost

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// settingsRecord remembers what a BMC didn't take, so that a light isn't
// switched for ever and stands in nobody's way.
type settingsRecord struct {
	// Refused values, by their act.
	Refused map[action]string `json:"refused,omitempty"`
	// Asked is the look that was asked for last by then.
	Asked string `json:"asked,omitempty"`
	// Waits is the Secure Boot that was written, until it's shown.
	Waits *secureBootWaits `json:"waits,omitempty"`
	// Turns are of settings that somebody else changes back.
	Turns map[action]settingTurns `json:"turns,omitempty"`
}

// settingTurns count how often one value was set.
type settingTurns struct {
	Target string `json:"target"`
	Turns  turns  `json:"turns"`
}

// mark is what is given up of an act: one image in one type of drive, one value of
// a setting, one generation of the BMC's restart.
func (a act) mark() mark {
	switch a.Action {
	case actInsertMedia, actEjectMedia:
		return mark{a.Action + "/" + action(a.Target), a.Digest}
	case actResetBMC:
		return mark{a.Action, strconv.FormatInt(a.Generation, 10)}
	default:
		return mark{a.Action, a.Target}
	}
}

// mark is what is given up, and of what it is.
type mark struct {
	action action
	target string
}

// given says whether an act was given up.
func (r settingsRecord) given(a act, asked string) bool {
	m := a.mark()
	value, ok := r.Refused[m.action]

	return ok && value == m.target && r.Asked == asked
}

// with returns a record in which an act is given up, too.
func (r settingsRecord) with(a act, asked string) settingsRecord {
	m := a.mark()
	refused := map[action]string{}
	if r.Asked == asked {
		maps.Copy(refused, r.Refused)
	}
	refused[m.action] = m.target
	r.Refused, r.Asked = refused, asked

	return r
}

// turned returns a record in which a setting was set once more.
func (r settingsRecord) turned(a act, now time.Time) settingsRecord {
	t := r.Turns[a.Action]
	if t.Target != a.Target {
		t = settingTurns{Target: a.Target}
	}
	t.Turns = t.Turns.next(now)
	all := map[action]settingTurns{}
	maps.Copy(all, r.Turns)
	all[a.Action] = t
	r.Turns = all

	return r
}

// contested says whether a setting was set often enough, and somebody else wants it
// otherwise.
func (r settingsRecord) contested(a act, now time.Time) bool {
	t := r.Turns[a.Action]

	return t.Target == a.Target && t.Turns.contested(now)
}

// attempt begins an act that may be tried three times; after that it's given up,
// and stands in nobody's way.
func attempt(v view, j journal, a act) step {
	if j.Settings.given(a, v.asked) {
		return step{}
	}
	if last := j.Act; last != nil && last.State == failed && last.mark() == a.mark() {
		a.Attempts, a.Refusals = last.Attempts, last.Refusals
		if last.last() && last.Attempts > 0 {
			return giveIn(v, j, a)
		}
	}

	return start(v, j, a)
}

// giveIn is the step that gives an act up. Where somebody asks, all its attempts
// are made anew.
func giveIn(v view, j journal, a act) step {
	j.Settings = j.Settings.with(a, v.asked)
	if j.Act != nil && j.Act.mark() == a.mark() {
		last := *j.Act
		last.Attempts, last.Refusals = 0, 0
		j.Act = &last
	}

	return step{journal: &j, why: "given up: " + string(a.Action)}
}

// unsent is what becomes of a failed act that is tried a few times: what was never
// sent, or never looked at, was no attempt; what isn't offered is tried no more.
func unsent(_ view, a act, err error) act {
	switch {
	case notCalled(err):
		a.Attempts--
		a.State = failed
	case busy(err):
		// So often is one attempt: what a BMC never has time for stands in nobody's way.
		const often = 10
		a.Refusals++
		if a.Refusals%often != 0 {
			a.Attempts--
		}
		a.State = failed
	case redfish.IsUnsupported(err):
		a.Attempts, a.State = len(patience), failed
	case answered(err):
		a.State = failed
	}

	return a
}

// givenUp are, in words, the acts that a journal gave up and the one before didn't,
// beside those on power.
func givenUp(before, after *journal) []string {
	if before == nil || after == nil {
		return nil
	}
	var out []string
	for _, a := range slices.Sorted(maps.Keys(after.Settings.Refused)) {
		if was, ok := before.Settings.Refused[a]; !ok || was != after.Settings.Refused[a] || before.Settings.Asked != after.Settings.Asked {
			out = append(out, string(a))
		}
	}
	if after.BIOS.State == gaveUp && before.BIOS.State != gaveUp {
		out = append(out, string(actStageBIOS))
	}
	for _, a := range []action{actSetBootOnce, actSetBoot, actSetOrder, actClearBoot, actPutBack} {
		was, is := *before.Boot.trials(a), *after.Boot.trials(a)
		if is != nil && is.Over && (was == nil || !was.Over || was.Wish != is.Wish) {
			out = append(out, string(a))
		}
	}

	return out
}
