// Package quirk knows what machines do differently than the standard, as data: rows of facts with a source. What a BMC advertises itself
// decides where it can; a row is for where that is wrong. It talks to nobody.
package quirk

// A Row is what machines that match do differently.
type Row struct {
	// Name of the row, for people.
	Name  string
	Match Match
	Facts Facts
	// Source says where that is known from.
	Source string
}

// Match says which machines are meant. Every field that is set must fit, without
// case; a * is any run of characters. Without any field it fits none.
type Match struct {
	// Vendor and Product of the service root.
	Vendor, Product string
	// Manufacturer and Model of the System.
	Manufacturer, Model string
	// Firmware version of the manager, and the System's BIOS version.
	Firmware, BIOS string
}

// Machine is what a machine says of itself, in the words of Match.
type Machine Match

// Words of facts; "" is the standard.
const (
	// OnSystem writes an override to the System, although there is a settings resource.
	OnSystem = "System"
	// OnSettings writes it to the settings resource where that shows one: the
	// standard, in a word that wins over a row before.
	OnSettings = "Settings"
	// IfPresent and ETag are the standard as well.
	IfPresent = "IfPresent"
	ETag      = "ETag"
	// Never leaves a thing out.
	Never = "Never"
)

// Facts are what is done differently. The zero value is the standard.
type Facts struct {
	// OverrideOn is where a boot override is written: OnSystem, or "" and
	// OnSettings: the settings resource where it shows an override, else the System.
	OverrideOn string
	// Mode is whether BootSourceOverrideMode goes along: "" and IfPresent where
	// the BMC shows one, so that nothing changes, or Never.
	Mode string
	// IfMatch is whether a PATCH is conditional: "" and ETag (the ETag, then what
	// the BMC wants instead), or Never.
	IfMatch string
	// StoredAs lists boot targets that the BMC shows under another name.
	StoredAs map[string]string
}
