package vm_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestARM64: AAVMF loads Debian's shim and grub for an install, without anybody having said so, since there's no iPXE for it. That it gets an address and
// no file afterwards isn't tried: it looks for one for two minutes, by each way that it has, before it goes on to its disk.
func TestARM64(t *testing.T) {
	needMachines(t)
	able.Need(t, vm.MissingARM64())
	parallel(t)
	a, err := vm.ArtifactsARM64(context.Background(), filepath.Join(scratch, "arm64"))
	able.Need(t, err)
	w := way{"AAVMF loads shim and grub by TFTP", shimMAC(0x50), qemu.ARM64, qemu.PXE, false, nil, nil}
	site, err := vm.NewARM64Site(t.Context(), "../..", stateDir(t), a, w.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	_, m := w.starts(t, "arm64", site, "GUEST running from disk")
	if !strings.Contains(site.Log(), `"msg":"grub.cfg","entry":"edge/node-1","answer":"Install"`) {
		t.Errorf("%s: it was installed by something else than its grub.cfg:\n%s", w.reason, site.Log())
	}
	if got := diskDigest(t, m, a.Image.Size); got != a.Image.Digest {
		t.Errorf("the disk holds %s, the image is %s", got, a.Image.Digest)
	}
	if installs := strings.Count(m.Serial(), "GUEST installed\n"); installs != 1 {
		t.Errorf("%d installs, want 1", installs)
	}
}
