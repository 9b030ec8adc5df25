package programs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNodeVersionsAreTheModules(t *testing.T) {
	for file, line := range map[string]string{
		"../../node/tools/go.mod": "\tgithub.com/coredns/coredns " + CoreDNSVersion + "\n",
		"../../node/crank/go.mod": "github.com/crossplane/crossplane/v2 " + CrossplaneCLIVersion + "\n",
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), line) {
			t.Errorf("what a program says of itself isn't what is built: %s lacks %q", file, line)
		}
	}
}

func TestFolderIsKeyedByOwnSource(t *testing.T) {
	f := finder(t)
	put(t, filepath.Join(f.Source, "mine", "go.sum"), "", 0o600)
	folder := func(own bool, source string) string {
		put(t, filepath.Join(f.Source, "mine", "x", "main.go"), source, 0o600)
		dir, err := f.folder(Module{name: "mine", own: own})
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	if folder(true, "package main\n") == folder(true, "package main\n\nfunc main() {}\n") {
		t.Error("another source of our own has the same folder")
	}
	if folder(false, "package main\n") != folder(false, "package main\n\nfunc main() {}\n") {
		t.Error("what only pins programs is keyed by more than its go.sum")
	}
}

// TestNodeModulesExist holds that each folder has what the cache is keyed by, and that names don't collide.
func TestNodeModulesExist(t *testing.T) {
	f := Finder{Source: ".."}
	var names []string
	for _, m := range slices.Concat(modules(), Node(), Uptests()) {
		if _, err := f.folder(m); err != nil {
			t.Error(err)
		}
		for _, p := range m.programs {
			if slices.Contains(names, p.name) {
				t.Errorf("two programs are called %q", p.name)
			}
			names = append(names, p.name)
		}
	}
}
