package bmc

import (
	"net/http"
	"slices"
	"time"
)

// macsAt says where machines of a family list their MACs.
type macsAt int

const (
	// macsOfInterfaces: Systems/*/EthernetInterfaces.
	macsOfInterfaces macsAt = iota
	// macsOfAdapters: the chassis' NetworkDeviceFunctions and Ports, and UEFI
	// boot paths.
	macsOfAdapters
	// macsOfBootPaths: UEFI boot paths and nowhere else.
	macsOfBootPaths
)

// eventsOf says what of an event service a family has.
type eventsOf int

const (
	// noEvents: there's none.
	noEvents eventsOf = iota
	// eventsOff: it's switched off.
	eventsOff
	// eventsOn: it streams.
	eventsOn
)

// family is what machines of a model have in common.
type family struct {
	Behaviour

	// resets are the reset types that are advertised: inline, or in an ActionInfo.
	resets []string
	inline bool
	// settings is the last part of the path of the settings resource that takes
	// the override; "" is the System.
	settings string
	// targets that can be overridden; none is no override at all.
	targets []BootTarget
	// unlisted keeps them to itself.
	unlisted bool
	// target and enabled are how the override rests.
	target, enabled string
	// mode, etag, order and tellsResets say that there are such properties.
	mode, etag, order, tellsResets bool
	// padded and nameless are what becomes of the serial number.
	padded, nameless bool
	macs             macsAt
	// bios is the last part of the path of the BIOS's settings resource, "" where
	// there's no BIOS to be seen; biosCopy shows there what is in force, too.
	bios     string
	biosCopy bool
	// events says what of an event service there is.
	events eventsOf
}

// slow is how long a BMC of ModelTasks takes for a power action, and again until
// it shows that.
const slow = 5 * time.Second

// family of a model.
func (m Model) family() family {
	all := []BootTarget{"None", BootPxe, BootHdd, BootCd, BootBiosSetup, BootUefiHTTP}
	row := Behaviour{Name: string(m), Redundant: http.StatusConflict, NoIfMatchOnActions: true}
	switch m {
	case ModelActionInfo:
		row.OverrideAt, row.IfMatch = AtSettings, IfMatchRequired

		return family{
			Behaviour: row, resets: []string{"On", "ForceOff", resetShutdown, resetForce}, settings: "SD",
			targets: all, target: "None", enabled: "Disabled", etag: true, order: true, padded: true, macs: macsOfAdapters,
			bios: "SD", biosCopy: true,
		}
	case ModelTasks:
		f := ModelInline.family()
		f.Name, f.Async, f.TaskTakes, f.Lag = string(m), AsyncTask, slow, slow

		return f
	case ModelNode:
		row.OverrideAt, row.NoIfMatchOnActions = Nowhere, false

		return family{Behaviour: row, resets: []string{"ForceOff", "On", "Off"}, etag: true, order: true, events: eventsOff}
	case ModelOpen:
		return family{
			Behaviour: Behaviour{Name: string(m), OverrideAt: AtSettings, IfMatch: IfMatchIgnored},
			resets:    append([]string{"PowerCycle", "ForceOn"}, "On", "ForceOff", resetShutdown, resetGraceful, resetForce), settings: "Settings",
			targets: []BootTarget{"None", BootPxe, BootHdd, BootCd, BootBiosSetup}, unlisted: true,
			target: string(BootHdd), enabled: "Continuous", order: true, nameless: true, macs: macsOfBootPaths, events: eventsOn,
		}
	default:
		return family{
			Behaviour: row, resets: []string{"On", "ForceOff", resetShutdown, resetGraceful, resetForce, "PowerCycle", "Nmi"}, inline: true,
			targets: all, target: "None", enabled: "Disabled", mode: true, etag: true, tellsResets: true,
			bios: "Settings", events: eventsOn,
		}
	}
}

// override is that of the family, at rest.
func (f family) override() object {
	if len(f.targets) == 0 {
		return object{}
	}
	out := object{propTarget: f.target, propEnabled: f.enabled}
	if f.mode {
		out[propMode] = "UEFI"
	}
	if slices.Contains(f.targets, BootUefiHTTP) {
		out[propURI] = nil
	}
	if !f.unlisted {
		listed := make([]string, 0, len(f.targets))
		for _, t := range f.targets {
			listed = append(listed, string(t))
		}
		out[propTarget+allowable] = listed
	}

	return out
}

// serial is a number as the family tells it.
func (f family) serial(number string) any {
	switch {
	case f.nameless:
		return nil
	case f.padded:
		return number + " "
	default:
		return number
	}
}
