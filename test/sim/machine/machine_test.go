package machine_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// installThenLocal installs once and sends the machine to its disk afterwards, as bootd does.
func (f *fake) installThenLocal(local string) {
	var installed atomic.Bool
	f.set(func(f *fake) {
		f.script = func() string {
			if installed.Swap(true) {
				return local
			}
			return f.install()
		}
	})
}

func TestInstall(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*machine.Config)
		target bmc.BootTarget
		local  string
		dhcp   map[string]int
	}{
		"BIOSNetworkFirst": {
			reason: "a network-first machine installs, asks again after its reboot and is sent to its disk",
			change: func(*machine.Config) {}, local: "#!ipxe\nsanboot --no-describe --drive 0x80\n",
			dhcp: map[string]int{"pxe": 2, "ipxe": 2, "os": 1},
		},
		"UEFINetworkFirst": {
			reason: "UEFI firmware leaves iPXE by exit and goes on with its next device",
			change: func(c *machine.Config) { c.Firmware = machine.UEFI },
			local:  "#!ipxe\niseq ${platform} efi && goto next || goto bios\n:bios\nsanboot || exit 0\n:next\nexit 1\n",
			dhcp:   map[string]int{"pxe": 2, "ipxe": 2, "os": 1},
		},
		"UEFIHTTPBoot": {
			reason: "HTTP Boot gets its first stage by HEAD and GET; the boot order decides after the reboot",
			change: func(c *machine.Config) {
				c.Firmware, c.BootOrder = machine.UEFI, []machine.Device{machine.LocalDisk}
			},
			target: bmc.BootUefiHTTP, dhcp: map[string]int{"http": 1, "ipxe": 1, "os": 1},
		},
		"DiskFirstBootOnce": {
			reason: "a disk-first machine needs the network once and never asks again",
			change: func(c *machine.Config) { c.BootOrder = []machine.Device{machine.LocalDisk, machine.Network} },
			target: bmc.BootPxe, dhcp: map[string]int{"pxe": 1, "ipxe": 1, "os": 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.installThenLocal(tc.local)
			c := f.config()
			tc.change(&c)
			m := start(t, c)
			if err := m.On(tc.target); err != nil {
				t.Fatal(err)
			}
			s := await(t, m, "the installed system", running)
			want := machine.Disk{
				Bootable: true, Image: digestOf(imageText), Bytes: int64(len(imageText)), UserData: userData,
				Callback: f.http.URL + "/v1/boot/" + token,
			}
			if diff := cmp.Diff(want, s.Disk); diff != "" {
				t.Errorf("%s: disk -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{"begin", "progress", "installed", "booted"}, f.made()); diff != "" {
				t.Errorf("%s: callbacks -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.dhcp, s.DHCP); diff != "" {
				t.Errorf("%s: DHCP -want +got:\n%s", tc.reason, diff)
			}
			got := []int{s.PowerOns, s.Boots, s.Kernels, s.Erased, s.Installs, s.DiskBoots, s.Errors}
			if diff := cmp.Diff([]int{1, 2, 1, 1, 1, 1, 0}, got); diff != "" {
				t.Errorf("%s: counters -want +got:\n%s", tc.reason, diff)
			}
			if s.Lease.Address.String() != "10.77.0.11" {
				t.Errorf("%s: address %s", tc.reason, s.Lease.Address)
			}
		})
	}
}

func TestPackets(t *testing.T) {
	f := newFake(t)
	f.installThenLocal("#!ipxe\nexit\n")
	m := start(t, f.config())
	if err := m.On(bmc.BootNormal); err != nil {
		t.Fatal(err)
	}
	await(t, m, "the installed system", running)
	type facts struct{ Kind, Class, User, Arch, UUID string }
	var got []facts
	for _, p := range f.packets() {
		if ports := p.RelayAgentInfo(); ports == nil || !ports.Has(dhcpv4.RelaySourcePortSubOption) ||
			string(ports.Get(dhcpv4.LinkSelectionSubOption)) != "\x0a\x4d\x00\x01" || p.GatewayIPAddr.String() != "127.0.0.1" {
			t.Errorf("packet didn't come through the relay: %s", p.Summary())
		}
		arch := ""
		if a := p.ClientArch(); len(a) > 0 {
			arch = a[0].String()
		}
		got = append(got, facts{
			p.MessageType().String(), p.ClassIdentifier(), string(p.Options.Get(dhcpv4.OptionUserClassInformation)), arch,
			strings.ToUpper(fmt.Sprintf("%x", p.Options.Get(dhcpv4.OptionClientMachineIdentifier))),
		})
	}
	const class, id = "PXEClient:Arch:00000:UNDI:002001", "0044454C4C4400104A8051B4C04F4A3140"
	var want []facts
	for _, user := range []string{"", "iPXE", "", "iPXE"} {
		want = append(want,
			facts{"DISCOVER", class, user, "Intel x86PC", id}, facts{"REQUEST", class, user, "Intel x86PC", id})
	}
	want = append(want, facts{Kind: "DISCOVER"}, facts{Kind: "REQUEST"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPower(t *testing.T) {
	for _, stage := range []machine.Stage{
		machine.StageDHCP, machine.StageFirstLoad, machine.StageScript, machine.StageArtifact, machine.StageKernel,
		machine.StageBegin, machine.StageUserData, machine.StageImage, machine.StageWriting, machine.StageWritten,
		machine.StageInstalled, machine.StageDisk, machine.StageRunning,
	} {
		t.Run(string(stage), func(t *testing.T) {
			f := newFake(t)
			f.installThenLocal("#!ipxe\nexit\n")
			m := start(t, f.config())
			m.Inject(machine.Fault{Stage: stage, Action: machine.Hang, Times: 1})
			if err := m.On(bmc.BootNormal); err != nil {
				t.Fatal(err)
			}
			await(t, m, "the hang", func(s machine.Status) bool { return s.Stage == stage })
			if err := m.Off(false); err != nil || m.Powered() {
				t.Fatalf("off at %s: %v, powered %t", stage, err, m.Powered())
			}
			f.set(func(f *fake) { f.script = f.install }) // whatever happened: it may be installed again
			if err := m.On(bmc.BootPxe); err != nil {
				t.Fatal(err)
			}
			s := await(t, m, "an installation after the cut", func(s machine.Status) bool { return s.Installs > 0 })
			if s.PowerOns != 2 {
				t.Errorf("%d power-ons, want 2", s.PowerOns)
			}
		})
	}
}

func TestGracefulOffIsNotHeardByHungMachine(t *testing.T) {
	f := newFake(t)
	m := start(t, f.config())
	m.Inject(machine.Fault{Stage: machine.StageKernel, Action: machine.Hang})
	_ = m.On(bmc.BootNormal)
	deaf := func(machine.Status) bool {
		for _, e := range m.Events() {
			if e.Stage == machine.StageKernel && strings.Contains(e.Detail, "injected") {
				return true
			}
		}
		return false
	}
	await(t, m, "the hang", deaf)
	for m.Powered() && !heardNothing(m) {
		_ = m.Off(true)
	}
	if !m.Powered() {
		t.Error("a hung machine obeyed a graceful request")
	}
	if err := m.Restart(bmc.BootNormal); err != nil {
		t.Errorf("a hung machine must reset: %v", err)
	}
	_ = m.Off(false)
	if m.Powered() {
		t.Error("a hung machine kept its power")
	}
	if err := m.Restart(bmc.BootNormal); err == nil {
		t.Error("a machine that is off was restarted")
	}
}

func heardNothing(m *machine.Machine) bool {
	for _, e := range m.Events() {
		if strings.Contains(e.Detail, "did not hear") {
			return true
		}
	}
	return false
}

func TestFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		fault  machine.Fault
		want   func(machine.Status) bool
	}{
		"PowerLossBeforeInstalled": {
			reason: "a machine that loses power before `installed` stays off and has written its disk once",
			fault:  machine.Fault{Stage: machine.StageWritten, Action: machine.PowerLoss},
			want:   func(s machine.Status) bool { return !s.Powered && s.Erased == 1 && s.Installs == 0 && s.Boots == 1 },
		},
		"WatchdogReset": {
			reason: "a machine that is reset boots again by itself",
			fault:  machine.Fault{Stage: machine.StageKernel, Action: machine.Reset, Times: 1},
			want:   func(s machine.Status) bool { return s.Boots >= 2 && s.PowerOns == 1 },
		},
		"NoFirstStage": {
			reason: "a failed step is counted and the boot order goes on",
			fault:  machine.Fault{Stage: machine.StageFirstLoad, Action: machine.Fail, Times: 1},
			want:   func(s machine.Status) bool { return s.Errors == 1 && s.Installs == 1 },
		},
		"Delay": {
			reason: "a delay only delays",
			fault:  machine.Fault{Stage: machine.StageScript, Delay: time.Millisecond},
			want:   func(s machine.Status) bool { return s.Installs == 1 && s.Errors == 0 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.installThenLocal("#!ipxe\nexit\n")
			m := start(t, f.config())
			m.Inject(tc.fault)
			_ = m.On(bmc.BootNormal)
			await(t, m, tc.reason, tc.want)
		})
	}
}

func TestHoldAndRetry(t *testing.T) {
	f := newFake(t)
	var asked atomic.Int32
	f.set(func(f *fake) {
		f.script = func() string {
			if asked.Add(1) <= 3 {
				return "#!ipxe\n:again\nsleep 5\nchain --replace --autofree " + f.http.URL + "/v1/boot/" + token +
					"/script.ipxe || goto again\n"
			}
			return f.install()
		}
	})
	m := start(t, f.config())
	m.Inject(machine.Fault{Stage: machine.StageInstalled, Action: machine.Hang})
	_ = m.On(bmc.BootNormal)
	s := await(t, m, "the installation after three holds", func(s machine.Status) bool { return s.Installs == 1 })
	if diff := cmp.Diff(map[string]int{"hold": 3, "kernel": 1}, s.Scripts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s.Boots != 1 {
		t.Errorf("%d boots, want 1: a held machine waits where it is", s.Boots)
	}
}

func TestBrokenTransferGoesOn(t *testing.T) {
	f := newFake(t)
	var tries atomic.Int32
	f.set(func(f *fake) {
		f.handlers["/v1/boot/"+token+"/image"] = func(w http.ResponseWriter, r *http.Request) {
			if tries.Add(1) == 1 { // half the image, then the connection dies
				w.Header().Set("Content-Length", "37")
				_, _ = w.Write([]byte(imageText[:10]))
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			if got := r.Header.Get("Range"); got != "bytes=10-" {
				t.Errorf("Range %q", got)
			}
			http.ServeContent(w, r, "image", time.Time{}, strings.NewReader(imageText))
		}
	})
	m := start(t, f.config())
	_ = m.On(bmc.BootNormal)
	s := await(t, m, "the installation", func(s machine.Status) bool { return s.Installs == 1 })
	if s.Erased != 1 || s.Disk.Image != digestOf(imageText) {
		t.Errorf("erased %d times, image %s", s.Erased, s.Disk.Image)
	}
}

func TestInstallerStops(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*fake)
		erased int
		calls  []string
	}{
		"WrongDigest": {
			reason: "an image with another digest is reported and never booted",
			change: func(f *fake) { f.script = func() string { return f.installWith(digestOf("another")) } },
			erased: 1, calls: []string{"begin", "progress", "failed"},
		},
		"BeginRefused": {
			reason: "without consent nothing is written",
			change: func(f *fake) {
				f.handlers["/v1/boot/"+token+"/begin"] = func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusConflict)
				}
			},
		},
		"NoUserData": {
			reason: "without its user data the machine is not installed",
			change: func(f *fake) { f.handlers["/v1/boot/"+token+"/user-data"] = http.NotFound },
			calls:  []string{"begin"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.set(tc.change)
			m := start(t, f.config())
			_ = m.On(bmc.BootNormal)
			s := await(t, m, "the machine to stop", func(s machine.Status) bool { return s.Stage == machine.StageHalted })
			if s.Installs != 0 || s.Erased != tc.erased || s.Disk.Bootable || s.Error == "" {
				t.Errorf("%s: %+v", tc.reason, s)
			}
			if diff := cmp.Diff(tc.calls, f.made()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnreachableServers(t *testing.T) {
	f := newFake(t)
	f.set(func(f *fake) { f.silent = true })
	c := f.config()
	c.DHCPTimeout, c.DHCPTries = 10*time.Millisecond, 2
	m := start(t, c)
	_ = m.On(bmc.BootNormal)
	await(t, m, "the second round of a firmware that nobody answers", func(s machine.Status) bool { return s.Errors >= 2 })
	f.set(func(f *fake) { f.silent = false })
	await(t, m, "the installation once somebody answers", func(s machine.Status) bool { return s.Installs == 1 })
}
