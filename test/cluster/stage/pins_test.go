package stage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const (
	olderPins = `
- {name: ipxe, arch: all, version: "1", sha256: aa, files: {a: a}}
- {name: shim, arch: amd64, version: "1", sha256: bb}
- {name: gone, arch: all, version: "1", sha256: cc}
`
	samePins = `
- {name: shim, arch: amd64, version: "1", sha256: bb, sha1: b1, pool: pool/s}
- {name: ipxe, arch: all, version: "1", sha256: aa, sha1: a1, files: {a: a, b: b}}
`
	newerPins = `
- {name: shim, arch: arm64, version: "2", sha256: dd, sha1: d1}
- {name: shim, arch: amd64, version: "1", sha256: bb, sha1: b1}
- {name: ipxe, arch: all, version: "2", sha256: ee, sha1: e1, pool: pool/i, files: {a: moved}}
`
)

func TestRepin(t *testing.T) {
	cases := map[string]struct {
		reason, own string
		changed     []string
		want        string
	}{
		"Same": {reason: "What is pinned today is what was.", own: samePins, want: olderPins},
		"Newer": {
			reason: "Where Debian went on, the older version gets what is pinned today, from where that lies, in the words that it knows.", own: newerPins,
			changed: []string{"ipxe 2"},
			want:    strings.Replace(olderPins, `version: "1", sha256: aa, files: {a: a}`, `version: "2", sha256: ee, files: {a: moved}`, 1),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, changed, err := repin([]byte(olderPins), []byte(tc.own))
			if err != nil {
				t.Fatal(err)
			}
			var got, want []pin
			for text, to := range map[string]*[]pin{string(out): &got, tc.want: &want} {
				if err := yaml.Unmarshal([]byte(text), to); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.changed, changed); diff != "" {
				t.Errorf("%s\nwhat changed, -want +got:\n%s", tc.reason, diff)
			}
		})
	}
	for name, pins := range map[string][2]string{"Older": {"- [", samePins}, "Own": {olderPins, "- ["}} {
		if _, _, err := repin([]byte(pins[0]), []byte(pins[1])); err == nil {
			t.Errorf("%s: what can't be understood is an error", name)
		}
	}
}

// TestOverlay holds that an older checkout stays as it was, and that go is told what to read instead only where that differs.
func TestOverlay(t *testing.T) {
	for name, tc := range map[string]struct {
		own   string
		flags int
	}{"Same": {samePins, 0}, "Newer": {newerPins, 1}} {
		t.Run(name, func(t *testing.T) {
			s := &Stage{opts: Options{StateDir: t.TempDir(), Say: func(line string) { t.Log(line) }}, root: t.TempDir()}
			from := Source{Root: t.TempDir(), Version: "v0.1.0"}
			at := filepath.Join(from.Root, filepath.FromSlash(pinned))
			for path, text := range map[string]string{at: olderPins, filepath.Join(s.root, filepath.FromSlash(pinned)): tc.own} {
				if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			flags, err := s.overlay(from)
			if err != nil || len(flags) != tc.flags {
				t.Fatalf("want %d flags, got %q, %v", tc.flags, flags, err)
			}
			if b, err := os.ReadFile(at); err != nil || string(b) != olderPins {
				t.Errorf("the older checkout isn't as it was: %q, %v", b, err)
			}
			if len(flags) == 0 {
				return
			}
			b, err := os.ReadFile(strings.TrimPrefix(flags[0], "-overlay="))
			if err != nil {
				t.Fatal(err)
			}
			var list map[string]map[string]string
			if err := json.Unmarshal(b, &list); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(list["Replace"][at]); err != nil || !strings.Contains(string(b), "sha256: ee") {
				t.Errorf("go isn't told of the pins of today: %q, %v", b, err)
			}
		})
	}
}

// TestOlderPins holds that the older version's packages can be had as long as this checkout's can.
func TestOlderPins(t *testing.T) {
	if err := Reaches(t.Context(), OlderCommit); err != nil {
		t.Logf("not looked at: %v", err)
		return
	}
	s, err := blank(Options{})
	if err != nil {
		t.Fatal(err)
	}
	older, err := s.git(t.Context(), "show", OlderCommit+":"+pinned)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(pinned)))
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := repin([]byte(older), own)
	if err != nil {
		t.Fatal(err)
	}
	var now, got []pin
	for text, to := range map[string]*[]pin{string(own): &now, string(out): &got} {
		if err := yaml.Unmarshal([]byte(text), to); err != nil {
			t.Fatal(err)
		}
	}
	has := map[any]bool{}
	for _, p := range now {
		has[p["sha256"]] = true
	}
	for _, p := range got {
		if !has[p["sha256"]] {
			t.Errorf("version %s takes %v %v, which this checkout doesn't: when Debian drops it, there's nothing to upgrade from", OlderVersion, p["name"], p["version"])
		}
	}
	if len(got) == 0 {
		t.Error("the older version takes nothing")
	}
}
