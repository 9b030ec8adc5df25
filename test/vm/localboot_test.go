package vm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestLocalBoot: a machine that begins from the network comes to its disk all the same, by the way that its localBoot says, and installs as any
// other does.
func TestLocalBoot(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	cases := map[string]struct {
		way way
		// by is what its way to the disk is given by, in bootd's log.
		by string
	}{
		// That SeaBIOS goes on once iPXE has ended is TestClaimToReadyOnRealFirmware's.
		"NotFound": {way{"OVMF goes on once iPXE finds no script", shimMAC(0x20), qemu.UEFI, qemu.PXE, false, nil, nil}, "script"},
		"Grub":     {way{"grub starts the disk's loader", shimMAC(0x22), qemu.UEFI, qemu.PXE, false, nil, nil}, "grub.cfg"},
	}
	for local, tc := range cases {
		t.Run(local, func(t *testing.T) {
			site, err := vm.NewLocalBootSite(t.Context(), "../..", stateDir(t), a, local, tc.way.mac)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(site.Stop)
			tc.way.returns(t, "lb-"+strings.ToLower(local), site, "edge/node-1", tc.by)
		})
	}
}

// returns installs a machine, which begins from the network once more then.
func (w way) returns(t *testing.T, name string, site *vm.Site, entry, by string) {
	t.Helper()
	told := func(by, answer string) string {
		return fmt.Sprintf(`"msg":%q,"entry":%q,"answer":%q`, by, entry, answer)
	}
	ctx, m := w.starts(t, name, site, "GUEST running from disk")
	if !strings.Contains(site.Log(), told("script", "Install")) {
		t.Errorf("%s: it wasn't installed by iPXE:\n%s", w.reason, site.Log())
	}
	before := len(site.Log())
	if err := m.Restart(bmc.BootPxe); err != nil {
		t.Fatal(err)
	}
	if err := m.WaitSerial(ctx, "GUEST running from disk", 2); err != nil {
		t.Fatalf("%s: %v\n%s", w.reason, err, site.Log()[before:])
	}
	if log := site.Log()[before:]; !strings.Contains(log, told(by, "LocalDisk")) {
		t.Errorf("%s: it wasn't sent there by what it was to be:\n%s", w.reason, log)
	}
	if installs := strings.Count(m.Serial(), "GUEST installed\n"); installs != 1 {
		t.Errorf("%d installs, want 1", installs)
	}
	m.Close()
}
