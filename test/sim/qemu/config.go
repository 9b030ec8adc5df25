// Package qemu is a machine with real firmware behind an emulated BMC: one QEMU process, steered by QMP.
package qemu

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
)

// Loader says what in a machine with UEFI loads from the network.
type Loader string

// The loaders that a machine with UEFI can have. One with BIOS has its NIC's ROM, which is iPXE.
const (
	PXE      Loader = ""         // OVMF's own PXE client, by TFTP
	HTTPBoot Loader = "HTTPBoot" // OVMF's own HTTP Boot over IPv4, and no PXE client
	ROM      Loader = "ROM"      // iPXE, as a UEFI driver in the NIC's ROM
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
	// NetworkFirst makes the network come before the disk in the normal boot order.
	NetworkFirst bool
	// Dir holds the machine's disk, NVRAM, serial log and QMP socket; its path must be short (a socket's is, at 108 bytes).
	Dir string
	// Netdev is QEMU's -netdev without its id, as "tap,ifname=tap0,script=no,downscript=no"; see Segment.
	Netdev string
	// DiskSize is the size of the disk in bytes; 0: 64 MiB. It is sparse.
	DiskSize int64
	// MemoryMiB is the size of its memory; 0: 512.
	MemoryMiB int
	// Binary is QEMU; empty: qemu-system-x86_64.
	Binary string
	// OVMF is where OVMF_CODE_4M.fd and OVMF_VARS_4M.fd are; empty: /usr/share/OVMF.
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
	if c.Binary == "" {
		c.Binary = "qemu-system-x86_64"
	}
	if c.OVMF == "" {
		c.OVMF = "/usr/share/OVMF"
	}
	return c
}

// Missing says in one line what this machine lacks for virtual machines of the given firmware; nil: nothing.
func Missing(f Firmware) error {
	c := Config{Firmware: f}.withDefaults()
	if _, err := exec.LookPath(c.Binary); err != nil {
		return fmt.Errorf("%s is missing (Debian package qemu-system-x86): %w", c.Binary, err)
	}
	if f != UEFI {
		return nil
	}
	if _, err := os.Stat(c.code()); err != nil {
		return fmt.Errorf("OVMF is missing (Debian package ovmf): %w", err)
	}
	return nil
}

func (c Config) code() string   { return filepath.Join(c.OVMF, "OVMF_CODE_4M"+c.keys()+".fd") }
func (c Config) vars() string   { return filepath.Join(c.OVMF, "OVMF_VARS_4M"+c.keys()+".fd") }
func (c Config) nvram() string  { return filepath.Join(c.Dir, "vars.fd") }
func (c Config) disk() string   { return filepath.Join(c.Dir, "disk.img") }
func (c Config) serial() string { return filepath.Join(c.Dir, "serial.log") }
func (c Config) socket() string { return filepath.Join(c.Dir, "qmp") }

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
	case c.Firmware != BIOS && c.Firmware != UEFI:
		return fmt.Errorf("cannot build a virtual machine with firmware %q: it is neither BIOS nor UEFI", c.Firmware)
	case c.Loader != PXE && c.Loader != HTTPBoot && c.Loader != ROM:
		return fmt.Errorf("cannot build a virtual machine with loader %q: it is neither PXE, HTTPBoot nor ROM", c.Loader)
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
// Without RDRAND a guest waits minutes for its first random number, which a DHCP client needs.
func (c Config) args(i indices) []string {
	nic := fmt.Sprintf("virtio-net-pci,id=%s,netdev=n0,mac=%s,bootindex=%d", nicID, c.MAC, i.nic)
	a := []string{
		"-name", c.Name, "-accel", "tcg", "-cpu", "qemu64,+rdrand", "-m", strconv.Itoa(c.MemoryMiB), "-display", "none", "-monitor", "none",
		"-nodefaults", "-vga", "std", "-no-user-config", "-S",
		"-chardev", "file,id=s0,append=on,path=" + c.serial(), "-serial", "chardev:s0",
		"-qmp", "unix:" + c.socket() + ",server=on,wait=off",
		"-drive", "if=none,id=d0,format=raw,cache=unsafe,file=" + c.disk(),
		"-device", fmt.Sprintf("virtio-blk-pci,id=%s,drive=d0,bootindex=%d", diskID, i.disk),
		"-netdev", c.Netdev + ",id=n0",
	}
	if c.UUID != uuid.Nil {
		a = append(a, "-uuid", c.UUID.String())
	}
	if c.Serial != "" {
		a = append(a, "-smbios", "type=1,manufacturer=Simulated,product=QEMU,serial="+c.Serial)
	}
	if c.Firmware == UEFI {
		if c.Loader != ROM {
			nic += ",romfile=" // an empty name: OVMF has no other network driver than its own
		}
		a = append(a,
			"-drive", "if=pflash,format=raw,readonly=on,file="+c.code(),
			"-drive", "if=pflash,format=raw,file="+c.nvram(),
			"-fw_cfg", "name=opt/org.tianocore/IPv6PXESupport,string=no")
		if c.SecureBoot { // This OVMF keeps its variables from whoever isn't in system management mode.
			a = append(a, "-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on")
		}
		if c.Loader == HTTPBoot {
			a = append(a, "-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=no")
		}
	}
	return append(a, "-device", nic)
}
