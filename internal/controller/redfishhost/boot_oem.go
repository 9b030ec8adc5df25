package redfishhost

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// What is left where a machine's override doesn't do: its boot order, and then the
// vendor's own way. Both may outlive the boot that they are for, so what was there
// before is in the journal before anything is written, and put back.

// byOEM says whether it goes by a resource of the vendor's own.
func (a act) byOEM() bool { return a.Rung == string(redfish.RungOEM) }

// oem is the same of an act by the vendor's own way: its resource, and what that
// was.
func (a act) oem() redfish.OEMPlan {
	l := a.lines()

	return redfish.OEMPlan{Resource: l[0], Was: l[1:], At: a.At, Set: a.Set}
}

// move writes down the order, or the vendor's own setting, that a boot for once goes
// by, and that it may have changed: it's put back in any case, which does nothing
// where it didn't.
func (j *journal) move(a act) {
	if a.Action != actSetBootOnce || a.Rung == "" {
		return
	}
	m := a.moves()
	j.Boot.Moved = &m
}

// moves is what an act by the order, or by the vendor's own way, changes.
func (a act) moves() moved {
	m := moved{Time: a.Time, Power: a.Power, LastReset: a.LastReset}
	if a.byOEM() {
		p := a.oem()
		m.Resource, m.First, m.Was, m.At, m.Set = p.Resource, a.Target, p.Was, p.At, p.Set
	} else {
		p := a.plan()
		m.First, m.Was = p.First, p.Was
	}

	return m
}

// keep writes down, with an act by the vendor's own way, what was there before, for
// whatever becomes of it: an answer may be lost, and what had no effect may have it
// later, or by half. That an earlier one couldn't be put back says nothing of this.
func (j *journal) keep(a act) {
	j.move(a)
	if b := j.Boot.Back; b != nil && b.Wish == j.Boot.Moved.putBack().Wish {
		j.Boot.Back = nil
	}
}

// keepOverride writes down, of an override for one boot that isn't heard of any more,
// that the BMC keeps it for every boot: the provider may have been killed between the
// write and the look at it. What was there before comes back.
func (j *journal) keepOverride(a act, s seen) {
	b, was := s.boot, putBackTo(a.Was)
	ours := a.Action == actSetBootOnce && a.Rung == "" && b.Enabled == redfish.EnabledContinuous && strings.EqualFold(b.Target, a.Target)
	if !ours || b.Idle() || slices.Equal(was, []string{b.Target, b.Enabled}) || j.Boot.Lasting != nil && j.Boot.Lasting.is(b) {
		return
	}
	p := redfish.KeptPlan(s.uri, b.Target, was)
	j.Override, j.Boot.Moved = "", &moved{
		Resource: p.Resource, First: a.Target, Was: p.Was, At: p.At, Set: p.Set, Time: a.Time, Power: a.Power, LastReset: a.LastReset,
	}
}

// isOf says whether it's what a trial's next act by the vendor's own way changes, so
// that the act may go on from there.
func (m moved) isOf(a act, t trial) bool {
	return m.byOEM() && m.First == a.Target && len(t.Plan) == 0 && slices.Equal(append([]string{m.Resource}, m.Was...), t.OEM) &&
		slices.Equal(m.At, t.At) && slices.Equal(m.Set, t.Set)
}

// byOEM says that it's a setting of the vendor's own.
func (m moved) byOEM() bool { return m.Resource != "" }

// ofOverride says that it's the standard's override, which the BMC keeps for every boot.
func (m moved) ofOverride() bool { return redfish.OEMPlan{At: m.At, Set: m.Set}.OfOverride() }

// putBack is the act that undoes it.
func (m moved) putBack() act {
	if m.byOEM() {
		return act{
			Action: actPutBack, Wish: digest(m.Resource, m.First), Target: m.First,
			Rung: string(redfish.RungOEM), Option: strings.Join(append([]string{m.Resource}, m.Was...), "\n"), At: m.At, Set: m.Set,
		}
	}

	return act{Action: actPutBack, Wish: m.First, Option: strings.Join(append([]string{m.First}, m.Was...), "\n")}
}

// shownOverride is an override by its target and enabled; none: it's idle.
func shownOverride(b redfish.Boot) []string {
	if b.Idle() {
		return nil
	}

	return []string{b.Target, b.Enabled}
}

// putBackTo is an override as it's put back.
func putBackTo(was []string) []string {
	if len(was) == 0 {
		return []string{redfish.TargetNone, redfish.EnabledDisabled}
	}

	return was
}

// falls notes the ways that are left, and says whether there's one. An order that is
// declared isn't changed for a boot. was is the override before.
func (t *trial) falls(e *redfish.Error, was []string, declared bool) bool {
	if e.Fallback != nil && !declared {
		t.Plan = append([]string{e.Fallback.First}, e.Fallback.Was...)
	}
	if e.OEM != nil {
		t.OEM = append([]string{e.OEM.Resource}, e.OEM.Was...)
		t.At, t.Set = e.OEM.At, e.OEM.Set
		if e.OEM.OfOverride() {
			t.OEM = append([]string{e.OEM.Resource}, putBackTo(was)...) // What the plan found may be our own.
		}
	}
	if len(t.Plan)+len(t.OEM) == 0 {
		return false
	}
	t.Before = saidOf(*t)

	return true
}
