package machine_test

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

func TestScripts(t *testing.T) {
	const kernel = "kernel BASE/vmlinuz console=ttyS0"
	cases := map[string]struct {
		reason  string
		script  string
		uefi    bool
		want    func(machine.Status) bool
		scripts map[string]int
	}{
		"Live": {
			reason: "a kernel without an image to write is a system of its own, and reports that it runs",
			script: kernel + " baremetal.callback=BASE/v1/boot/t0ken\nboot",
			want: func(s machine.Status) bool {
				return running(s) && s.Callbacks["booted"] == 1 && s.Erased == 0 && s.DHCP["os"] == 1
			},
		},
		"LiveWithoutCallback": {
			reason: "nobody is told where there is nobody to tell", script: kernel + "\nboot",
			want: func(s machine.Status) bool {
				return running(s) && len(s.Callbacks) == 0 && strings.HasSuffix(s.Command, "ttyS0")
			},
		},
		"KernelInstalls": {
			reason: "a kernel that is an installer writes the disk without an image",
			script: kernel + " baremetal.callback=BASE/v1/boot/t0ken baremetal.role=installer\nboot",
			want:   func(s machine.Status) bool { return s.Installs >= 1 && s.Erased >= 1 }, // It is told to install at each boot.
		},
		"BootByAddress": {
			reason: "boot loads what it names", script: "boot BASE/vmlinuz quiet",
			want: func(s machine.Status) bool { return running(s) && s.Command == "quiet" },
		},
		"PowerOff": {
			reason: "a script can switch the machine off", script: "poweroff",
			want: func(s machine.Status) bool { return !s.Powered && s.Boots == 1 }, scripts: map[string]int{"poweroff": 1},
		},
		"Reboot": {
			reason: "or start it again", script: "reboot",
			want: func(s machine.Status) bool { return s.Boots >= 3 }, // It does so for as long as it's looked at.
		},
		"UEFIMenu": {
			reason: "UEFI firmware takes an exit of 0 for success and shows its menu", uefi: true, script: "exit",
			want: func(s machine.Status) bool { return s.Stage == machine.StageHalted }, scripts: map[string]int{"local": 1},
		},
		"UEFINext": {
			reason: "an exit of 1 makes it go on; here there is nothing, so it starts again", uefi: true, script: "exit 1",
			want: func(s machine.Status) bool { return s.Scripts["local"] >= 2 && s.Boots == 1 },
		},
		"SanbootEmptyDisk": {
			reason: "an empty disk doesn't boot, which a script can catch", script: "sanboot --no-describe --drive 0x80 || poweroff",
			want: func(s machine.Status) bool { return !s.Powered },
		},
		"MissingFile": {
			reason: "a file that isn't there ends the script, and the firmware tries again",
			script: "kernel BASE/nothing\nboot",
			want:   func(s machine.Status) bool { return s.Errors >= 1 && s.Scripts["error"] >= 1 && s.Kernels == 0 },
		},
		"CaughtFailure": {
			reason: "|| catches it", script: "kernel BASE/nothing || goto off\nboot\n:off\npoweroff",
			want: func(s machine.Status) bool { return !s.Powered && s.Errors == 0 },
		},
		"ChainedExit": {
			reason: "after a chained script that exits the line below goes on",
			script: "chain BASE/exit.ipxe\npoweroff", want: func(s machine.Status) bool { return !s.Powered },
			scripts: map[string]int{"local": 1, "poweroff": 1},
		},
		"ChainMissing": {
			reason: "a script that isn't there can be caught", script: "chain --replace BASE/nothing || poweroff",
			want: func(s machine.Status) bool { return !s.Powered },
		},
		"ForgottenFailure": {
			reason: "nothing after || forgets a failure, whichever command of the line it was", script: "isset ${nothing} && set known yes ||\nisset ${known} || poweroff",
			want: func(s machine.Status) bool { return !s.Powered && s.Errors == 0 },
		},
		"NewToken": {
			reason: "dhcp fetches a lease, and with it a script address, anew",
			script: "isset ${filename} && goto known || goto unknown\n:unknown\nreboot\n:known\ndhcp\nchain BASE/exit.ipxe\npoweroff",
			want:   func(s machine.Status) bool { return !s.Powered && s.DHCP["ipxe"] == 2 },
		},
		"EndlessLoop": {
			reason: "a loop without a sleep is given up", script: ":a\ngoto a",
			want: func(s machine.Status) bool { return strings.Contains(s.Error, "loop") },
		},
		"UnknownCommand": {
			reason: "what Debian's iPXE can't do fails", script: "imgverify x y",
			want: func(s machine.Status) bool { return strings.Contains(s.Error, "imgverify") },
		},
		"HTTPS": {
			reason: "Debian's iPXE has no TLS", script: "kernel https://example.org/vmlinuz",
			want: func(s machine.Status) bool { return strings.Contains(s.Error, "https") },
		},
		"Variables": {
			reason: "a machine tells scripts about itself",
			script: "iseq ${platform}/${net0/mac}/${serial}/${net0/ip} pcbios/52:54:00:00:00:01/S1/10.77.0.11 && poweroff",
			want:   func(s machine.Status) bool { return !s.Powered },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.set(func(f *fake) {
				script := "#!ipxe\n" + strings.ReplaceAll(tc.script, "BASE", f.http.URL) + "\n"
				f.script = func() string { return script }
				f.handlers["/exit.ipxe"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("#!ipxe\nexit\n")) }
			})
			c := f.config()
			c.Serial = "S1"
			if tc.uefi {
				c.Firmware = machine.UEFI
			}
			m := start(t, c)
			_ = m.On(bmc.BootNormal)
			s := await(t, m, tc.reason, tc.want)
			if diff := cmp.Diff(tc.scripts, s.Scripts); tc.scripts != nil && diff != "" {
				t.Errorf("%s: scripts -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDHCPServers(t *testing.T) {
	cases := map[string]struct {
		reason string
		reply  func(n int, req, resp *dhcpv4.DHCPv4)
		want   func(machine.Status) bool
	}{
		"NAK": {
			reason: "a refused machine starts again from DISCOVER",
			reply: func(n int, req, resp *dhcpv4.DHCPv4) {
				if n == 2 && req.MessageType() == dhcpv4.MessageTypeRequest {
					resp.UpdateOption(dhcpv4.OptMessageType(dhcpv4.MessageTypeNak))
				}
			},
			want: func(s machine.Status) bool { return s.Installs == 1 && s.Errors == 0 },
		},
		"NoOption82": {
			reason: "a server that doesn't echo option 82 isn't heard",
			reply: func(_ int, _, resp *dhcpv4.DHCPv4) {
				resp.Options.Del(dhcpv4.OptionRelayAgentInformation)
			},
			want: func(s machine.Status) bool { return s.Errors >= 1 && s.DHCP["pxe"] == 0 },
		},
		"NoBootFile": {
			reason: "an offer without a boot file is of no use to firmware",
			reply: func(_ int, _, resp *dhcpv4.DHCPv4) {
				resp.BootFileName = ""
			},
			want: func(s machine.Status) bool { return s.Errors >= 1 && s.DHCP["pxe"] == 0 },
		},
		"MissingFile": {
			reason: "a boot file that TFTP doesn't have fails the boot",
			reply: func(_ int, _, resp *dhcpv4.DHCPv4) {
				if resp.BootFileName != "" {
					resp.BootFileName = "missing.kpxe"
				}
			},
			want: func(s machine.Status) bool { return strings.Contains(s.Error, "missing.kpxe") },
		},
		"NextServerOption": {
			reason: "a server may name the TFTP server in option 66 alone",
			reply: func(_ int, _, resp *dhcpv4.DHCPv4) {
				resp.ServerIPAddr = net.IPv4zero
				resp.UpdateOption(dhcpv4.OptTFTPServerName("127.0.0.1"))
			},
			want: func(s machine.Status) bool { return s.Installs == 1 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			n := 0
			f.set(func(f *fake) {
				f.reply = func(req, resp *dhcpv4.DHCPv4) {
					n++
					tc.reply(n, req, resp)
				}
			})
			c := f.config()
			c.DHCPTimeout, c.DHCPTries = 50*time.Millisecond, 2
			m := start(t, c)
			_ = m.On(bmc.BootNormal)
			await(t, m, tc.reason, tc.want)
		})
	}
}

func TestTwoServers(t *testing.T) {
	a, b := newFake(t), newFake(t)
	var other atomic.Int32
	for id, f := range map[string]*fake{"127.0.0.1": a, "127.0.0.2": b} {
		f.set(func(f *fake) {
			f.reply = func(req, resp *dhcpv4.DHCPv4) {
				id := net.ParseIP(id)
				if sid := req.ServerIdentifier(); sid != nil && !sid.Equal(id) {
					other.Add(1)
				}
				resp.UpdateOption(dhcpv4.OptServerIdentifier(id))
			}
		})
	}
	c := a.config()
	c.Relay.Servers = append([]netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}, append(c.Relay.Servers, b.config().Relay.Servers...)...)
	c.TFTPPort = a.config().TFTPPort
	m := start(t, c)
	_ = m.On(bmc.BootNormal)
	await(t, m, "an installation with two servers, and a third that isn't there", func(s machine.Status) bool { return s.Installs == 1 })
	if len(a.packets()) == 0 || len(b.packets()) == 0 || other.Load() == 0 {
		t.Error("a relay hands every broadcast to every server, REQUESTs for another as well")
	}
}

func TestNewRefuses(t *testing.T) {
	good := machine.Config{
		MAC:   net.HardwareAddr{2, 0, 0, 0, 0, 1},
		Relay: machine.Relay{Servers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:67")}},
	}
	cases := map[string]struct {
		reason string
		change func(*machine.Config)
		want   string
	}{
		"MAC":      {"a machine has an Ethernet address", func(c *machine.Config) { c.MAC = c.MAC[:5] }, "six bytes"},
		"Servers":  {"without a server there is nothing to ask", func(c *machine.Config) { c.Relay.Servers = nil }, "DHCP server"},
		"Firmware": {"there are two firmwares", func(c *machine.Config) { c.Firmware = "Coreboot" }, "neither BIOS nor UEFI"},
		"HTTPBoot": {"BIOS has no HTTP Boot", func(c *machine.Config) { c.BootOrder = []machine.Device{machine.HTTPBoot} }, "only UEFI"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := good
			tc.change(&c)
			if _, err := machine.New(c); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v", tc.reason, err)
			}
		})
	}
}

func TestSetupMenuAndUnknownDevice(t *testing.T) {
	f := newFake(t)
	c := f.config()
	c.BootOrder = []machine.Device{"Floppy", machine.Network}
	m := start(t, c)
	_ = m.On(bmc.BootBiosSetup)
	await(t, m, "the setup menu", func(s machine.Status) bool { return s.Stage == machine.StageHalted && s.DHCP["pxe"] == 0 })
	if err := m.Restart(bmc.BootCd); err != nil {
		t.Fatal(err)
	}
	await(t, m, "the boot order after a target that isn't there", func(s machine.Status) bool { return s.Installs == 1 })
	if n := m.Status().PowerOns; n != 1 {
		t.Errorf("%d power-ons, want 1: a reset is none", n)
	}
}
