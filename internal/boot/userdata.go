package boot

import (
	"fmt"
	"slices"
	"strings"
)

// What a machine expects its user data to be: values of Plan.UserDataFormat, "" being None.
const (
	UserDataNone        = "None"
	UserDataCloudInit   = "CloudInit"
	UserDataIgnition    = "Ignition"
	UserDataTalos       = "Talos"
	UserDataKickstart   = "Kickstart"
	UserDataPreseed     = "Preseed"
	UserDataAutoinstall = "Autoinstall"
)

// AnsweredBy says whether a format's user data answers an installer's questions: without any, nothing is done.
func AnsweredBy(format string) bool { return len(reservedFor(format).ours) > 0 }

// AsksLater says whether what an install leaves on the disk may be the one that asks for its data, by its URL, once the install was reported: a
// system of cloud-init's that a kernel or a script of somebody's own has put there. An installer of disk images writes the data onto
// the disk itself, and one that is answered has no more questions.
func (p *Plan) AsksLater() bool { return p.Method != MethodDiskImage && !AnsweredBy(p.UserDataFormat) }

// reserved are words that a profile may not put on its kernel's command line. Each is the name of a word, what stands before its "=";
// one that ends with a dot or a slash stands for all that begin so.
type reserved struct {
	// ours are those that bootd gives: of a repeated word some systems take the first, others the last.
	ours []string
	// alone are those by which a kernel writes to a disk before it has asked for its user data, or with other answers than these.
	alone []string
}

func reservedFor(format string) reserved {
	var r reserved
	switch format {
	case UserDataIgnition:
		// https://coreos.github.io/ignition/, https://coreos.github.io/coreos-installer/customizing-install/
		r = reserved{ours: []string{"ignition.config.url"}, alone: []string{"coreos.inst."}}
	case UserDataTalos:
		// https://www.talos.dev/latest/reference/kernel/
		r = reserved{ours: []string{"talos.config", "talos.config."}, alone: []string{"talos.experimental.wipe"}}
	case UserDataKickstart:
		// https://anaconda-installer.readthedocs.io/en/latest/boot-options.html
		r = reserved{ours: []string{"inst.ks", "inst.ks.", "ks"}}
	case UserDataPreseed:
		// https://www.debian.org/releases/stable/amd64/apbs02.en.html
		r = reserved{ours: []string{"url", "preseed/url"}, alone: []string{"file", "preseed/"}}
	case UserDataAutoinstall:
		// https://canonical-subiquity.readthedocs-hosted.com/en/latest/tutorial/providing-autoinstall.html
		r = reserved{ours: []string{"ds"}, alone: []string{"subiquity.autoinstallpath", "cloud-config-url"}}
	default:
		return reserved{}
	}
	r.ours = append(r.ours, "baremetal.")
	return r
}

// checkWords says which word of a command line bootd can't let through with the profile's format and method; nil: none.
func checkWords(p Profile, words []string) *Problem {
	r := reservedFor(p.UserDataFormat)
	if all := strings.Join(words, " "); strings.Count(all, `"`)%2 != 0 {
		return &Problem{ProblemInvalid, fmt.Sprintf(
			"the command line that BootProfile %s makes has a double quote that isn't closed, and to a kernel all that follows is of that word, with what bootd adds: %s; close it", p.Name, all)}
	}
	for _, part := range words {
		for word := range strings.FieldsSeq(part) {
			switch {
			case names(r.ours, word):
				return &Problem{ProblemInvalid, fmt.Sprintf(
					"the command line that BootProfile %s makes has the word %q, which bootd gives itself for userDataFormat %s; remove it there, or from the host's commandLine",
					p.Name, word, p.UserDataFormat)}
			case p.Method == MethodInstaller && names(r.alone, word):
				return &Problem{ProblemInvalid, fmt.Sprintf(
					"the command line that BootProfile %s makes has the word %q, by which a kernel may write to the disk before it asks for its user data; remove it, or use method Kernel, which uses the grant up with the script",
					p.Name, word)}
			case p.SilentInstaller && contradicts(SilentWords(p.UserDataFormat), word):
				return &Problem{ProblemInvalid, fmt.Sprintf(
					"the command line that BootProfile %s makes has the word %q, and with installer.report None bootd gives %s: a machine that begins again must have been installed; remove it, or report: None",
					p.Name, word, strings.Join(SilentWords(p.UserDataFormat), " "))}
			}
		}
	}
	return nil
}

// SilentWords are those that an installer of a format is given which never says that it's done, so that its machine comes back to its firmware
// only after an install. Talos restarts its machine when it failed, but with panic=0, and starts what it installed by kexec, past the
// firmware, unless the kernel forbids that.
func SilentWords(format string) []string {
	if format == UserDataTalos {
		return []string{"panic=0", "sysctl.kernel.kexec_load_disabled=1"}
	}
	return nil
}

// contradicts says whether a word gives one of some words another value.
func contradicts(words []string, word string) bool {
	word = strings.Trim(word, `"'`)
	return slices.ContainsFunc(words, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		given, _, _ := strings.Cut(word, "=")
		return given == name && word != w
	})
}

var quotes = strings.NewReplacer(`"`, "", "'", "") //nolint:gochecknoglobals // It's asked of each word.

// names says whether one of some reserved words is meant by a word.
func names(reserved []string, word string) bool {
	name, _, _ := strings.Cut(quotes.Replace(word), "=")
	return slices.ContainsFunc(reserved, func(r string) bool {
		return name == r || strings.HasSuffix(r, ".") && strings.HasPrefix(name, r) || strings.HasSuffix(r, "/") && strings.HasPrefix(name, r)
	})
}
