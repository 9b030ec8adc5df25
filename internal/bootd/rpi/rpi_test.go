package rpi

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func testPlan(change func(*boot.Plan)) *boot.Plan {
	p := &boot.Plan{
		Entry: boot.Name{Namespace: "edge", Name: "pi-1"}, MACs: []boot.MAC{"dc:a6:32:ec:fc:3c", "dc:a6:32:ec:fc:3d"},
		Mode: boot.ModeInstall, Method: boot.MethodDiskImage, InstallGeneration: 1, Network: boot.Network{Address: netip.MustParsePrefix("10.77.0.11/24")},
		Artifacts: []boot.Artifacts{{
			Arch: boot.ARM64, Kernel: boot.Artifact{Digest: "k"}, Initrds: []boot.Artifact{{Digest: "i0"}, {Digest: "i1"}},
			Image:       &boot.Image{Artifact: boot.Artifact{Digest: "sha256:aa"}},
			RaspberryPi: &boot.RaspberryPi{Files: []boot.NamedArtifact{{Name: "start4.elf"}, {Name: "overlays/a.dtbo"}}, Config: []string{"[pi4]", "dtoverlay=a"}},
		}},
		CommandLine: []string{"console=serial0,115200 quiet"},
	}
	if change != nil {
		change(p)
	}
	return p
}

func granted() boot.Decision {
	return boot.Decision{Answer: boot.AnswerInstall, Reason: boot.DecidedGranted}
}

func input(p *boot.Plan) Input {
	return Input{Plan: p, Decision: granted(), Base: "http://10.77.0.1:8480", Token: "TOKEN", MAC: "dc:a6:32:ec:fc:3d"}
}

func TestConfig(t *testing.T) {
	got, err := Config(testPlan(nil), granted())
	want := "# edge/pi-1: install\n[pi4]\ndtoverlay=a\n[all]\narm_64bit=1\nkernel=kernel8.img\ncmdline=cmdline.txt\ninitramfs initrd0,initrd1 followkernel\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: -want +got:\n%s", err, diff)
	}
}

func TestCommandLine(t *testing.T) {
	got, err := CommandLine(input(testPlan(nil)))
	want := "console=serial0,115200 quiet baremetal.callback=http://10.77.0.1:8480/v1/boot/TOKEN baremetal.image=http://10.77.0.1:8480/v1/boot/TOKEN/image " +
		"baremetal.image-digest=sha256:aa baremetal.address=10.77.0.11/24 baremetal.mac=dc:a6:32:ec:fc:3d\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: -want +got:\n%s", err, diff)
	}
}

// TestCannotBeTold: what the firmware would take for something else is told as it is or not at all.
func TestCannotBeTold(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*boot.Plan)
		want   string
	}{
		"NoFiles":  {"a profile for other machines", func(p *boot.Plan) { p.Artifacts[0].RaspberryPi = nil }, "no files for a Raspberry Pi"},
		"NoArch":   {"or for another processor", func(p *boot.Plan) { p.Artifacts[0].Arch = boot.AMD64 }, "no files for a Raspberry Pi"},
		"Line":     {"a line that is two", func(p *boot.Plan) { p.Artifacts[0].RaspberryPi.Config = []string{"a=b\nkernel=c"} }, "isn't printable ASCII"},
		"Word":     {"a word that isn't one", func(p *boot.Plan) { p.CommandLine = []string{"a\x00b"} }, "isn't printable ASCII"},
		"Long":     {"more than a kernel reads", func(p *boot.Plan) { p.CommandLine = []string{strings.Repeat("a", 1500)} }, "there's room for 1535"},
		"Initrds":  {"more names than the firmware reads", func(p *boot.Plan) { p.Artifacts[0].Initrds = make([]boot.Artifact, 11) }, "80 characters"},
		"NewLines": {"a carriage return is one, too", func(p *boot.Plan) { p.Artifacts[0].RaspberryPi.Config = []string{"a=b\r"} }, "isn't printable ASCII"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if text, err := Told(input(testPlan(tc.change))); err == nil || !strings.Contains(err.Error(), tc.want) || text != "" {
				t.Errorf("%s: %v\n%s", tc.reason, err, text)
			}
		})
	}
}

// TestMostInitrds: as many as a profile may have fit.
func TestMostInitrds(t *testing.T) {
	if _, err := Config(testPlan(func(p *boot.Plan) { p.Artifacts[0].Initrds = make([]boot.Artifact, 9) }), granted()); err != nil {
		t.Error(err)
	}
}

func TestTold(t *testing.T) {
	for answer, want := range map[boot.Answer]string{
		boot.AnswerInstall: "## config.txt\n# edge/pi-1: install\n", boot.AnswerLocalDisk: "isn't found", boot.AnswerHold: "isn't answered",
	} {
		in := input(testPlan(nil))
		in.Decision.Answer = answer
		got, err := Told(in)
		if err != nil || !strings.Contains(got, want) || strings.Contains(got, "TOKEN") != (answer == boot.AnswerInstall) {
			t.Errorf("%s: %v\n%s", answer, err, got)
		}
	}
	if _, err := Told(Input{}); err == nil {
		t.Error("there's no plan")
	}
}

func TestFind(t *testing.T) {
	files := testPlan(nil).Artifacts[0]
	cases := map[string]struct {
		path, prefix, name string
		kind               Kind
	}{
		"Config":      {"e0ff06da/config.txt", "e0ff06da", "config.txt", ConfigText},
		"CommandLine": {"cmdline.txt", "", "cmdline.txt", CommandLineText},
		"Kernel":      {"a/b/kernel8.img", "a/b", "kernel8.img", Kernel},
		"Initrd":      {"x/initrd1", "x", "initrd1", Initrd},
		"Firmware":    {"x/start4.elf", "x", "start4.elf", Firmware},
		"Overlay":     {"x/overlays/a.dtbo", "x", "overlays/a.dtbo", Firmware},
		"NoOverlay":   {"x/a.dtbo", "", "", 0},
		"NoInitrd":    {"x/initrd2", "", "", 0},
		"Recovery":    {"x/recover4.elf", "", "", 0},
		"Below":       {"config.txt/", "", "", 0},
		"Nothing":     {"", "", "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			prefix, f, ok := Find(files, tc.path)
			if ok != (tc.kind != 0) || ok && (prefix != tc.prefix || f.Name != tc.name || f.Kind != tc.kind) {
				t.Errorf("%q: %q, %+v, %t", tc.path, prefix, f, ok)
			}
		})
	}
	files.RaspberryPi = nil
	if _, _, ok := Find(files, "config.txt"); ok {
		t.Error("a profile for other machines has no config.txt")
	}
}

// TestIdentity: firmware sends its serial number in one order or the other, and is asked for by it.
func TestIdentity(t *testing.T) {
	macs := []boot.MAC{"dc:a6:32:ec:fc:3c"}
	three, four := []byte(strings.Repeat("\xd4\x65\x9b\xbd", 4)), []byte("RPi4\x30\x31\xc0\x00\x32\xec\xfc\x3c\xda\x06\xff\xe0")
	cases := map[string]struct {
		reason string
		id     Identity
		prefix string
		want   bool
	}{
		"Pi3":       {"little-endian, as the MAC's last octets say", IdentityOf(macs, "", three), "bd9b65d4", false},
		"Pi4":       {"behind revision and MAC", IdentityOf(macs, "", four), "e0ff06da", false},
		"Planned":   {"people know the long one", IdentityOf(macs, "100000009FFEFDEF", nil), "9ffefdef", false},
		"Other":     {"another's", IdentityOf(macs, "", four), "9ffefdef", true},
		"Unknown":   {"nobody knows its own", IdentityOf(macs, "", nil), "9ffefdef", false},
		"NoSerial":  {"an asset tag is no serial number of a Pi's", IdentityOf(macs, "rack-7-unit-12", nil), "9ffefdef", false},
		"MAC":       {"its own", IdentityOf(macs, "", four), "dc-a6-32-ec-fc-3c", false},
		"OtherMAC":  {"another's", IdentityOf(macs, "", nil), "dc-a6-32-ec-fc-3d", true},
		"InFolder":  {"below a folder", IdentityOf(macs, "", four), "site/9ffefdef", true},
		"Anything":  {"what its owner likes", IdentityOf(macs, "", four), "debian-13/boot", false},
		"OtherForm": {"no form of theirs", IdentityOf(macs, "", four), "dca632ecfc3d", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.id.Contradicts(tc.prefix); got != tc.want {
				t.Errorf("%s: %q contradicts %v: %t", tc.reason, tc.prefix, tc.id, got)
			}
		})
	}
}

// TestSteps: what a boot can't take back.
func TestSteps(t *testing.T) {
	files := testPlan(func(p *boot.Plan) {
		for _, name := range []string{"bootcode.bin", "start.elf", "fixup4.dat"} {
			r := p.Artifacts[0].RaspberryPi
			r.Files = append(r.Files, boot.NamedArtifact{Name: name})
		}
	}).Artifacts[0]
	for name, want := range map[string]string{
		"kernel8.img": "commits counts", "cmdline.txt": "commits", "initrd0": "counts", "fixup4.dat": "", "config.txt": "begins first", "start.elf": "begins first",
		"start4.elf": "begins first", "bootcode.bin": "begins ROM", "overlays/a.dtbo": "",
	} {
		_, f, ok := Find(files, name)
		var got []string
		if f.Commits() {
			got = append(got, "commits")
		}
		if f.Counts() {
			got = append(got, "counts")
		}
		if f.Begins() {
			got = append(got, "begins")
		}
		if f.First() {
			got = append(got, "first")
		}
		if f.ROM() {
			got = append(got, "ROM")
		}
		if fmt.Sprint(got) != fmt.Sprint(strings.Fields(want)) || !ok {
			t.Errorf("%s: %v, want %q", name, got, want)
		}
	}
}
