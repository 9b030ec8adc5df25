package grub

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// load is what a machine boots: its kernel, or a script of its profile's own.
func (c *config) load() error {
	switch c.in.Plan.Method {
	case boot.MethodScript:
		return c.custom()
	case boot.MethodISO: // Its loopback takes a file that it can seek in, and makes no disk of it that the ISO's own loader would find.
		return fmt.Errorf("the profile of %s is an ISO, which grub can't boot over the network; set its host's firstStage to Auto, or take the ISO's kernel and initrd by another method", c.in.Plan.Entry)
	case boot.MethodDiskImage, boot.MethodInstaller, boot.MethodKernel:
	}
	return c.kernel()
}

// custom is a script of the profile's own. Its grant is used up, and it isn't given again: what comes to its end starts the machine again.
func (c *config) custom() error {
	p := c.in.Plan
	if p.GrubScript == "" {
		return fmt.Errorf("the profile of %s has no grubTemplate, which this machine's grub needs; give one, or set its host's firstStage to Auto", p.Entry)
	}
	files, ok := p.For(c.in.Arch)
	if !ok {
		return fmt.Errorf("the plan of %s has no files for architecture %q", p.Entry, c.in.Arch)
	}
	words, err := c.commandLine(files)
	if err != nil {
		return err
	}
	callback := ipxe.CallbackURL(cmp.Or(c.in.Installer, c.in.Base), c.in.Token)
	ours := map[string]string{
		boot.ValueKernel: quoted(c.file(files.Kernel)), boot.ValueCommandLine: strings.Join(words[1:], " "), boot.ValueCallback: callback,
		boot.ValueUserData: callback + "/user-data", boot.ValueServer: c.in.Server, boot.ValueWait: strconv.Itoa(c.seconds()),
	}
	for i, a := range files.Initrds {
		ours[boot.ValueInitrd(i)] = quoted(c.file(a))
	}
	text, err := boot.FillScript(p.GrubScript, p.ScriptValues(c.in.Arch), ours)
	if err != nil {
		return fmt.Errorf("the script of %s can't be made: %w", p.Entry, err)
	}
	c.text.WriteString(text)
	c.linef("\n") // A last line that goes on by its backslash goes on with this one.
	c.linef("echo %s", quoted("the script has ended; its grant is used"))
	c.linef("sleep %d", c.seconds())
	c.linef("reboot")
	return nil
}
