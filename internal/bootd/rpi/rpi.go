// Package rpi renders what the firmware of a Raspberry Pi is told: its config.txt and its cmdline.txt, and which file it means by a name.
// It's pure.
package rpi

import (
	"fmt"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// An Input is all that a machine's cmdline.txt is made from.
type Input struct {
	// Plan of the machine.
	Plan *boot.Plan
	// Decision to be carried out.
	Decision boot.Decision
	// Base URL of this bootd, for what runs later: firmware has TFTP alone. Installer is another one for that, where there is one.
	Base, Installer string
	// Token of the boot (boot.TokenBoot); used by Install and Live.
	Token string
	// MAC that booted.
	MAC boot.MAC
}

// Names of what isn't a file of its profile's. The kernel's is one by which the firmware knows that it's of 64 bits.
const (
	configName      = "config.txt"
	commandLineName = "cmdline.txt"
	kernelName      = "kernel8.img"
	initrdName      = "initrd%d"
)

const (
	// maxCommandLine is what Linux on ARM64 reads (2,048 with its NUL), without room for what the firmware puts in front: some three hundred
	// characters.
	maxCommandLine = 2047 - 512
	// maxInitrds is how many characters the firmware reads of their names.
	maxInitrds = 80
)

// Config renders config.txt: the profile's lines, then ours, so that a profile can't override them; of a repeated setting the last counts. It
// holds nothing that's secret.
func Config(p *boot.Plan, d boot.Decision) (string, error) {
	files, pi, err := filesOf(p)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	linef := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	linef("# %s: %s", p.Entry, strings.ToLower(string(d.Answer)))
	for _, l := range pi.Config {
		if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r > '~' }) {
			return "", fmt.Errorf("the line %q of config in the plan of %s isn't printable ASCII", l, p.Entry)
		}
		linef("%s", l)
	}
	linef("[all]")
	linef("arm_64bit=1")
	linef("kernel=%s", kernelName)
	linef("cmdline=%s", commandLineName)
	if len(files.Initrds) > 0 {
		names := make([]string, len(files.Initrds))
		for i := range names {
			names[i] = fmt.Sprintf(initrdName, i)
		}
		all := strings.Join(names, ",")
		if len(all) > maxInitrds {
			return "", fmt.Errorf("the plan of %s has %d initrds, whose names are longer than the %d characters that a Raspberry Pi's firmware reads", p.Entry, len(names), maxInitrds)
		}
		linef("initramfs %s followkernel", all)
	}
	return b.String(), nil
}

// CommandLine renders cmdline.txt: the plan's own words, then those of ours by which an installer finds bootd, its data and its network.
func CommandLine(in Input) (string, error) {
	p := in.Plan
	files, _, err := filesOf(p)
	if err != nil {
		return "", err
	}
	var words []string
	for _, part := range p.CommandLine {
		for w := range strings.FieldsSeq(part) {
			if err := boot.CarriedByFile(w); err != nil {
				return "", fmt.Errorf("command line of %s: %w", p.Entry, err)
			}
			words = append(words, w)
		}
	}
	words = ipxe.KernelWords(ipxe.Input{Plan: p, Base: in.Base, Installer: in.Installer, Token: in.Token}, files, words, string(in.MAC))
	line := strings.Join(words, " ")
	if len(line) > maxCommandLine {
		return "", fmt.Errorf("command line of %s is %d bytes long, and with what a Raspberry Pi's firmware adds there's room for %d", p.Entry, len(line), maxCommandLine)
	}
	return line + "\n", nil
}

// Told is all that a machine would be told, for people.
func Told(in Input) (string, error) {
	if in.Plan == nil {
		return "", fmt.Errorf("there is no plan to %s", in.Decision.Answer)
	}
	title := fmt.Sprintf("# %s: %s: %s\n", in.Plan.Entry, strings.ToLower(string(in.Decision.Answer)), in.Decision.Reason)
	switch in.Decision.Answer {
	case boot.AnswerLocalDisk:
		return title + "# Each file that it asks for isn't found: it goes on with its boot order.\n", nil
	case boot.AnswerHold:
		return title + "# What it asks for isn't answered: it asks again, and goes on with its boot order when it has waited for as long as it does.\n", nil
	case boot.AnswerInstall, boot.AnswerLive:
	}
	config, err := Config(in.Plan, in.Decision)
	if err != nil {
		return "", err
	}
	words, err := CommandLine(in)
	if err != nil {
		return "", err
	}
	return title + "## " + configName + "\n" + config + "## " + commandLineName + "\n" + words, nil
}

func filesOf(p *boot.Plan) (boot.Artifacts, *boot.RaspberryPi, error) {
	if p == nil {
		return boot.Artifacts{}, nil, errNoPlan
	}
	if p.Method == boot.MethodISO {
		return boot.Artifacts{}, nil, fmt.Errorf("the plan of %s is an ISO, which a Raspberry Pi's firmware can't boot; use another method", p.Entry)
	}
	if p.Method == boot.MethodScript {
		return boot.Artifacts{}, nil, fmt.Errorf("the plan of %s is a script, which a Raspberry Pi's firmware doesn't run; use another method", p.Entry)
	}
	files, ok := p.For(boot.ARM64)
	if !ok || files.RaspberryPi == nil {
		return files, nil, fmt.Errorf("the plan of %s has no files for a Raspberry Pi: give artifacts[].raspberryPi in its profile", p.Entry)
	}
	return files, files.RaspberryPi, nil
}
