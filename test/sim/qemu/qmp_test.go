package qemu

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func TestOrder(t *testing.T) {
	cases := map[string]struct {
		reason       string
		networkFirst bool
		target       bmc.BootTarget
		want         []string
	}{
		"Normal":       {reason: "the disk comes first", target: bmc.BootNormal, want: []string{"disk", "nic"}},
		"Pxe":          {reason: "once the network", target: bmc.BootPxe, want: []string{"nic", "disk"}},
		"UefiHTTP":     {reason: "HTTP Boot is the NIC's too", target: bmc.BootUefiHTTP, want: []string{"nic", "disk"}},
		"Cd":           {reason: "what isn't there is ignored", target: bmc.BootCd, want: []string{"disk", "nic"}},
		"NetworkFirst": {reason: "a machine may ask the network each time", networkFirst: true, want: []string{"nic", "disk"}},
		"Hdd":          {reason: "and be sent to its disk once", networkFirst: true, target: bmc.BootHdd, want: []string{"disk", "nic"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			i := Config{NetworkFirst: tc.networkFirst}.order(tc.target)
			got := []string{"disk", "nic"}
			if i.nic < i.disk {
				got = []string{"nic", "disk"}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || i.nic == i.disk {
				t.Errorf("%s: %+v", tc.reason, i)
			}
		})
	}
}

func TestArgs(t *testing.T) {
	c := Config{
		Name: "m", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, Dir: "/d", Netdev: "user", Serial: "S1",
		UUID: uuid.MustParse("4c4c4544-0044-4a10-8051-b4c04f4a3135"),
	}.withDefaults()
	bios := strings.Join(c.args(c.order(bmc.BootPxe)), " ")
	c.Firmware = UEFI
	uefi := strings.Join(c.args(c.order(bmc.BootPxe)), " ")
	for _, want := range []string{
		"-accel tcg", "-uuid 4c4c4544-0044-4a10-8051-b4c04f4a3135", "serial=S1", "-netdev user,id=n0", " -S ",
		"virtio-net-pci,id=nic0,netdev=n0,mac=02:00:00:00:00:01,bootindex=1", "virtio-blk-pci,id=disk0,drive=d0,bootindex=10",
	} {
		if !strings.Contains(bios, want) || !strings.Contains(uefi, want) {
			t.Errorf("no %q in %q and %q", want, bios, uefi)
		}
	}
	for _, want := range []string{"romfile=", "/usr/share/OVMF/OVMF_CODE_4M.fd", "/d/vars.fd", "IPv6PXESupport,string=no"} {
		if strings.Contains(bios, want) || !strings.Contains(uefi, want) {
			t.Errorf("%q is UEFI's alone: %q and %q", want, bios, uefi)
		}
	}
}

// emulate answers QMP on a socket as QEMU does, and passes on what it was asked.
func emulate(t *testing.T, refuse string) (socket string, asked <-chan string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "qmp")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	out := make(chan string, 100)
	go func() {
		defer close(out)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = c.Write([]byte(`{"QMP":{"version":{"qemu":{"major":7}},"capabilities":[]}}` + "\n"))
		for dec := json.NewDecoder(c); ; {
			var cmd struct {
				Execute   string          `json:"execute"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if dec.Decode(&cmd) != nil {
				return
			}
			out <- strings.TrimSpace(cmd.Execute + " " + string(cmd.Arguments))
			answer := `{"return":{}}`
			if cmd.Execute == refuse {
				answer = `{"error":{"class":"GenericError","desc":"not here"}}`
			}
			_, _ = c.Write([]byte(answer + "\n"))
		}
	}()
	return socket, out
}

func TestMonitor(t *testing.T) {
	socket, asked := emulate(t, "cont")
	m, err := connect(socket, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.setOrder(indices{nic: 1, disk: 10}); err != nil {
		t.Fatal(err)
	}
	if err := m.run("cont", nil); err == nil || !strings.Contains(err.Error(), "not here") {
		t.Errorf("what QEMU refuses is an error: %v", err)
	}
	_ = m.qmp.Disconnect()
	var got []string
	for a := range asked {
		got = append(got, a)
	}
	qomSet := func(id, n string) string {
		return `qom-set {"path":"/machine/peripheral/` + id + `","property":"bootindex","value":` + n + `}`
	}
	want := []string{
		"qmp_capabilities", qomSet("nic0", "-1"), qomSet("disk0", "-1"), qomSet("disk0", "10"), qomSet("nic0", "1"), "cont",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("no index is ever given twice: -want +got:\n%s", diff)
	}
}

func TestConnectGivesUp(t *testing.T) {
	exited := make(chan struct{})
	close(exited)
	_, err := connect(filepath.Join(t.TempDir(), "none"), exited)
	if err == nil || !strings.Contains(err.Error(), "ended before") {
		t.Errorf("a QEMU that ended is waited for: %v", err)
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := Missing(BIOS); err == nil || !strings.Contains(err.Error(), "Debian package qemu-system-x86") {
		t.Errorf("the reason names the package: %v", err)
	}
	if Missing(UEFI) == nil {
		t.Error("without QEMU there is no UEFI either")
	}
}
