package programs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVersionsAreTheModules(t *testing.T) {
	cases := map[string]struct {
		reason, file, line string
	}{
		"Kubernetes": {"What the API server says of itself is what is built.", "../controlplane/go.mod", "\tk8s.io/kubernetes " + KubernetesVersion + "\n"},
		"Crossplane": {"What Crossplane says of itself is what is built.", "../controlplane/go.mod", "\tgithub.com/crossplane/crossplane/v2 " + CrossplaneVersion + "\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(tc.file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(b), tc.line) {
				t.Errorf("%s\n%s lacks %q", tc.reason, tc.file, tc.line)
			}
		})
	}
}

// finder with a source whose modules have a go.sum each, and empty cache and assets.
func finder(t *testing.T) Finder {
	t.Helper()
	dir := t.TempDir()
	f := Finder{
		Source: filepath.Join(dir, "source"), Cache: filepath.Join(dir, "cache"), Assets: filepath.Join(dir, "assets"),
		Say: func(s string) { t.Log(s) },
	}
	for _, m := range modules() {
		put(t, filepath.Join(f.Source, m.name, "go.sum"), m.name, 0o600)
	}
	return f
}

func put(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestLook(t *testing.T) {
	f := finder(t)
	cached, err := f.cacheDir(controlPlane)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(cached, Etcd), "", 0o700)
	put(t, filepath.Join(cached, APIServer), "", 0o700)
	put(t, filepath.Join(f.Assets, Etcd), "", 0o700)
	put(t, filepath.Join(f.Assets, APIServer), "", 0o600)
	cases := map[string]struct {
		reason, name, path string
		found              bool
	}{
		"Assets":  {"A program that the user names is used.", Etcd, filepath.Join(f.Assets, Etcd), true},
		"Cached":  {"What can't be run isn't a program.", APIServer, filepath.Join(cached, APIServer), true},
		"Missing": {"What is nowhere is to be built into the cache.", Kubectl, filepath.Join(cached, Kubectl), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path, found := f.look(cached, tc.name)
			if path != tc.path || found != tc.found {
				t.Errorf("%s\nlook(%q): want %q, %t, got %q, %t", tc.reason, tc.name, tc.path, tc.found, path, found)
			}
		})
	}
}

func TestCacheIsKeyedByGoSum(t *testing.T) {
	f := finder(t)
	before, err := f.cacheDir(controlPlane)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(f.Source, controlPlane, "go.sum"), "another version", 0o600)
	after, err := f.cacheDir(controlPlane)
	if err != nil {
		t.Fatal(err)
	}
	if before == after {
		t.Errorf("another go.sum has the same folder %q", before)
	}
}

func TestProgress(t *testing.T) {
	all := []build{{program: program{name: "a", cold: 40 * time.Second}}, {program: program{name: "b", cold: time.Minute}}}
	cases := map[string]struct {
		reason         string
		i              int
		current, total time.Duration
		want           string
	}{
		"First": {
			reason: "The estimate is of all that is missing.", i: 0,
			want: "building a (1 of 2, once): 0s so far, about 1m40s to go",
		},
		"Running": {
			reason: "What was built counts.", i: 1, current: 20 * time.Second, total: 62 * time.Second,
			want: "building b (2 of 2, once): 1m2s so far, about 40s to go",
		},
		"Slower": {
			reason: "On a slower machine the estimate doesn't become negative.", i: 1, current: 2 * time.Minute, total: 3 * time.Minute,
			want: "building b (2 of 2, once): 3m0s so far, about 10s to go",
		},
		"SlowMachine": {
			reason: "A machine that took twice as long so far will for the rest.", i: 1, total: 80 * time.Second,
			want: "building b (2 of 2, once): 1m20s so far, about 2m0s to go",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, progress(all, tc.i, tc.current, tc.total)); diff != "" {
				t.Errorf("%s\nprogress: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBuild builds a module of its own: once into place, and once with an error that shows the compiler's words.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "go.mod"), "module example.org/x\n\ngo 1.26.0\n", 0o600)
	put(t, filepath.Join(dir, "main.go"), "package main\n\nfunc main() {}\n", 0o600)
	b := build{program: program{name: "x", pkg: "example.org/x"}, source: dir, out: filepath.Join(dir, "out", "x")}
	f := Finder{Cache: filepath.Join(dir, "cache"), Say: func(s string) { t.Log(s) }}
	if err := f.buildAll(t.Context(), []build{b}); err != nil {
		t.Fatal(err)
	}
	if !isProgram(b.out) {
		t.Errorf("%q isn't a program", b.out)
	}
	b.out = filepath.Join(dir, "out", "y")
	put(t, filepath.Join(dir, "main.go"), "package main\n\nfunc main() { nonsense }\n", 0o600)
	err := f.buildAll(t.Context(), []build{b})
	if err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("want the compiler's words, got %v", err)
	}
	if isProgram(b.out) {
		t.Error("a build that failed left a program")
	}
}

// TestPatch builds a program that only compiles with a file added to a module that it requires.
func TestPatch(t *testing.T) {
	dir := t.TempDir()
	source, required := filepath.Join(dir, "source"), filepath.Join(dir, "required")
	put(t, filepath.Join(required, "go.mod"), "module example.org/y\n\ngo 1.26.0\n", 0o600)
	put(t, filepath.Join(required, "y.go"), "package y\n", 0o400)
	put(t, filepath.Join(source, "go.mod"), "module example.org/x\n\ngo 1.26.0\n\nrequire example.org/y v0.0.0\n", 0o600)
	put(t, filepath.Join(source, "go.sum"), "", 0o600)
	put(t, filepath.Join(source, "main.go"), "package main\n\nimport \"example.org/y\"\n\nfunc main() { y.Added() }\n", 0o600)
	p := patch{module: "example.org/y", file: "added.go", text: "package y\n\n// Added is new.\nfunc Added() {}\n"}
	for range 2 { // A build that was interrupted has left a copy.
		modfile, err := p.copy(source, required, filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		b := build{program: program{name: "x", pkg: "example.org/x"}, source: source, out: filepath.Join(dir, "out", "x")}
		if err := b.with(t.Context(), "-modfile="+modfile); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLockWaits(t *testing.T) {
	f := Finder{Cache: t.TempDir(), Say: func(string) {}}
	unlock, err := f.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := f.lock(ctx); err == nil {
		t.Error("two hold the lock")
	}
	unlock()
	unlock, err = f.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestRoot(t *testing.T) {
	root, err := Root(".")
	if err == nil {
		t.Fatalf("a relative path has no parents: want an error, got %q", root)
	}
	f, err := Default(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.cacheDir(controlPlane); err != nil {
		t.Errorf("the checkout wasn't found: %v", err)
	}
}

func FuzzParseDir(f *testing.F) {
	f.Add([]byte(`{"Dir":"/x"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if dir, err := parseDir(b, "x"); err == nil && dir == "" {
			t.Errorf("parseDir(%q): neither a folder nor an error", b)
		}
	})
}
