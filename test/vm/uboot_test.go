package vm_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestUBoot: U-Boot, which asks first as itself, and then as a UEFI that has no PXE protocol for a shim, loads Debian's grub alone, and installs by it.
func TestUBoot(t *testing.T) {
	needMachines(t)
	able.Need(t, vm.MissingARM64())
	parallel(t)
	a, err := vm.ArtifactsARM64(context.Background(), filepath.Join(scratch, "arm64"))
	able.Need(t, err)
	w := way{"U-Boot loads grub by TFTP", qemu.UBootMAC(), qemu.ARM64, qemu.PXE, false, []string{"Other", "PXE", "OS"}, nil}
	site, err := vm.NewARM64Site(t.Context(), "../..", stateDir(t), a, w.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	_, m := w.starts(t, "uboot", site, "GUEST running from disk", func(c *qemu.Config) { c.UBoot = true })
	if diff := cmp.Diff(w.clients, w.asked(t, site)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", w.reason, diff)
	}
	if got := diskDigest(t, m, a.Image.Size); got != a.Image.Digest {
		t.Errorf("the disk holds %s, the image is %s", got, a.Image.Digest)
	}
	if installs := strings.Count(m.Serial(), "GUEST installed\n"); installs != 1 {
		t.Errorf("%d installs, want 1", installs)
	}
}
