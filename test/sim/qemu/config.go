// Package qemu is a machine with real firmware behind an emulated BMC: one QEMU process, steered by QMP.
package qemu

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// Firmware says what starts the machine.
type Firmware string

// The firmwares that a machine can have.
const (
	BIOS Firmware = "BIOS" // SeaBIOS; the NIC's ROM is iPXE
	UEFI Firmware = "UEFI" // OVMF with its own PXE client; the NIC has no ROM
	// ARM64 is a machine of that architecture; its UEFI is AAVMF, with its own PXE client.
	ARM64 Firmware = "ARM64"
)

// Loader says what in a machine with UEFI loads from the network.
type Loader string

// The loaders that a machine with UEFI can have. One with BIOS has its NIC's ROM, which is iPXE.
const (
	PXE      Loader = ""         // OVMF's own PXE client, by TFTP
	HTTPBoot Loader = "HTTPBoot" // OVMF's own HTTP Boot over IPv4, and no PXE client
	ROM      Loader = "ROM"      // iPXE, as a UEFI driver in the NIC's ROM
	PXE6     Loader = "PXE6"     // OVMF's own PXE client over IPv6, and no IPv4
	HTTP6    Loader = "HTTP6"    // OVMF's own HTTP Boot over IPv6, and neither a PXE client nor IPv4
)

// Config describes one virtual machine. Name, MAC and Dir are required.
type Config struct {
	// Name is the machine's name in errors.
	Name string
	// MAC is the address of its only NIC.
	MAC net.HardwareAddr
	// UUID and Serial are what SMBIOS says.
	UUID   uuid.UUID
	Serial string
	// Firmware is BIOS (the zero value) or UEFI.
	Firmware Firmware
	// Loader is what a machine with UEFI boots from the network by; BIOS has but one, and ignores it.
	Loader Loader
	// SecureBoot has UEFI run only what Microsoft has signed, or who Microsoft's shim trusts: here Debian.
	SecureBoot bool
	// Trusts is the authority, a certificate in DER, that UEFI was told to trust for HTTPS; nil: none.
	Trusts []byte
	// NetworkFirst makes the network come before the disk in the normal boot order.
	NetworkFirst bool
	// UBoot has a machine of ARM64 start by U-Boot, which tries its disk before the network, whatever the order, and has the MAC of UBootMAC, whatever MAC says.
	UBoot bool
	// Dir holds the machine's disk, NVRAM, serial log and QMP socket; its path must be short (a socket's is, at 108 bytes).
	Dir string
	// Netdev is QEMU's -netdev without its id, as "tap,ifname=tap0,script=no,downscript=no"; see Segment.
	Netdev string
	// Slow has packets for the machine wait up to a tenth of a second, so that transfers last long enough to be broken.
	Slow bool
	// DiskSize is the size of the disk in bytes; 0: 64 MiB. It is sparse.
	DiskSize int64
	// Stick is a folder whose files are on a USB stick, after the disk in the boot order; empty: there's none.
	Stick string
	// MemoryMiB is the size of its memory; 0: 512.
	MemoryMiB int
	// Binary is QEMU; empty: qemu-system-x86_64, or qemu-system-aarch64.
	Binary string
	// OVMF is where OVMF_CODE_4M.fd and OVMF_VARS_4M.fd are, or AAVMF_CODE.fd and AAVMF_VARS.fd; empty: /usr/share/OVMF, or /usr/share/AAVMF.
	OVMF string
}

const (
	defaultDisk   = 64 << 20
	defaultMemory = 512
)

func (c Config) withDefaults() Config {
	if c.Firmware == "" {
		c.Firmware = BIOS
	}
	if c.DiskSize == 0 {
		c.DiskSize = defaultDisk
	}
	if c.MemoryMiB == 0 {
		c.MemoryMiB = defaultMemory
	}
	binary, ovmf := "qemu-system-x86_64", "/usr/share/OVMF"
	if c.Firmware == ARM64 {
		binary, ovmf = "qemu-system-aarch64", "/usr/share/AAVMF"
	}
	c.Binary, c.OVMF = cmp.Or(c.Binary, binary), cmp.Or(c.OVMF, ovmf)
	return c
}

// Missing says in one line what this machine lacks for virtual machines of the given firmware; nil: nothing.
func Missing(f Firmware) error {
	c := Config{Firmware: f}.withDefaults()
	qemu, firmware := "qemu-system-x86", "ovmf"
	if f == ARM64 {
		qemu, firmware = "qemu-system-arm", "qemu-efi-aarch64"
	}
	if _, err := exec.LookPath(c.Binary); err != nil {
		return fmt.Errorf("%s is missing (Debian package %s): %w", c.Binary, qemu, err)
	}
	if f == BIOS {
		return nil
	}
	if _, err := os.Stat(c.code()); err != nil {
		return fmt.Errorf("%s is missing (Debian package %s): %w", c.code(), firmware, err)
	}
	return nil
}

func (c Config) code() string        { return c.ovmf("CODE") }
func (c Config) vars() string        { return c.ovmf("VARS") }
func (c Config) authorities() string { return filepath.Join(c.Dir, "cacerts.esl") }
func (c Config) nvram() string       { return filepath.Join(c.Dir, "vars.fd") }
func (c Config) disk() string        { return filepath.Join(c.Dir, "disk.img") }
func (c Config) serial() string      { return filepath.Join(c.Dir, "serial.log") }
func (c Config) socket() string      { return filepath.Join(c.Dir, "qmp") }

// ovmf is a file of the firmware's.
func (c Config) ovmf(what string) string {
	if c.Firmware == ARM64 {
		return filepath.Join(c.OVMF, "AAVMF_"+what+c.keys()+".fd")
	}
	return filepath.Join(c.OVMF, "OVMF_"+what+"_4M"+c.keys()+".fd")
}

// keys is what OVMF's files are named by that have Microsoft's keys.
func (c Config) keys() string {
	if c.SecureBoot {
		return ".ms"
	}
	return ""
}

const maxSocketPath = 107

func (c Config) validate() error {
	switch {
	case c.Name == "", c.Dir == "", len(c.MAC) == 0, c.Netdev == "":
		return errors.New("cannot build a virtual machine without Name, Dir, MAC and Netdev")
	case c.Firmware != BIOS && c.Firmware != UEFI && c.Firmware != ARM64:
		return fmt.Errorf("cannot build a virtual machine with firmware %q: it is neither BIOS, UEFI nor ARM64", c.Firmware)
	case !slices.Contains([]Loader{PXE, HTTPBoot, ROM, PXE6, HTTP6}, c.Loader):
		return fmt.Errorf("cannot build a virtual machine with loader %q: it is neither PXE, HTTPBoot, ROM, PXE6 nor HTTP6", c.Loader)
	case len(c.socket()) > maxSocketPath:
		return fmt.Errorf("cannot put a socket at %q: the path is longer than %d bytes", c.socket(), maxSocketPath)
	}
	return nil
}

// indices are the bootindex properties of a machine's two devices; the lower one is tried first.
type indices struct{ nic, disk int }

const (
	indexOnce     = 1
	indexNICFirst = 5
	indexDisk     = 10
	indexNIC      = 20
)

// order returns the boot order for one boot from target. Targets that the machine doesn't have are ignored, as firmware
// does; UefiHttp and Pxe are both the NIC's.
func (c Config) order(target bmc.BootTarget) indices {
	i := indices{nic: indexNIC, disk: indexDisk}
	if c.NetworkFirst {
		i.nic = indexNICFirst
	}
	switch target {
	case bmc.BootPxe, bmc.BootUefiHTTP:
		i.nic = indexOnce
	case bmc.BootHdd:
		i.disk = indexOnce
	case bmc.BootNormal, bmc.BootCd, bmc.BootBiosSetup:
	}
	return i
}

const (
	nicID  = "nic0"
	diskID = "disk0"
)

// args is QEMU's command line. The machine starts paused, so that the next boot's order can be set before this one begins.
func (c Config) args(i indices) []string {
	nic := fmt.Sprintf("virtio-net-pci,id=%s,netdev=n0,mac=%s,bootindex=%d", nicID, c.MAC, i.nic)
	a := append([]string{"-name", c.Name, "-accel", "tcg", "-m", strconv.Itoa(c.MemoryMiB)}, c.board()...)
	a = append(a,
		"-display", "none", "-monitor", "none", "-nodefaults", "-no-user-config", "-S",
		"-chardev", "file,id=s0,append=on,path="+c.serial(), "-serial", "chardev:s0",
		"-qmp", "unix:"+c.socket()+",server=on,wait=off",
		"-drive", "if=none,id=d0,format=raw,cache=unsafe,file="+c.disk(),
		"-device", fmt.Sprintf("virtio-blk-pci,id=%s,drive=d0,bootindex=%d", diskID, i.disk),
		"-netdev", c.Netdev+",id=n0",
	)
	if c.UUID != uuid.Nil {
		a = append(a, "-uuid", c.UUID.String())
	}
	if c.Serial != "" {
		a = append(a, "-smbios", "type=1,manufacturer=Simulated,product=QEMU,serial="+c.Serial)
	}
	if c.Firmware != BIOS {
		if c.Loader != ROM {
			nic += ",romfile=" // an empty name: OVMF has no other network driver than its own
		}
		a = append(a, c.flash()...)
		a = append(a, c.without()...)
	}
	if c.Trusts != nil {
		a = append(a, "-fw_cfg", "name=etc/edk2/https/cacerts,file="+c.authorities())
	}
	if c.Stick != "" {
		a = append(a, "-device", "qemu-xhci", "-drive", "if=none,id=stick0,format=raw,readonly=on,file=fat:"+c.Stick, "-device", "usb-storage,drive=stick0,removable=on")
	}
	if c.Slow {
		a = append(a, "-object", "filter-buffer,id=slow0,netdev=n0,queue=tx,interval=100000")
	}
	return append(a, "-device", nic)
}

// flash is where its firmware lies.
func (c Config) flash() []string {
	if c.UBoot {
		return []string{"-bios", UBootARM64}
	}
	return []string{"-drive", "if=pflash,format=raw,readonly=on,file=" + c.code(), "-drive", "if=pflash,format=raw,file=" + c.nvram()}
}

// UBootARM64 is where Debian's package u-boot-qemu has it for ARM64.
const UBootARM64 = "/usr/lib/u-boot/qemu_arm64/u-boot.bin"

// UBootMAC is in the environment that it's built with.
func UBootMAC() net.HardwareAddr { return net.HardwareAddr{0x52, 0x52, 0x52, 0x52, 0x52, 0x52} }

// dadWait is how long, in milliseconds, OVMF shows how to enter its menu, as a server's firmware does. Those before 2025.08 begin HTTP Boot over IPv6 at
// once otherwise, and give up where their address on the link isn't known to be their own yet, which takes a second.
const dadWait = "3000"

// board is the machine itself. Without RDRAND a guest waits minutes for its first random number, which a DHCP client needs.
func (c Config) board() []string {
	if c.Firmware == ARM64 {
		return []string{"-machine", "virt", "-cpu", "cortex-a57", "-device", "virtio-rng-pci"}
	}
	a := []string{"-cpu", "qemu64,+rdrand", "-vga", "std"}
	if c.SecureBoot { // This OVMF keeps its variables from whoever isn't in system management mode.
		a = append(a, "-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on")
	}
	if c.Loader == HTTP6 {
		a = append(a, "-boot", "menu=on,splash-time="+dadWait)
	}
	return a
}

// without has OVMF leave out what the machine's loader isn't.
func (c Config) without() []string {
	const pxe6 = "IPv6PXESupport"
	var a []string
	for _, what := range map[Loader][]string{
		PXE: {pxe6}, ROM: {pxe6}, HTTPBoot: {pxe6, "IPv4PXESupport"}, PXE6: {"IPv4Support"}, HTTP6: {"IPv4Support", pxe6},
	}[c.Loader] {
		a = append(a, "-fw_cfg", "name=opt/org.tianocore/"+what+",string=no")
	}
	return a
}
