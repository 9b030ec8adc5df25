package vm

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// firmwareDir is where Debian's iPXE is.
const firmwareDir = "/usr/lib/ipxe"

// packages of Debian that virtual machines and their disk images need, each with what shows that it's there: a path, or a program
// that is looked for in PATH.
func packages() map[string]string {
	return map[string]string{
		"qemu-system-x86":    "qemu-system-x86_64",
		"seabios":            "/usr/share/seabios/bios-256k.bin",
		"ipxe":               filepath.Join(firmwareDir, "snponly.efi"),
		"ipxe-qemu":          filepath.Join(firmwareDir, "qemu", "pxe-virtio.rom"),
		"ovmf":               "/usr/share/OVMF/OVMF_CODE_4M.fd",
		"dnsmasq-base":       "dnsmasq",
		"iproute2":           "ip",
		"grub-common":        "grub-mkimage",
		"grub-pc-bin":        "/usr/lib/grub/i386-pc/boot.img",
		"grub-efi-amd64-bin": "/usr/lib/grub/x86_64-efi/moddep.lst",
	}
}

// arm64Packages are those that machines of the other architecture need, which the tests have and the demo hasn't.
func arm64Packages() map[string]string {
	return map[string]string{"qemu-system-arm": "qemu-system-aarch64", "qemu-efi-aarch64": "/usr/share/AAVMF/AAVMF_CODE.fd", "u-boot-qemu": qemu.UBootARM64}
}

// absent lists the packages, by name, whose file isn't found.
func absent(packages map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !found(packages[name]) {
			out = append(out, name)
		}
	}
	return out
}

func found(what string) bool {
	if !filepath.IsAbs(what) {
		_, err := exec.LookPath(what)
		return err == nil
	}
	_, err := os.Stat(what)
	return err == nil
}

// Missing says in one line which Debian packages this machine lacks; nil: none.
func Missing() error { return missing(packages()) }

// MissingARM64 does so for machines of the other architecture.
func MissingARM64() error { return missing(arm64Packages()) }

func missing(packages map[string]string) error {
	names := absent(packages)
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("virtual machines need Debian's %s: there is no %s", strings.Join(names, ", "), packages[names[0]])
}

// Install installs the Debian packages that are missing, and says so; where none is it does nothing. It needs root.
func Install(ctx context.Context, say func(string)) error {
	names := absent(packages())
	if len(names) == 0 {
		return nil
	}
	words := strings.Join(names, " ")
	install := append([]string{"install", "-q", "-y", "--no-install-recommends"}, names...)
	err := saying(ctx, say, "installing Debian packages: "+words, func() error {
		first := apt(ctx, install...)
		if first == nil || apt(ctx, "update", "-q") != nil {
			return first
		}
		return apt(ctx, install...) // The lists were missing or old.
	})
	if err != nil {
		return fmt.Errorf("cannot install Debian packages %s: %w; install them by hand, then try again", words, err)
	}
	if err := Missing(); err != nil {
		return fmt.Errorf("%w, though apt-get says that it's installed", err)
	}
	return nil
}

// apt runs apt-get. Its error is what it complained of. It's interrupted, never killed: it knows when it mustn't stop, and finishes then.
func apt(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...) //nolint:gosec // Our own list.
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // So that Ctrl-C doesn't reach its children.
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	return fmt.Errorf("apt-get %s: %w%s", args[0], err, complaint(string(out)))
}

// complaint is the first error among the lines that apt-get printed: the ones after it follow from it.
func complaint(out string) string {
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(line, "E: "); ok {
			return ": " + strings.Join(strings.Fields(text), " ")
		}
	}
	return ""
}

// heartbeat is how often something that takes long says that it runs.
const heartbeat = 5 * time.Second

// saying says what f does at its start, and that it still does.
func saying(ctx context.Context, say func(string), what string, f func() error) error {
	say(what)
	return beating(ctx, say, what, f)
}

// beating says every few seconds that f still runs.
func beating(ctx context.Context, say func(string), what string, f func() error) error {
	start, done := time.Now(), make(chan error, 1)
	go func() { done <- f() }()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if ctx.Err() != nil {
				return ctx.Err() // What it says of having been ended says nothing.
			}
			return err
		case <-tick.C:
			say(fmt.Sprintf("%s: %.0f s so far", what, time.Since(start).Seconds()))
		}
	}
}
