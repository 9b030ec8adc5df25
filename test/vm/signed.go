package vm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

// signedPackages of Debian have the loaders of machines with Secure Boot. They're unpacked, not installed: they'd make the machine that
// they're installed on boot by them.
func signedPackages() []string { return []string{"shim-signed", "grub-efi-amd64-signed"} }

// signedIn is where they're unpacked.
func signedIn(cache string) string { return filepath.Join(cache, "signed") }

// Signed is the folder that they have their files below; an error where Prepare hasn't fetched them.
func Signed() (string, error) {
	cache, err := programs.Cache()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(signedIn(cache), "usr", "lib")
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("there are no signed loaders: %w", err)
	}
	return dir, nil
}

// fetchSigned downloads and unpacks the loaders, unless they're there.
func fetchSigned(ctx context.Context, cache string) error {
	if _, err := os.Stat(signedIn(cache)); err == nil {
		return nil
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return fmt.Errorf("cannot make a folder for signed loaders: %w", err)
	}
	work, err := os.MkdirTemp(cache, "signed-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for signed loaders: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	get := exec.CommandContext(ctx, "apt-get", append([]string{"download", "-q"}, signedPackages()...)...) //nolint:gosec // Our own list.
	get.Dir = work
	if out, err := get.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot download Debian's signed loaders: %w%s", err, complaint(string(out)))
	}
	debs, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil {
		return fmt.Errorf("cannot find what was downloaded: %w", err)
	}
	root := filepath.Join(work, "root")
	for _, deb := range debs {
		if out, err := exec.CommandContext(ctx, "dpkg-deb", "-x", deb, root).CombinedOutput(); err != nil { //nolint:gosec // What apt downloaded.
			return fmt.Errorf("cannot unpack %q: %w: %s", filepath.Base(deb), err, out)
		}
	}
	err = os.Rename(root, signedIn(cache))
	if _, there := os.Stat(signedIn(cache)); err != nil && there != nil { // Not if somebody else was faster.
		return fmt.Errorf("cannot keep signed loaders: %w", err)
	}
	return nil
}
