// Package preview shows what a machine would get, without a bootd that runs: the script that its plan comes to, with words in the place of
// tokens and addresses that only a boot has.
package preview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// What stands in the place of what a boot alone has.
const (
	base  = "http://BOOTD"
	token = "BOOT-TOKEN"
)

// A Told is what a machine is told.
type Told string

// Values of Told. Auto is what its plan asks for, were it granted.
const (
	Auto    Told = "auto"
	Install Told = "install"
	Disk    Told = "disk"
	Hold    Told = "hold"
)

// firmwares by the names that people give them.
func firmwares() map[string]boot.Firmware {
	return map[string]boot.Firmware{
		"bios":            {Kind: boot.FirmwareBIOS, Arch: boot.AMD64},
		"uefi-x64":        {Kind: boot.FirmwareUEFI, Arch: boot.AMD64},
		"uefi-http-x64":   {Kind: boot.FirmwareUEFIHTTP, Arch: boot.AMD64},
		"uefi-arm64":      {Kind: boot.FirmwareUEFI, Arch: boot.ARM64},
		"uefi-http-arm64": {Kind: boot.FirmwareUEFIHTTP, Arch: boot.ARM64},
	}
}

// Firmware gives a firmware by its name.
func Firmware(name string) (boot.Firmware, error) {
	fw, ok := firmwares()[name]
	if !ok {
		return fw, fmt.Errorf("firmware is %s, not %q", strings.Join(slices.Sorted(maps.Keys(firmwares())), ", "), name)
	}
	return fw, nil
}

// Script is what iPXE would be given. An error says what in the plan no script can be made of.
func Script(p *boot.Plan, fw boot.Firmware, t Told) (string, error) {
	d := decision(p, t)
	return ipxe.Render(ipxe.Input{ //nolint:wrapcheck // It says what is wrong, and of which entry.
		Plan: p, Decision: d, Firmware: fw, Base: base, Token: token, Again: base + ipxe.PathBoot + "SCRIPT-TOKEN/" + ipxe.ScriptName,
	})
}

func decision(p *boot.Plan, t Told) boot.Decision {
	live := boot.Decision{Answer: boot.AnswerLive, Reason: boot.DecidedLive}
	install := boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}
	switch t {
	case Disk:
		return boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedDisk}
	case Hold:
		return boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedNotSynced}
	case Install:
		if p.Mode == boot.ModeLive {
			return live
		}
		return install
	case Auto:
	}
	switch {
	case p.Mode == boot.ModeLive:
		return live
	case p.InstallGeneration > 0:
		return install
	case p.Otherwise == boot.OtherwiseHold:
		return boot.Decision{Answer: boot.AnswerHold, Reason: boot.DecidedDisk}
	}
	return boot.Decision{Answer: boot.AnswerLocalDisk, Reason: boot.DecidedDisk}
}
