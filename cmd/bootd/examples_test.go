package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commandsOf are the commands in an example's comment, each of which goes on in the next line after a backslash.
func commandsOf(text string) (all [][]string) {
	var words []string
	goesOn := false
	for line := range strings.Lines(text) {
		part, comment := strings.CutPrefix(strings.TrimSpace(line), "#   ")
		if !comment || !goesOn && !strings.HasPrefix(part, "bootd ") {
			continue
		}
		part, goesOn = strings.CutSuffix(part, "\\")
		if words = append(words, strings.Fields(part)...); !goesOn {
			all, words = append(all, words), nil
		}
	}
	return all
}

// TestExampleCommands: what the examples say to start bootd with is taken.
func TestExampleCommands(t *testing.T) {
	files, err := filepath.Glob("../../examples/bootd/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	said := 0
	var installs []string // Of each command, whether that bootd installs.
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range commandsOf(string(text)) {
			if words[1] == "render" {
				continue
			}
			said++
			c, err := parse(t, words[1:]...).config()
			if err != nil {
				t.Errorf("%s: %q: %v", path, strings.Join(words, " "), err)
			}
			if filepath.Base(path) == "https.yaml" && (c.CacheBytes != 50e9 || c.TLS.Listen != "0.0.0.0:8483") {
				t.Errorf("%s: cache of %d bytes, HTTPS at %q", path, c.CacheBytes, c.TLS.Listen)
			}
			installs = append(installs, filepath.Base(path)+" "+strconv.FormatBool(!c.NoInstall))
		}
	}
	if !slices.Contains(installs, "two-bootds.yaml true") || !slices.Contains(installs, "two-bootds.yaml false") {
		t.Error("of the two bootds of two-bootds.yaml one installs")
	}
	if said < 5 {
		t.Errorf("%d examples say how bootd is started: how they say so isn't understood any more", said)
	}
}

// TestRenderHeld: no machine of examples/bootd/hold.yaml is sent to its disk, whatever bootd answers.
func TestRenderHeld(t *testing.T) {
	for _, arch := range []string{"bios", "uefi-x64"} {
		var out, problems strings.Builder
		r := render{Entry: "../../examples/bootd/hold.yaml", Arch: arch, Answer: "auto"}
		if err := r.print(&out, &problems); err != nil || problems.String() != "" {
			t.Fatalf("%v\n%s", err, problems.String())
		}
		got := out.String()
		for _, want := range []string{"echo returns/r-1: hold: ", "echo returns/r-2: live: "} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q isn't in it:\n%s", arch, want, got)
			}
		}
		for _, disk := range []string{"sanboot", "\nexit"} {
			if strings.Contains(got, disk) {
				t.Errorf("%s: %q starts a disk:\n%s", arch, disk, got)
			}
		}
	}
}
