package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTargets(t *testing.T) {
	all, err := targets("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []target{
		{"internal/boot", "FuzzVerify"}, {"internal/bootd/dhcp", "FuzzRespond"}, {"internal/bootd/tftp", "FuzzParse"}, {"internal/bootd/tftp", "FuzzAsked"},
		{"internal/bootd/httpboot", "FuzzPath"}, {"internal/bootd/specdir", "FuzzParse"}, {"internal/bootd/session", "FuzzLog"},
		{"internal/bootd/trace", "FuzzMask"},
	} {
		if !slices.Contains(all, want) {
			t.Errorf("%s isn't found", want)
		}
	}
}

func TestOtherModulesAreSkipped(t *testing.T) {
	dir := t.TempDir()
	const text = "package x\n\nfunc FuzzA(f *testing.F) {\n}\n\nfunc FuzzB(x int) {\n}\n"
	for _, name := range []string{"a/x_test.go", "a/x.go", "testdata/x_test.go", ".hidden/x_test.go", "other/x_test.go", "other/go.mod", "x_test.go"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := targets(dir)
	if want := []target{{".", "FuzzA"}, {"a", "FuzzA"}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := targets(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("there's no such folder")
	}
}

func TestExecutions(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         int
	}{
		"Last": {
			"the last number counts", "fuzz: elapsed: 0s, gathering baseline coverage: 0/13 completed\nfuzz: elapsed: 3s, execs: 8435 (2811/sec), new interesting: 0 (total: 13)\n" +
				"fuzz: elapsed: 5s, execs: 20112 (5838/sec), new interesting: 2 (total: 15)\nPASS\n", 20112,
		},
		"Failed": {"a target that fails was executed, too", "fuzz: elapsed: 1s, execs: 12 (12/sec), new interesting: 0 (total: 1)\n--- FAIL: FuzzX (0.1s)\n", 12},
		"None":   {"one that doesn't compile wasn't", "# x\nundefined: y\nFAIL\n", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := executions(tc.text); got != tc.want {
				t.Errorf("%s: %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNoTarget(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, "../..", "^NoSuchTarget$", 0); err == nil || !strings.Contains(err.Error(), "no fuzz target matches") {
		t.Error(err)
	}
	if err := run(t.Context(), &out, "../..", "(", 0); err == nil {
		t.Error("that's no expression")
	}
}
