package vm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestSecondTakesOver: a bootd goes while its machine loads a kernel of it. iPXE sees that the transfer has ended, or that nothing comes any more, asks DHCP anew,
// and has its boot of the other one, without anybody's help.
func TestSecondTakesOver(t *testing.T) {
	needMachines(t)
	parallel(t)
	cases := map[string]struct {
		reason string
		goes   func(*vm.Site)
	}{
		"Killed": {"its host ends the transfer", (*vm.Site).Kill},
		"Dark":   {"nobody ends it: what stands still for two minutes is given up", (*vm.Site).Pause},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { takesOver(t, "tap-"+strings.ToLower(name), tc.reason, tc.goes) })
	}
}

// takesOver is one case, at a cable of its own: that of the one before may be held for a moment by a machine that was just closed.
func takesOver(t *testing.T, cable, reason string, goes func(*vm.Site)) {
	t.Helper()
	a := artifacts(t)
	w := way{"SeaBIOS, whose ROM is an iPXE", shimMAC(0x70), qemu.BIOS, qemu.PXE, false, nil, nil}
	site, err := vm.NewPairSite(t.Context(), "../..", stateDir(t), a, w.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	tap, err := site.Tap(cable)
	if err != nil {
		t.Fatal(err)
	}
	m, err := qemu.New(qemu.Config{Name: "pair", MAC: w.mac, Dir: t.TempDir(), Netdev: tap, Slow: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	if err := m.On(bmc.BootPxe); err != nil {
		t.Fatal(err)
	}
	loaded := int64(0)
	for begun := time.Now(); loaded < a.Kernel.Size/4; time.Sleep(5 * time.Millisecond) {
		if loaded, err = qemu.Sent(cable); err != nil || time.Since(begun) > patience {
			t.Fatalf("it doesn't load a kernel of the first bootd (%v): %s\n%s", err, site.Log(), m.Serial())
		}
	}
	goes(site)
	if loaded > a.Kernel.Size {
		t.Fatalf("the first bootd didn't go in the middle: %d bytes of a kernel of %d had been sent", loaded, a.Kernel.Size)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := m.WaitSerial(ctx, "GUEST running from memory", 1); err != nil {
		t.Fatalf("%s, %s: %v\n%s", w.reason, reason, err, site.SecondLog())
	}
	if first, log := strings.Count(site.Log(), `"answer":"Live"`), site.SecondLog(); first != 1 || strings.Count(log, `"answer":"Live"`) != 1 || m.Starts() != 1 {
		t.Errorf("one script of each bootd: %s\n%s", site.Log(), log)
	}
}
