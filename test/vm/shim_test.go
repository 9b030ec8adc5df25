package vm_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// shimMAC has the last digits that make a machine's address, as the order of its site's machines does.
func shimMAC(last byte) net.HardwareAddr { return net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, last} }

// stick is a folder of what an installer's USB stick has at least: a loader by the removable disk's name. This one finds no program of its own, and waits for a person.
func stick(t *testing.T) string {
	t.Helper()
	signed, err := vm.Signed(guest.AMD64)
	if err != nil {
		t.Fatal(err)
	}
	loader, err := os.ReadFile(filepath.Join(signed, "grub", "x86_64-efi-signed", "grubx64.efi.signed"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "EFI", "BOOT"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "EFI", "BOOT", "BOOTX64.EFI"), loader, 0o600); err != nil { //nolint:gosec // A folder of our own.
		t.Fatal(err)
	}
	return dir
}

// TestShim: firmware loads Debian's shim, that loads Debian's grub, and that asks for the machine's grub.cfg. With Secure Boot nothing runs
// up to the installer but what Debian has signed. Without it the machine goes the whole way: what it installs here isn't signed.
func TestShim(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	secure := way{"Secure Boot lets no iPXE run", shimMAC(0x10), qemu.UEFI, qemu.PXE, true, []string{"PXE"}, nil}
	whole := way{"grub sends the machine to its disk", shimMAC(0x11), qemu.UEFI, qemu.PXE, false, []string{"PXE", "OS"}, nil}
	site, err := vm.NewShimSite(t.Context(), "../..", stateDir(t), a, secure.mac, whole.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	t.Run("SecureBoot", func(t *testing.T) {
		_, m := secure.starts(t, "secure", site, "GUEST installed")
		if diff := cmp.Diff(secure.clients, acknowledged(t, site.Log(), secure.mac)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", secure.reason, diff)
		}
		if !strings.Contains(site.Log(), `"msg":"grub.cfg","entry":"edge/node-1","answer":"Install"`) {
			t.Errorf("%s: it was installed by something else than its grub.cfg:\n%s", secure.reason, site.Log())
		}
		m.Close()
	})
	t.Run("Disk", func(t *testing.T) {
		ctx, m := whole.starts(t, "whole", site, "GUEST running from disk", func(c *qemu.Config) { c.Stick = stick(t) })
		before := len(site.Log())
		if err := m.Restart(bmc.BootPxe); err != nil {
			t.Fatal(err)
		}
		if err := m.WaitSerial(ctx, "GUEST running from disk", 2); err != nil {
			t.Fatalf("%s: %v\n%s", whole.reason, err, site.Log()[before:])
		}
		if !strings.Contains(m.Serial(), guest.DiskLoader) {
			t.Errorf("it wasn't the disk's own shim and grub that started it:\n%s", m.Serial())
		}
		if !strings.Contains(site.Log()[before:], `"answer":"LocalDisk"`) {
			t.Errorf("%s: it wasn't asked what to boot:\n%s", whole.reason, site.Log()[before:])
		}
		if installs := strings.Count(m.Serial(), "GUEST installed\n"); installs != 1 {
			t.Errorf("%d installs, want 1", installs)
		}
	})
}
