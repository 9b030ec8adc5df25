package grub

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var update = flag.Bool("update", false, "write the golden files")

//nolint:gosec // The shape of a token, and nothing more.
const token = "YgABAgMEBQYHCAkKCwABAgMEBQYHCAECAwQFBgcIZqtBcwABAgMEBQYHCAkKCwwNDg8"

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func plan(change ...func(*boot.Plan)) *boot.Plan {
	p := &boot.Plan{
		Entry: boot.Name{Namespace: "team-a", Name: "web-1"}, MACs: []boot.MAC{"52:54:00:00:00:01"}, Hostname: "web-1",
		Mode: boot.ModeInstall, Method: boot.MethodDiskImage, InstallGeneration: 1, UserDataFormat: "CloudInit", FirstStage: boot.FirstStageShim,
		CommandLine: []string{"role=web", "console=tty0 console=ttyS1,115200n8", "price=$5;"},
		Artifacts: []boot.Artifacts{{
			Arch: boot.AMD64, Kernel: boot.Artifact{URL: "https://example.org/vmlinuz", Digest: digest("a")},
			Initrds: []boot.Artifact{{Digest: digest("b")}, {Digest: digest("c")}},
			Image:   &boot.Image{Artifact: boot.Artifact{Digest: digest("d")}, Format: "Raw", Compression: "Zstd"},
		}},
		Network: boot.Network{
			Address: netip.MustParsePrefix("10.77.0.11/24"), Gateway: netip.MustParseAddr("10.77.0.1"),
			DNS: []netip.Addr{netip.MustParseAddr("10.77.0.53")}, MTU: 1500,
		},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func input(a boot.Answer, reason string, p *boot.Plan) Input {
	return Input{
		Plan: p, Decision: boot.Decision{Answer: a, Reason: reason}, Arch: boot.AMD64, Base: "http://10.77.0.1:8080", Server: "10.77.0.1", Token: token,
	}
}

// inputs are the configurations that are kept as golden files.
func inputs() map[string]Input {
	kernelOnly := func(p *boot.Plan) {
		p.Method, p.UserDataFormat, p.Artifacts[0].Image = boot.MethodKernel, "None", nil
	}
	live := plan(kernelOnly, func(p *boot.Plan) {
		p.Mode, p.InstallGeneration, p.Artifacts[0].Initrds = boot.ModeLive, 0, nil
		p.MACs = append(p.MACs, "52:54:00:00:00:02")
	})
	arm := input(boot.AnswerLocalDisk, boot.DecidedDisk, plan())
	arm.Arch = boot.ARM64
	hold := input(boot.AnswerHold, boot.DecidedNotSynced, plan())
	hold.Wait = 5 * time.Second
	return map[string]Input{
		"install":        input(boot.AnswerInstall, boot.DecidedGranted, plan()),
		"install-kernel": input(boot.AnswerInstall, boot.DecidedGranted, plan(kernelOnly)),
		"script": input(boot.AnswerInstall, boot.DecidedGranted, plan(kernelOnly, func(p *boot.Plan) {
			p.Method, p.Serial = boot.MethodScript, "ABC-1"
			p.GrubScript = "echo {{ .serial }}\nlinux {{ .kernel }} {{ .commandLine }}\ninitrd {{ .initrd0 }} {{ .initrd1 }}\nboot"
		})),
		"live":        input(boot.AnswerLive, boot.DecidedLive, live),
		"local":       input(boot.AnswerLocalDisk, boot.DecidedInstalled, plan()),
		"local-arm64": arm,
		"local-exit":  input(boot.AnswerLocalDisk, boot.DecidedInstalled, plan(func(p *boot.Plan) { p.LocalBoot = boot.LocalBootExit })),
		"hold":        hold,
		"hold-used":   input(boot.AnswerHold, boot.DecidedConsumed, plan()),
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".cfg")
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
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRenderGolden(t *testing.T) {
	for name, in := range inputs() {
		t.Run(name, func(t *testing.T) {
			got, err := Render(in)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, got)
		})
	}
	t.Run("first", func(t *testing.T) { golden(t, "first", First()) })
}

func TestRenderRefuses(t *testing.T) {
	word := func(w string) *boot.Plan { return plan(func(p *boot.Plan) { p.CommandLine = []string{w} }) }
	cases := map[string]struct {
		reason string
		in     Input
		says   string
	}{
		"NoPlan":    {"there's nobody to say it to", input(boot.AnswerInstall, "x", nil), "there is no plan"},
		"Quote":     {"grub's own quote", input(boot.AnswerInstall, "x", word("a'b")), "holds a quote"},
		"Double":    {"grub would escape it for the kernel", input(boot.AnswerInstall, "x", word(`a="b"`)), "holds a quote"},
		"Backslash": {"and this", input(boot.AnswerInstall, "x", word(`a\x20b`)), "holds a quote or a backslash"},
		"Control":   {"a second line", input(boot.AnswerInstall, "x", word("a\x01b")), "isn't printable"},
		"Umlaut":    {"what no console shows alike", input(boot.AnswerInstall, "x", word("straße")), "isn't printable"},
		"Long":      {"a kernel reads only so much", input(boot.AnswerInstall, "x", word(strings.Repeat("a", 1500))), "kernels read 2047"},
		"Arch":      {"no files for that", Input{Plan: plan(), Decision: boot.Decision{Answer: boot.AnswerLive}, Arch: boot.ARM64}, `architecture "arm64"`},
		"ISO":       {"there is no way", input(boot.AnswerLive, "x", plan(func(p *boot.Plan) { p.Method = boot.MethodISO })), "is an ISO, which grub can't boot over the network; set its host's firstStage to Auto"},
		"Answer":    {"of a newer version", input("Dance", "x", plan()), `"Dance"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Render(tc.in)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v\n%s", tc.reason, err, got)
			}
		})
	}
}

// TestHostileNames: names of entries and hosts, reasons, digests and formats never become grub's words.
func TestHostileNames(t *testing.T) {
	const evil = "x'; chainloader (hd0)/evil; echo '\nreboot\n$prefix`"
	p := plan(func(p *boot.Plan) {
		p.Entry = boot.Name{Namespace: evil, Name: evil}
		p.Hostname, p.CommandLine = evil, nil
		p.Artifacts[0].Image.Format, p.Artifacts[0].Image.Compression = evil, evil
		p.Artifacts[0].Kernel.Digest = "sha256:" + evil
	})
	for _, a := range []boot.Answer{boot.AnswerInstall, boot.AnswerLocalDisk, boot.AnswerHold} {
		got, err := Render(input(a, evil, p))
		if err != nil {
			t.Fatal(err)
		}
		literal := regexp.MustCompile(`'[^']*'`).ReplaceAllString(got, "'…'")
		for _, bad := range []string{"evil", "$prefix", "`"} {
			if strings.Contains(literal, bad) {
				t.Errorf("%s: %q is outside of quotes:\n%s", a, bad, got)
			}
		}
		for line := range strings.Lines(got) {
			if strings.Count(line, "'")%2 != 0 || strings.TrimSpace(line) == "reboot" && a != boot.AnswerInstall { // Ours ends what fails too often.
				t.Errorf("%s: %q", a, line)
			}
		}
	}
}

// TestNoPrompt: only an install and a live boot name files, and no configuration leaves grub to whoever stands at the machine.
func TestNoPrompt(t *testing.T) {
	for name, in := range inputs() {
		got, err := Render(in)
		if err != nil {
			t.Fatal(err)
		}
		boots := in.Decision.Answer == boot.AnswerInstall || in.Decision.Answer == boot.AnswerLive
		if strings.Contains(got, "/files/") != boots || strings.Contains(got, "linux ") != boots {
			t.Errorf("%s: an answer of %s names files:\n%s", name, in.Decision.Answer, got)
		}
		if strings.Contains(got, "menuentry") || !strings.HasPrefix(got, "set answered=yes\n") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestEnds: nothing that fails is tried for ever by one grub, and nobody waits for what only a new token is told.
func TestEnds(t *testing.T) {
	kernel := func(p *boot.Plan) { p.Method, p.UserDataFormat, p.Artifacts[0].Image = boot.MethodKernel, "None", nil }
	waits := func(p *boot.Plan) { p.Otherwise = boot.OtherwiseHold }
	count := func(n int) string { return `if [ "$failed" = ` + strings.Repeat("x", n) + " ]; then\nreboot\nfi\n" }
	cases := map[string]struct {
		reason string
		in     Input
		want   string
		never  string
	}{
		"Install":   {"a boot that its grant doesn't count can't become BootLoop", input(boot.AnswerInstall, boot.DecidedGranted, plan()), count(bootTries), ""},
		"Kernel":    {"within its own loop", input(boot.AnswerInstall, boot.DecidedGranted, plan(kernel)), count(usedTries) + "done\n", ""},
		"Used":      {"a new token is sent to the disk", input(boot.AnswerHold, boot.DecidedConsumed, plan(kernel)), "sleep 15\nreboot\n", ""},
		"UsedWaits": {"a new token waits just so", input(boot.AnswerHold, boot.DecidedConsumed, plan(kernel, waits)), "sleep 15\n", "reboot"},
		"Outdated":  {"a new token is good", input(boot.AnswerHold, boot.DecidedSuperseded, plan()), "sleep 15\nreboot\n", ""},
		"NotSynced": {"the same token is told something else later", input(boot.AnswerHold, boot.DecidedNotSynced, plan()), "sleep 15\n", "reboot"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Render(tc.in)
			if err != nil || !strings.HasSuffix(got, tc.want) || tc.never != "" && strings.Contains(got, tc.never) {
				t.Errorf("%s: %v\n%s", tc.reason, err, got)
			}
		})
	}
	if !strings.HasPrefix(First(), "set silent=\nset failed=\nwhile true; do\n") {
		t.Errorf("it isn't counted from nothing:\n%s", First())
	}
}

// TestFolder: which variable holds the folder that the shim came from is the grub's. What is signed can't be asked here, so this is what each was seen to say.
func TestFolder(t *testing.T) {
	cases := map[string]struct{ reason, want string }{
		"Debian12": {"grub 2.06 has cmdpath", `source "$cmdpath/grub.cfg"`},
		"Debian13": {"grub 2.12 and 2.14 have fw_path, and no cmdpath", "if [ -z \"$cmdpath\" ]; then\nset cmdpath=\"$fw_path\"\nfi\nsource "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(First(), tc.want) {
				t.Errorf("%s: want %q in\n%s", tc.reason, tc.want, First())
			}
		})
	}
}

// TestLocalDisk: what the removable disk's name starts may be a shim that only resets the machine, or an installer's stick, which grub counts before SATA and
// NVMe; so the distributions' own come first, on any disk, and that name is taken of no image of a CD.
func TestLocalDisk(t *testing.T) {
	got, err := Render(input(boot.AnswerLocalDisk, boot.DecidedInstalled, plan()))
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, next := range []string{
		"for whole in (hd*); do\nregexp ", "for disk in ($name,*) \"$whole\"; do\n", "for loader in /EFI/debian/shimx64.efi ",
		"/EFI/sles/shim.efi /EFI/sle/shim.efi /EFI/debian/grubx64.efi ", "/EFI/sle/grub.efi; do\nif [ -f \"$disk$loader\" ]; then\n",
		"for whole in (hd*); do\n", "for loader in /EFI/Microsoft/Boot/bootmgfw.efi; do\n", "for whole in (hd*); do\n", "if [ \"$fs\" != iso9660 ]; then\n", "for loader in /EFI/BOOT/BOOTX64.EFI; do\n", "sleep 15\nexit\n",
	} {
		i := strings.Index(got[at+1:], next)
		if i < 0 {
			t.Fatalf("%q isn't where it belongs:\n%s", next, got)
		}
		at += 1 + i
	}
}
