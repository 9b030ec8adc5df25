package bios

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// captures are response trees of real BMCs, kept outside the repository.
const captures = "../../../../../shared/testdata/redfish"

// TestCaptures plans with every captured registry: what is in force differs
// from itself in nothing, and each value of each enumeration is one that may
// be declared.
func TestCaptures(t *testing.T) {
	if _, err := os.Stat(captures); err != nil {
		t.Skipf("no captures of real BMCs at %s: skipped", captures)
	}
	trees, err := os.ReadDir(captures)
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range trees {
		if !tree.IsDir() {
			continue
		}
		t.Run(tree.Name(), func(t *testing.T) {
			r, current := capture(t, filepath.Join(captures, tree.Name()))
			declared := map[string]Value{}
			for name, v := range current {
				if v.Kind != Null && r.entries[name].kind != typePassword {
					declared[name] = v
				}
			}
			changes, problems := Plan(r, declared, current)
			for _, p := range problems {
				// A value may be outside what its own registry lists; that it's refused is right where it's declared.
				if p.Reason != Invalid {
					t.Errorf("what is in force can't be declared: %s", p)
				}
			}
			if len(changes) > 0 {
				t.Errorf("what is in force differs from itself: %v", changes)
			}
			for name, e := range r.entries {
				if _, ok := current[name]; !ok || e.readOnly {
					continue
				}
				for _, c := range e.choices {
					if _, takes := e.coerce(Value{Kind: Text, Text: c.name}); takes != "" {
						t.Errorf("%q lists %q and doesn't take it: %s", name, c.name, takes)
					}
				}
			}
			t.Logf("%d attributes in force, %d described, %d dependencies, %d outside what the registry lists", len(current), len(r.entries), len(r.dependencies), len(problems))
		})
	}
}

// capture returns the registry of a tree, and the attributes of its System.
func capture(t *testing.T, dir string) (r Registry, current map[string]Value) {
	t.Helper()
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "index.json" {
			return err
		}
		body, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		if found, err := Parse(body); err == nil && strings.Contains(strings.ToLower(path), "bios") {
			r = found
		}
		var bios struct {
			Attributes map[string]Value `json:"Attributes"`
		}
		if strings.HasSuffix(strings.ToLower(path), "/bios/index.json") && json.Unmarshal(body, &bios) == nil && len(bios.Attributes) > len(current) {
			current = bios.Attributes
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return r, current
}
