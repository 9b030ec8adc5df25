package vm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestRelayed: machines behind a router, whose relay (ISC's) adds option 82, are installed from a segment that takes relays alone.
func TestRelayed(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	ways := map[string]way{
		"RelayedBIOS": {"SeaBIOS, whose ROM is an iPXE", shimMAC(0x60), qemu.BIOS, qemu.PXE, false, []string{"iPXE", "OS"}, nil},
		"RelayedUEFI": {"OVMF loads iPXE by TFTP", shimMAC(0x61), qemu.UEFI, qemu.PXE, false, []string{"PXE", "iPXE", "OS"}, nil},
		"RelayedHTTP": {"OVMF loads iPXE by a URL of bootd's", shimMAC(0x62), qemu.UEFI, qemu.HTTPBoot, false, []string{"HTTPBoot", "iPXE", "OS"}, nil},
	}
	site, err := vm.NewRelayedSite(t.Context(), "../..", stateDir(t), a, ways["RelayedBIOS"].mac, ways["RelayedUEFI"].mac, ways["RelayedHTTP"].mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	atOnce(t, ways, func(t *testing.T, name string, w way) {
		t.Helper()
		_, m := w.starts(t, name, site, "GUEST running from disk")
		if diff := cmp.Diff(w.clients, w.asked(t, site)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", w.reason, diff)
		}
		if installs := strings.Count(m.Serial(), "GUEST installed\n"); installs != 1 {
			t.Errorf("%d installs, want 1", installs)
		}
		m.Close()
	})
}
