package redfishhost

import (
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

	return redfish.OEMPlan{Resource: l[0], Was: l[1:]}
}

// move writes down the order, or the vendor's own setting, that a boot for once goes
// by, and that it may have changed: it's put back in any case, which does nothing
// where it didn't.
func (j *journal) move(a act) {
	if a.Action != actSetBootOnce || a.Rung == "" {
		return
	}
	m := moved{Power: a.Power, LastReset: a.LastReset}
	if a.byOEM() {
		p := a.oem()
		m.Resource, m.First, m.Was = p.Resource, a.Target, p.Was
	} else {
		p := a.plan()
		m.First, m.Was = p.First, p.Was
	}
	j.Boot.Moved = &m
}

// byOEM says that it's a setting of the vendor's own.
func (m moved) byOEM() bool { return m.Resource != "" }

// putBack is the act that undoes it.
func (m moved) putBack() act {
	if m.byOEM() {
		return act{
			Action: actPutBack, Wish: digest(m.Resource, m.First), Target: m.First,
			Rung: string(redfish.RungOEM), Option: strings.Join(append([]string{m.Resource}, m.Was...), "\n"),
		}
	}

	return act{Action: actPutBack, Wish: m.First, Option: strings.Join(append([]string{m.First}, m.Was...), "\n")}
}

// falls notes the ways that are left, and says whether there's one. An order that is
// declared isn't changed for a boot.
func (t *trial) falls(e *redfish.Error, declared bool) bool {
	if e.Fallback != nil && !declared {
		t.Plan = append([]string{e.Fallback.First}, e.Fallback.Was...)
	}
	if e.OEM != nil {
		t.OEM = append([]string{e.OEM.Resource}, e.OEM.Was...)
	}
	if len(t.Plan)+len(t.OEM) == 0 {
		return false
	}
	t.Before = saidOf(*t)

	return true
}
