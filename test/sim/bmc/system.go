package bmc

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const pathSystems = "/redfish/v1/Systems"

// override is a System's one-shot or persistent boot override.
type override struct{ target, enabled, mode string }

func idle() override { return override{target: "None", enabled: "Disabled", mode: "UEFI"} }

// system is one ComputerSystem; its fields are guarded by BMC.mu.
type system struct {
	cfg       SystemConfig
	override  override
	etag      int
	lastReset time.Time
	laggedOn  bool
	lagUntil  time.Time
}

func (s *system) uri() string         { return pathSystems + "/" + s.cfg.ID }
func (s *system) settingsURI() string { return s.uri() + "/SD" }
func (s *system) resetURI() string    { return s.uri() + "/Actions/ComputerSystem.Reset" }

// resetTypes are what the model advertises and accepts.
func (s *system) resetTypes() []string {
	if s.cfg.Model == ModelActionInfo {
		return []string{"On", "ForceOff", "GracefulShutdown", "ForceRestart"}
	}

	return []string{"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "PowerCycle", "Nmi"}
}

func (s *system) targets() []string {
	targets := []BootTarget{"None", BootPxe, BootHdd, BootCd, BootBiosSetup, BootUefiHTTP}
	out := make([]string, 0, len(targets))
	for _, t := range targets {
		out = append(out, string(t))
	}

	return out
}

func (s *system) etagHeader() string { return `W/"` + strconv.Itoa(s.etag) + `"` }

// systemResource renders the System or its settings resource, with its ETag.
func (b *BMC) systemResource(s *system, path string) (body object, etag string) {
	powered := s.cfg.Machine.Powered()
	b.mu.Lock()
	defer b.mu.Unlock()
	if path == s.settingsURI() {
		return object{
			"@odata.id": path, "@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "@odata.etag": s.etagHeader(),
			"Id": "SD", "Name": "Pending settings", "Boot": s.boot(),
		}, s.etagHeader()
	}
	if b.cfg.Now().Before(s.lagUntil) {
		powered = s.laggedOn
	}
	body = s.describe(powered)
	if s.cfg.Model == ModelActionInfo {
		body["@Redfish.Settings"] = object{"SettingsObject": link(s.settingsURI())}
		body["Boot"] = object{"BootOptions": link(s.uri() + "/BootOptions")}

		return body, s.etagHeader()
	}
	body["Boot"] = s.boot()
	body["EthernetInterfaces"] = link(s.uri() + "/EthernetInterfaces")
	if !s.lastReset.IsZero() {
		body["LastResetTime"] = s.lastReset.UTC().Format(time.RFC3339)
	}

	return body, s.etagHeader()
}

// describe renders what both models have in common.
func (s *system) describe(powered bool) object {
	reset := object{"target": s.resetURI()}
	serial := s.cfg.Serial
	if s.cfg.Model == ModelActionInfo {
		reset["@Redfish.ActionInfo"] = s.uri() + "/ResetActionInfo"
		serial += " "
	} else {
		reset["ResetType@Redfish.AllowableValues"] = s.resetTypes()
	}
	body := object{
		"@odata.id": s.uri(), "@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "@odata.etag": s.etagHeader(),
		"Id": s.cfg.ID, "Name": "System " + s.cfg.ID, "SystemType": "Physical",
		"Manufacturer": "Emulated Systems", "Model": string(s.cfg.Model), "SKU": nil,
		"SerialNumber": serial, "UUID": nil, "PowerState": powerState(powered),
		"Status":  object{"State": "Enabled", "Health": "OK"},
		"Links":   object{"Chassis": []object{link(s.chassisURI())}, "ManagedBy": []object{link(pathManagers + "/BMC")}},
		"Actions": object{"#ComputerSystem.Reset": reset},
	}
	if s.cfg.UUID != "" {
		body["UUID"] = s.cfg.UUID
	}

	return body
}

func (s *system) boot() object {
	boot := object{
		"BootSourceOverrideTarget":                         s.override.target,
		"BootSourceOverrideEnabled":                        s.override.enabled,
		"BootSourceOverrideTarget@Redfish.AllowableValues": s.targets(),
	}
	if s.cfg.Model == ModelInline {
		boot["BootSourceOverrideMode"] = s.override.mode
		boot["BootOptions"] = link(s.uri() + "/BootOptions")
	}

	return boot
}

// accepts says whether the model knows a boot target.
func (s *system) accepts(target string) bool { return slices.Contains(s.targets(), target) }

func powerState(on bool) string {
	if on {
		return "On"
	}

	return "Off"
}

func redfishMAC(mac []byte, separator string) string {
	const digits = "0123456789ABCDEF"
	parts := make([]string, 0, len(mac))
	for _, c := range mac {
		parts = append(parts, string([]byte{digits[c>>4], digits[c&15]}))
	}

	return strings.Join(parts, separator)
}
