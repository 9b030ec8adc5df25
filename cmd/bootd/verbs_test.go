package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// verb parses a command line and runs what it says.
func verb(t *testing.T, args ...string) error {
	t.Helper()
	p := &program{}
	k, err := kong.New(p, kong.Vars{"version": "v", "hostname": "node-1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := k.Parse(args)
	if err != nil {
		return err
	}
	return ctx.Run()
}

const site = "../../examples/bootd/edge.yaml"

func TestVerbs(t *testing.T) {
	dir := t.TempDir()
	cases := map[string]struct {
		reason string
		args   []string
		says   string
	}{
		"ExplainNobody": {"no bootd runs", []string{"explain", "--mac", "52:54:00:00:00:01", "--state-dir", dir}, "no bootd runs with state folder"},
		"TraceNobody":   {"no bootd runs", []string{"trace", "--entry", "m1", "--state-dir", dir}, "no bootd runs with state folder"},
		"Two":           {"one machine at a time", []string{"explain", "--mac", "52:54:00:00:00:01", "--ip", "10.0.0.1"}, "can't be used together"},
		"Output":        {"what is it to be?", []string{"explain", "--mac", "52:54:00:00:00:01", "-o", "xml"}, "must be one of"},
		"RenderNothing": {"no file, no folder", []string{"render", "--entry", "edge/node-1"}, "name the folder of an entry by --specs"},
		"RenderVAX":     {"no such firmware", []string{"render", "--entry", site, "--arch", "vax"}, "firmware is bios"},
		"RenderNoEntry": {"no such entry", []string{"render", "--entry", "edge/node-9", "--specs", filepath.Dir(site)}, "there's no BootEntry edge/node-9 in"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := verb(t, tc.args...); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
			}
		})
	}
}

func TestRender(t *testing.T) {
	text, err := os.ReadFile(site)
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(t.TempDir(), "edge.yaml")
	if err := os.WriteFile(wrong, []byte(strings.ReplaceAll(string(text), "generation: 1", "generation: one")), 0o600); err != nil { //nolint:gosec // A test's own file.
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "edge.txt")
	if err := os.WriteFile(odd, []byte(strings.ReplaceAll(string(text), `["console=ttyS0,115200n8"]`, `["a=${b}"]`)), 0o600); err != nil { //nolint:gosec // A test's own file.
		t.Fatal(err)
	}
	paused := filepath.Join(t.TempDir(), "edge.yaml")
	if err := os.WriteFile(paused, []byte(strings.ReplaceAll(string(text), "name: node-1\nspec:", "name: node-1\n  annotations: {crossplane.io/paused: \"true\"}\nspec:")), 0o600); err != nil { //nolint:gosec // A test's own file.
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason      string
		r           render
		wants, says []string
		err         string
	}{
		"File": {
			reason: "what a machine gets that is to be installed", r: render{Entry: site, Arch: "uefi-x64", Answer: "auto"},
			wants: []string{"#!ipxe\necho edge/node-1: install: Granted\n", "kernel ${bootd-bound} --name vmlinuz http://BOOTD/v1/boot/BOOT-TOKEN/files/sha256-a4052e", "initrd=initrd0.img", "console=ttyS0,115200n8"},
		},
		"Name": {
			reason: "by its name, on another firmware", r: render{Entry: "node-1", Specs: filepath.Dir(site), Arch: "bios", Answer: "auto"},
			wants: []string{"kernel ${bootd-bound} --name vmlinuz"},
		},
		"Disk": {reason: "once it's installed", r: render{Entry: "edge/node-1", Specs: filepath.Dir(site), Arch: "bios", Answer: "disk"}, wants: []string{"sanboot"}},
		"Hold": {reason: "while it waits", r: render{Entry: site, Arch: "bios", Answer: "hold"}, wants: []string{"chain ${bootd-bound} --replace --autofree http://BOOTD/v1/boot/SCRIPT-TOKEN/script.ipxe"}},
		"Arch": {reason: "no files for it", r: render{Entry: site, Arch: "uefi-arm64", Answer: "auto"}, err: `no files for architecture "arm64"`},
		"Wrong": {
			reason: "a mistake, with its place", r: render{Entry: wrong, Arch: "bios", Answer: "auto"}, err: "the specs are wrong",
			says: []string{"edge.yaml:79: spec.forProvider.install.generation"},
		},
		"Paused": {
			reason: "what would be, and why it isn't yet", r: render{Entry: paused, Arch: "bios", Answer: "auto"}, wants: []string{"edge/node-1: install: Granted"},
			says: []string{"BootEntry edge/node-1: nothing is installed on its machine, since it's paused"},
		},
		"Odd": {
			reason: "what no script can say, with its place", r: render{Entry: odd, Arch: "bios", Answer: "auto"}, err: "the specs are wrong",
			says: []string{"edge.txt:57: BootEntry edge/node-1", "which iPXE would replace"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, problems strings.Builder
			err := tc.r.print(&out, &problems)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s: %v\n%s", tc.reason, err, problems.String())
			}
			for _, w := range tc.wants {
				if !strings.Contains(out.String(), w) {
					t.Errorf("%s: it lacks %q:\n%s", tc.reason, w, out.String())
				}
			}
			for _, w := range tc.says {
				if !strings.Contains(problems.String(), w) {
					t.Errorf("%s: it doesn't say %q: %s", tc.reason, w, problems.String())
				}
			}
		})
	}
}

// TestCodes: what is wrong with what bootd is told, or with the files that it's told of, ends with 2; what may be otherwise in a moment with 1.
func TestCodes(t *testing.T) {
	state, none := t.TempDir(), t.TempDir()
	network := filepath.Join(t.TempDir(), "network.yaml")
	if err := os.WriteFile(network, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   int
	}{
		"NoEntry":      {"no such entry in the folder", []string{"render", "--entry", "edge/node-9", "--specs", filepath.Dir(site)}, 2},
		"EmptyFolder":  {"nor in an empty one", []string{"render", "--entry", "edge/node-1", "--specs", none}, 2},
		"NoFolder":     {"no such folder", []string{"render", "--entry", "edge/node-1", "--specs", filepath.Join(none, "x")}, 2},
		"NoEntries":    {"a file without entries", []string{"render", "--entry", network}, 2},
		"ConfirmName":  {"no name of an entry", []string{"confirm", "node-1", "--mac", "52:54:00:00:00:01", "--state-dir", state}, 2},
		"ConfirmNone":  {"no bootd runs, and one may in a moment", []string{"confirm", "edge/node-1", "--mac", "52:54:00:00:00:01", "--state-dir", state}, 1},
		"ExplainWhom":  {"no machine is named", []string{"explain", "--state-dir", state}, 2},
		"TraceWhom":    {"no machine is named", []string{"trace", "--state-dir", state}, 2},
		"ExplainNoMAC": {"can be no MAC", []string{"explain", "--mac", "zz", "--state-dir", state}, 2},
		"ExplainNone":  {"no bootd runs", []string{"explain", "--mac", "52:54:00:00:00:01", "--state-dir", state}, 1},
		"TraceNone":    {"no bootd runs", []string{"trace", "--entry", "edge/node-1", "--state-dir", state}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := 1, verb(t, tc.args...)
			if wrong, ok := errors.AsType[misused](err); ok {
				got = wrong.ExitCode()
			}
			if err == nil || got != tc.want {
				t.Errorf("%s: %d (%v), want %d", tc.reason, got, err, tc.want)
			}
		})
	}
}

// TestNamesNobody: what can be no machine's name ends with code 2, whether or not a bootd runs here.
func TestNamesNobody(t *testing.T) {
	state := t.TempDir()
	for says, run := range map[string]func() error{
		`"zz"`:                          (&explain{named: named{MAC: "zz", StateDir: state}}).Run,
		`--ip "1.2.3" isn't an address`: (&explain{named: named{IP: "1.2.3", StateDir: state}}).Run,
		`--entry "a/b/c" isn't NAME`:    (&explain{named: named{Entry: "a/b/c", StateDir: state}}).Run,
		`--entry "/b" isn't NAME`:       (&explain{named: named{Entry: "/b", StateDir: state}}).Run,
		`--entry "a/" isn't NAME`:       (&packets{named: named{Entry: "a/", StateDir: state}}).Run,
		`"foo"`:                         (&explain{named: named{Entry: "a/b", StateDir: state}, Arch: "foo"}).Run,
		`--mac: MAC "zz0"`:              (&packets{named: named{MAC: "zz0", StateDir: state}}).Run,
		`"not-a-mac"`:                   (&confirm{Entry: "a/b", MAC: "not-a-mac", StateDir: state}).Run,
	} {
		err := run()
		if wrong, ok := errors.AsType[misused](err); !ok || wrong.ExitCode() != 2 || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
