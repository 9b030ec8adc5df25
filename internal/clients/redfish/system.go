package redfish

import (
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Power is a System's PowerState.
type Power string

// Power states of the Redfish schema; PowerUnknown is everything else.
const (
	PowerOn          Power = "On"
	PowerOff         Power = "Off"
	PowerPoweringOn  Power = "PoweringOn"
	PowerPoweringOff Power = "PoweringOff"
	PowerPaused      Power = "Paused"
	PowerUnknown     Power = ""
)

// System is one observation of a ComputerSystem.
type System struct {
	Identity
	SmallSettings

	Power Power
	// Health is OK, Warning, Critical or "".
	Health string
	// LastReset is the zero time when the BMC doesn't tell, or tells nonsense.
	LastReset time.Time
	Boot      Boot
	// CanReset says whether the System has the Reset action.
	CanReset bool
	// Sharing is how many Systems of the BMC that can be reset have this serial
	// (where it has none, this UUID), this one among them; 0 where they weren't all read.
	Sharing int

	path        string // as its collection spells it
	self        string // as it spells itself
	etag        string
	resetTarget string
	resetTypes  []string
	resetInfo   string
	settings    string
	chassis     []string
	interfaces  string
	adapters    string
	bootOptions string
	bios        string
	biosPath    string
	secureBoot  string
	managers    []string
	media       string
	logs        string
}

type systemBody struct {
	smallBody

	URI           text `json:"@odata.id"`
	ID            text `json:"Id"`
	SerialNumber  text
	UUID          text
	Manufacturer  text
	Model         text
	SKU           text
	PowerState    text
	LastResetTime text
	BIOSVersion   text `json:"BiosVersion"`
	Status        struct{ Health, HealthRollup text }
	Boot          bootBody
	BIOS          ref `json:"Bios"`
	Ethernet      ref `json:"EthernetInterfaces"`
	Network       ref `json:"NetworkInterfaces"`
	Links         struct {
		Chassis  refs
		Managers refs `json:"ManagedBy"`
	}
	SecureBoot ref
	Media      ref                          `json:"VirtualMedia"`
	Logs       ref                          `json:"LogServices"`
	Settings   struct{ SettingsObject ref } `json:"@Redfish.Settings"`
	Actions    struct {
		Reset *resetBody `json:"#ComputerSystem.Reset"`
	}
}

type resetBody struct {
	Target     text  `json:"target"`
	Types      texts `json:"ResetType@Redfish.AllowableValues"`
	ActionInfo ref   `json:"@Redfish.ActionInfo"`
}

// decodeSystem turns a ComputerSystem as sent into an observation. It is pure.
func decodeSystem(path string, body []byte, etag string) (System, error) {
	var b systemBody
	if err := decode(body, &b); err != nil {
		return System{}, err
	}
	s := System{
		Identity: Identity{
			URI: bounded(strings.TrimRight(path, "/"), maxURI), ID: clip(b.ID),
			Serial: serialOf(b.SerialNumber), UUID: CleanUUID(string(b.UUID)),
			Manufacturer: clip(b.Manufacturer), Model: clip(b.Model), SKU: clip(b.SKU),
		},
		Power: power(b.PowerState), Health: health(b.Status.Health, b.Status.HealthRollup),
		LastReset: lenient.Time(b.LastResetTime), Boot: b.Boot.boot(),
		path: path, self: string(b.URI), etag: etag, settings: string(b.Settings.SettingsObject), chassis: b.Links.Chassis,
		interfaces: string(b.Ethernet), adapters: string(b.Network), bootOptions: string(b.Boot.BootOptions),
		bios: string(b.BIOSVersion), biosPath: string(b.BIOS),
		secureBoot: string(b.SecureBoot), managers: b.Links.Managers, media: string(b.Media), logs: string(b.Logs), SmallSettings: b.small(),
	}
	if r := b.Actions.Reset; r != nil && r.Target != "" {
		s.CanReset = true
		s.resetTarget, s.resetTypes, s.resetInfo = string(r.Target), r.Types, string(r.ActionInfo)
	}

	return s, nil
}

// maxWord bounds what is shown to people, and by which machines are known.
const maxWord = 128

// clip trims what is shown to people and bounds it.
func clip(t text) string { return bounded(strings.TrimSpace(string(t)), maxWord) }

// serialOf is a serial number as a BMC tells it, cleaned and bounded: annotations
// and status hold it.
func serialOf(t text) string { return bounded(CleanSerial(string(t)), maxWord) }

// bounded is s with so many bytes at most.
func bounded(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}

	return s
}

func power(t text) Power {
	for _, p := range []Power{PowerOn, PowerOff, PowerPoweringOn, PowerPoweringOff, PowerPaused} {
		if strings.EqualFold(string(t), string(p)) {
			return p
		}
	}

	return PowerUnknown
}

// health is the worst of the two that the BMC tells.
func health(own, rollup text) string {
	for _, h := range []string{"Critical", "Warning", "OK"} {
		if strings.EqualFold(string(own), h) || strings.EqualFold(string(rollup), h) {
			return h
		}
	}

	return ""
}
