package vm_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// TestHTTPS: what firmware knows of TLS is its own. It loads iPXE by HTTPS where the authority was enrolled in its setup, and nothing where it wasn't.
func TestHTTPS(t *testing.T) {
	needMachines(t)
	parallel(t)
	a := artifacts(t)
	trusts := way{reason: "OVMF trusts the authority", mac: shimMAC(0x50), firmware: qemu.UEFI, loader: qemu.HTTPBoot, clients: []string{"HTTPBoot", "iPXE", "OS"}}
	strange := way{reason: "OVMF trusts another authority alone", mac: shimMAC(0x51), firmware: qemu.UEFI, loader: qemu.HTTPBoot}
	site, authority, err := vm.NewHTTPSSite(t.Context(), "../..", stateDir(t), a, trusts.mac, strange.mac)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Stop)
	other, err := vm.Issue(filepath.Join(t.TempDir(), "crt"), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	trusts.trusts, strange.trusts = authority, other
	atOnce(t, map[string]way{"Trusts": trusts, "Strange": strange}, func(t *testing.T, name string, w way) {
		t.Helper()
		if w.clients != nil {
			w.boots(t, name, site, a)
			return
		}
		w.starts(t, name, site, "Error: Could not retrieve NBP file size")
		if log := site.Log(); !strings.Contains(log, "doesn't agree with bootd on HTTPS") {
			t.Errorf("bootd says so:\n%s", log)
		}
		if diff := cmp.Diff([]string{"HTTPBoot"}, acknowledged(t, site.Log(), w.mac)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", w.reason, diff)
		}
	})
}
