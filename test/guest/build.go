package guest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// File is a file that a machine downloads.
type File struct {
	Path   string
	Digest string // "sha256:…"
	Size   int64
}

// Artifacts are what a BootProfile of the tests names.
type Artifacts struct {
	Kernel, Initrd, Image File
}

// Builder builds Artifacts.
type Builder struct {
	// Cache is a directory that survives; the kernel package is kept there.
	Cache string
	// Out is where the artifacts are written, and what they are made of; nobody else may build there at the same time.
	Out string
	// Arch is the machines' architecture; empty: amd64.
	Arch string
	// GRUB is where GRUB's images are; empty: /usr/lib/grub.
	GRUB string
	// CommandLine is added to the installed system's kernel.
	CommandLine string
	// Signed is where Debian's signed shim and grub are, which the disk has beside its own loader; empty: it has that alone.
	Signed string
}

// DiskLoader is what the signed grub of a disk says. It finds what it's to do beside itself alone, on the disk that it was told it's from.
const DiskLoader = "GUEST loader of this disk"

// CommandLine is what Debian's kernel needs under QEMU's TCG, with its console on the serial port; CommandLineARM64 is that of the other architecture.
const (
	CommandLine      = "console=ttyS0 no_timer_check clocksource=hpet tsc=unstable panic=5"
	CommandLineARM64 = "console=ttyAMA0 panic=5"
)

// initProgram is the package of process 1.
const initProgram = "github.com/crossplane-contrib/provider-baremetal/test/guest/init"

// Fetch gets whatever Build takes from the network, into caches, so that Build can do without one.
func (b Builder) Fetch(ctx context.Context) error {
	if _, err := b.kernel(ctx); err != nil {
		return err
	}
	return run(b.forGuest(exec.CommandContext(ctx, "go", "list", "-export", "-trimpath", "-buildvcs=false", initProgram)))
}

// forGuest lets go build for the machine.
func (b Builder) forGuest(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+b.arch())
	return cmd
}

func (b Builder) arch() string {
	if b.Arch == "" {
		return AMD64
	}
	return b.Arch
}

func (b Builder) debian() Debian { return Debian{Arch: b.arch(), Cache: b.Cache} }

// Build makes the artifacts. Its errors name the Debian package that is missing where that is the reason.
func (b Builder) Build(ctx context.Context) (Artifacts, error) {
	kernel, err := b.kernel(ctx)
	if err != nil {
		return Artifacts{}, err
	}
	if err := os.MkdirAll(b.Out, 0o750); err != nil {
		return Artifacts{}, fmt.Errorf("cannot build into %q: %w", b.Out, err)
	}
	initrd, err := b.initrd(ctx, kernel)
	if err != nil {
		return Artifacts{}, err
	}
	vmlinuz, err := os.ReadFile(kernel.vmlinuz)
	if err != nil {
		return Artifacts{}, fmt.Errorf("cannot read the kernel: %w", err)
	}
	if b.arch() == ARM64 { // Debian's isn't compressed, and comes by a block of TFTP's at a time. Grub unpacks it.
		if vmlinuz, err = compressed(vmlinuz); err != nil {
			return Artifacts{}, err
		}
	}
	image, err := b.image(ctx, vmlinuz, initrd)
	if err != nil {
		return Artifacts{}, err
	}
	var a Artifacts
	for _, f := range []struct {
		name string
		data []byte
		to   *File
	}{{"vmlinuz", vmlinuz, &a.Kernel}, {"initrd.img", initrd, &a.Initrd}, {"disk.img", image, &a.Image}} {
		if *f.to, err = b.write(f.name, f.data); err != nil {
			return Artifacts{}, err
		}
	}
	return a, nil
}

func (b Builder) write(name string, data []byte) (File, error) {
	sum := sha256.Sum256(data)
	f := File{
		Path: filepath.Join(b.Out, name), Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(data)),
	}
	if err := os.WriteFile(f.Path, data, 0o600); err != nil {
		return File{}, fmt.Errorf("cannot write %s: %w", name, err)
	}
	return f, nil
}

// modules are the drivers that a machine under QEMU needs, in the order in which they depend on each other.
func modules() []string {
	return []string{
		"virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci",
		"failover", "net_failover", "virtio_net", "virtio_blk", "button", "evdev",
	}
}

// initrd compiles the init program and packs it with its drivers.
func (b Builder) initrd(ctx context.Context, k kernel) ([]byte, error) {
	program := filepath.Join(b.Out, "init")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, initProgram) //nolint:gosec // our own folder
	if err := run(b.forGuest(cmd)); err != nil {
		return nil, err
	}
	files := map[string]string{"init": program}
	order := []string{"init"}
	var list strings.Builder
	for _, m := range modules() {
		path, ok := k.modules[m+".ko"]
		if !ok && m == "button" && b.arch() == ARM64 {
			continue // That kernel has it built in.
		}
		if !ok {
			return nil, fmt.Errorf("kernel %s has no module %q", k.version, m)
		}
		files["lib/modules/"+m+".ko"] = path
		order = append(order, "lib/modules/"+m+".ko")
		fmt.Fprintf(&list, "/lib/modules/%s.ko\n", m)
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("cannot compress the initramfs: %w", err)
	}
	a := NewArchive(z)
	for _, name := range order {
		data, err := os.ReadFile(files[name])
		if err != nil {
			return nil, fmt.Errorf("cannot pack %s: %w", name, err)
		}
		a.File(name, data)
	}
	a.File("modules.list", []byte(list.String()))
	if err := a.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("cannot compress the initramfs: %w", err)
	}
	return out.Bytes(), nil
}

func compressed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("cannot compress: %w", err)
	}
	if _, err := z.Write(data); err != nil {
		return nil, fmt.Errorf("cannot compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("cannot compress: %w", err)
	}
	return out.Bytes(), nil
}

// image makes the disk that an installation writes.
func (b Builder) image(ctx context.Context, vmlinuz, initrd []byte) ([]byte, error) {
	files := map[string][]byte{"VMLINUZ": vmlinuz, "INITRD.IMG": initrd}
	var boot, core []byte
	var err error
	if b.arch() == ARM64 { // It has no BIOS.
		boot, core = make([]byte, bootCodeSize), make([]byte, sectorSize)
		if files["EFI/BOOT/BOOTAA64.EFI"], err = b.grub(ctx, "arm64-efi", b.config(), "part_gpt", "fat", "search_fs_file", "gzio", "linux", "boot"); err != nil {
			return nil, err
		}
	} else if boot, core, err = b.bios(ctx, files); err != nil {
		return nil, err
	}
	if err := b.signed(files); err != nil {
		return nil, err
	}
	esp, err := FAT16(SizeFAT16(files), "BAREMETAL", files)
	if err != nil {
		return nil, err
	}
	return DiskImage(boot, core, esp)
}

// signed adds what Debian's installer puts on a disk: shim, grub and its configuration, in a folder of their own.
func (b Builder) signed(files map[string][]byte) error {
	if b.Signed == "" {
		return nil
	}
	const dir = "EFI/DEBIAN/"
	suffix, platform := "x64", "x86_64-efi-signed"
	if b.arch() == ARM64 {
		suffix, platform = "aa64", "arm64-efi-signed"
	}
	for from, to := range map[string]string{"shim/shim": "SHIM", "grub/" + platform + "/grub": "GRUB"} {
		data, err := os.ReadFile(filepath.Join(b.Signed, from+suffix+".efi.signed"))
		if err != nil {
			return fmt.Errorf("cannot put a signed loader onto a disk: %w", err)
		}
		files[dir+to+strings.ToUpper(suffix)+".EFI"] = data
	}
	files[dir+"GRUB.CFG"] = []byte("echo '" + DiskLoader + "'\n" + b.config())
	return nil
}

// bios makes what a BIOS starts, and adds what UEFI does.
func (b Builder) bios(ctx context.Context, files map[string][]byte) (boot, core []byte, err error) {
	if core, err = b.grub(ctx, "i386-pc", b.config(), "biosdisk", "part_gpt", "fat", "search_fs_file", "linux", "boot"); err != nil {
		return nil, nil, err
	}
	if files["EFI/BOOT/BOOTX64.EFI"], err = b.grub(ctx, "x86_64-efi", b.config(), "part_gpt", "fat", "search_fs_file", "linux", "boot"); err != nil {
		return nil, nil, err
	}
	if boot, err = os.ReadFile(filepath.Join(b.grubDir(), "i386-pc", "boot.img")); err != nil {
		return nil, nil, fmt.Errorf("GRUB's boot.img is missing (Debian package grub-pc-bin): %w", err)
	}
	return boot, core, nil
}

// config is GRUB's whole program. It runs before any module of a file system that isn't built in would be needed.
func (b Builder) config() string {
	line := CommandLine
	if b.arch() == ARM64 {
		line = CommandLineARM64
	}
	return "search.file /INITRD.IMG root\n" +
		"linux /VMLINUZ " + strings.TrimSpace(line+" "+b.CommandLine) + " baremetal.role=disk\n" +
		"initrd /INITRD.IMG\nboot\n"
}

func (b Builder) grubDir() string {
	if b.GRUB == "" {
		return "/usr/lib/grub"
	}
	return b.GRUB
}

// grub makes GRUB's image for one platform, with modules and program inside.
func (b Builder) grub(ctx context.Context, platform, program string, mods ...string) ([]byte, error) {
	config, out := filepath.Join(b.Out, platform+".cfg"), filepath.Join(b.Out, platform+".img")
	if err := os.WriteFile(config, []byte(program), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write GRUB's configuration: %w", err)
	}
	args := []string{
		"-d", filepath.Join(b.grubDir(), platform), "-O", platform, "-o", out, "-p", "/", "-c", config,
	}
	cmd := exec.CommandContext(ctx, "grub-mkimage", append(args, mods...)...) //nolint:gosec // our own folder
	if err := run(cmd); err != nil {
		return nil, fmt.Errorf("GRUB for %s (Debian packages grub-common, grub-pc-bin, grub-efi-amd64-bin): %w", platform, err)
	}
	image, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("cannot read GRUB's image: %w", err)
	}
	return image, nil
}

// run runs a command; its error holds what it printed.
func run(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, bytes.TrimSpace(out))
	}
	return nil
}
