// Package pi simulates the firmware of Raspberry Pis at boot: what it asks by DHCP and by TFTP, in its order, and what it does without. It's made
// from what Raspberry Pi documents, from recorded packets and from logs of TFTP servers that people have published; no board was at hand.
package pi

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// A Model of board.
type Model int

// Values of Model.
const (
	Three Model = 3
	Four  Model = 4
	Five  Model = 5
)

// Config of a board. All are required, but Prefix and Patience.
type Config struct {
	Model Model
	MAC   net.HardwareAddr
	// Serial number, four octets as it's written.
	Serial [4]byte
	// Prefix is what it was set to put before names (TFTP_PREFIX): nil is its serial number.
	Prefix *string
	// Server is where DHCP is heard, by a relay on loopback for the link, and TFTPPort where TFTP is at the address that DHCP names.
	Server   netip.AddrPort
	Link     netip.Addr
	TFTPPort uint16
	// Patience is how long a file is waited for before its firmware goes on without; 0: 5 s. (TFTP_FILE_TIMEOUT is 30 s.)
	Patience time.Duration
}

// A Boot is how far one came.
type Boot struct {
	// Address that it was given.
	Address netip.Addr
	// Asked are the names that it asked for, in order, each with what came of it.
	Asked []string
	// Files are those that it has, by their names without prefix.
	Files map[string]string
	// Silent says that it went without an answer for longer than its patience.
	Silent bool
}

// Kernel says whether it started one, and with which words.
func (b *Boot) Kernel() (words string, started bool) {
	_, started = b.Files["kernel8.img"]
	return strings.TrimSpace(b.Files["cmdline.txt"]), started
}

// errNone is the end of a boot from the network: the next device of its order has its turn.
var errNone = errors.New("nothing to boot from the network")

// Power switches a board on, and gives its boot from the network. errors: it can't be simulated.
func Power(c Config) (*Boot, error) {
	if c.Patience == 0 {
		c.Patience = 5 * time.Second
	}
	f := &firmware{c: c, boot: &Boot{Files: map[string]string{}}}
	err := f.run()
	if errors.Is(err, errNone) {
		err = nil
	}
	return f.boot, err
}

// firmware of one boot.
type firmware struct {
	c      Config
	boot   *Boot
	server netip.AddrPort
	prefix string
}

func (f *firmware) run() error {
	f.prefix = fmt.Sprintf("%x/", f.c.Serial)
	if f.c.Prefix != nil {
		f.prefix = *f.c.Prefix
	}
	if err := f.dhcp(); err != nil {
		return err
	}
	switch f.c.Model {
	case Three:
		return f.three()
	case Four:
		return f.four()
	case Five:
		return f.five()
	}
	return fmt.Errorf("there's no Raspberry Pi %d here", f.c.Model)
}

// three is the ROM, then bootcode.bin, which begins with DHCP again, then start.elf.
func (f *firmware) three() error {
	prefix := f.prefix
	f.prefix = ""
	if !f.get("bootcode.bin") {
		return errNone
	}
	f.get("bootsig.bin")
	if err := f.dhcp(); err != nil {
		return err
	}
	f.prefix = prefix
	if !f.get("start.elf") {
		f.prefix = ""
		if !f.get("start.elf") {
			return errNone
		}
	}
	f.all("autoboot.txt", "config.txt", "recovery.elf", "start.elf", "fixup.dat", "recovery.elf", "config.txt", "config.txt", "dt-blob.bin", "recovery.elf", "config.txt",
		"bootcfg.txt")
	return f.kernel("bcm2710-rpi-3-b-plus.dtb")
}

// four is the EEPROM, which looks first whether there's anything below its prefix, then start4.elf.
func (f *firmware) four() error {
	if !f.probe("start4.elf") && !f.probe("start.elf") {
		f.prefix = ""
		if !f.probe("start4.elf") {
			return errNone
		}
	}
	f.all("config.txt", "pieeprom.sig", "recover4.elf", "recovery.elf")
	if !f.get("start4.elf") {
		return errNone
	}
	f.all("fixup4.dat", "recovery.elf", "config.txt", "dt-blob.bin", "config.txt", "bootcfg.txt")
	return f.kernel("bcm2711-rpi-4-b.dtb")
}

// five is the EEPROM, which has what start.elf is elsewhere.
func (f *firmware) five() error {
	if !f.get("config.txt") {
		f.prefix = ""
		if !f.get("config.txt") {
			return errNone
		}
	}
	f.all("pieeprom.sig", "recovery.elf", "config.txt", "boot.img")
	return f.kernel("bcm2712-rpi-5-b.dtb")
}

// kernel does what config.txt says. A real one doesn't come back from here: without a kernel it blinks and waits.
func (f *firmware) kernel(tree string) error {
	named := map[string]string{"kernel": "kernel8.img", "cmdline": "cmdline.txt"}
	var initrds, overlays []string
	for line := range strings.Lines(f.boot.Files["config.txt"]) {
		line = strings.TrimSpace(line)
		if names, ok := strings.CutPrefix(line, "initramfs "); ok {
			initrds = strings.Split(strings.Fields(names)[0], ",")
		}
		key, value, _ := strings.Cut(line, "=")
		if key == "dtoverlay" {
			overlays = append(overlays, "overlays/"+value+".dtbo")
		}
		named[key] = value
	}
	f.all(initrds...)
	f.all(tree, tree, "overlays/overlay_map.dtb", "config.txt")
	f.all(overlays...)
	f.all(named["cmdline"], named["cmdline"], "armstub8-gic.bin")
	f.probe(named["kernel"])
	f.get(named["kernel"])
	return nil
}

func (f *firmware) all(names ...string) {
	for _, n := range names {
		f.get(n)
	}
}
