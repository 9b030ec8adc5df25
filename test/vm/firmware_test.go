package vm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/crossplane-contrib/provider-baremetal/test/guest"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// A way is how firmware begins.
type way struct {
	reason   string
	mac      net.HardwareAddr
	firmware qemu.Firmware
	loader   qemu.Loader
	secure   bool
	// clients that bootd acknowledges, one after another: the installer and the installed system are operating systems.
	clients []string
	// trusts is the authority whose certificates it takes, in DER; nil: none.
	trusts []byte
}

// ways that firmware of Debian has.
func ways() map[string]way {
	return map[string]way{
		"PXE": {
			"OVMF loads iPXE by TFTP", net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 2}, qemu.UEFI, qemu.PXE, false,
			[]string{"PXE", "iPXE", "OS"}, nil,
		},
		"HTTPBoot": {
			"OVMF loads iPXE by a URL of bootd's", net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 3}, qemu.UEFI, qemu.HTTPBoot, false,
			[]string{"HTTPBoot", "iPXE", "OS"}, nil,
		},
		"ROM": {
			"iPXE in the NIC is given its script at once", net.HardwareAddr{0x52, 0x54, 0, 0x99, 0, 4}, qemu.UEFI, qemu.ROM, false,
			[]string{"iPXE", "OS"}, nil,
		},
	}
}

// TestFirmware is a site without a cluster, and a machine for each way: it's installed once, and starts from its disk afterwards.
func TestFirmware(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	var macs []net.HardwareAddr
	for _, w := range ways() {
		macs = append(macs, w.mac)
	}
	site, err := vm.NewSite(t.Context(), "../..", stateDir(t), a, macs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	atOnce(t, ways(), func(t *testing.T, name string, w way) {
		t.Helper()
		w.boots(t, name, site, a)
	})
}

// TestNative: firmware whose machine says so loads iPXE with drivers of its own, of a bootd that has no other, and goes the whole way.
func TestNative(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	pxe := way{"OVMF loads ipxe.efi by TFTP", shimMAC(0x24), qemu.UEFI, qemu.PXE, false, []string{"PXE", "iPXE", "OS"}, nil}
	http := way{"OVMF loads ipxe.efi by its URL", shimMAC(0x25), qemu.UEFI, qemu.HTTPBoot, false, []string{"HTTPBoot", "iPXE", "OS"}, nil}
	site, err := vm.NewNativeSite(t.Context(), "../..", stateDir(t), a, pxe.mac, http.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	atOnce(t, map[string]way{"Native": pxe, "NativeHTTP": http}, func(t *testing.T, name string, w way) {
		t.Helper()
		w.boots(t, name, site, a)
	})
}

// starts switches a machine on that boots from a site's network once, and waits until its serial port shows a line.
func (w way) starts(t *testing.T, name string, site *vm.Site, line string, change ...func(*qemu.Config)) (context.Context, *qemu.Machine) {
	t.Helper()
	tap, err := site.Tap("tap-" + strings.ToLower(name))
	if err != nil {
		t.Fatal(err)
	}
	c := qemu.Config{
		Name: name, MAC: w.mac, Dir: t.TempDir(), Netdev: tap, Firmware: w.firmware, Loader: w.loader, SecureBoot: w.secure, Trusts: w.trusts, UUID: uuid.NewSHA1(uuid.NameSpaceOID, w.mac),
	}
	for _, f := range change {
		f(&c)
	}
	m, err := qemu.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	if err := m.On(bmc.BootPxe); err != nil {
		t.Fatal(err)
	}
	if err := m.WaitSerial(ctx, line, 1); err != nil {
		t.Fatalf("%s: %v\n%s", w.reason, err, site.Log())
	}
	return ctx, m
}

func (w way) boots(t *testing.T, name string, site *vm.Site, a guest.Artifacts) {
	t.Helper()
	ctx, m := w.starts(t, name, site, "GUEST running from disk")
	if diff := cmp.Diff(w.clients, w.asked(t, site)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", w.reason, diff)
	}
	if got := diskDigest(t, m, a.Image.Size); got != a.Image.Digest {
		t.Errorf("the disk holds %s, the image is %s", got, a.Image.Digest)
	}
	before := site.Log()
	if err := m.Restart(bmc.BootNormal); err != nil {
		t.Fatal(err)
	}
	if err := m.WaitSerial(ctx, "GUEST running from disk", 2); err != nil {
		t.Fatalf("a disk-first machine starts its disk: %v", err)
	}
	for _, c := range acknowledged(t, site.Log()[len(before):], w.mac) {
		if c != "OS" {
			t.Errorf("a disk-first machine starts its disk without firmware asking anybody; bootd answered its %s", c)
		}
	}
	if installs := strings.Count(m.Serial(), "GUEST installed\n"); installs != 1 {
		t.Errorf("%d installs, want 1", installs)
	}
}

// logTries is how often it's looked whether a line of the log is there.
const logTries = 100

// asked are the clients of a machine whose system runs: it asks for its address first, but what bootd did is in its log a moment later.
func (w way) asked(t *testing.T, site *vm.Site) []string {
	t.Helper()
	var all []string
	for range logTries {
		if all = acknowledged(t, site.Log(), w.mac); len(all) > 0 && all[len(all)-1] == "OS" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return all
}

// acknowledged are the clients of a machine that got an ACK, by bootd's log, each once where it was several times in a row.
func acknowledged(t *testing.T, log string, mac net.HardwareAddr) []string {
	t.Helper()
	var out []string
	for line := range bytes.Lines([]byte(log)) {
		var l struct {
			Msg    string `json:"msg"`
			Reason string `json:"reason"`
			MAC    string `json:"mac"`
			Client string `json:"client"`
		}
		if json.Unmarshal(line, &l) == nil && (l.Msg == "DHCP" || l.Msg == "DHCPv6") && l.Reason == "Acknowledged" && l.MAC == mac.String() {
			out = append(out, l.Client)
		}
	}
	return slices.Compact(out)
}
