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
		"BIOS": {"SeaBIOS, whose ROM is an iPXE", net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 8}, qemu.BIOS, "", false, nil, nil},
		"UEFI": {"OVMF loads iPXE by TFTP", net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 9}, qemu.UEFI, qemu.PXE, false, nil, nil},
		"HTTP": {"OVMF loads iPXE by a URL of bootd's", net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 10}, qemu.UEFI, qemu.HTTPBoot, false, nil, nil},
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
	atOnce(t, machines, func(t *testing.T, name string, w way) {
		t.Helper()
		_, m := w.starts(t, name, site, "GUEST running from memory")
		if !strings.Contains(m.Serial(), "GUEST address 10.88.0.1") { // dnsmasq gives 10.88.0.100 and more; planned are 10.88.0.21 and 22.
			t.Errorf("%s: the system hasn't dnsmasq's address:\n%s", w.reason, m.Serial())
		}
	})
	if log := site.Log(); strings.Contains(log, `"reason":"Acknowledged"`) || strings.Contains(log, `"reason":"Offered"`) {
		t.Errorf("bootd gave an address beside another server:\n%s", log)
	}
}

// TestAtPort4011: where dnsmasq has port 67 of bootd's own host, its offer sends firmware to port 4011, and so does it iPXE.
func TestAtPort4011(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	machines := map[string]way{
		"BIOS4011": {"SeaBIOS, whose ROM is an iPXE", shimMAC(0x68), qemu.BIOS, qemu.PXE, false, nil, nil},
		"UEFI4011": {"OVMF loads iPXE by TFTP", shimMAC(0x69), qemu.UEFI, qemu.PXE, false, nil, nil},
	}
	site, err := vm.NewBINLSite(t.Context(), "../..", stateDir(t), a, machines["BIOS4011"].mac, machines["UEFI4011"].mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	atOnce(t, machines, func(t *testing.T, name string, w way) {
		t.Helper()
		_, m := w.starts(t, name, site, "GUEST running from memory")
		if !strings.Contains(m.Serial(), "GUEST address 10.88.0.1") {
			t.Errorf("%s: the system hasn't dnsmasq's address:\n%s", w.reason, m.Serial())
		}
		m.Close()
	})
	if log := site.Log(); strings.Contains(log, `"reason":"Acknowledged"`) || !strings.Contains(log, `"reason":"Proxied"`) {
		t.Errorf("bootd gave an address, or no boot, at port 4011:\n%s", log)
	}
}
