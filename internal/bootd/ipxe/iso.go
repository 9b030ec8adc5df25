package ipxe

import "fmt"

// isoDrive is the first disk, as a BIOS counts them: what the machine has itself comes after it for as long as the ISO's loader reads by the BIOS.
const isoDrive = "--no-describe --drive 0x80"

// iso boots an ISO as a disk that iPXE reads by HTTP. To hook it runs nothing of it, and is tried again in place. What ran once isn't run again: it may have
// written to the disk before it gave up, so that the machine asks DHCP anew, by which it's told what it is by then.
func (s *script) iso() error {
	p := s.in.Plan
	files, ok := p.For(s.in.Firmware.Arch)
	if !ok || files.ISO == nil {
		return fmt.Errorf("the plan of %s has no ISO for architecture %q", p.Entry, s.in.Firmware.Arch)
	}
	s.bound()
	s.line(":start")
	s.line("sanhook ", isoDrive, " ", ISOURL(s.in.Base, s.in.Token), " || goto failed")
	s.line("sanboot ", isoDrive, " || goto ended")
	s.line(":ended")
	s.line("echo the ISO has ended, or it can't be booted here")
	s.line("sanunhook --drive 0x80 ||")
	s.line("sleep ", s.seconds())
	s.exchange("ended")
	s.failed("the ISO can't be read, and is tried again")
	return nil
}
