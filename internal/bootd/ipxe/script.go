package ipxe

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// An Input is all that a script is made from.
type Input struct {
	// Plan of the machine; nil only where the answer is Hold.
	Plan *boot.Plan
	// Decision to be carried out.
	Decision boot.Decision
	// Firmware of the iPXE that asks, as FirmwareOf reads it from the request.
	Firmware boot.Firmware
	// Base URL of this bootd, as the machine reaches it: http://address:port, without a slash at its end.
	Base string
	// Installer is the base URL for what runs later, which may trust a certificate that iPXE doesn't; "": Base.
	Installer string
	// Six says that the machine came over IPv6: of its addresses it's told that one, by which it reaches what it's told.
	Six bool
	// NoAddress says that another server gives the machine an address, which needn't be the plan's.
	NoAddress bool
	// Token of the boot (boot.TokenBoot); used by Install and Live.
	Token string
	// Again is the URL of this very script, where the machine asks again. Empty: by a new DHCP exchange, for a machine whose
	// token is no good any more.
	Again string
	// Wait before it asks again; 0 means 15 s.
	Wait time.Duration
}

const defaultWait = 15 * time.Second

// Render writes the script of a decision. It fails, rather than bend it, on a plan that iPXE can't be told.
func Render(in Input) (string, error) {
	s := script{in: in}
	s.text.Grow(usual)
	s.line("#!ipxe")
	s.title()
	switch in.Decision.Answer {
	case boot.AnswerInstall, boot.AnswerLive:
		if err := s.load(); err != nil {
			return "", err
		}
	case boot.AnswerLocalDisk:
		s.localDisk()
	case boot.AnswerHold:
		s.hold()
	default:
		return "", fmt.Errorf("there is no script for answer %q", in.Decision.Answer)
	}
	return s.text.String(), nil
}

// A script on its way. iPXE has no quotation: a line is cut at white space, and nothing protects it but a whitelist.
type script struct {
	in   Input
	text strings.Builder
}

// usual is what most scripts have room in.
const usual = 1024

// line writes one. There is one script a request, and formats would take most of the time that it has.
func (s *script) line(parts ...string) {
	for _, p := range parts {
		s.text.WriteString(p)
	}
	s.text.WriteByte('\n')
}

// title says on the machine's screen whose boot this is, and what it's told.
func (s *script) title() {
	word, reason := "", safeWord(s.in.Decision.Reason)
	switch s.in.Decision.Answer {
	case boot.AnswerInstall:
		word = "install"
	case boot.AnswerLive:
		word = "live"
	case boot.AnswerLocalDisk:
		word = "local disk"
	case boot.AnswerHold:
		word = "hold"
	}
	if s.in.Plan == nil {
		s.line("echo ", word, ": ", reason)
		return
	}
	s.line("echo ", safeWord(s.in.Plan.Entry.Namespace), "/", safeWord(s.in.Plan.Entry.Name), ": ", word, ": ", reason)
}

// load gets the plan onto the machine.
func (s *script) load() error {
	if s.in.Plan == nil {
		return fmt.Errorf("there is no plan to %s", s.in.Decision.Answer)
	}
	switch s.in.Plan.Method {
	case boot.MethodScript:
		return s.custom()
	case boot.MethodISO:
		return s.iso()
	case boot.MethodDiskImage, boot.MethodInstaller, boot.MethodKernel:
	}
	return s.kernel()
}

// kernel boots the plan's kernel. A boot that fails asks again from the start, so that it's decided anew; but a kernel that
// destroys by itself has used its grant up with this script, and is tried again in place.
func (s *script) kernel() error {
	p := s.in.Plan
	files, ok := p.For(s.in.Firmware.Arch)
	if !ok {
		return fmt.Errorf("the plan of %s has no files for architecture %q", p.Entry, s.in.Firmware.Arch)
	}
	words, err := s.commandLine(files)
	if err != nil {
		return err
	}
	s.bound()
	s.line(":start")
	s.line("imgfree")
	s.line("kernel "+bounded+" --name vmlinuz ", s.file(files.Kernel), " ", strings.Join(words, " "), " || goto failed")
	for i, a := range files.Initrds {
		s.line("initrd "+bounded+" --name ", initrdName(i), " ", s.file(a), " || goto failed")
	}
	s.line("boot || goto failed")
	s.failed("the boot failed and is tried again")
	return nil
}

// failed is where a boot goes that didn't come about: it's tried again in place by what has used its grant, and else decided anew.
func (s *script) failed(words string) {
	s.line(":failed")
	s.line("echo ", words)
	s.line("sleep ", s.seconds())
	if s.in.Plan.KernelDestroys() {
		s.line("goto start")
		return
	}
	s.exchange("failed")
}

func (s *script) file(a boot.Artifact) string { return FileURL(s.in.Base, s.in.Token, a.Digest) }

func initrdName(i int) string { return "initrd" + strconv.Itoa(i) + ".img" }

// localDisk sends the machine to its disk. Firmware differs: a BIOS is best told which disk, since what comes after a
// network boot in its order may be nothing; UEFI tries its next boot option, but only after an exit with an error. Since 2023 iPXE has a sanboot of
// UEFI's disks, too (Debian 13's does): it starts what a removable disk has, which is a shim that only restores boot options, and resets the machine.
func (s *script) localDisk() {
	how := boot.LocalBootAuto
	if s.in.Plan != nil && s.in.Plan.LocalBoot != "" {
		how = s.in.Plan.LocalBoot
	}
	switch how {
	case boot.LocalBootExit, boot.LocalBootNotFound: // The latter is told so only where it waits: IsHeld.
		s.line("iseq ${platform} efi && goto next || exit 0")
	case boot.LocalBootSanboot:
		s.line("iseq ${platform} efi && goto next || sanboot --no-describe --drive 0x80 || goto next")
	default:
		s.line("iseq ${platform} efi && goto next || goto bios")
		s.line(":bios")
		s.line("sanboot --no-describe --drive 0x80 || exit 0")
	}
	s.line(":next")
	s.line("exit 1")
}

// bounded is, in a script, the option by which iPXE gives a download up, or one that does no harm where this iPXE doesn't know it; chain asks for a script so.
const (
	bounded = "${bootd-bound}"
	chain   = "chain " + bounded + " --replace --autofree "
)

// stalled is how long a download may stand still. It's no bound of the whole: whatever comes begins it anew, so that no link is too slow. A host that went
// dark says nothing, and iPXE, which only waits, would wait for ever. It's as long as a Linux waits at most before it sends once more what was lost.
const stalled = 2 * time.Minute

// bound finds out, without asking anybody, whether this iPXE knows the option: whoever has ${unixtime} (of 2017) has it (of 2014), and an older one
// would take it for a mistake, and load nothing. What a setting holds is one word, whatever is in it, and never none: so there's another option in its
// place, which a later one of the same kind counts before.
func (s *script) bound() {
	s.line("set bootd-bound --name=bootd")
	s.line("isset ${unixtime} && set bootd-bound --timeout=", strconv.FormatInt(stalled.Milliseconds(), 10), " ||")
}

// patience is how often in a row a script is asked for of a server that doesn't answer.
const patience = 4

// hold makes the machine wait and ask again, for ever: it ends when the answer is another. A server that has gone isn't asked for ever:
// a new DHCP exchange finds whoever serves the machine now. The tries are written out, since old iPXEs can't count.
func (s *script) hold() {
	s.bound()
	s.line(":wait")
	for n := 1; s.in.Again != "" && n <= patience; n++ {
		s.line("sleep ", s.seconds())
		silent := "silent" + strconv.Itoa(n)
		s.line(chain, s.in.Again, " || goto ", silent)
		s.line(":", silent)
	}
	if s.in.Again == "" {
		s.line("sleep ", s.seconds())
	}
	s.exchange("wait")
}

// exchange begins again with DHCP, and goes to a label where nobody answers. A machine that may not be
// found its script says that it waits. Where the name is another server's, that fails, and it's taken as it is.
//
// It's asked by the port that it booted through, which is the one that was opened last. An iPXE that is told no port asks by all in turn, and takes the
// first that has an address: where another network's server gives one, without a file, that would be it for ever, and the file that of the last exchange.
// So where that port gets no answer, one that has an address and no file is closed again: then it's once more the one before it.
func (s *script) exchange(label string) {
	s.line("dhcp netX && goto asked_", label, " || dhcp || goto ", label)
	s.line("isset ${netX/filename} || isset ${proxydhcp/filename} || isset ${pxebs/filename} || ifclose netX ||")
	s.line(":asked_", label)
	if s.in.Plan == nil || s.in.Plan.LocalBoot == boot.LocalBootNotFound {
		s.line(chain + "${filename}&" + heldParameter + " || goto bootd_plain") // A ScriptURL has a query.
		s.line(":bootd_plain")
	}
	s.line(chain+"${filename} || goto ", label)
}

func (s *script) seconds() string {
	wait := s.in.Wait
	if wait <= 0 {
		wait = defaultWait
	}
	return strconv.Itoa(max(1, int(wait.Round(time.Second)/time.Second)))
}
