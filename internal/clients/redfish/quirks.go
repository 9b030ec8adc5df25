package redfish

import "strings"

// ModeRule says whether BootSourceOverrideMode goes along with an override.
type ModeRule string

// The mode rules.
const (
	// ModeIfPresent sends the mode that the BMC has, so that nothing changes.
	ModeIfPresent ModeRule = ""
	// ModeNever leaves it out.
	ModeNever ModeRule = "Never"
)

// Quirk is what machines of a manufacturer, or a model of it, do differently.
// The first row that fits decides.
type Quirk struct {
	// Manufacturer is a prefix of the System's Manufacturer, without case; ""
	// fits all.
	Manufacturer string
	// ModelContains is a part of the System's Model, without case; "" fits all.
	ModelContains string
	// Mode says whether BootSourceOverrideMode is sent.
	Mode ModeRule
	// StoredAs lists targets that the BMC reads back under another name.
	StoredAs map[string]string
	// NoIfMatch leaves If-Match out from the start.
	NoIfMatch bool
	// TargetOnSystem never writes an override to the settings resource.
	TargetOnSystem bool
}

// targetBootNext is UEFI's BootNext variable as a target.
const targetBootNext = "UefiBootNext"

// Quirks is the built-in table.
func Quirks() []Quirk {
	return []Quirk{
		// A mode in the same PATCH queues a BIOS job, and Target belongs to the
		// System although there is a settings resource.
		{Manufacturer: "Dell", Mode: ModeNever, TargetOnSystem: true},
		// DL160 Gen10 refuses a PATCH with mode, enabled and target together.
		{Manufacturer: "HPE", Mode: ModeNever},
		// X11 and later store Pxe as UefiBootNext; older ones have no mode,
		// which ModeIfPresent sees.
		{Manufacturer: "Supermicro", StoredAs: map[string]string{"Pxe": targetBootNext}},
		// Systems/1/Pending carries BootOrder only.
		{Manufacturer: "Lenovo", TargetOnSystem: true},
	}
}

// quirkFor takes the first row that fits a machine.
func quirkFor(table []Quirk, i Identity) Quirk {
	manufacturer, model := strings.ToLower(i.Manufacturer), strings.ToLower(i.Model)
	for _, q := range table {
		if strings.HasPrefix(manufacturer, strings.ToLower(q.Manufacturer)) && strings.Contains(model, strings.ToLower(q.ModelContains)) {
			return q
		}
	}

	return Quirk{}
}
