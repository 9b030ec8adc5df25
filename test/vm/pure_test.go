package vm

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
)

// TestExampleFits binds the machines that are made to those that the example's rack names.
func TestExampleFits(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", "demo-vm", "40-rackpool.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var pool platform.RackPool
	if err := yaml.UnmarshalStrict(b, &pool); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(guest.CommandLine, strings.Join(pool.Spec.Defaults.CommandLine, " ")); diff != "" {
		t.Errorf("a kernel needs that under QEMU: -want +got:\n%s", diff)
	}
	var got [][3]string
	for _, h := range pool.Spec.Hosts {
		got = append(got, [3]string{h.Name, h.System.Serial, h.MACs[0]})
	}
	var want [][3]string
	for _, s := range Specs() {
		want = append(want, [3]string{s.Name, s.Serial, s.MAC})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hosts: -want +got:\n%s", diff)
	}
}

func TestPackages(t *testing.T) {
	b, err := os.ReadFile("debian-packages.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(string(b))
	slices.Sort(listed)
	all := packages()
	maps.Copy(all, arm64Packages())
	if diff := cmp.Diff(listed, slices.Sorted(maps.Keys(all))); diff != "" {
		t.Errorf("debian-packages.txt and what is looked for: -want +got:\n%s", diff)
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "here")
	if err := os.WriteFile(program, nil, 0o700); err != nil { //nolint:gosec // A program is executable.
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	cases := map[string]struct {
		reason   string
		packages map[string]string
		want     string
	}{
		"None": {"What is there isn't missing: a program in PATH, a file.", map[string]string{"a": "here", "b": program}, ""},
		"Some": {
			"Those that are missing are named, in order, with a thing that isn't there.",
			map[string]string{"c": "not-here", "b": filepath.Join(dir, "none"), "a": "here"},
			"virtual machines need Debian's b, c: there is no " + filepath.Join(dir, "none"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := missing(tc.packages); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nmissing: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestApt(t *testing.T) {
	const failed = "echo Reading package lists...\nexit 100\n"
	cases := map[string]struct{ reason, script, want string }{
		"Works": {"Nobody reads what apt-get says when it works.", "echo done\n", ""},
		"Complains": {
			"The first complaint is the reason of the others.",
			"echo 'E: Failed to fetch x.deb  Could not connect' >&2\necho 'E: Unable to fetch some archives' >&2\n" + failed,
			"apt-get install: exit status 100: Failed to fetch x.deb Could not connect",
		},
		"Silent": {"It may say nothing.", failed, "apt-get install: exit status 100"},
		"Absent": {"Not every system is Debian.", "", "apt-get install: exec: \"apt-get\": executable file not found in $PATH"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			if tc.script != "" {
				if err := os.WriteFile(filepath.Join(dir, "apt-get"), []byte("#!/bin/sh\n"+tc.script), 0o700); err != nil { //nolint:gosec // A program is executable.
					t.Fatal(err)
				}
			}
			got := ""
			if err := apt(t.Context(), "install", "nonsense"); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\napt: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBeating(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	failed := errors.New("failed")
	if err := beating(ctx, nil, "", func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("what it did is what it returns: %v", err)
	}
	cancel()
	if err := beating(ctx, nil, "", func() error { return failed }); !errors.Is(err, context.Canceled) {
		t.Errorf("what is interrupted says so, not what became of it: %v", err)
	}
}

func TestLegible(t *testing.T) {
	cases := map[string]struct{ reason, in, want string }{
		"Text":   {"Text stays, with its lines and tabs.", "  a\tb\n  ü", "  a\tb\n  ü"},
		"Cursor": {"What moves the cursor goes.", "\x1b[2J\x1b[01;01H\x1b[=3hBdsDxe: starting\x1b[0m\r", "BdsDxe: starting"},
		"Bell":   {"So does the rest of what isn't text.", "a\x07\x00\x7f", "a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, legible(tc.in)); diff != "" {
				t.Errorf("%s\nlegible: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
	if inked("\x1b[2J \r") {
		t.Error("a line of control characters shows nothing")
	}
}
