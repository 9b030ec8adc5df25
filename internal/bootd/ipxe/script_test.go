package ipxe

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	base = "http://10.77.0.1:8080"
	//nolint:gosec // The shape of a token, and nothing more.
	token = "YgABAgMEBQYHCAkKCwABAgMEBQYHCAECAwQFBgcIZqtBcwABAgMEBQYHCAkKCwwNDg8"
)

var (
	bios = boot.Firmware{Kind: boot.FirmwareBIOS, Arch: boot.AMD64}
	uefi = boot.Firmware{Kind: boot.FirmwareUEFI, Arch: boot.AMD64}
	arm  = boot.Firmware{Kind: boot.FirmwareUEFI, Arch: boot.ARM64}
)

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func plan(change ...func(*boot.Plan)) *boot.Plan {
	p := &boot.Plan{
		Entry: boot.Name{Namespace: "team-a", Name: "web-1"}, MACs: []boot.MAC{"52:54:00:00:00:01"}, Hostname: "web-1",
		Mode: boot.ModeInstall, Method: boot.MethodDiskImage, InstallGeneration: 1, UserDataFormat: "CloudInit",
		CommandLine: []string{"role=web", "console=tty0 console=ttyS1,115200n8"},
		Artifacts: []boot.Artifacts{{
			Arch: boot.AMD64, Kernel: boot.Artifact{URL: "https://example.org/vmlinuz", Digest: digest("a")},
			Initrds: []boot.Artifact{{Digest: digest("b")}, {Digest: digest("c")}},
			Image:   &boot.Image{Artifact: boot.Artifact{Digest: digest("d")}, Format: "Raw", Compression: "Zstd"},
		}},
		Network: boot.Network{
			Address: netip.MustParsePrefix("10.77.0.11/24"), Gateway: netip.MustParseAddr("10.77.0.1"),
			DNS: []netip.Addr{netip.MustParseAddr("10.77.0.53"), netip.MustParseAddr("10.77.0.54")}, MTU: 1500,
		},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func input(a boot.Answer, reason string, f boot.Firmware, p *boot.Plan) Input {
	return Input{
		Plan: p, Decision: boot.Decision{Answer: a, Reason: reason}, Firmware: f, Base: base, Token: token,
		Again: ScriptURL(base, token, 7),
	}
}

func kernelOnly(p *boot.Plan) {
	p.Method, p.UserDataFormat, p.Artifacts[0].Image = boot.MethodKernel, "None", nil
}

func isoOnly(p *boot.Plan) {
	p.Method, p.UserDataFormat, p.CommandLine = boot.MethodISO, "None", nil
	p.Artifacts = []boot.Artifacts{{Arch: boot.AMD64, ISO: &boot.Artifact{URL: "https://example.org/tools.iso", Digest: digest("e")}}}
}

// answered makes a plan one of an installer that is answered by its user data.
func answered(format string, words ...string) *boot.Plan {
	return plan(func(p *boot.Plan) {
		p.Method, p.UserDataFormat, p.CommandLine, p.Artifacts[0].Image = boot.MethodInstaller, format, words, nil
	})
}

// inputs are the scripts that are kept as golden files.
func inputs() map[string]Input {
	twoNICs := func(p *boot.Plan) { p.MACs = append(p.MACs, "52:54:00:00:00:02") }
	local := func(l boot.LocalBoot) *boot.Plan { return plan(func(p *boot.Plan) { p.LocalBoot = l }) }
	live := plan(kernelOnly, twoNICs, func(p *boot.Plan) { p.Mode, p.InstallGeneration = boot.ModeLive, 0 })
	elsewhere := input(boot.AnswerLive, boot.DecidedLive, uefi, live)
	elsewhere.NoAddress = true
	both := input(boot.AnswerLive, boot.DecidedLive, uefi, plan(kernelOnly, func(p *boot.Plan) {
		p.Mode, p.InstallGeneration = boot.ModeLive, 0
		p.Network.Six = &boot.Place{Address: netip.MustParsePrefix("fd00:77::11/64"), Gateway: netip.MustParseAddr("fd00:77::1")}
	}))
	both.Base, both.Six = "http://[fd00:77::2]:8080", true
	flatcar := answered(boot.UserDataIgnition, "flatcar.first_boot=1")
	flatcar.Mode, flatcar.Method, flatcar.InstallGeneration = boot.ModeLive, boot.MethodKernel, 0
	expired := input(boot.AnswerHold, "TokenExpired", uefi, nil)
	expired.Again, expired.Wait = "", 5*time.Second
	return map[string]Input{
		"install-bios":   input(boot.AnswerInstall, boot.DecidedGranted, bios, plan()),
		"install-uefi":   input(boot.AnswerInstall, boot.DecidedGranted, uefi, plan()),
		"install-kernel": input(boot.AnswerInstall, boot.DecidedGranted, uefi, plan(kernelOnly)),
		"live":           input(boot.AnswerLive, boot.DecidedLive, bios, live),
		"live-proxied":   elsewhere,
		"live-ipv6":      both,
		"local-auto":     input(boot.AnswerLocalDisk, boot.DecidedInstalled, uefi, plan()),
		"local-exit":     input(boot.AnswerLocalDisk, boot.DecidedConsumed, bios, local(boot.LocalBootExit)),
		"local-sanboot":  input(boot.AnswerLocalDisk, boot.DecidedDisk, bios, local(boot.LocalBootSanboot)),
		"local-notfound": input(boot.AnswerLocalDisk, boot.DecidedDisk, uefi, local(boot.LocalBootNotFound)),
		"local-grub":     input(boot.AnswerLocalDisk, boot.DecidedDisk, uefi, local(boot.LocalBootGrub)),
		"hold-notfound":  input(boot.AnswerHold, boot.DecidedNotSynced, uefi, local(boot.LocalBootNotFound)),
		"hold":           input(boot.AnswerHold, boot.DecidedNotSynced, bios, plan()),
		"hold-new-token": expired,

		"script": input(boot.AnswerInstall, boot.DecidedGranted, uefi, plan(kernelOnly, func(p *boot.Plan) {
			p.Method, p.Serial = boot.MethodScript, "ABC-1"
			p.Script = "#!ipxe\necho {{ .serial }} {{ .dns }}\nkernel {{ .kernel }} {{ .commandLine }}\ninitrd --name initrd0.img {{ .initrd0 }}\nboot"
		})),

		"iso":      input(boot.AnswerInstall, boot.DecidedGranted, bios, plan(isoOnly)),
		"iso-live": input(boot.AnswerLive, boot.DecidedLive, uefi, plan(isoOnly, func(p *boot.Plan) { p.Mode, p.InstallGeneration = boot.ModeLive, 0 })),

		"talos":       input(boot.AnswerInstall, boot.DecidedGranted, uefi, answered(boot.UserDataTalos, "slab_nomerge pti=on")),
		"ignition":    input(boot.AnswerInstall, boot.DecidedGranted, bios, answered(boot.UserDataIgnition, "console=ttyS0")),
		"flatcar":     input(boot.AnswerLive, boot.DecidedLive, uefi, flatcar),
		"kickstart":   input(boot.AnswerInstall, boot.DecidedGranted, uefi, answered(boot.UserDataKickstart, "inst.repo=http://mirror.example/9")),
		"preseed":     input(boot.AnswerInstall, boot.DecidedGranted, bios, answered(boot.UserDataPreseed, "priority=high", "---", "console=ttyS0")),
		"autoinstall": input(boot.AnswerInstall, boot.DecidedGranted, uefi, answered(boot.UserDataAutoinstall, "ip=dhcp --- console=ttyS0")),
	}
}

func TestRenderGolden(t *testing.T) {
	for name, in := range inputs() {
		t.Run(name, func(t *testing.T) {
			got, err := Render(in)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".ipxe")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("script (-want +got; -update writes it):\n%s", diff)
			}
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	word := func(w string) *boot.Plan { return plan(func(p *boot.Plan) { p.CommandLine = []string{w} }) }
	cases := map[string]struct {
		reason string
		in     Input
		want   string
	}{
		"NoPlan":       {"nothing to boot", input(boot.AnswerInstall, "x", uefi, nil), "no plan"},
		"OtherArch":    {"files of another architecture don't run", input(boot.AnswerInstall, "x", arm, plan()), `architecture "arm64"`},
		"Unknown":      {"without the query nothing is known", input(boot.AnswerLive, "x", boot.Firmware{}, plan()), `architecture ""`},
		"NoAnswer":     {"a decision must have been made", input("", "x", uefi, plan()), "no script"},
		"Or":           {"iPXE would run what follows", input(boot.AnswerInstall, "x", uefi, word("a || shell")), `"||"`},
		"Semicolon":    {"alone it ends a command; inside a word it doesn't", input(boot.AnswerInstall, "x", uefi, word("a ; shell")), `";"`},
		"Comment":      {"the rest would be lost", input(boot.AnswerInstall, "x", uefi, word("#a")), `"#a"`},
		"Setting":      {"a setting would be put in its place", input(boot.AnswerInstall, "x", uefi, word("a=${uuid}")), "${"},
		"Continuation": {"the next line would be joined", input(boot.AnswerInstall, "x", uefi, word(`a\`)), "backslash"},
		"Long":         {"the kernel would cut off our words", input(boot.AnswerInstall, "x", uefi, word(strings.Repeat("a", 1500))), "2047"},
		"Control":      {"a NUL or escape has no place in a script", input(boot.AnswerInstall, "x", uefi, word("a\x1b")), "printable"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Render(tc.in)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want an error with %q; script:\n%s", tc.reason, err, tc.want, got)
			}
		})
	}
}

// TestRenderWhitelists feeds what a hostile host or namespace might hold: nothing of it may become a command.
func TestRenderWhitelists(t *testing.T) {
	evil := "x\nshell || ${uuid} \\"
	p := plan(func(p *boot.Plan) {
		p.Hostname, p.Entry.Name = evil, evil
		p.Artifacts[0].Image.Compression = evil
	})
	got, err := Render(input(boot.AnswerInstall, evil, uefi, p))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if strings.HasPrefix(line, "shell") || strings.Contains(line, "${uuid}") || strings.HasSuffix(line, `\`) {
			t.Errorf("a host's string became part of the script: %q", line)
		}
	}
	if !strings.Contains(got, WordHostname+"=xshelluuid") {
		t.Errorf("what is harmless of a name should be left:\n%s", got)
	}
}

// TestOursCountLast: of a repeated word the last counts, and that must be ours.
func TestOursCountLast(t *testing.T) {
	p := plan(func(p *boot.Plan) { p.CommandLine = []string{WordCallback + "=http://evil/", "--", "init-arg"} })
	got, err := Render(input(boot.AnswerInstall, "x", uefi, p))
	if err != nil {
		t.Fatal(err)
	}
	if strings.LastIndex(got, WordCallback+"="+base) < strings.LastIndex(got, WordCallback+"=http://evil/") {
		t.Errorf("a profile overrides our callback:\n%s", got)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("role=web", "web-1", "Granted")
	f.Add("a=${b}", "x\ny", "||")
	f.Fuzz(func(t *testing.T, word, hostname, reason string) {
		p := plan(func(p *boot.Plan) { p.CommandLine, p.Hostname = []string{word}, hostname })
		got, err := Render(input(boot.AnswerInstall, reason, uefi, p))
		if err != nil {
			return
		}
		clean, err := Render(input(boot.AnswerInstall, "Granted", uefi, plan()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(got, "\n") != strings.Count(clean, "\n") {
			t.Errorf("input changed the number of lines:\n%s", got)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if strings.Contains(clean, line) {
				continue
			}
			if strings.Contains(strings.ReplaceAll(line, bounded, ""), "${") || strings.Count(line, " || ") > 1 {
				t.Errorf("input became syntax: %q", line)
			}
		}
	})
}

// TestLabels: whatever a script jumps to is there.
func TestLabels(t *testing.T) {
	for name, in := range inputs() {
		text, err := Render(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, jump := range regexp.MustCompile(`goto (\S+)`).FindAllStringSubmatch(text, -1) {
			if !strings.Contains(text, "\n:"+jump[1]+"\n") {
				t.Errorf("%s has no label %s:\n%s", name, jump[1], text)
			}
		}
	}
}

// TestHoldLeavesADeadServer: a machine that is held asks a server that's silent a few times, and then whoever answers DHCP.
func TestHoldLeavesADeadServer(t *testing.T) {
	text, err := Render(inputs()["hold"])
	if err != nil {
		t.Fatal(err)
	}
	asks, exchange := strings.Count(text, ScriptURL(base, token, 7)), strings.Index(text, "\ndhcp ")
	if asks != patience || exchange < strings.LastIndex(text, ScriptURL(base, token, 7)) || !strings.HasSuffix(text, chain+"${filename} || goto wait\n") {
		t.Errorf("%d times:\n%s", asks, text)
	}
}

// TestNothingWaitsForEver: whatever a script of ours downloads is given up once it stands still, by the option that's found out about before. A hook's reads
// have none, and a profile's own words are its own.
func TestNothingWaitsForEver(t *testing.T) {
	for name, in := range inputs() {
		text, err := Render(in)
		if err != nil {
			t.Fatal(err)
		}
		known := false
		for line := range strings.Lines(text) {
			known = known || strings.HasPrefix(line, "isset ${unixtime} && set bootd-bound --timeout=120000 ||\n")
			command, rest, _ := strings.Cut(line, " ")
			ours := name != "script" || strings.Contains(line, "${filename}")
			if ours && slices.Contains([]string{"kernel", "initrd", "chain"}, command) && (!known || !strings.HasPrefix(rest, bounded+" ")) {
				t.Errorf("%s may wait for ever for a host that went dark: %q", name, line)
			}
		}
	}
}
