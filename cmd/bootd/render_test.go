package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// TestRenderInstallers: what the machines of examples/bootd/installers.yaml are told, by firmware.
func TestRenderInstallers(t *testing.T) {
	for _, arch := range []string{"bios", "uefi-x64"} {
		t.Run(arch, func(t *testing.T) {
			var out, problems strings.Builder
			r := render{Entry: "../../examples/bootd/installers.yaml", Arch: arch, Answer: "auto"}
			if err := r.print(&out, &problems); err != nil || problems.String() != "" {
				t.Fatalf("%v\n%s", err, problems.String())
			}
			path := filepath.Join("testdata", "installers-"+arch+".ipxe")
			if *update {
				if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("-want (-update writes it), +got:\n%s", diff)
			}
			for _, secret := range []string{"autopart", "d-i partman", "sshAuthorizedKeys", "controlPlane"} {
				if strings.Contains(out.String(), secret) {
					t.Errorf("a preview tells what only a machine is given: %q", secret)
				}
			}
		})
	}
}

// TestRenderSecureBoot: the machines of examples/bootd/secure-boot.yaml are told by grub what their own architecture boots, and one with a BIOS by iPXE.
func TestRenderSecureBoot(t *testing.T) {
	for arch, want := range map[string][]string{
		"uefi-x64":   {"vault/signed-1", "if linux '(tftp,BOOTD)/BOOT-TOKEN/files/sha256-a4052e51", "'baremetal.address=10.80.0.11/24'"},
		"uefi-arm64": {"vault/arm-1", "if linux '(tftp,BOOTD)/BOOT-TOKEN/files/sha256-9f86d081", "'baremetal.address=10.80.0.12/24'"},
		"bios":       {"vault/signed-1", "#!ipxe", "kernel ${bootd-bound} --name vmlinuz"},
	} {
		var out, problems strings.Builder
		r := render{Entry: want[0], Specs: "../../examples/bootd", Arch: arch, Answer: "auto"}
		if err := r.print(&out, &problems); err != nil {
			t.Errorf("%s: %v %s", arch, err, problems.String())
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) || strings.Contains(out.String(), "partman") {
				t.Errorf("%s: %q isn't in it, or what only a machine is given is:\n%s", arch, w, out.String())
			}
		}
	}
}

// TestRenderFirmware: a machine of examples/bootd/firmware.yaml whose first stage is said is told the same script, and that file is named.
func TestRenderFirmware(t *testing.T) {
	for arch, want := range map[string]string{"bios": "undionly.kpxe", "uefi-x64": "ipxe.efi", "uefi-http-x64": "ipxe.efi"} {
		for _, answer := range []string{"install", "disk"} {
			var out, problems strings.Builder
			r := render{Entry: "yard/odd-nic", Specs: "../../examples/bootd", Arch: arch, Answer: answer}
			if err := r.print(&out, &problems); err != nil || !strings.HasPrefix(out.String(), "#!ipxe\n") {
				t.Errorf("%s, %s: %v\n%s", arch, answer, err, out.String())
			}
			if diff := cmp.Diff("BootEntry yard/odd-nic: by firstStage NativeIPXE its firmware loads "+want+" first\n", problems.String()); diff != "" {
				t.Errorf("%s, %s: -want +got:\n%s", arch, answer, diff)
			}
		}
	}
}

// TestRenderLocalBoot: the other machines of examples/bootd/firmware.yaml are sent to their disks as their firmware takes it.
func TestRenderLocalBoot(t *testing.T) {
	cases := map[string]struct{ reason, entry, arch, want string }{
		"Exit":     {"a BIOS goes on by itself", "leaves", "bios", "#!ipxe\necho yard/leaves: local disk: BootsFromDisk\niseq ${platform} efi && goto next || exit 0\n"},
		"Sanboot":  {"its first disk is started", "sanboot", "bios", "|| sanboot --no-describe --drive 0x80 || goto next\n:next\nexit 1\n"},
		"NotFound": {"there's no script", "no-script", "uefi-x64", "404 Not Found\n"},
		"Grub":     {"grub starts the disk's loader", "by-grub", "uefi-x64", "set answered=yes\necho 'yard/by-grub: local disk: BootsFromDisk'\n"},
		"GrubBIOS": {"which has no grub", "by-grub", "bios", "sanboot --no-describe --drive 0x80"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, problems strings.Builder
			r := render{Entry: "yard/" + tc.entry, Specs: "../../examples/bootd", Arch: tc.arch, Answer: "disk"}
			if err := r.print(&out, &problems); err != nil || problems.String() != "" || !strings.Contains(out.String(), tc.want) {
				t.Errorf("%s: %v %s\n%s", tc.reason, err, problems.String(), out.String())
			}
		})
	}
}

// TestRenderBothFamilies: the machine of examples/bootd/dual-stack.yaml is told the address that it came over.
func TestRenderBothFamilies(t *testing.T) {
	for six, want := range map[bool]string{
		false: " baremetal.address=10.79.0.13/24 baremetal.gateway=10.79.0.1 baremetal.dns=10.79.0.2 baremetal.ntp=10.79.0.2 ",
		true:  " baremetal.address=fd00:79::13/64 baremetal.gateway=fd00:79::1 baremetal.dns=fd00:79::53 baremetal.ntp=fd00:79::123 ",
	} {
		var out, problems strings.Builder
		r := render{Entry: "../../examples/bootd/dual-stack.yaml", Arch: "uefi-x64", Answer: "auto", IPv6: six}
		if err := r.print(&out, &problems); err != nil || problems.String() != "" || !strings.Contains(out.String(), want) {
			t.Errorf("over IPv6 %v: %v %s\n%s", six, err, problems.String(), out.String())
		}
	}
}

// TestRenderRaspberryPi: what the board of examples/bootd/raspberry-pi.yaml is told.
func TestRenderRaspberryPi(t *testing.T) {
	for _, answer := range []string{"auto", "disk"} {
		var out, problems strings.Builder
		r := render{Entry: "../../examples/bootd/raspberry-pi.yaml", Arch: "raspberry-pi", Answer: answer}
		if err := r.print(&out, &problems); err != nil || problems.String() != "" {
			t.Fatalf("%v\n%s", err, problems.String())
		}
		path := filepath.Join("testdata", "raspberry-pi-"+answer+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s: -want (-update writes it), +got:\n%s", answer, diff)
		}
	}
}

// TestRenderCloudInit: what a machine is given beside user data is found by the same word, and isn't told by a preview.
func TestRenderCloudInit(t *testing.T) {
	var out, problems strings.Builder
	r := render{Entry: "../../examples/bootd/cloud-init.yaml", Arch: "uefi-x64", Answer: "auto"}
	if err := r.print(&out, &problems); err != nil || problems.String() != "" {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	if got := out.String(); !strings.Contains(got, " ds=nocloud;s=http://BOOTD/v1/boot/BOOT-TOKEN/ ") || strings.Contains(got, "uplink") || strings.Contains(got, "ntp:") {
		t.Errorf("%s", got)
	}
}

// TestRenderISO: a machine that boots an ISO is told so, but by grub, which can't.
func TestRenderISO(t *testing.T) {
	b, err := os.ReadFile("../../examples/bootd/iso.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rendered := func(text, arch string) (string, error) {
		path := filepath.Join(t.TempDir(), "iso.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil { //nolint:gosec // A test's own folder.
			t.Fatal(err)
		}
		var out, problems strings.Builder
		err := (&render{Entry: path, Arch: arch, Answer: "auto"}).print(&out, &problems)
		return out.String() + problems.String(), err
	}
	for _, arch := range []string{"bios", "uefi-x64"} {
		got, err := rendered(string(b), arch)
		if err != nil {
			t.Errorf("%s: %v", arch, err)
		}
		for _, want := range []string{
			"lab/board-1: install: Granted\nset bootd-bound --name=bootd\nisset ${unixtime} && set bootd-bound --timeout=120000 ||\n:start\nsanhook --no-describe --drive 0x80 http://BOOTD/v1/boot/BOOT-TOKEN/iso || goto failed\nsanboot --no-describe --drive 0x80 || goto ended\n",
			"lab/board-2: live: Live\nset bootd-bound --name=bootd\n", "\n:start\nsanhook ",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q isn't told:\n%s", arch, want, got)
			}
		}
	}
	signed := strings.ReplaceAll(string(b), `macs: ["52:54:00:00:10:01"]`, `macs: ["52:54:00:00:10:01"], firstStage: Shim`)
	if got, err := rendered(signed, "uefi-x64"); err == nil || !strings.Contains(err.Error(), "is an ISO, which grub can't boot over the network") {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestRenderNetwork: each machine's network is shown in the language that is asked for, and an entry that says none is told of.
func TestRenderNetwork(t *testing.T) {
	cases := map[string]struct {
		example string
		want    []string
	}{
		"cloud-init": {"interfaces", []string{"# BootEntry lab/bonded-1\nversion: 2\n", "  bond0.79:\n    id: 79\n", `addresses: ["10.79.0.13/24"]`}},
		"nmstate":    {"interfaces", []string{`mac-address: "52:54:00:00:0a:06"`, `next-hop-interface: "bond0.79"`}},
		"talos":      {"interfaces", []string{`- permanentAddr: "52:54:00:00:0a:04"`, "        dhcp: true\n"}},
		"none":       {"interfaces", []string{"talos.config=http://BOOTD/v1/boot/BOOT-TOKEN/user-data"}},
	}
	for language, tc := range cases {
		var out, problems strings.Builder
		r := render{Entry: "../../examples/bootd/" + tc.example + ".yaml", Arch: "uefi-x64", Answer: "auto", Network: language}
		if err := r.print(&out, &problems); err != nil || problems.String() != "" {
			t.Fatalf("%s: %v\n%s", language, err, problems.String())
		}
		for _, want := range tc.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q isn't told:\n%s", language, want, out.String())
			}
		}
	}
	r := render{Entry: "../../examples/bootd/cloud-init.yaml", Arch: "uefi-x64", Answer: "auto", Network: "nmstate"}
	if err := r.print(io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "BootEntry edge/node-2 says no interface") {
		t.Errorf("who asks for what isn't made is told so: %v", err)
	}
}

// TestRenderScript: what a machine gets by a script of its profile's own is shown as it gets it, and what is wrong with that by its place.
func TestRenderScript(t *testing.T) {
	const example = "../../examples/bootd/script.yaml"
	var out, problems strings.Builder
	r := render{Entry: example, Arch: "uefi-x64", Answer: "auto"}
	if err := r.print(&out, &problems); err != nil || problems.String() != "" {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	for _, want := range []string{"\necho new-1 burns in for 72 hours\n", "\nkernel http://BOOTD/v1/boot/BOOT-TOKEN/files/sha256-a4052e", " baremetal.hostname=new-1 burnin.hours=72 || goto again\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q isn't told:\n%s", want, out.String())
		}
	}
	b, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for old, tc := range map[string]struct{ put, says string }{
		"{{ .hours }} hours\n    :load": {"{{ .days }} days\n    :load", "scriptTemplate, line 2, column 35: {{ .days }} is neither a parameter of the profile nor one of "},
		`hours: "72"`:                   {`hours: "7 2"`, `parameter "hours" is "7 2", which doesn't match`},
		"  scriptTemplate: |":           {"  x: |", "x"},
	} {
		path := filepath.Join(t.TempDir(), "script.yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, tc.put, 1)), 0o600); err != nil { //nolint:gosec // A test's own file.
			t.Fatal(err)
		}
		problems.Reset()
		err := (&render{Entry: path, Arch: "uefi-x64", Answer: "auto"}).print(&out, &problems)
		var wrong misused
		if !errors.As(err, &wrong) || wrong.ExitCode() != 2 || !strings.Contains(problems.String(), tc.says) {
			t.Errorf("%s: %v\n%s", tc.put, err, problems.String())
		}
	}
}

// TestRenderByAnotherPath: a file of the folder of specs is read once, whatever way leads to it.
func TestRenderByAnotherPath(t *testing.T) {
	there, err := filepath.Abs(filepath.Dir(site))
	if err != nil {
		t.Fatal(err)
	}
	for _, specs := range []string{there, filepath.Dir(site) + "/../" + filepath.Base(filepath.Dir(site))} {
		var problems strings.Builder
		r := render{Entry: site, Specs: specs, Arch: "uefi-x64", Answer: "auto"}
		if err := r.print(io.Discard, &problems); err != nil || problems.String() != "" {
			t.Errorf("%s: %v\n%s", specs, err, problems.String())
		}
	}
}

// TestRenderElsewhere: a file that isn't the folder's stands beside those of the folder, also beside one of its name, and what is wrong with it has its own path.
func TestRenderElsewhere(t *testing.T) {
	b, err := os.ReadFile("../../examples/bootd/script.yaml")
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.NewReplacer("{{ .hours }} hours\n    :load", "{{ .days }} days\n    :load", "name: new-1", "name: new-2", "10.81.0.11", "10.81.0.12", "52:54:00:00:0c:01", "52:54:00:00:0c:99").Replace(string(b))
	specs, here := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(specs, "a.yaml"): string(b), filepath.Join(here, "a.yaml"): broken} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	for file, path := range map[string]string{"a.yaml": "./a.yaml", filepath.Join(here, "a.yaml"): filepath.Join(here, "a.yaml")} {
		var problems strings.Builder
		if err := (&render{Entry: file, Specs: specs, Arch: "uefi-x64", Answer: "auto"}).print(io.Discard, &problems); err == nil {
			t.Error("what is wrong is taken")
		}
		for _, want := range []string{"what " + path + ":20 says of it counts", filepath.Join(specs, "a.yaml") + ":56: BootEntry lab/new-1", "\n" + path + ":56: BootEntry lab/new-2: Invalid: "} {
			if !strings.Contains("\n"+problems.String(), want) {
				t.Errorf("%s: %q isn't said:\n%s", file, want, problems.String())
			}
		}
	}
}
