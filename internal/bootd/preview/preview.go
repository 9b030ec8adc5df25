// Package preview shows what a machine would get, without a bootd that runs: the script that its plan comes to, with words in the place of
// tokens and addresses that only a boot has.
package preview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/grub"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/rpi"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// What stands in the place of what a boot alone has.
const (
	server = "BOOTD"
	base   = "http://" + server
	token  = "BOOT-TOKEN"
)

// lengths are what stands there while a text is made, as long as it will be at a machine: what kernels and firmwares read has an end. Few addresses are longer.
type lengths struct{ base, server, token string }

func lengthsOf(six bool) lengths {
	host, address := "BOOTDBOOTDBOOTD", "[BOOTD:ffff:ffff:ffff:ffff:ffff:ffff:ffff]"
	if !six {
		address = host
	}
	return lengths{"http://" + address + ":65535", host, (token + strings.Repeat("-", boot.TokenLength))[:boot.TokenLength]}
}

// shown puts words in their place.
func (l lengths) shown(text string, err error) (string, error) {
	return strings.NewReplacer(l.base, base, l.server, server, l.token, token).Replace(text), err
}

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
		"raspberry-pi":    {Kind: boot.FirmwareRaspberryPi, Arch: boot.ARM64},
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

// debians are the first stages of a bootd that has what Debian has: no iPXE for arm64, but where it's asked for.
func debians() dhcp.Files {
	return dhcp.Files{
		BIOS: tftp.BIOS, UEFIAMD64: tftp.UEFIAMD64, NativeAMD64: tftp.UEFIFull, NativeARM64: tftp.ARM64Full,
		ShimAMD64: "shimx64.efi", ShimARM64: "shimaa64.efi",
	}
}

// FirstStage is what a machine's firmware would load first, of the same bootd; "" where there's nothing for it.
func FirstStage(p *boot.Plan, fw boot.Firmware, t Told, six bool) string {
	if signed := debians().Signed(p.Stage(decision(p, t).Answer), fw); signed != "" && !six {
		return signed
	}
	return debians().Unsigned(p.FirstStage, fw)
}

// Script is what iPXE would be given, or grub where the machine boots by that, or a Raspberry Pi's firmware, of a bootd without first stages of its operator's. An error says what in the plan no script can be made of.
func Script(p *boot.Plan, fw boot.Firmware, t Told) (string, error) { return script(p, fw, t, false) }

// ScriptSix is Script for a machine that came over IPv6.
func ScriptSix(p *boot.Plan, fw boot.Firmware, t Told) (string, error) {
	if _, ok := p.Network.InSix(); !ok {
		return "", fmt.Errorf("BootEntry %s has no address of IPv6", p.Entry)
	}
	if fw.Kind == boot.FirmwareRaspberryPi || debians().Signed(p.FirstStage, fw) != "" {
		return "", fmt.Errorf("BootEntry %s: over IPv6 such a machine is given an address, and nothing to boot", p.Entry)
	}
	return script(p, fw, t, true)
}

func script(p *boot.Plan, fw boot.Firmware, t Told, six bool) (string, error) {
	d := decision(p, t)
	p = unpacked(p)
	l := lengthsOf(six)
	if fw.Kind == boot.FirmwareRaspberryPi {
		return l.shown(rpi.Told(rpi.Input{Plan: p, Decision: d, Base: l.base, Token: l.token, MAC: anyMAC(p)})) //nolint:wrapcheck // It says what is wrong, and of which entry.
	}
	if p.LocalBoot == boot.LocalBootNotFound && d.Answer == boot.AnswerLocalDisk {
		return ipxe.NotFoundText, nil
	}
	if !six && debians().Signed(p.Stage(d.Answer), fw) != "" {
		return l.shown(grub.Render(grub.Input{Plan: p, Decision: d, Arch: fw.Arch, Base: l.base, Server: l.server, Token: l.token})) //nolint:wrapcheck // It says what is wrong, and of which entry.
	}
	return l.shown(ipxe.Render(ipxe.Input{ //nolint:wrapcheck // It says what is wrong, and of which entry.
		Plan: p, Decision: d, Firmware: fw, Base: l.base, Six: six, Token: l.token, Wait: gate.Wait(d.Reason), Again: l.base + ipxe.PathBoot + "SCRIPT-TOKEN/" + ipxe.ScriptName,
	}))
}

// rawDigest stands for the digest of the disk in an image of QEMU's: who unpacks it knows it.
const rawDigest = "RAW-DIGEST"

// unpacked is a plan as an installer is told it, with its images unpacked.
func unpacked(p *boot.Plan) *boot.Plan {
	out := *p
	out.Artifacts = append([]boot.Artifacts(nil), p.Artifacts...)
	for n, f := range out.Artifacts {
		if f.Image != nil && f.Image.Source().Unpack {
			out.Artifacts[n].Image = &boot.Image{Artifact: boot.Artifact{Digest: rawDigest}, Format: boot.FormatRaw, Compression: f.Image.Compression}
		}
	}
	return &out
}

// anyMAC stands for the NIC that boots.
func anyMAC(p *boot.Plan) boot.MAC {
	if len(p.MACs) == 0 {
		return ""
	}
	return p.MACs[0]
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
