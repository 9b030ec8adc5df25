package vm_test

import (
	"net"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestBesideDnsmasq: firmware joins dnsmasq's offer of an address with bootd's of what to load, in the ROM and in the second stage, and the
// system has dnsmasq's address.
func TestBesideDnsmasq(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	machines := map[string]way{
		"BIOS": {"SeaBIOS, whose ROM is an iPXE", net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 8}, qemu.BIOS, "", false, nil},
		"UEFI": {"OVMF loads iPXE by TFTP", net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 9}, qemu.UEFI, qemu.PXE, false, nil},
	}
	var macs []net.HardwareAddr
	for _, w := range machines {
		macs = append(macs, w.mac)
	}
	site, err := vm.NewProxySite(t.Context(), "../..", stateDir(t), a, macs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	for name, w := range machines {
		t.Run(name, func(t *testing.T) {
			_, m := w.starts(t, name, site, "GUEST running from memory")
			if !strings.Contains(m.Serial(), "GUEST address 10.88.0.1") { // dnsmasq gives 10.88.0.100 and more; planned are 10.88.0.21 and 22.
				t.Errorf("%s: the system hasn't dnsmasq's address:\n%s", w.reason, m.Serial())
			}
		})
	}
	if log := site.Log(); strings.Contains(log, `"reason":"Acknowledged"`) || strings.Contains(log, `"reason":"Offered"`) {
		t.Errorf("bootd gave an address beside another server:\n%s", log)
	}
}
