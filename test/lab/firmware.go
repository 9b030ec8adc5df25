package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Debian's package of iPXE puts its files there.
const debianFirmware = "/usr/lib/ipxe"

// Firmware is what machines load first.
type Firmware struct {
	// Dir holds firmwareFiles.
	Dir string
	// StandIn says that no iPXE could be had: the files are stand-ins, which simulated machines load as well.
	StandIn bool
}

// firmwareFiles are those that bootd hands out.
func firmwareFiles() []string { return []string{"undionly.kpxe", "ipxe.efi", "snponly.efi"} }

// findFirmware takes Debian's iPXE where it's installed, else downloads its package, which needs no root, else makes stand-ins.
func (l *Lab) findFirmware(ctx context.Context, cache string) error {
	unpacked := filepath.Join(cache, "ipxe")
	for _, dir := range []string{debianFirmware, filepath.Join(unpacked, debianFirmware)} {
		if hasFirmware(dir) {
			l.Firmware = Firmware{Dir: dir}
			return nil
		}
	}
	if downloadFirmware(ctx, unpacked) == nil {
		if dir := filepath.Join(unpacked, debianFirmware); hasFirmware(dir) {
			l.Firmware = Firmware{Dir: dir}
			return nil
		}
	}
	dir := filepath.Join(l.opts.StateDir, "firmware")
	l.Firmware = Firmware{Dir: dir, StandIn: true}
	return standIns(dir)
}

func hasFirmware(dir string) bool {
	for _, f := range firmwareFiles() {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			return false
		}
	}
	return true
}

// downloadFirmware works where apt has lists of packages.
func downloadFirmware(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("cannot make %q: %w", dir, err)
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "apt-get download ipxe && dpkg-deb -x ipxe_*.deb . && rm -f ipxe_*.deb")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot download iPXE: %w: %s", err, out)
	}
	return nil
}

func standIns(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("cannot make %q: %w", dir, err)
	}
	for _, f := range firmwareFiles() {
		content := []byte("stand-in for " + f + ": simulated machines bring their own iPXE\n")
		if err := os.WriteFile(filepath.Join(dir, f), content, 0o600); err != nil {
			return fmt.Errorf("cannot write stand-in %q: %w", f, err)
		}
	}
	return nil
}
