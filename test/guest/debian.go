package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Debian has packages that are unpacked, and not installed.
type Debian struct {
	// Arch is whose packages they are, as Debian names it.
	Arch string
	// Cache is a folder that survives; the lists of another architecture than this machine's are kept there.
	Cache string
}

// ARM64 is the name of the other architecture that machines have, and AMD64 that of this one.
const (
	AMD64 = "amd64"
	ARM64 = "arm64"
)

// apt is a command of apt's that sees the packages of that architecture. For another one than this machine's it has lists of its own, so that the
// machine's own stay as they are.
func (d Debian) apt(ctx context.Context, program string, args ...string) *exec.Cmd {
	var options []string
	if d.Arch != AMD64 {
		options = []string{
			"-o", "APT::Architecture=" + d.Arch, "-o", "APT::Architectures::=" + d.Arch, "-o", "Acquire::Languages=none",
			"-o", "Dir::State::lists=" + d.lists(), "-o", "Dir::Cache=" + d.lists(),
		}
	}
	return exec.CommandContext(ctx, program, append(options, args...)...) //nolint:gosec // Our own lists.
}

func (d Debian) lists() string { return filepath.Join(d.Cache, "apt-"+d.Arch) }

// listsAge is how old lists may be. Debian keeps what they name for longer.
const listsAge = 24 * time.Hour

// Lists fetches the lists of another architecture than this machine's, at most daily: nobody else does.
func (d Debian) Lists(ctx context.Context) error {
	stamp := filepath.Join(d.lists(), "fetched")
	if at, err := os.Stat(stamp); d.Arch == AMD64 || err == nil && time.Since(at.ModTime()) < listsAge {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(d.lists(), "partial"), 0o755); err != nil { //nolint:gosec // Apt's own user writes there.
		return fmt.Errorf("cannot make a folder for lists of packages: %w", err)
	}
	if err := run(d.apt(ctx, "apt-get", "update", "-q")); err != nil {
		return err
	}
	return os.WriteFile(stamp, nil, 0o600)
}

// Dependency is the first package that a package depends on: of a meta package, the one whose name holds the version.
func (d Debian) Dependency(ctx context.Context, name string) (string, error) {
	out, err := d.apt(ctx, "apt-cache", "depends", name).Output()
	if err != nil {
		return "", fmt.Errorf("cannot ask apt for %s (has apt-get update run?): %w", name, err)
	}
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: "); ok {
			return name, nil
		}
	}
	return "", fmt.Errorf("apt knows no package %s (has apt-get update run?)", name)
}

// Unpack downloads packages and unpacks them into a folder that isn't there yet.
func (d Debian) Unpack(ctx context.Context, to string, names ...string) error {
	what := "cannot get Debian's " + strings.Join(names, ", ")
	above := filepath.Dir(to)
	if err := os.MkdirAll(above, 0o750); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	work, err := os.MkdirTemp(above, "download-")
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	get := d.apt(ctx, "apt-get", append([]string{"download", "-q"}, names...)...)
	get.Dir = work
	if err := run(get); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	debs, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil || len(debs) != len(names) {
		return errors.Join(fmt.Errorf("%s: it gave %d packages", what, len(debs)), err)
	}
	root := filepath.Join(work, "root")
	for _, deb := range debs {
		if err := run(exec.CommandContext(ctx, "dpkg-deb", "-x", deb, root)); err != nil { //nolint:gosec // What apt downloaded.
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	err = os.Rename(root, to)
	if _, there := os.Stat(to); err != nil && there != nil { // Not if somebody else was faster.
		return fmt.Errorf("%s: cannot keep them: %w", what, err)
	}
	return nil
}
