package dhcp

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// A Client says which program of a machine speaks.
type Client string

// Values of Client.
const (
	// ClientPXE is a network ROM, or UEFI's PXE client, that loads its first stage by TFTP.
	ClientPXE Client = "PXE"
	// ClientHTTP is UEFI HTTP Boot.
	ClientHTTP Client = "HTTPBoot"
	// ClientIPXE is an iPXE that can fetch its script by HTTP.
	ClientIPXE Client = "iPXE"
	// ClientOther is firmware that we have no first stage for: U-Boot, IA32, RISC-V.
	ClientOther Client = "Other"
	// ClientOS is an operating system: nothing in its packet speaks of a network boot.
	ClientOS Client = "OS"
)

// Netboots says whether the client is part of a network boot rather than a system that runs.
func (c Client) Netboots() bool { return c != ClientOS }

// A Relay is what a relay agent added to a request. Nothing of it may be believed before Segment.TrustsRelay.
type Relay struct {
	// Address is giaddr; invalid for a request that came directly.
	Address netip.Addr
	// Link is the link selection sub-option (82.5, RFC 3527); invalid where there is none.
	Link netip.Addr
	// ServerID is the server identifier override (82.11, RFC 5107); invalid where there is none.
	ServerID netip.Addr
	// SourcePort says that the relay wants its answer at the port it sent from (82.19, RFC 8357 §4).
	SourcePort bool
	// Circuit and Remote are the agent circuit id and the agent remote id (82.1 and 82.2, RFC 3046 §3), the relay's own words or numbers for the
	// port that it heard the client at; empty where there are none.
	Circuit, Remote []byte
}

// Facts are what a request says, in our words.
type Facts struct {
	Type wire.Type
	// MAC is empty where the hardware address isn't a unicast one of six octets.
	MAC    boot.MAC
	Client Client
	// Firmware is read from option 93, or else from option 60; Arch is the number it was read from.
	Firmware boot.Firmware
	Arch     uint16
	// MachineID is option 97 (RFC 4578 §2.3) in wire order, where it holds one UUID that isn't all zeros or ones. Firmware
	// puts placeholders there, so that it's a check and never a key.
	MachineID []byte
	Relay     Relay
	// UBoot says that its firmware is U-Boot, also where it says that it's UEFI.
	UBoot bool
	// Server is option 54, Requested option 50 and Address ciaddr; invalid where absent.
	Server    netip.Addr
	Requested netip.Addr
	Address   netip.Addr
}

// Classify reads a request. It never fails: what can't be read is absent. The facts are good as long as the message.
func Classify(m *wire.Message) Facts { return classify(m, nil) }

// classify is Classify by a memory of hardware addresses.
func classify(m *wire.Message, known *macs) Facts {
	f := Facts{
		Type:      m.Type(),
		MAC:       known.of(m.Hardware()),
		MachineID: machineID(m.Get(wire.OptionMachineID)),
		Relay:     relayOf(m),
		Server:    m.Address(wire.OptionServer),
		Requested: m.Address(wire.OptionRequestedAddress),
		Address:   m.Client(),
	}
	f.Arch, f.Firmware = firmwareOf(m)
	f.UBoot = string(m.Get(wire.OptionInterfaceID)) == uBootInterface
	f.Client = clientOf(m, f.Firmware)
	if f.isPi(m) {
		f = f.asPi()
	}
	return f
}

// macOf gives a hardware address in the plans' words; "" where it's none that a NIC has: not of six octets, a group's, all
// zeros.
func macOf(hw []byte) boot.MAC {
	const octets, digits = 6, "0123456789abcdef"
	if len(hw) != octets || hw[0]&1 != 0 || [octets]byte(hw) == ([octets]byte{}) {
		return ""
	}
	var text [3*octets - 1]byte
	for i, o := range hw {
		if i > 0 {
			text[3*i-1] = ':'
		}
		text[3*i], text[3*i+1] = digits[o>>4], digits[o&15]
	}
	return boot.MAC(text[:])
}

// clientOf tells firmware from operating systems. Whatever shows any sign of firmware isn't a system: a machine's first
// request as a system counts as a sign that it booted from its disk.
func clientOf(m *wire.Message, fw boot.Firmware) Client {
	known := fw.Kind == boot.FirmwareBIOS || fw.Kind == boot.FirmwareUEFI
	ipxe, http := ipxeOf(m)
	switch {
	case ipxe && http:
		return ClientIPXE
	case fw.Kind == boot.FirmwareUEFIHTTP:
		return ClientHTTP
	case !ipxe && !looksLikeFirmware(m):
		return ClientOS
	case known:
		return ClientPXE
	}
	return ClientOther
}

func looksLikeFirmware(m *wire.Message) bool {
	class := m.Get(wire.OptionClass)
	// LinuxBoot's u-root, Etherboot of before gPXE and Macs' netboot say it by their class alone; of U-Boot older boards write it in lower case. A system that is made
	// with u-root says the same: it's one boot too many, where firmware taken for a system would be a disk that has booted.
	for _, prefix := range [...]string{classPXE, classHTTP, "U-Boot", "U-boot", "NVIDIA/BF/PXE", "PXE UROOT", "Etherboot", "AAPLBSDPC"} {
		if begins(class, prefix) {
			return true
		}
	}
	return m.Has(wire.OptionArchitecture) || m.Has(wire.OptionInterfaceID) || m.Has(wire.OptionMachineID)
}

func begins(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// uBootInterface is option 94 of U-Boot: UNDI 1.0, also where its option 93 and its class are those of UEFI (its "distro boot"). No other firmware was seen to say less
// than 1.2.
const uBootInterface = "\x01\x00\x00"

const (
	classPXE  = "PXEClient"
	classHTTP = "HTTPClient"
)

// firmwareOf reads option 93, which may be a list (RFC 4578 §2.1): the first value that we boot counts. Without it the
// class may tell: PXEClient:Arch:00007:UNDI:003016.
func firmwareOf(m *wire.Message) (uint16, boot.Firmware) {
	var arch uint16
	var fw boot.Firmware
	class := m.Get(wire.OptionClass)
	list := m.Get(wire.OptionArchitecture)
	if len(list) < 2 { // Two octets each.
		if n, ok := architectureOf(class); ok {
			arch, fw = n, boot.FirmwareOf(n)
		}
	}
	for ; len(list) >= 2; list = list[2:] {
		arch = binary.BigEndian.Uint16(list)
		if fw = boot.FirmwareOf(arch); fw.Kind != boot.FirmwareUnknown {
			break
		}
	}
	if fw.Kind == boot.FirmwareUEFI && begins(class, classHTTP) {
		fw.Kind = boot.FirmwareUEFIHTTP // The class decides what the firmware can load, not the number.
	}
	return arch, fw
}

// architectureOf reads the number in a class of firmware; another's class may hold anything.
func architectureOf(class []byte) (uint16, bool) {
	name, rest, ok := bytes.Cut(class, []byte(":Arch:"))
	if !ok || string(name) != classPXE && string(name) != classHTTP {
		return 0, false
	}
	digits, _, _ := strings.Cut(string(rest), ":")
	digits = strings.TrimRight(digits, "\x00")
	// Decimal by the specification; some firmware writes hexadecimal (0001b).
	for _, base := range [...]int{10, 16} {
		if n, err := strconv.ParseUint(digits, base, 16); err == nil {
			return uint16(n), true
		}
	}
	return 0, false
}

// ipxeOf says whether an iPXE speaks, and whether it can fetch a script by HTTP. iPXE says so by user class, or (NVIDIA's
// FlexBoot) only by its own option 175, which lists its features. An old ROM without HTTP is chained like any PXE ROM: what
// it is given next has HTTP, so that this happens once. So is gPXE, of which iPXE came: it has HTTP, and not what our scripts say.
func ipxeOf(m *wire.Message) (ipxe, http bool) {
	if hasUserClass(m.Get(wire.OptionUserClass), "gPXE") {
		return true, false
	}
	named := hasUserClass(m.Get(wire.OptionUserClass), "iPXE")
	tags, ok := encapsulated(m.Get(wire.OptionEtherboot))
	if !ok || tags == (tagSet{}) {
		return named, named
	}
	http = tags.has(featureHTTP)
	return named || http || tags.has(tagBusID) || tags.has(tagVersion), http
}

// Tags of iPXE's encapsulated options (src/include/ipxe/dhcp.h, features.h).
const (
	featureHTTP = 0x13
	tagBusID    = 0xb1
	tagVersion  = 0xeb
	tagEnd      = 0xff
)

// A tagSet has a bit for each tag.
type tagSet [4]uint64

func (s *tagSet) has(tag byte) bool { return s[tag>>6]&(1<<(tag&63)) != 0 }

// encapsulated gives the tags of an option that holds options; false: it doesn't hold any.
func encapsulated(b []byte) (tags tagSet, ok bool) {
	for len(b) > 0 {
		switch {
		case b[0] == 0:
			b = b[1:]
		case b[0] == tagEnd:
			return tags, true
		case len(b) < 2 || len(b) < 2+int(b[1]):
			return tagSet{}, false
		default:
			tags[b[0]>>6] |= 1 << (b[0] & 63)
			b = b[2+int(b[1]):]
		}
	}
	return tags, true
}

// hasUserClass looks into option 77, which RFC 3004 wants as a list of strings with their lengths, and which iPXE and others
// send raw: it's a list only if all lengths fit.
func hasUserClass(b []byte, class string) bool {
	found := false
	for rest := b; len(rest) > 0; {
		n := int(rest[0])
		if n == 0 || n > len(rest)-1 {
			return string(bytes.TrimRight(b, "\x00")) == class
		}
		found = found || string(rest[1:1+n]) == class
		rest = rest[1+n:]
	}
	return found
}

// Sub-options of option 82.
const (
	subCircuit    = 1  // RFC 3046
	subRemote     = 2  // RFC 3046
	subLink       = 5  // RFC 3527
	subServerID   = 11 // RFC 5107
	subSourcePort = 19 // RFC 8357
	// Cisco's own numbers of the second and third, which IOS sends unless it's told to send the standard's.
	subLinkCisco     = 150
	subServerIDCisco = 152
)

func relayOf(m *wire.Message) Relay {
	r := Relay{Address: m.Relay()}
	if !r.Address.IsValid() {
		return r // Option 82 of a client itself means nothing (RFC 3046 §2.1).
	}
	info := m.Get(wire.OptionRelayAgent)
	if _, ok := subOption(info, 0); !ok {
		return r
	}
	link, id := either(info, subLink, subLinkCisco), either(info, subServerID, subServerIDCisco)
	r.Link, r.ServerID = wire.Address(link), wire.Address(id)
	port, _ := subOption(info, subSourcePort)
	r.SourcePort = port != nil
	r.Circuit, _ = subOption(info, subCircuit)
	r.Remote, _ = subOption(info, subRemote)
	return r
}

// either gives the value of the first of two sub-options that's there.
func either(info []byte, code, other byte) []byte {
	if v, _ := subOption(info, code); v != nil {
		return v
	}
	v, _ := subOption(info, other)
	return v
}

// subOption gives the value of one sub-option, the pieces of one that comes twice joined; not nil where it's there. false:
// the option holds something else than sub-options.
func subOption(b []byte, code byte) (value []byte, ok bool) {
	for len(b) > 0 {
		switch {
		case b[0] == 0:
			b = b[1:]
			continue
		case b[0] == tagEnd:
			return value, true
		case len(b) < 2 || len(b) < 2+int(b[1]):
			return nil, false
		}
		v := b[2 : 2+int(b[1])]
		if b[0] == code {
			if value != nil {
				v = append(append([]byte{}, value...), v...)
			}
			value = v
		}
		b = b[2+int(b[1]):]
	}
	return value, true
}
