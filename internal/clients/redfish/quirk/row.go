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
	// OnSD writes it to SD below the System, AMI's place for what comes with the
	// next boot, which some of its BMCs don't link.
	OnSD = "SD"
	// IfPresent sends what the BMC shows along.
	IfPresent = "IfPresent"
	// ETag is the standard as well.
	ETag = "ETag"
	// Refused is offered, and not taken; Supported is the standard.
	Refused   = "Refused"
	Supported = "Supported"
	// Never leaves a thing out.
	Never = "Never"
)

// Facts are what is done differently. The zero value is the standard.
type Facts struct {
	// OverrideOn is where a boot override is written: OnSystem, OnSD, or "" and
	// OnSettings: the settings resource where it shows an override, else the System.
	OverrideOn string
	// Mode is whether BootSourceOverrideMode goes along: "" where another one is
	// wanted, or the BMC refuses an override without; IfPresent wherever the BMC
	// shows one; or Never.
	Mode string
	// Continuous is Refused where an override can't be lasting, though the BMC
	// doesn't say so; "" and Supported go by what it says.
	Continuous string
	// Rungs are the ways in which a boot source may be set, in the client's words;
	// none is all.
	Rungs []string
	// IfMatch is whether a PATCH is conditional: "" and ETag (the ETag, then what
	// the BMC wants instead), or Never.
	IfMatch string
	// StoredAs lists boot targets that the BMC shows under another name.
	StoredAs map[string]string
	// OEM is the vendor's own way to boot once, where neither the override nor a
	// boot option does; the zero value is none.
	OEM OEMBoot
}

// Where a resource of OEMBoot is: below the System, or below its manager.
const (
	OfSystem  = "{system}"
	OfManager = "{manager}"
)

// OEMBoot is a property of a resource of the vendor's own that says what the next
// boot is from.
type OEMBoot struct {
	// Resources that may have it: the first that is there does. Each begins with
	// OfSystem or OfManager.
	Resources []string
	// Target is the JSON pointer (RFC 6901) of that property.
	Target string
	// Words are those that it takes, by the schema's targets.
	Words map[string]string
	// With are the properties that make it a boot for once, by their JSON pointers:
	// a text, or true and false where the resource shows one of these.
	With map[string]string
}
