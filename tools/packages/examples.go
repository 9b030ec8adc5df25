package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// examples that a package carries: those of its own kinds.
func (b builder) examples(dir string) ([]string, error) {
	var from []string
	ours := func(string) bool { return true }
	switch dir {
	case "provider":
		// One file a kind, and what the kinds with the most to them can do, one capability a file.
		from, ours = []string{"kinds", "netbox", "redfish"}, func(s string) bool { return !strings.Contains(s, "\napiVersion: platform.") }
	case "configuration":
		from, ours = []string{"kinds"}, func(s string) bool { return strings.Contains(s, "\napiVersion: platform.") }
	case "configuration-v2":
		from = []string{"v2"}
	default:
		// What calls the function is a Composition.
		return filepath.Glob(filepath.Join(b.Root, "package", "configuration-v2", "composition-*.yaml")) //nolint:wrapcheck // The pattern is fine.
	}
	var all []string
	for _, f := range from {
		files, err := filepath.Glob(filepath.Join(b.Root, "examples", f, "*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("there are no examples in examples/%s", f)
		}
		all = append(all, files...)
	}
	var out []string
	for _, f := range all {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("cannot read an example: %w", err)
		}
		if ours("\n" + string(text)) {
			out = append(out, f)
		}
	}
	return out, nil
}
