package bmc_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/bios"
)

// A trial is one thing that a machine is told, or asked, for the page of
// machines: a column of one of its tables.
type trial struct {
	column string
	// try returns how it works.
	try func(m *tried) (string, error)
	// tells says that a refusal's offers are what the machine offers in the matter
	// of the table.
	tells bool
}

// tried is a machine whose BMC was told nothing yet. It's on.
type tried struct {
	*rig

	t  *testing.T
	c  *redfish.Client
	id string
}

// errInVain is the end of a trial that the BMC accepted and that came to nothing:
// neither of the two that the page may say.
var errInVain = errors.New("it was accepted and came to nothing")

// tables of the page, in their order.
func tables() map[string][]trial {
	once := func(target string) func(m *tried) (string, error) {
		return func(m *tried) (string, error) { return m.boot(redfish.BootSource{Target: target}) }
	}
	lasting := func(target string) func(m *tried) (string, error) {
		return func(m *tried) (string, error) { return m.boot(redfish.BootSource{Target: target, Lasting: true}) }
	}

	return map[string][]trial{
		tablePower: {
			{"on", func(m *tried) (string, error) {
				_ = m.machines[m.id].Off(false)

				return m.switched(redfish.ActOn, true)
			}, true},
			{"shutdown", func(m *tried) (string, error) { return m.switched(redfish.ActGracefulOff, false) }, true},
			{"off", func(m *tried) (string, error) { return m.switched(redfish.ActForceOff, false) }, true},
			{"reset", (*tried).reset, true},
			{"restart in one", func(m *tried) (string, error) { return m.switched(redfish.ActRestart, true) }, true},
		},
		tableOnce: {
			{"Pxe", once("Pxe"), true}, {"UefiHttp", once("UefiHttp"), true},
			{"UefiHttp, uri", func(m *tried) (string, error) {
				return m.boot(redfish.BootSource{Target: "UefiHttp", URI: "http://192.0.2.1/a.efi"})
			}, false},
			{"Hdd", once("Hdd"), true}, {"Cd", once("Cd"), true}, {"BiosSetup", once("BiosSetup"), true},
			{"UefiTarget", (*tried).bootPath, false}, {"BootOption", (*tried).bootOption, false},
		},
		tableLasting: {{"Pxe", lasting("Pxe"), true}, {"Hdd", lasting("Hdd"), true}, {"order", (*tried).order, false}},
		tableSettings: {
			{"BIOS attributes", (*tried).bios, false}, {"Secure Boot", (*tried).secureBoot, false}, {"indicator", (*tried).indicator, false},
			{"asset tag", (*tried).tag, false}, {"virtual CD", (*tried).disc, false}, {"restart of the BMC", (*tried).resetBMC, false},
		},
		tableReading: {
			{"found", (*tried).found, false}, {"requests of a look", (*tried).look, false}, {"requests of an inventory", (*tried).inventory, false},
			{"not sent again", (*tried).unchanged, false}, {"MAC addresses", (*tried).addresses, false},
		},
	}
}

// now is the machine as the client finds it.
func (m *tried) now() (redfish.System, error) {
	return m.c.System(m.t.Context(), redfish.Selector{ID: m.id})
}

// wrote is what was sent last: a property of it, or its method.
func (m *tried) wrote(property string) string {
	writes := m.FullWrites()
	if len(writes) == 0 {
		return "nothing"
	}
	last := writes[len(writes)-1]
	var body map[string]any
	_ = json.Unmarshal([]byte(last.Body), &body)
	if word, ok := body[property].(string); ok {
		return word
	}

	return last.Method
}

func (m *tried) switched(act redfish.Act, on bool) (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}
	if _, err := m.c.Reset(m.t.Context(), s, act); err != nil {
		return "", err
	}
	for range 2 { // What takes time is done with the next request, and shown with the one after.
		m.later()
		if _, err := m.now(); err != nil {
			return "", err
		}
	}
	if m.machines[m.id].Powered() != on {
		return "", errInVain
	}

	return m.wrote("ResetType"), nil
}

// reset is off and on, or a restart in one where that isn't offered.
func (m *tried) reset() (string, error) {
	off, err := m.switched(redfish.ActResetOff, false)
	if redfish.IsUnsupported(err) {
		return m.switched(redfish.ActRestart, true)
	}
	if err != nil {
		return "", err
	}
	on, err := m.switched(redfish.ActOn, true)

	return off + ", " + on, err
}

func (m *tried) boot(want redfish.BootSource) (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}
	via, err := m.c.SetBoot(m.t.Context(), s, want)
	e := new(redfish.Error)
	if cmpAs(err, &e) && e.Fallback != nil && len(m.FullWrites()) == 0 {
		if via, err = m.c.PutFirst(m.t.Context(), s, *e.Fallback); err == nil && m.BootOrder(m.id)[0] != e.Fallback.First {
			return "", errInVain
		}

		return string(via.Rung), err
	}
	if err == nil && !boots(m.rig, m.id, want, m.NextBoot(m.id)) {
		return "", errInVain
	}

	return string(via.Rung), err
}

func (m *tried) bootPath() (string, error) {
	path := "PciRoot(0x0)/Pci(0x1,0x0)"
	for _, o := range m.BootOptions(m.id) {
		if o.DevicePath != "" {
			path = o.DevicePath

			break
		}
	}

	return m.boot(redfish.BootSource{Target: "UefiTarget", DevicePath: path})
}

func (m *tried) bootOption() (string, error) {
	option := "Boot0001"
	if all := m.BootOptions(m.id); len(all) > 0 {
		option = all[0].Reference
	}

	return m.boot(redfish.BootSource{Target: redfish.TargetBootOption, Option: option})
}

// order puts what comes last first.
func (m *tried) order() (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}
	was, want := m.BootOrder(m.id), []string{"Hdd"}
	if len(was) > 0 {
		want = was[len(was)-1:]
	}
	via, err := m.c.SetBootOrder(m.t.Context(), s, want)
	switch now := m.BootOrder(m.id); {
	case err != nil:
		return "", err
	case !samePlaces(was, now) || len(via.First) == 0 || !slices.Equal(now[:len(via.First)], via.First):
		return "", errInVain
	case via.Staged:
		return atNextBoot, nil
	default:
		return works, nil
	}
}

// What the page says of acts that work.
const (
	works      = "yes"
	atNextBoot = "next boot"
)

// bios changes the first attribute that is one of a pair and that may be changed.
func (m *tried) bios() (string, error) {
	s, err := m.now()
	if err != nil {
		return "", err
	}
	b, err := m.c.BIOS(m.t.Context(), s)
	if err != nil {
		return "", err
	}
	registry, err := m.c.BIOSRegistry(m.t.Context(), b)
	if err != nil {
		return "", err
	}
	err = errUnchangeable
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		other, pair := opposite(b.Attributes[name])
		if !pair {
			continue
		}
		changes, problems := bios.Plan(registry, map[string]bios.Value{name: other}, b.Attributes)
		if len(problems) > 0 || len(changes) == 0 {
			continue
		}
		if _, err = m.c.StageBIOS(m.t.Context(), s, b, changes); err != nil {
			return "", err
		}
		m.NextBoot(m.id)
		now, err := m.c.BIOS(m.t.Context(), s)
		if err == nil && !bios.Same(now.Attributes[name], other) {
			err = errInVain
		}

		return atNextBoot, err
	}

	return "", err
}

// errUnchangeable is the refusal of a machine none of whose attributes can be
// swapped.
var errUnchangeable = &redfish.Error{Kind: redfish.Unsupported, Field: "attribute to change"}

func opposite(v bios.Value) (bios.Value, bool) {
	var was any = v.Text
	if v.Kind == bios.Flag {
		was = v.Text == "true"
	}
	switch other := swapped[was].(type) {
	case string:
		return bios.Value{Kind: bios.Text, Text: other}, v.Kind == bios.Text
	case bool:
		return bios.Value{Kind: bios.Flag, Text: strconv.FormatBool(other)}, true
	default:
		return bios.Value{}, false
	}
}
