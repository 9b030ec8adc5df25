package qemu_test

import (
	"net"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

func TestNewRefuses(t *testing.T) {
	good := qemu.Config{Name: "m", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, Dir: "/tmp/x", Netdev: "user"}
	cases := map[string]struct {
		reason string
		change func(*qemu.Config)
		want   string
	}{
		"NoName":   {"a machine without a name can't be talked about", func(c *qemu.Config) { c.Name = "" }, "without Name"},
		"NoNetdev": {"a machine without a network can't boot from it", func(c *qemu.Config) { c.Netdev = "" }, "without Name"},
		"Firmware": {"there are three firmwares", func(c *qemu.Config) { c.Firmware = "Coreboot" }, "neither BIOS, UEFI nor ARM64"},
		"Loader":   {"nobody guesses how a machine boots", func(c *qemu.Config) { c.Loader = "Floppy" }, "neither PXE, HTTPBoot, ROM"},
		"LongDir":  {"Unix sockets have short names", func(c *qemu.Config) { c.Dir = strings.Repeat("/long", 30) }, "longer than"},
		"NoOVMF": {"without firmware there is no machine", func(c *qemu.Config) {
			c.Firmware, c.OVMF, c.Dir = qemu.UEFI, "/nonexistent", t.TempDir()
		}, "NVRAM"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := good
			tc.change(&c)
			if _, err := qemu.New(c); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want one with %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestOffMachine(t *testing.T) {
	m, err := qemu.New(qemu.Config{
		Name: "m", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, Dir: t.TempDir(), Netdev: "user", Binary: "/nonexistent/qemu",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.On(bmc.BootNormal); err == nil || m.Powered() {
		t.Errorf("a QEMU that isn't there started: %v", err)
	}
	if err := m.Restart(bmc.BootNormal); err == nil {
		t.Error("a machine that is off was reset")
	}
	if err := m.Off(false); err != nil {
		t.Errorf("a machine that is off can be switched off: %v", err)
	}
}
