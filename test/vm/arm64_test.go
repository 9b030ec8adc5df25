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

// TestARM64: AAVMF loads Debian's shim and grub for an install, without anybody having said so, since there's no iPXE for it. That it gets an address and
// no file afterwards isn't tried: it looks for one for two minutes, by each way that it has, before it goes on to its disk.
func TestARM64(t *testing.T) {
	w := way{"AAVMF loads shim and grub by TFTP", shimMAC(0x50), qemu.ARM64, qemu.PXE, false, nil, nil}
	site := w.installsARM64(t, "arm64")
	if !strings.Contains(site.Log(), `"msg":"grub.cfg","entry":"edge/node-1","answer":"Install"`) {
		t.Errorf("%s: it was installed by something else than its grub.cfg:\n%s", w.reason, site.Log())
	}
}

// TestUBoot: U-Boot, which asks first as itself, and then as a UEFI that has no PXE protocol for a shim, loads Debian's grub alone, and installs by it.
func TestUBoot(t *testing.T) {
	w := way{"U-Boot loads grub by TFTP", qemu.UBootMAC(), qemu.ARM64, qemu.PXE, false, []string{"Other", "PXE", "OS"}, nil}
	site := w.installsARM64(t, "uboot", func(c *qemu.Config) { c.UBoot = true })
	if diff := cmp.Diff(w.clients, w.asked(t, site)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", w.reason, diff)
	}
}

// installsARM64 takes a machine of that architecture from an empty disk to the system that it was installed with, once, at a site of its own.
func (w way) installsARM64(t *testing.T, name string, change ...func(*qemu.Config)) *vm.Site {
	t.Helper()
	needMachines(t)
	able.Need(t, vm.MissingARM64())
	parallel(t)
	a, err := vm.ArtifactsARM64(context.Background(), filepath.Join(scratch, "arm64"))
	able.Need(t, err)
	site, err := vm.NewARM64Site(t.Context(), "../..", stateDir(t), a, w.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	_, m := w.starts(t, name, site, "GUEST running from disk", change...)
	if got := diskDigest(t, m, a.Image.Size); got != a.Image.Digest {
		t.Errorf("the disk holds %s, the image is %s", got, a.Image.Digest)
	}
	if installs := strings.Count(m.Serial(), "GUEST installed\n"); installs != 1 {
		t.Errorf("%d installs, want 1", installs)
	}
	return site
}
