package program

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module with a program of that text.
func module(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{"go.mod": "module example.org/m\n\ngo 1.26.0\n", "cmd/thing/main.go": text} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const thing = "package main\n\nvar version string\n\nfunc main() { println(version) }\n"

// TestBuild builds whatever a person's environment says.
func TestBuild(t *testing.T) {
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOFLAGS", "-race")
	t.Setenv("GOARCH", "mips")
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		dir := t.TempDir()
		if err := (Builder{Root: module(t, thing), Version: "v0.1.0"}).Build(t.Context(), arch, dir, "./cmd/thing"); err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(filepath.Join(dir, "thing"))
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != machine {
			t.Errorf("%s: the program is for %s", arch, f.Machine)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildFails(t *testing.T) {
	err := Builder{Root: module(t, "package main\n\nfunc main() { nothing() }\n"), Version: "v0.1.0"}.Build(t.Context(), "amd64", t.TempDir(), "./cmd/thing")
	if err == nil || !strings.Contains(err.Error(), "cannot build ./cmd/thing for amd64") || !strings.Contains(err.Error(), "undefined: nothing") {
		t.Errorf("want what go says, got %v", err)
	}
}

func TestStatic(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there's no sh here")
	}
	if err := static(sh); err == nil || !strings.Contains(err.Error(), "isn't static (it wants libc") {
		t.Errorf("a program with libraries was taken: %v", err)
	}
	if err := static("program.go"); err == nil {
		t.Error("a text isn't a program")
	}
}
