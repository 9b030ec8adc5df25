package vm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestOverSix: a link without IPv4, and without a router. Firmware, iPXE, installer and system have what they need of bootd's DHCPv6 and of its
// answers to solicitations.
func TestOverSix(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	http := way{"OVMF loads iPXE by a URL with an address of IPv6", shimMAC(0x40), qemu.UEFI, qemu.HTTP6, false, []string{"HTTPBoot", "iPXE"}, nil}
	pxe := way{"OVMF loads iPXE by TFTP over IPv6", shimMAC(0x41), qemu.UEFI, qemu.PXE6, false, []string{"PXE", "iPXE"}, nil}
	site, err := vm.NewSixSite(t.Context(), "../..", stateDir(t), a, http.mac, pxe.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	// Each waits seconds for routers and for addresses of its own.
	atOnce(t, map[string]way{"HTTP6": http, "PXE6": pxe}, func(t *testing.T, name string, w way) {
		t.Helper()
		_, m := w.starts(t, name, site, "GUEST running from disk")
		asked := w.asked(t, site)
		if last := len(asked) - 1; last < 0 || asked[last] != "OS" {
			t.Errorf("the system on the disk has its address of bootd, too: %v", asked)
		}
		// OVMF's IPv6 asks for an address of its own, whatever is booted.
		if diff := cmp.Diff(w.clients, slices.DeleteFunc(asked, func(c string) bool { return c == "OS" })); diff != "" {
			t.Errorf("%s: -want +got:\n%s", w.reason, diff)
		}
		if got := diskDigest(t, m, a.Image.Size); got != a.Image.Digest {
			t.Errorf("the disk holds %s, the image is %s", got, a.Image.Digest)
		}
		if installs := strings.Count(m.Serial(), "GUEST installed\n"); installs != 1 {
			t.Errorf("%d installs, want 1", installs)
		}
		m.Close()
	})
}
