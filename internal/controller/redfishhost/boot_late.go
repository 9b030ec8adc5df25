package redfishhost

import (
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// What a BMC accepted, or may have got, and doesn't show may come about later: by a
// job, or with the machine's next boot. It's in the journal until some minutes after
// that, so that no boot for once stays for ever that was given up.

const (
	// maxLate bounds how many are waited for: each has an order.
	maxLate = 3
	// undoRest is how long a BMC is left alone that didn't put back what it's to put
	// back, unless something changes or somebody asks.
	undoRest = time.Hour
)

// bootedSince says whether the machine booted since: by what it shows, or by our own
// hand, as many BMCs tell no last reset.
func (m moved) bootedSince(s seen, j journal) bool {
	byUs := s.on() && !m.Time.IsZero() && j.PoweredOn.After(m.Time)

	return byUs || bootedSince(act{Power: m.Power, LastReset: m.LastReset}, s)
}

// same says whether two are of one option of the order, or of one resource and target.
func (m moved) same(other moved) bool { return m.Resource == other.Resource && m.First == other.First }

// expect writes down what an act by the order, or by the vendor's own way, may bring
// about later.
func (j *journal) expect(a act) {
	m := a.moves()
	for _, l := range j.Boot.Late {
		m.Told = m.Told || l.Told && l.same(m)
	}
	all := append(j.Boot.lateBut(m), m)
	j.Boot.Late = all[max(0, len(all)-maxLate):]
}

// doubt writes down what a BMC's answer says of what an act may bring about. Where it
// accepted that, or may have got it by a call whose answer was lost, it may come about
// for good, whatever the BMC answers to the next one: a job may wait for the boot.
// Else it says that nothing will come of it.
func (j *journal) doubt(a act, told bool) {
	if a.Rung == "" {
		return
	}
	i := slices.IndexFunc(j.Boot.Late, a.moves().same)
	switch {
	case i < 0:
	case told:
		j.Boot.Late = slices.Clone(j.Boot.Late)
		j.Boot.Late[i].Told = true
	case !j.Boot.Late[i].Told:
		j.unexpect(a)
	}
}

// before has a trial that is planned anew remember what was there before an earlier
// boot for the same came late: what the plan found is our own by then, and nobody's
// to put back.
func (t *trial) before(late []moved, a act) {
	for _, l := range late {
		switch {
		case !l.byOEM() && len(t.Plan) > 1 && l.First == t.Plan[0] && t.Plan[1] == l.First:
			rest := without(t.Plan[1:], l.First)
			at := slices.Index(l.Was, l.First)
			if at < 0 {
				at = len(rest)
			}
			t.Plan = append([]string{l.First}, slices.Insert(rest, min(at, len(rest)), l.First)...)
		case l.byOEM() && l.First == a.Target && len(t.OEM) == len(l.Was)+1 && t.OEM[0] == l.Resource &&
			len(l.Set) == len(l.Was) && slices.Equal(t.At, l.At):
			t.OEM = slices.Clone(t.OEM)
			for i, set := range l.Set {
				if strings.EqualFold(t.OEM[i+1], set) {
					t.OEM[i+1] = l.Was[i]
				}
			}
		}
	}
}

// unexpect takes out what an act was for, since it's seen.
func (j *journal) unexpect(a act) {
	if a.Rung == "" {
		return
	}
	j.Boot.Late = j.Boot.lateBut(a.moves())
}

// lateBut are those that are waited for but one, in a list of their own; nil is none.
func (b *boots) lateBut(m moved) []moved {
	var out []moved
	for _, l := range b.Late {
		if !l.same(m) {
			out = append(out, l)
		}
	}

	return out
}

// beginLate puts back what came late: an order at once when it's seen, and each of
// them some minutes after the machine has booted, which does nothing where it didn't
// come. While the boot is still tried that it was for, that finds out by itself.
func beginLate(v view, j journal) step {
	if j.Boot.Moved != nil || triesOnce(v, j) {
		return step{}
	}
	for i, m := range j.Boot.Late {
		declared := len(v.want.order) > 0 && !m.byOEM()
		switch {
		case declared:
			j.Boot.Late = j.Boot.lateBut(m)

			return step{journal: &j, why: "a boot order is declared"}
		case !m.byOEM() && inFront(v.seen.boot.Order, []string{m.First}), v.outlasted(m):
			j.Boot.Moved, j.Boot.Late = &m, j.Boot.lateBut(m)

			return start(v, j, m.putBack())
		case m.Booted.IsZero() && m.bootedSince(v.seen, j):
			m.Booted = v.now.UTC().Truncate(time.Second)
		case m.Booted.IsZero() && v.seen.off() && m.Power != redfish.PowerOff:
			m.Power = redfish.PowerOff // The next time that it's on is a boot.
		default:
			continue
		}
		j.Boot.Late = slices.Clone(j.Boot.Late)
		j.Boot.Late[i] = m

		return step{journal: &j, why: "what had no effect yet may have it with a boot"}
	}

	return step{}
}

// actLate is by what the stopwatch knows a thing that may come late.
const actLate action = "Late"

// awaited says whether something may come soon that a host would leave behind which is
// deleted: with a boot a few minutes ago, or by a job that was made a few minutes ago. One that
// only a later boot brings isn't waited for: nobody knows when there's one.
func (v view) awaited(m moved) bool {
	if !m.Booted.IsZero() {
		return !v.outlasted(m) && v.now.Sub(m.Booted).Abs() < stale
	}
	recent := v.now.Sub(m.Time).Abs() < stale

	return recent && v.rested(actLate+"/"+action(m.putBack().Wish), m.Time) < orderRest
}

// awaitsLate says whether a host that is deleted waits for anything.
func (v view) awaitsLate(j journal) bool {
	return v.want.leaving && slices.ContainsFunc(j.Boot.Late, v.awaited)
}

// outlasted says whether the boot is long ago with which something may have come.
func (v view) outlasted(m moved) bool {
	return !m.Booted.IsZero() && v.rested(actPutBack+"/"+action(m.putBack().Wish), m.Booted) >= orderRest
}

// triesOnce says whether a boot for once is asked for that isn't given up.
func triesOnce(v view, j journal) bool {
	if !wantsOnce(v, j) {
		return false
	}
	o := *v.want.once

	return !j.Boot.Once.of(wishOf(sourceOf(o), o.Generation)).hopeless(v)
}

// undoes says that an action takes back what was done for a boot.
func (a action) undoes() bool { return a == actPutBack || a == actClearBoot }

// keptOn says whether what was to be undone, and was given up, is left alone for now.
func (t trial) keptOn(v view, a action) bool { return t.hopeless(v) && v.rested(a, t.Time) < undoRest }

// kept is the trial at what couldn't be taken back; nil: there's none.
func (j *journal) kept() *trial {
	if j == nil {
		return nil
	}
	for _, t := range []*trial{j.Boot.Clear, j.Boot.Back} {
		if t != nil && t.Over {
			return t
		}
	}

	return nil
}

// beginHopeless takes back what may have come of a boot for once that can't be had,
// and has the machine wait.
func beginHopeless(v view, j journal) step {
	if st := beginLate(v, j); !st.idle() {
		return st
	}
	if st := beginPutBack(v, j); !st.idle() {
		return st
	}

	return step{wait: true, why: "the machine can't be told to boot that"}
}
