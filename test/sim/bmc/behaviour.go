package bmc

import (
	"net/http"
	"strings"
	"time"
)

// Place is the resource that takes a System's boot override.
type Place string

// The places.
const (
	// AtSystem is the System itself.
	AtSystem Place = ""
	// AtSettings is the settings resource that the System links; the System where
	// it links none, or one that has no override.
	AtSettings Place = "Settings"
	// AtSD is Systems/<id>/SD, which nothing links.
	AtSD Place = "SD"
	// Nowhere: the machine has no override that is the standard's.
	Nowhere Place = "Nowhere"
)

// ETags says where a BMC tells its ETags, beyond those in its bodies.
type ETags string

// Where ETags are told.
const (
	// ETagsInBody are those of the tree's @odata.etag, told in the header too.
	ETagsInBody ETags = ""
	// ETagsInHeader are in the header of every answer, in no body.
	ETagsInHeader ETags = "Header"
)

// IfMatch says what a BMC does with that header.
type IfMatch string

// What is done with If-Match.
const (
	// IfMatchChecked refuses another ETag (412); none is none.
	IfMatchChecked IfMatch = ""
	// IfMatchRequired refuses a PATCH without one, too (428).
	IfMatchRequired IfMatch = "Required"
	// IfMatchStrong compares as RFC 9110 has it: a weak ETag never fits, only
	// its strong form does.
	IfMatchStrong IfMatch = "Strong"
	// IfMatchIgnored takes everything.
	IfMatchIgnored IfMatch = "Ignored"
)

// ModeRule says what a BMC does with BootSourceOverrideMode in a PATCH. One
// that shows no mode refuses it (PropertyUnknown) in any case.
type ModeRule string

// The rules for the mode.
const (
	// ModeOptional takes it or does without.
	ModeOptional ModeRule = ""
	// ModeRequired refuses an override without it.
	ModeRequired ModeRule = "Required"
	// ModeAlone refuses it beside target and enabled.
	ModeAlone ModeRule = "Alone"
	// ModeAtBoot takes it, and has it after the next boot.
	ModeAtBoot ModeRule = "AtBoot"
)

// Behaviour is what BMCs of a kind do with what they are sent. What they offer,
// the values that they take, is never here: the tree says it. The zero value is
// the standard's.
type Behaviour struct {
	// Name of the row.
	Name string
	// OverrideAt is where an override is taken; elsewhere it is refused.
	OverrideAt Place
	// TargetsOfBoth takes the targets that the System lists at the settings
	// resource too, though that one lists others.
	TargetsOfBoth bool
	// Mode is the rule for BootSourceOverrideMode.
	Mode ModeRule
	// StoredAs lists targets that are read back under another name.
	StoredAs map[string]string
	// OEMBoot is the vendor's own way beside it; nil is none.
	OEMBoot *OEMBoot
	// Sticky keeps a Once override after the boot that it was for.
	Sticky bool
	// Lasts keeps an override that is asked for once for every boot.
	Lasts bool
	// ETags and IfMatch are the rules for preconditions.
	ETags   ETags
	IfMatch IfMatch
	// NoIfMatchOnActions refuses actions that come with one (412).
	NoIfMatchOnActions bool
	// ResetTypes are taken beside those that are advertised: by machines whose
	// list has a typo, or isn't in the capture.
	ResetTypes []string
	// ResetParameter is the name of the action's parameter; "" is ResetType.
	ResetParameter string
	// Redundant is the status of a power action for a state that is there
	// already; 0 is 204.
	Redundant int
	// TooSoon is how long after a power action another one is refused.
	TooSoon time.Duration
	// Lag is how long PowerState tells the state before a power action.
	Lag time.Duration
	// Async is how a power action is answered that is done after TaskTakes.
	Async     Async
	TaskTakes time.Duration
	// RestartHangs leaves the machine off after a ForceRestart.
	RestartHangs bool
	// Done is the status of a write that was taken; 0 is 204. 200 comes with a
	// message of success.
	Done int
	// BIOSJob leaves staged BIOS attributes alone until a job applies them, and
	// takes no others while there is one.
	BIOSJob bool
	// NoApplyTime refuses a SettingsApplyTime, though some are listed.
	NoApplyTime bool
	// MediaProtocol wants a TransferProtocolType with an image, and EjectBody a
	// body, be it an empty object, with the action to eject one.
	MediaProtocol, EjectBody bool
	// MediaTakes is how long an image is fetched before its drive shows it.
	MediaTakes time.Duration
	// SecureBootAtBoot changes SecureBootEnable with the next boot alone, as iDRACs'
	// jobs do.
	SecureBootAtBoot bool
	// Redirect answers a path in another spelling than the resource's own with
	// 308.
	Redirect bool
	// ExpandDrops are the properties that members lack where they are expanded.
	ExpandDrops []string
	// Sessions open at the same time, as far as Config doesn't say.
	Sessions int
	// SessionsFull is the status of a login that is one too many; 0 is 503.
	SessionsFull int
	// LoginRefusal is the status of a login with a wrong password; 0 is 401.
	LoginRefusal int
	// SessionTimeout ends a session that isn't used; 0 is never.
	SessionTimeout time.Duration
	// Password is what happens with a new password.
	Password Passwords
	// Events is what is done with those who listen to the BMC's events.
	Events Events
	// Subscriptions is what is done with those who want them sent.
	Subscriptions Subscriptions
	// Registry is what MessageIds begin with; "" is Base.1.18.
	Registry string
	// Code is what error bodies have as their code; "" is the first MessageId.
	Code string
	// Says are the MessageIds that the vendor has of its own, by the standard's.
	Says map[string]string
}

// ResetTypes that are used often.
const (
	resetShutdown = "GracefulShutdown"
	resetGraceful = "GracefulRestart"
	resetForce    = "ForceRestart"
)

// standardResets are those of the schema that real machines have.
func standardResets() []string {
	return []string{
		"On", "ForceOn", "ForceOff", resetShutdown, resetGraceful, resetForce, "PowerCycle", "FullPowerCycle", "Nmi", "PushPowerButton",
	}
}

// facts are what a tree tells of whose BMC it is, in lower case.
type facts struct{ vendor, product, oem, maker, model, manager, firmware string }

// BehaviourOf takes the row for a captured tree: by what its service root, its
// first System and its first manager say.
func BehaviourOf(t *Tree) Behaviour {
	f := factsOf(newStore(t))
	for _, row := range vendors() {
		if row.fits(f) {
			return row.Behaviour
		}
	}

	return Behaviour{Name: "standard", OverrideAt: AtSettings, Redundant: http.StatusConflict}
}

func factsOf(s *store) facts {
	root := s.body(pathRoot)
	f := facts{vendor: textAt(root, "Vendor"), product: textAt(root, "Product")}
	if oem, ok := at(root, "Oem").(object); ok {
		for k := range oem {
			f.oem += k + " "
		}
	}
	for _, uri := range s.systemURIs() {
		if at(s.body(uri), "Actions", actionReset) != nil {
			f.maker, f.model = textAt(s.body(uri), "Manufacturer"), textAt(s.body(uri), "Model")

			break
		}
	}
	for _, uri := range s.members(linkAt(root, "Managers"), pathManagers) {
		f.manager, f.firmware = textAt(s.body(uri), "Model"), textAt(s.body(uri), "FirmwareVersion")
		if f.firmware != "" {
			break
		}
	}
	for _, p := range []*string{&f.vendor, &f.product, &f.oem, &f.maker, &f.model, &f.manager, &f.firmware} {
		*p = strings.ToLower(strings.TrimSpace(*p))
	}

	return f
}

// members are those of a collection, or, where a capture has none, what is
// stored below it.
func (s *store) members(uri, usual string) []string {
	if uri == "" {
		uri = usual
	}
	if out := linksAt(s.body(uri), "Members"); len(out) > 0 {
		return out
	}

	return s.children(uri)
}

func (s *store) systemURIs() []string {
	return s.members(linkAt(s.body(pathRoot), "Systems"), pathSystems)
}
