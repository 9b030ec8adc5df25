package bmc

import (
	"path"
	"slices"
	"strings"
	"time"
)

const (
	pathSystems  = "/redfish/v1/Systems"
	pathManagers = "/redfish/v1/Managers"
	actionReset  = "#ComputerSystem.Reset"
)

// Properties of ComputerSystem.Boot.
const (
	propTarget  = "BootSourceOverrideTarget"
	propEnabled = "BootSourceOverrideEnabled"
	propMode    = "BootSourceOverrideMode"
	propUEFI    = "UefiTargetBootSourceOverride"
	propOrder   = "BootOrder"
	propURI     = "HttpBootUri"
	propNext    = "BootNext"
	targetNext  = "UefiBootNext"
	allowable   = "@Redfish.AllowableValues"
)

// system is one ComputerSystem that can be reset, with the machine behind it.
// Its state is in the store, except for what a real one wouldn't tell. The
// fields below machine are guarded by BMC.mu.
type system struct {
	id, uri   string
	behaviour Behaviour
	reset     string // target of the action
	machine   Machine

	meant     string // the target of the override, which may be stored under another name
	mode      string // that comes with the next boot; "" none
	lastReset time.Time
	laggedOn  bool
	lagUntil  time.Time
	stuck     bool // PowerState stays as it is
	// biosWaits says that BIOS attributes are staged, biosJob that a job applies
	// them.
	biosWaits, biosJob bool
	// secureBoot comes with the next boot, where it isn't nil.
	secureBoot any
}

// findSystems takes every System of the tree that can be reset, and gives it
// its machine: that of the SystemConfig with its id, else the next one without
// an id, else an idle machine in the state that was captured.
func (b *BMC) findSystems() {
	configs := slices.Clone(b.cfg.Systems)
	take := func(id string) *SystemConfig {
		i := slices.IndexFunc(configs, func(c SystemConfig) bool { return strings.EqualFold(c.ID, id) })
		if i < 0 {
			i = slices.IndexFunc(configs, func(c SystemConfig) bool { return c.ID == "" })
		}
		if i < 0 {
			return nil
		}
		c := configs[i]
		configs = slices.Delete(configs, i, i+1)

		return &c
	}
	for _, uri := range b.store.systemURIs() {
		body := b.store.body(uri)
		target := textAt(body, "Actions", actionReset, "target")
		if target == "" {
			continue
		}
		s := &system{id: textAt(body, "Id"), uri: uri, reset: target, behaviour: b.behaviour, machine: &Idle{powered: textAt(body, "PowerState") == "On"}}
		if s.id == "" {
			s.id = path.Base(strings.TrimRight(uri, "/"))
		}
		if c := take(s.id); c != nil {
			if c.Machine != nil {
				s.machine = c.Machine
			}
			if b.cfg.Tree == nil && b.cfg.Behaviour == nil {
				s.behaviour = c.Model.family().Behaviour
			}
		}
		b.systems = append(b.systems, s)
	}
}

// system returns the one with an id, nil where there is none.
func (b *BMC) system(id string) *system {
	for _, s := range b.systems {
		if s.id == id {
			return s
		}
	}

	return nil
}

// settings is the settings resource of a System that is there; "" has none.
func (b *BMC) settings(s *system) string {
	uri := linkAt(b.store.body(s.uri), "@Redfish.Settings", "SettingsObject")
	if s.behaviour.OverrideAt == AtSD {
		uri = strings.TrimRight(s.uri, "/") + "/SD"
	}
	if b.store.body(uri) == nil {
		return ""
	}

	return uri
}

// overrideAt is the resource that takes a System's override; "" is none.
func (b *BMC) overrideAt(s *system) string {
	settings := b.settings(s)
	switch s.behaviour.OverrideAt {
	case Nowhere:
		return ""
	case AtSettings, AtSD:
		if at(b.store.body(settings), "Boot", propTarget) != nil {
			return settings
		}
	case AtSystem:
	}
	if at(b.store.body(s.uri), "Boot", propTarget) == nil {
		return ""
	}

	return s.uri
}

// powerStates asks the machines, which mustn't be done with a lock held.
func (b *BMC) powerStates() map[*system]bool {
	out := map[*system]bool{}
	for _, s := range b.systems {
		out[s] = s.machine.Powered()
	}

	return out
}

// sync brings what the Systems tell up to date. A System that has changed since
// has another ETag. Called with the lock held.
func (b *BMC) sync(powered map[*system]bool) {
	b.arrive()
	for _, s := range b.systems {
		on := powered[s]
		if b.cfg.Now().Before(s.lagUntil) || s.stuck {
			on = s.laggedOn
		}
		want := powerState(on)
		body := b.store.body(s.uri)
		if got := textAt(body, "PowerState"); got != "" && got != want {
			b.store.change(s.uri, func(o object) { o["PowerState"] = want })
		}
		at := s.lastReset.UTC().Format(time.RFC3339)
		if !s.lastReset.IsZero() && tellsResets(body) && textAt(body, "LastResetTime") != at {
			b.store.change(s.uri, func(o object) { o["LastResetTime"] = at })
		}
	}
}

// tellsResets says whether a System keeps a LastResetTime: some show one that
// never is a time.
func tellsResets(body object) bool {
	const nonsense = 2000
	was, tells := body["LastResetTime"]
	t, err := time.Parse(time.RFC3339, textAt(body, "LastResetTime"))

	return tells && (was == nil || err == nil && t.Year() >= nonsense)
}

func powerState(on bool) string {
	if on {
		return "On"
	}

	return "Off"
}
