// Package program builds the programs that images carry: static, and the same from every checkout.
package program

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Builder builds programs from a checkout.
type Builder struct {
	// Root is the folder of the module.
	Root string
	// Version is what the programs say with --version.
	Version string
	// Tags are build tags, comma-separated.
	Tags string
}

// Build makes the programs of those packages, such as ./cmd/bootd, for one architecture in a folder. That of "." is named like its folder.
func (b Builder) Build(ctx context.Context, arch, dir string, packages ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // Programs may be seen by all.
		return fmt.Errorf("cannot make a folder for programs: %w", err)
	}
	args := []string{
		// Neither the checkout's path nor its commit is in a program: the image's labels name the commit.
		"build", "-trimpath", "-buildvcs=false", "-tags=" + b.Tags,
		"-ldflags=-s -w -buildid= -X main.version=" + b.Version,
		"-o", dir + string(filepath.Separator),
	}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...) //nolint:gosec // Our own packages.
	cmd.Dir = b.Root
	// What a person's environment says of code generation doesn't count.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %s for %s: %w\n%s", strings.Join(packages, ", "), arch, err, strings.TrimSpace(string(out)))
	}
	for _, p := range packages {
		if err := static(filepath.Join(dir, filepath.Base(filepath.Join(b.Root, p)))); err != nil {
			return err
		}
	}
	return nil
}

// static says that a program needs nothing of the system but its kernel: there's no more in its image.
func static(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read program %q: %w", path, err)
	}
	libs, err := f.ImportedLibraries()
	err = errors.Join(err, f.Close())
	if err != nil {
		return fmt.Errorf("cannot read program %q: %w", path, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || len(libs) > 0 {
			return fmt.Errorf("program %q isn't static (it wants %s): an image holds no libraries", path, strings.Join(libs, ", "))
		}
	}
	return nil
}
