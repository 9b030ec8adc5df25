package boot

import (
	"fmt"
	"strings"
)

// A MAC address, six octets, lower case with colons.
type MAC string

// ParseMAC reads a MAC written with colons, dashes, dots or nothing between its digits. Multicast
// addresses and the all-zero one are refused: no NIC has them.
func ParseMAC(s string) (MAC, error) {
	hex := strings.ToLower(strings.Map(digit, strings.TrimSpace(s)))
	if len(hex) != 12 || strings.Trim(hex, "0123456789abcdef") != "" {
		return "", fmt.Errorf("MAC %q is malformed: want six octets such as 52:54:00:00:00:01", s)
	}
	if strings.ContainsRune("13579bdf", rune(hex[1])) {
		return "", fmt.Errorf("MAC %q is a multicast address: the second digit must be even", s)
	}
	if hex == "000000000000" {
		return "", fmt.Errorf("MAC %q is all zero", s)
	}
	var b strings.Builder
	for i := 0; i < 12; i += 2 {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString(hex[i : i+2])
	}
	return MAC(b.String()), nil
}

// digit drops what stands between a MAC's digits.
func digit(r rune) rune {
	if r == ':' || r == '-' || r == '.' {
		return -1
	}
	return r
}

// Arch is a processor architecture in Go's words; "" where unknown.
type Arch string

// Values of Arch.
const (
	AMD64 Arch = "amd64"
	ARM64 Arch = "arm64"
)

// FirmwareKind says how a machine's firmware wants its first file.
type FirmwareKind string

// Values of FirmwareKind.
const (
	FirmwareUnknown FirmwareKind = ""
	FirmwareBIOS    FirmwareKind = "BIOS"
	FirmwareUEFI    FirmwareKind = "UEFI"
	// FirmwareUEFIHTTP wants a URL (UEFI 2.5 HTTP Boot).
	FirmwareUEFIHTTP FirmwareKind = "UEFIHTTP"
	// FirmwareRaspberryPi asks for its own files by TFTP. It says in option 93 that it's a BIOS.
	FirmwareRaspberryPi FirmwareKind = "RaspberryPi"
)

// Firmware is what DHCP option 93 (RFC 4578 §2.1) says of a machine.
type Firmware struct {
	Kind FirmwareKind
	Arch Arch
}

// FirmwareOf reads one value of option 93, by IANA's "Processor Architecture Types" registry. Values
// that we don't boot give FirmwareUnknown.
func FirmwareOf(arch uint16) Firmware {
	switch arch {
	case 0:
		return Firmware{FirmwareBIOS, AMD64}
	case 7, 9:
		return Firmware{FirmwareUEFI, AMD64}
	case 11:
		return Firmware{FirmwareUEFI, ARM64}
	case 16:
		return Firmware{FirmwareUEFIHTTP, AMD64}
	case 19:
		return Firmware{FirmwareUEFIHTTP, ARM64}
	}
	return Firmware{}
}

// A Name of an object in a namespace.
type Name struct {
	Namespace string
	Name      string
}

// String is namespace/name.
func (n Name) String() string { return n.Namespace + "/" + n.Name }
