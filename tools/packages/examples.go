package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// examples that a package carries: those of its own kinds.
func (b builder) examples(dir string) ([]string, error) {
	var from string
	var ours func(text string) bool
	switch dir {
	case "provider":
		from, ours = "kinds", func(s string) bool { return !strings.Contains(s, "\napiVersion: platform.") }
	case "configuration":
		from, ours = "kinds", func(s string) bool { return strings.Contains(s, "\napiVersion: platform.") }
	case "configuration-v2":
		from, ours = "v2", func(string) bool { return true }
	default:
		// What calls the function is a Composition.
		return filepath.Glob(filepath.Join(b.Root, "package", "configuration-v2", "composition-*.yaml")) //nolint:wrapcheck // The pattern is fine.
	}
	all, err := filepath.Glob(filepath.Join(b.Root, "examples", from, "*.yaml"))
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("there are no examples in examples/%s", from)
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
