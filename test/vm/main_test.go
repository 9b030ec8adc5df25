package vm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netns"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// TestMain gives the tests a network of their own, where bootd may have port 67. Whatever takes a network is fetched before.
func TestMain(m *testing.M) {
	os.Exit(netns.Main(m, prepare))
}

// prepare fills the caches: Debian's kernel and the control plane's programs.
func prepare() error {
	if err := missing(); err != nil {
		return err // the tests say so, each for itself; nothing has to be built for that
	}
	out, err := os.MkdirTemp("", "guest-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(out) }()
	_, guestErr := build(context.Background(), out)
	finder, err := programs.Default(func(s string) { fmt.Fprintln(os.Stderr, "e2e-vm:", s) })
	if err != nil {
		return errors.Join(guestErr, err)
	}
	_, err = finder.Find(context.Background())
	return errors.Join(guestErr, err)
}

func build(ctx context.Context, out string) (guest.Artifacts, error) {
	cache, err := programs.Cache()
	if err != nil {
		return guest.Artifacts{}, err
	}
	return guest.Builder{Cache: filepath.Join(cache, "guest"), Out: out}.Build(ctx)
}

// need skips a test on a machine that can't run it, in one line, and fails it where nothing may be skipped.
func need(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("cannot run here, and under CI=true that is a failure: %v", err)
	}
	t.Skipf("skipped: %v", err)
}

// needMachines skips where there can't be virtual machines on a segment of their own.
func needMachines(t *testing.T) {
	t.Helper()
	if !netns.Isolated() {
		need(t, netns.Missing())
	}
	need(t, missing())
	if testing.Short() {
		t.Skip("skipped: -short, and virtual machines take their time")
	}
}

// missing says what this machine lacks, beside root.
func missing() error {
	for _, f := range []qemu.Firmware{qemu.BIOS, qemu.UEFI} {
		if err := qemu.Missing(f); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(firstStages, "snponly.efi")); err != nil {
		return fmt.Errorf("iPXE is missing (Debian package ipxe): %w", err)
	}
	return nil
}

func artifacts(t *testing.T) guest.Artifacts {
	t.Helper()
	a, err := build(t.Context(), t.TempDir())
	need(t, err)
	return a
}
