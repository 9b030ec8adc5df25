// Package grub renders what Debian's signed grub is told: its configurations. It's pure.
package grub

import (
	"fmt"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// An Input is all that a machine's configuration is made from.
type Input struct {
	// Plan of the machine.
	Plan *boot.Plan
	// Decision to be carried out.
	Decision boot.Decision
	// Arch that grub runs on.
	Arch boot.Arch
	// Base URL of this bootd, for what runs later and has HTTP; Server its address, for grub itself, which has TFTP alone.
	Base, Server string
	// Installer is the base URL for what runs later, where it isn't Base.
	Installer string
	// NoAddress says that another server gives the machine an address, which needn't be the plan's.
	NoAddress bool
	// Token of the boot (boot.TokenBoot); used by Install and Live.
	Token string
	// Wait before it asks again; 0 means 15 s.
	Wait time.Duration
}

const (
	defaultWait = 15 * time.Second
	// maxCommandLine is COMMAND_LINE_SIZE of Linux on x86 and ARM64, without its NUL.
	maxCommandLine = 2047
	// bootImage is what grub puts in front.
	bootImage = "BOOT_IMAGE="
	// bootTries is how often one grub tries to boot a kernel. Then the machine starts again: a new DHCP exchange makes a new token, which is
	// a boot that its grant counts (boot.MaxOpens). One whose grant is used up already has more to lose by that, and tries for longer.
	bootTries, usedTries = 3, 20
)

// Render writes a machine's configuration. It fails, rather than bend it, on a plan that grub can't be told.
//
// It ends, where nothing was booted, and First asks for it again: so that every wait is decided anew, and no script of grub's has to begin
// itself again.
func Render(in Input) (string, error) {
	if in.Plan == nil {
		return "", fmt.Errorf("there is no plan to %s", in.Decision.Answer)
	}
	c := config{in: in}
	c.linef("set answered=yes")
	c.linef("echo %s", quoted(c.title()))
	var err error
	switch in.Decision.Answer {
	case boot.AnswerInstall, boot.AnswerLive:
		err = c.load()
	case boot.AnswerLocalDisk:
		c.localDisk()
	case boot.AnswerHold:
		c.linef("sleep %d", c.seconds())
		if c.final() {
			c.linef("reboot")
		}
	default:
		err = fmt.Errorf("there is no grub.cfg for answer %q", in.Decision.Answer)
	}
	if err != nil {
		return "", err
	}
	return c.text.String(), nil
}

// A config on its way. Grub takes what stands between single quotes as it is, but for another single quote.
type config struct {
	in   Input
	text strings.Builder
}

func (c *config) linef(format string, args ...any) { _, _ = fmt.Fprintf(&c.text, format+"\n", args...) }

// title says on the machine's screen whose boot this is, and what it's told.
func (c *config) title() string {
	words := map[boot.Answer]string{
		boot.AnswerInstall: "install", boot.AnswerLive: "live", boot.AnswerLocalDisk: "local disk", boot.AnswerHold: "hold",
	}
	e := c.in.Plan.Entry
	return safe(e.Namespace+"/"+e.Name) + ": " + words[c.in.Decision.Answer] + ": " + safe(c.in.Decision.Reason)
}

// final says whether a hold is the last word to this boot's token, while a new one is told something else: the token of a boot that used
// the grant, and whose kernel went out, is held; who starts again goes to the disk. A machine that waits by its plan waits with any token.
func (c *config) final() bool {
	if c.in.Decision.Reason == boot.DecidedSuperseded {
		return true
	}
	return c.in.Decision.Reason == boot.DecidedConsumed && c.in.Plan.Otherwise != boot.OtherwiseHold
}

// kernel boots the plan's kernel. Where that fails it's asked again what to boot; but a kernel that destroys by itself has used its grant
// up with this configuration, and is tried again in place. Neither goes on for ever.
func (c *config) kernel() error {
	p := c.in.Plan
	files, ok := p.For(c.in.Arch)
	if !ok {
		return fmt.Errorf("the plan of %s has no files for architecture %q", p.Entry, c.in.Arch)
	}
	words, err := c.commandLine(files)
	if err != nil {
		return err
	}
	tries := bootTries
	if p.KernelDestroys() {
		tries = usedTries
		c.linef("while true; do")
		defer c.linef("done")
	}
	c.linef("if linux %s; then", strings.Join(words, " "))
	if len(files.Initrds) > 0 {
		var initrds []string
		for _, a := range files.Initrds {
			initrds = append(initrds, quoted(c.file(a)))
		}
		c.linef("if initrd %s; then", strings.Join(initrds, " "))
		c.linef("boot")
		c.linef("fi")
	} else {
		c.linef("boot")
	}
	c.linef("fi")
	c.linef("echo %s", quoted("the boot failed and is tried again"))
	c.linef("sleep %d", c.seconds())
	c.linef(`set failed="${failed}x"`)
	c.linef(`if [ "$failed" = %s ]; then`, strings.Repeat("x", tries))
	c.linef("reboot")
	c.linef("fi")
	return nil
}

func (c *config) file(a boot.Artifact) string {
	return "(tftp," + c.in.Server + ")" + ipxe.LoaderFilePath(c.in.Token, a.Digest)
}

// commandLine gives the arguments of linux, quoted: the kernel, the plan's own words, then ours, so that a profile can't override them: of
// a repeated word the last counts.
func (c *config) commandLine(files boot.Artifacts) ([]string, error) {
	p := c.in.Plan
	var words []string
	for _, part := range p.CommandLine {
		for w := range strings.FieldsSeq(part) {
			if err := boot.CarriedByGrub(w); err != nil {
				return nil, fmt.Errorf("command line of %s: %w", p.Entry, err)
			}
			words = append(words, w)
		}
	}
	const anyMAC = "$net_default_mac" // The NIC that grub uses, in its own words.
	words = ipxe.KernelWords(ipxe.Input{Plan: p, Base: c.in.Base, Installer: c.in.Installer, Token: c.in.Token, NoAddress: c.in.NoAddress}, files, words, anyMAC)
	kernel := c.file(files.Kernel)
	if n := len(bootImage) + len(kernel) + 1 + len(strings.Join(words, " ")); n > maxCommandLine {
		return nil, fmt.Errorf("command line of %s is %d bytes long, with what grub adds, and kernels read %d", p.Entry, n, maxCommandLine)
	}
	out := []string{quoted(kernel)}
	for _, w := range words {
		if w == ipxe.WordMAC+"="+anyMAC {
			out = append(out, `"`+w+`"`)
			continue
		}
		out = append(out, quoted(w))
	}
	return out, nil
}

// localDisk starts the disk's own loader. Leaving grub by exit is a success to the firmware, and of UEFI's many a one shows its menu then
// rather than its next boot option. The loaders' names are those of the removable disk, and of what's installed by Linux's distributions.
//
// A distribution's loader comes first, on whatever disk: many a distribution's is, by the removable disk's name, a shim which does nothing but write
// boot options anew, and resets a machine that has a TPM; and that name alone is what an installer's stick or a BMC's medium has, which grub counts before
// SATA and NVMe. An ISO that was written to a stick is an ISO 9660 as a whole, and a CD is no hd (docs/adr/0089).
func (c *config) localDisk() {
	suffix := map[boot.Arch]string{boot.AMD64: "x64", boot.ARM64: "aa64"}[c.in.Arch]
	if c.in.Plan.LocalBoot != boot.LocalBootExit {
		c.linef(`set net="$root"`)
		c.loaders(loadersOf(suffix), false)
		c.loaders([]string{windows}, false)
		c.loaders([]string{"/EFI/BOOT/BOOT" + strings.ToUpper(suffix) + ".EFI"}, true)
		c.linef("echo %s", quoted("no disk has a loader that starts; the firmware goes on"))
		c.linef("sleep %d", c.seconds())
	}
	c.linef("exit")
}

// loaders starts the first of some that a disk has; not of an installer's medium, where that may have them.
func (c *config) loaders(names []string, media bool) {
	c.linef("for whole in (hd*); do")
	if media {
		c.linef("set fs=")
		c.linef(`probe --set=fs --fs "$whole"`)
		c.linef(`if [ "$fs" != iso9660 ]; then`)
	}
	c.linef(`regexp --set=1:name '^\((.*)\)$' "$whole"`)
	c.linef(`for disk in ($name,*) "$whole"; do`)
	c.chain(names)
	c.linef("done")
	if media {
		c.linef("fi")
	}
	c.linef("done")
}

// chain starts the first of some loaders that $disk has, and that starts. Debian's grub tells it that it came from $root,
// whatever disk its name says: told that it came from the network, a disk's shim finds no grub, and a disk's grub no grub.cfg.
func (c *config) chain(loaders []string) {
	c.linef("for loader in %s; do", strings.Join(loaders, " "))
	c.linef(`if [ -f "$disk$loader" ]; then`)
	c.linef(`set root="$disk"`)
	c.linef(`if chainloader "$disk$loader"; then`)
	c.linef("boot")
	c.linef("fi")
	c.linef(`set root="$net"`)
	c.linef("fi")
	c.linef("done")
}

// windows is what Windows installs beside the removable disk's name, which alone is on its installation media.
const windows = "/EFI/Microsoft/Boot/bootmgfw.efi"

// loadersOf are the loaders that distributions install, shims first: grub by itself doesn't start under Secure Boot. SUSE's have names without a
// suffix, whatever the processor, and with Secure Boot those alone are signed; its grubx64.efi is there where it was installed without.
func loadersOf(suffix string) (out []string) {
	for _, loader := range []string{"shim", "grub"} {
		for _, vendor := range vendors() {
			out = append(out, "/EFI/"+vendor+"/"+loader+suffix+".efi")
		}
		for _, vendor := range suse() {
			out = append(out, "/EFI/"+vendor+"/"+loader+".efi")
		}
	}
	return out
}

// vendors are the folders that distributions keep their loaders in.
func vendors() []string {
	return append([]string{"debian", "ubuntu", "fedora", "redhat", "centos", "rocky", "almalinux"}, suse()...)
}

func suse() []string { return []string{"opensuse", "sles", "sle"} }

func (c *config) seconds() int {
	wait := c.in.Wait
	if wait <= 0 {
		wait = defaultWait
	}
	return max(1, int(wait.Round(time.Second)/time.Second))
}

// quoted is a word as grub takes it literally. What can't be is left out: what comes here was let through by boot.CarriedByGrub, or is our own.
func quoted(s string) string {
	return "'" + strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '\'' {
			return -1
		}
		return r
	}, s) + "'"
}

// safe lets through only what a name or a reason is made of.
func safe(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_', r == ':', r == '/':
			return r
		}
		return -1
	}, s)
}
