package vm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestISO: firmware boots an ISO by iPXE, whose loader gives the machine back: SeaBIOS's after it has read two hundred sectors, UEFI's from a file system that
// the ISO names for it. It's told its disk then: the grant was used.
func TestISO(t *testing.T) {
	needMachines(t)
	parallel(t)
	bios := way{"SeaBIOS, whose ROM is an iPXE", shimMAC(0x30), qemu.BIOS, qemu.PXE, false, nil, nil}
	uefi := way{"OVMF loads iPXE by TFTP", shimMAC(0x31), qemu.UEFI, qemu.PXE, false, nil, nil}
	site, err := vm.NewISOSite(t.Context(), "../..", stateDir(t), bios.mac, uefi.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	atOnce(t, map[string]way{"node-1": bios, "node-2": uefi}, func(t *testing.T, entry string, w way) {
		t.Helper()
		ctx, m := w.starts(t, "iso-"+string(w.firmware), site, "ISO read")
		said := func(answer string) int { return strings.Count(site.Log(), `"entry":"lab/`+entry+`","answer":`+answer) }
		for ; said(`"LocalDisk","reason":"GrantConsumed"`) == 0; time.Sleep(100 * time.Millisecond) {
			if ctx.Err() != nil {
				t.Fatalf("%s: its loader has ended, and it isn't sent to its disk:\n%s", w.reason, site.Log())
			}
		}
		if n := said(`"Install"`); n != 1 || strings.Count(m.Serial(), "ISO read") != 1 {
			t.Errorf("%s: it's installed %d times:\n%s", w.reason, n, m.Serial())
		}
		m.Close()
	})
}
