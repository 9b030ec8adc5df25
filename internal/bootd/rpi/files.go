package rpi

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var errNoPlan = errors.New("there is no plan")

// A Kind of file.
type Kind int

// Values of Kind.
const (
	// Firmware is a file of the profile's: what runs before the kernel, and what that is told of the board.
	Firmware Kind = iota + 1
	// Initrd of the kernel.
	Initrd
	// ConfigText is config.txt.
	ConfigText
	// CommandLineText is cmdline.txt, which holds the token of the boot.
	CommandLineText
	// Kernel is the plan's.
	Kernel
)

// A File is what a name means.
type File struct {
	Kind Kind
	// Name without what stands before it.
	Name string
	// Artifact that it is; none of a text.
	Artifact boot.Artifact
}

// Commits says whether giving it is the step from looking to booting: what comes with it is a token, or a kernel.
func (f File) Commits() bool { return f.Kind == CommandLineText || f.Kind == Kernel }

// Counts says whether it's of what a boot counts the bytes of: kernel and initrd, as of any other machine's.
func (f File) Counts() bool { return f.Kind == Kernel || f.Kind == Initrd }

// Begins says whether a firmware that asks for it is at its beginning: it never does so once it has its kernel.
func (f File) Begins() bool {
	return f.Kind == ConfigText || f.Name == romLoader || strings.HasPrefix(f.Name, "start")
}

// First says whether it's the first thing of the profile's or ours that a machine's firmware needs whole.
func (f File) First() bool { return f.Begins() && f.Name != romLoader }

// romLoader is what the ROM of a Pi 3 loads, and asks for without any prefix. It then begins with DHCP again.
const romLoader = "bootcode.bin"

// ROM says whether it's the ROM of a Pi 3 that asks for it.
func (f File) ROM() bool { return f.Name == romLoader }

// Find says which file of a plan is meant by a path, and what stands before its name: the prefix that the firmware was set to
// (TFTP_PREFIX), which may be anything, or nothing.
func Find(files boot.Artifacts, path string) (prefix string, f File, ok bool) {
	if files.RaspberryPi == nil {
		return "", File{}, false
	}
	const deepest = 8
	at := 0
	for range deepest {
		if f, ok := named(files, path[at:]); ok {
			return strings.TrimSuffix(path[:at], "/"), f, true
		}
		next := strings.IndexByte(path[at:], '/')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return "", File{}, false
}

func named(files boot.Artifacts, name string) (File, bool) {
	switch name {
	case configName:
		return File{Kind: ConfigText, Name: name}, true
	case commandLineName:
		return File{Kind: CommandLineText, Name: name}, true
	case kernelName:
		return File{Kind: Kernel, Name: name, Artifact: files.Kernel}, true
	}
	for i, a := range files.Initrds {
		if name == fmt.Sprintf(initrdName, i) {
			return File{Kind: Initrd, Name: name, Artifact: a}, true
		}
	}
	a, ok := files.RaspberryPi.File(name)
	return File{Kind: Firmware, Name: name, Artifact: a}, ok
}

// An Identity is what a machine may call itself in the paths that it asks for.
type Identity struct {
	MACs    []boot.MAC
	Serials []string
}

const (
	serialSize   = 4
	serialDigits = 2 * serialSize
)

// IdentityOf a machine by its MACs, by the serial number that people gave it, and by what its firmware says in option 97: the last four octets
// are the serial number's, which some send in one order and some in the other.
func IdentityOf(macs []boot.MAC, serial string, machineID []byte) Identity {
	id := Identity{MACs: macs}
	if s := strings.ToLower(serial); len(s) >= serialDigits && isSerial(s[len(s)-serialDigits:]) {
		id.Serials = append(id.Serials, s[len(s)-serialDigits:])
	}
	if n := len(machineID); n >= serialSize {
		last := slices.Clone(machineID[n-serialSize:])
		id.Serials = append(id.Serials, hex.EncodeToString(last))
		slices.Reverse(last)
		id.Serials = append(id.Serials, hex.EncodeToString(last))
	}
	return id
}

// Contradicts says whether a path's prefix names another machine: by a serial number or a MAC, as TFTP_PREFIX 0 and 2 have it. Any other
// says nothing (TFTP_PREFIX 1 is what its owner likes).
func (id Identity) Contradicts(prefix string) bool {
	for part := range strings.SplitSeq(prefix, "/") {
		part = strings.ToLower(part)
		if isSerial(part) && len(id.Serials) > 0 && !slices.Contains(id.Serials, part) {
			return true
		}
		if mac, err := boot.ParseMAC(part); err == nil && strings.Count(part, "-") == 5 && !slices.Contains(id.MACs, mac) {
			return true
		}
	}
	return false
}

func isSerial(s string) bool {
	return len(s) == serialDigits && strings.Trim(s, "0123456789abcdef") == ""
}
