package preview

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestScriptSix: over IPv6 a machine with two addresses is told that one, and one that has none nothing.
func TestScriptSix(t *testing.T) {
	p := &boot.Plan{
		Entry: boot.Name{Namespace: "lab", Name: "m1"}, EntryUID: "e", MACs: []boot.MAC{"52:54:00:00:00:01"}, Mode: boot.ModeLive, Method: boot.MethodKernel,
		Network:   boot.Network{Address: netip.MustParsePrefix("10.0.0.11/24"), Six: &boot.Place{Address: netip.MustParsePrefix("fd00::11/64")}},
		Artifacts: []boot.Artifacts{{Arch: boot.AMD64, Kernel: boot.Artifact{Digest: "sha256:aaaa"}}},
	}
	fw, err := Firmware("uefi-x64")
	if err != nil {
		t.Fatal(err)
	}
	four, err := Script(p, fw, Auto)
	six, also := ScriptSix(p, fw, Auto)
	if err != nil || also != nil || !strings.Contains(four, "baremetal.address=10.0.0.11/24 ") || !strings.Contains(six, "baremetal.address=fd00::11/64 ") || strings.Contains(six, "10.0.0.11") {
		t.Errorf("%v, %v:\n%s\n%s", err, also, four, six)
	}
	p.FirstStage = boot.FirstStageShim
	if text, err := ScriptSix(p, fw, Auto); err == nil {
		t.Errorf("shim isn't given over IPv6: %s", text)
	}
	p.FirstStage, p.Network.Six = "", nil
	if text, err := ScriptSix(p, fw, Auto); err == nil {
		t.Errorf("it has no address of IPv6: %s", text)
	}
}

func TestScript(t *testing.T) {
	plan := func(change func(*boot.Plan)) *boot.Plan {
		p := &boot.Plan{
			Entry: boot.Name{Namespace: "lab", Name: "m1"}, EntryUID: "e", MACs: []boot.MAC{"52:54:00:00:00:01"},
			Mode: boot.ModeInstall, Method: boot.MethodDiskImage, InstallGeneration: 1, Network: boot.Network{Address: netip.MustParsePrefix("10.0.0.11/24")},
			Artifacts: []boot.Artifacts{{Arch: boot.AMD64, Kernel: boot.Artifact{Digest: "sha256:aaaa"}}},
		}
		if change != nil {
			change(p)
		}
		return p
	}
	cases := map[string]struct {
		reason string
		change func(*boot.Plan)
		told   Told
		want   string
	}{
		"Auto":      {"what it asks for", nil, Auto, "install: Granted"},
		"Disk":      {"generation 0 boots from disk", func(p *boot.Plan) { p.InstallGeneration = 0 }, Auto, "local disk: BootsFromDisk"},
		"Otherwise": {"or waits, where it says so", func(p *boot.Plan) { p.InstallGeneration, p.Otherwise = 0, boot.OtherwiseHold }, Auto, "hold: BootsFromDisk"},
		"Live":      {"each time", func(p *boot.Plan) { p.Mode = boot.ModeLive }, Auto, "live: Live"},
		"LiveToo":   {"a machine that netboots isn't installed", func(p *boot.Plan) { p.Mode = boot.ModeLive }, Install, "live: Live"},
		"Install":   {"as if it were granted", func(p *boot.Plan) { p.InstallGeneration = 0 }, Install, "install: Granted"},
		"ToldDisk":  {"afterwards", nil, Disk, "local disk: BootsFromDisk"},
		"Grub":      {"iPXE has nothing better on a BIOS", func(p *boot.Plan) { p.LocalBoot = boot.LocalBootGrub }, Disk, "local disk: BootsFromDisk"},
		"ToldHold":  {"in between", nil, Hold, "hold: NotSynced"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fw, err := Firmware("bios")
			if err != nil {
				t.Fatal(err)
			}
			got, err := Script(plan(tc.change), fw, tc.told)
			if err != nil || !strings.HasPrefix(got, "#!ipxe\necho lab/m1: "+tc.want+"\n") {
				t.Errorf("%s: %v\n%s", tc.reason, err, got)
			}
		})
	}
	if _, err := Firmware("vax"); err == nil {
		t.Error("there's no iPXE for a VAX")
	}
}

// TestLengths: a line that's too long at a machine, whose token is longer than the word for it, is too long here, too.
func TestLengths(t *testing.T) {
	plan := func(words ...string) *boot.Plan {
		return &boot.Plan{
			Entry: boot.Name{Namespace: "lab", Name: "m1"}, EntryUID: "e", MACs: []boot.MAC{"52:54:00:00:00:01"}, Mode: boot.ModeLive, Method: boot.MethodKernel, CommandLine: words,
			Network: boot.Network{Address: netip.MustParsePrefix("10.0.0.11/24"), Six: &boot.Place{Address: netip.MustParsePrefix("fd00::11/64")}},
			Artifacts: []boot.Artifacts{
				{Arch: boot.AMD64, Kernel: boot.Artifact{Digest: "sha256:aaaa"}},
				{Arch: boot.ARM64, Kernel: boot.Artifact{Digest: "sha256:aaaa"}, RaspberryPi: &boot.RaspberryPi{}},
			},
		}
	}
	for firmware, most := range map[string]int{"uefi-x64": 2047, "raspberry-pi": 1535} {
		fw, err := Firmware(firmware)
		if err != nil {
			t.Fatal(err)
		}
		for name, shown := range map[string]func(*boot.Plan, boot.Firmware, Told) (string, error){"four": Script, "six": ScriptSix} {
			if name == "six" && firmware != "uefi-x64" {
				continue
			}
			word := strings.Repeat("x", most)
			for {
				text, err := shown(plan(word), fw, Auto)
				if err == nil {
					if strings.Contains(text, "BOOTDBOOTD") || strings.Contains(text, "ffff") || strings.Contains(text, token+"-") {
						t.Errorf("%s %s: what stands for a boot's own is shown:\n%s", firmware, name, text)
					}
					break
				}
				word = word[1:]
			}
			if short := most - len(word); short < 3*boot.TokenLength/2 {
				t.Errorf("%s %s: a word of %d is taken, and beside it %d are left for what bootd adds", firmware, name, len(word), short)
			}
		}
	}
}

// TestLocalBoot: a disk that is reached by grub is shown as grub's, and a script that isn't found as that.
func TestLocalBoot(t *testing.T) {
	fw, err := Firmware("uefi-x64")
	if err != nil {
		t.Fatal(err)
	}
	for way, want := range map[boot.LocalBoot]string{boot.LocalBootGrub: "set answered=yes\n", boot.LocalBootNotFound: "404 Not Found\n", boot.LocalBootAuto: "#!ipxe\n"} {
		p := &boot.Plan{Entry: boot.Name{Namespace: "lab", Name: "m1"}, LocalBoot: way, Artifacts: []boot.Artifacts{{Arch: fw.Arch}}}
		if got, err := Script(p, fw, Disk); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v\n%s", way, err, got)
		}
	}
}

// TestLoader: what's shown is for the loader that DHCP names.
func TestLoader(t *testing.T) {
	cases := map[string]struct {
		reason   string
		stage    boot.FirstStage
		firmware string
		grub     bool
		file     string
	}{
		"X64":         {"iPXE", boot.FirstStageAuto, "uefi-x64", false, "snponly.efi"},
		"X64Shim":     {"it's said", boot.FirstStageShim, "uefi-x64", true, "shimx64.efi"},
		"X64Native":   {"iPXE, too", boot.FirstStageNativeIPXE, "uefi-x64", false, "ipxe.efi"},
		"X64HTTP":     {"by its URL", boot.FirstStageNativeIPXE, "uefi-http-x64", false, "ipxe.efi"},
		"BIOS":        {"knows no signatures", boot.FirstStageShim, "bios", false, "undionly.kpxe"},
		"BIOSNative":  {"nor another driver", boot.FirstStageNativeIPXE, "bios", false, "undionly.kpxe"},
		"ARM64":       {"Debian has no iPXE for it", boot.FirstStageAuto, "uefi-arm64", true, "shimaa64.efi"},
		"ARM64Said":   {"the same", boot.FirstStageShim, "uefi-arm64", true, "shimaa64.efi"},
		"ARM64Native": {"Debian 13 has this", boot.FirstStageNativeIPXE, "uefi-arm64", false, "ipxe-arm64.efi"},
		"ARM64HTTP":   {"its grub has no HTTP", boot.FirstStageAuto, "uefi-http-arm64", false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fw, err := Firmware(tc.firmware)
			if err != nil {
				t.Fatal(err)
			}
			p := &boot.Plan{Entry: boot.Name{Namespace: "lab", Name: "m1"}, FirstStage: tc.stage, Mode: boot.ModeLive, Artifacts: []boot.Artifacts{{Arch: fw.Arch}}}
			got, err := Script(p, fw, Auto)
			if err != nil || strings.HasPrefix(got, "set answered=yes\n") != tc.grub || strings.HasPrefix(got, "#!ipxe\n") == tc.grub {
				t.Errorf("%s: %v\n%s", tc.reason, err, got)
			}
			if got := FirstStage(p, fw, Auto, false); got != tc.file {
				t.Errorf("%s: it loads %q, want %q", tc.reason, got, tc.file)
			}
			if six := FirstStage(p, fw, Auto, true); six != tc.file && !tc.grub || six != "" && tc.grub {
				t.Errorf("%s: over IPv6 it loads %q", tc.reason, six)
			}
		})
	}
}
