package ipxe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// userData gives the words by which a plan's system finds its user data. What only tells it to look is left out where the plan says it
// already, in its own way; given are the plan's words. That none of them says where to look is boot.Resolve's to see.
func (s *script) userData(given []string) []string {
	f := s.in.Plan.UserDataFormat
	if f == "" || f == boot.UserDataNone {
		return nil
	}
	base := CallbackURL(cmp.Or(s.in.Installer, s.in.Base), s.in.Token)
	at := base + "/user-data"
	words := []string{WordUserData + "=" + at}
	tell := func(word string, names ...string) {
		if !slices.ContainsFunc(names, func(n string) bool { return has(given, n) }) {
			words = append(words, word)
		}
	}
	switch f {
	case boot.UserDataCloudInit:
		words = append(words, noCloud(base))
	case boot.UserDataAutoinstall:
		tell("autoinstall", "autoinstall") // Without it Ubuntu's installer asks once more whether it may write.
		words = append(words, noCloud(base))
	case boot.UserDataIgnition:
		tell("ignition.firstboot", "ignition.firstboot", "flatcar.first_boot")
		tell("ignition.platform.id=metal", "ignition.platform.id", "flatcar.oem.id")
		words = append(words, "ignition.config.url="+at)
	case boot.UserDataTalos:
		tell("talos.platform=metal", "talos.platform")
		words = append(words, "talos.config="+at)
	case boot.UserDataKickstart:
		words = append(words, "inst.ks="+at)
	case boot.UserDataPreseed:
		tell("auto=true", "auto", "auto-install/enable")
		tell("priority=critical", "priority", "debconf/priority")
		tell(bootIF(s.in.Plan), "BOOTIF", "interface", "netcfg/choose_interface")
		words = append(words, "url="+at)
	}
	if s.in.Plan.SilentInstaller {
		for _, w := range boot.SilentWords(f) {
			name, _, _ := strings.Cut(w, "=")
			tell(w, name)
		}
	}
	return words
}

// bootIF names the NIC that booted as PXELINUX does, with its type of hardware before it: of several NICs Debian's installer takes the first by its name
// else, before it has any answers.
func bootIF(p *boot.Plan) string {
	if len(p.MACs) == 1 {
		return "BOOTIF=01-" + strings.ReplaceAll(string(p.MACs[0]), ":", "-")
	}
	return loaderBootIF
}

// loaderBootIF is bootIF of the NIC that iPXE has open, in its own words.
const loaderBootIF = "BOOTIF=01-${netX/mac:hexhyp}"

// noCloud names the seed of cloud-init, which appends user-data, meta-data and vendor-data by itself. Neither iPXE nor the kernel takes
// the semicolon for anything; GRUB would outside of quotes.
func noCloud(base string) string { return "ds=nocloud;s=" + base + "/" }

// has says whether one of some words has a name.
func has(words []string, name string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		n, _, _ := strings.Cut(w, "=")
		return n == name
	})
}

// keptWords are those that an installer writes into the boot loader of the system that it installs: what stands behind --- (in older ones
// --) on the command lines of Debian's and Ubuntu's. Ours come before them, since a boot's token has no place on a disk.
func keptWords(p *boot.Plan, words []string) (given, kept []string) {
	if p.UserDataFormat != boot.UserDataPreseed && p.UserDataFormat != boot.UserDataAutoinstall {
		return words, nil
	}
	i := slices.IndexFunc(words, func(w string) bool { return w == "---" || w == "--" })
	if i < 0 {
		return words, nil
	}
	return words[:i:i], words[i:]
}
