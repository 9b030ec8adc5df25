package ipxe

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// custom is a script of the profile's own. Its grant is used up, and it isn't given again: what comes to its end asks DHCP anew, by which a
// machine is told what it is by then.
func (s *script) custom() error {
	p := s.in.Plan
	if p.Script == "" {
		return fmt.Errorf("the profile of %s has no scriptTemplate, which this machine's iPXE needs; give one, or set its host's firstStage to Shim", p.Entry)
	}
	files, ok := p.For(s.in.Firmware.Arch)
	if !ok {
		return fmt.Errorf("the plan of %s has no files for architecture %q", p.Entry, s.in.Firmware.Arch)
	}
	words, err := s.commandLine(files)
	if err != nil {
		return err
	}
	callback := CallbackURL(cmp.Or(s.in.Installer, s.in.Base), s.in.Token)
	ours := map[string]string{
		boot.ValueKernel: s.file(files.Kernel), boot.ValueCommandLine: strings.Join(words, " "), boot.ValueCallback: callback,
		boot.ValueUserData: callback + "/user-data", boot.ValueServer: s.in.Base, boot.ValueWait: s.seconds(),
	}
	for i, a := range files.Initrds {
		ours[boot.ValueInitrd(i)] = s.file(a)
	}
	text, err := boot.FillScript(p.Script, p.ScriptValues(s.in.Firmware.Arch), ours)
	if err != nil {
		return fmt.Errorf("the script of %s can't be made: %w", p.Entry, err)
	}
	s.bound()
	s.text.WriteString(text)
	s.line("\n") // A last line that goes on by its backslash goes on with this one.
	s.line(":bootd_ended")
	s.line("echo the script has ended; its grant is used")
	s.line("sleep ", s.seconds())
	s.exchange("bootd_ended")
	return nil
}
