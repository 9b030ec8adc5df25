package vm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestISO: SeaBIOS boots an ISO by iPXE, whose loader reads two hundred sectors of it and gives the machine back. It's told its disk then: the grant was used.
func TestISO(t *testing.T) {
	needMachines(t)
	parallel(t)
	w := way{"iPXE boots an ISO", shimMAC(0x30), qemu.BIOS, qemu.PXE, false, nil}
	site, err := vm.NewISOSite(t.Context(), "../..", stateDir(t), w.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	ctx, m := w.starts(t, "iso", site, "ISO read")
	for told := `"answer":"LocalDisk","reason":"GrantConsumed"`; !strings.Contains(site.Log(), told); time.Sleep(100 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("its loader has ended, and it isn't sent to its disk:\n%s", site.Log())
		}
	}
	if n := strings.Count(site.Log(), `"answer":"Install"`); n != 1 || strings.Count(m.Serial(), "ISO read") != 1 {
		t.Errorf("it's installed %d times:\n%s", n, m.Serial())
	}
}
