package dhcp6

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

// Facts are what a request says, in our words.
type Facts struct {
	Type wire.Type
	// Link is the MAC of the NIC that sent the request, as its relay says (RFC 6939) or as its link-local address holds it (RFC 4291,
	// appendix A); "" where nothing says it: a system may well make its addresses of other things.
	Link boot.MAC
	// ID is the client's DUID, Named the MAC in it where there's one (DUID-LLT, DUID-LL): that of any of the machine's NICs, for good.
	ID    []byte
	Named boot.MAC
	// Client, Firmware and Arch (option 61) are as those of DHCPv4.
	Client   dhcp.Client
	Firmware boot.Firmware
	Arch     uint16
	// Server is the DUID of the server that's meant; nil: whichever.
	Server []byte
	// Rapid says that two messages are enough for the client (option 14).
	Rapid bool
}

// MaxDUID is how many octets a DUID has at most, with its type (RFC 8415 §11.1).
const MaxDUID = 130

// Sizes of a DUID that is told from others.
const leastID, mostID = 3, MaxDUID

// Types of DUIDs (RFC 8415 §11.2 and 11.4), and what hardware they're of: Ethernet.
const (
	duidLLT, duidLL = 1, 3
	ethernet        = 1
	macSize         = 6
)

// Classify reads a request that came from an address. It never fails: what can't be read is absent. The facts are good as long as the
// message.
func Classify(m *wire.Message, from netip.Addr) Facts {
	f := Facts{Type: m.Type, Rapid: m.Options.Has(wire.OptionRapidCommit)}
	if id, ok := m.Options.Get(wire.OptionClientID); ok && len(id) >= leastID && len(id) <= mostID {
		f.ID, f.Named = id, named(id)
	}
	if id, ok := m.Options.Get(wire.OptionServerID); ok {
		f.Server = append([]byte{}, id...) // Not nil, be it empty: a server is meant.
	}
	f.Link = linkOf(m, from)
	f.Arch, f.Firmware = firmwareOf(m)
	f.Client = clientOf(m, f.Firmware)
	return f
}

// named gives the MAC in a DUID.
func named(id []byte) boot.MAC {
	const kind, time = 2, 4 // What comes before: the DUID's type, that of the hardware, and in the first a time.
	switch {
	case len(id) == kind+2+time+macSize && binary.BigEndian.Uint16(id) == duidLLT:
		return ethernetMAC(binary.BigEndian.Uint16(id[kind:]), id[kind+2+time:])
	case len(id) == kind+2+macSize && binary.BigEndian.Uint16(id) == duidLL:
		return ethernetMAC(binary.BigEndian.Uint16(id[kind:]), id[kind+2:])
	}
	return ""
}

func ethernetMAC(hardware uint16, b []byte) boot.MAC {
	if hardware != ethernet || len(b) != macSize {
		return ""
	}
	return macOf([macSize]byte(b))
}

// macOf writes a MAC; "" for one that no NIC has.
func macOf(b [macSize]byte) boot.MAC {
	const digits = "0123456789abcdef"
	if b[0]&1 != 0 || b == ([macSize]byte{}) {
		return ""
	}
	var text [3*macSize - 1]byte
	for i, o := range b {
		if i > 0 {
			text[3*i-1] = ':'
		}
		text[3*i], text[3*i+1] = digits[o>>4], digits[o&15]
	}
	return boot.MAC(text[:])
}

// linkOf gives the MAC of the NIC that sent a request: that which the client's own relay says, or else that in its link-local address. Whether
// that relay may say so is the segment's to say.
func linkOf(m *wire.Message, from netip.Addr) boot.MAC {
	if len(m.Relays) > 0 {
		return linkSaid(m.Relays[len(m.Relays)-1])
	}
	return inAddress(from)
}

// linkSaid gives the MAC of whom a relay has its message from.
func linkSaid(r wire.Relay) boot.MAC {
	if v, ok := r.Options.Get(wire.OptionLinkLayer); ok && len(v) > 2 {
		return ethernetMAC(binary.BigEndian.Uint16(v), v[2:])
	}
	return inAddress(r.Peer)
}

// inAddress gives the MAC that an interface identifier was made of (modified EUI-64); "" where it's none of that kind.
func inAddress(a netip.Addr) boot.MAC {
	if !a.Is6() || !a.IsLinkLocalUnicast() {
		return ""
	}
	b := a.As16()
	if b[11] != 0xff || b[12] != 0xfe {
		return ""
	}
	return macOf([macSize]byte{b[8] ^ 2, b[9], b[10], b[13], b[14], b[15]})
}

const (
	classPXE  = "PXEClient"
	classHTTP = "HTTPClient"
	classIPXE = "iPXE"
)

// clientOf tells firmware from operating systems. Whatever shows any sign of firmware isn't a system, as in DHCPv4.
func clientOf(m *wire.Message, fw boot.Firmware) dhcp.Client {
	class := classOf(m)
	firmware := strings.HasPrefix(class, classPXE) || strings.HasPrefix(class, classHTTP) ||
		m.Options.Has(wire.OptionArchitecture) || m.Options.Has(wire.OptionNII)
	switch {
	case hasUserClass(m, classIPXE):
		return dhcp.ClientIPXE
	case fw.Kind == boot.FirmwareUEFIHTTP:
		return dhcp.ClientHTTP
	case !firmware:
		return dhcp.ClientOS
	case fw.Kind == boot.FirmwareBIOS || fw.Kind == boot.FirmwareUEFI:
		return dhcp.ClientPXE
	}
	return dhcp.ClientOther
}

// classOf is the first text of option 16; "" where there's none.
func classOf(m *wire.Message) string {
	v, ok := m.Options.Get(wire.OptionVendorClass)
	const enterprise = 4
	if !ok || len(v) < enterprise+2 {
		return ""
	}
	v = v[enterprise:]
	n := int(binary.BigEndian.Uint16(v))
	if v = v[2:]; n < len(v) {
		v = v[:n]
	}
	return string(v)
}

// hasUserClass looks into option 15, which RFC 8415 §21.15 wants as a list of texts with their lengths, and which some send raw.
func hasUserClass(m *wire.Message, class string) bool {
	v, ok := m.Options.Get(wire.OptionUserClass)
	if !ok {
		return false
	}
	found := false
	for rest := v; len(rest) > 0; {
		n := 0
		if len(rest) >= 2 {
			n = int(binary.BigEndian.Uint16(rest))
		}
		if n == 0 || n > len(rest)-2 {
			return string(bytes.TrimRight(v, "\x00")) == class
		}
		found = found || string(rest[2:2+n]) == class
		rest = rest[2+n:]
	}
	return found
}

// firmwareOf reads option 61, a list of which the first value that we boot counts, or else the class: PXEClient:Arch:00007:UNDI:003016.
func firmwareOf(m *wire.Message) (arch uint16, fw boot.Firmware) {
	class := classOf(m)
	list, _ := m.Options.Get(wire.OptionArchitecture)
	if len(list) < 2 {
		if name, rest, ok := strings.Cut(class, ":Arch:"); ok && (name == classPXE || name == classHTTP) {
			digits, _, _ := strings.Cut(rest, ":")
			if n, err := strconv.ParseUint(strings.TrimRight(digits, "\x00"), 10, 16); err == nil {
				arch, fw = uint16(n), boot.FirmwareOf(uint16(n))
			}
		}
	}
	for ; len(list) >= 2; list = list[2:] {
		arch = binary.BigEndian.Uint16(list)
		if fw = boot.FirmwareOf(arch); fw.Kind != boot.FirmwareUnknown {
			break
		}
	}
	if fw.Kind == boot.FirmwareUEFI && strings.HasPrefix(class, classHTTP) {
		fw.Kind = boot.FirmwareUEFIHTTP // The class decides what the firmware can load, not the number.
	}
	return arch, fw
}
