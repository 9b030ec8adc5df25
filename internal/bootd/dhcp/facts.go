package dhcp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
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
}

// Facts are what a request says, in our words.
type Facts struct {
	Type dhcpv4.MessageType
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
	// Server is option 54, Requested option 50 and Address ciaddr; invalid where absent.
	Server    netip.Addr
	Requested netip.Addr
	Address   netip.Addr
}

// Classify reads a request. It never fails: what can't be read is absent.
func Classify(p *dhcpv4.DHCPv4) Facts {
	f := Facts{
		Type:      p.MessageType(),
		MachineID: machineID(p.Options.Get(dhcpv4.OptionClientMachineIdentifier)),
		Relay:     relayOf(p),
		Server:    option4(p.Options, dhcpv4.OptionServerIdentifier),
		Requested: option4(p.Options, dhcpv4.OptionRequestedIPAddress),
		Address:   addressOf(p.ClientIPAddr),
	}
	if mac, err := boot.ParseMAC(p.ClientHWAddr.String()); err == nil {
		f.MAC = mac
	}
	f.Arch, f.Firmware = firmwareOf(p)
	f.Client = clientOf(p, f.Firmware)
	return f
}

// clientOf tells firmware from operating systems. Whatever shows any sign of firmware isn't a system: a machine's first
// request as a system counts as a sign that it booted from its disk.
func clientOf(p *dhcpv4.DHCPv4, fw boot.Firmware) Client {
	class := p.ClassIdentifier()
	known := fw.Kind == boot.FirmwareBIOS || fw.Kind == boot.FirmwareUEFI
	ipxe, http := ipxeOf(p)
	switch {
	case ipxe && http:
		return ClientIPXE
	case fw.Kind == boot.FirmwareUEFIHTTP:
		return ClientHTTP
	case !ipxe && !looksLikeFirmware(p, class):
		return ClientOS
	case known:
		return ClientPXE
	}
	return ClientOther
}

func looksLikeFirmware(p *dhcpv4.DHCPv4, class string) bool {
	for _, prefix := range []string{classPXE, classHTTP, "U-Boot", "NVIDIA/BF/PXE"} {
		if strings.HasPrefix(class, prefix) {
			return true
		}
	}
	return p.Options.Has(dhcpv4.OptionClientSystemArchitectureType) ||
		p.Options.Has(dhcpv4.OptionClientNetworkInterfaceIdentifier) ||
		p.Options.Has(dhcpv4.OptionClientMachineIdentifier)
}

const (
	classPXE  = "PXEClient"
	classHTTP = "HTTPClient"
)

// firmwareOf reads option 93, which may be a list (RFC 4578 §2.1): the first value that we boot counts. Without it the
// class may tell: PXEClient:Arch:00007:UNDI:003016.
func firmwareOf(p *dhcpv4.DHCPv4) (uint16, boot.Firmware) {
	var arch uint16
	var fw boot.Firmware
	for _, a := range architectures(p) {
		arch, fw = a, boot.FirmwareOf(a)
		if fw.Kind != boot.FirmwareUnknown {
			break
		}
	}
	if fw.Kind == boot.FirmwareUEFI && strings.HasPrefix(p.ClassIdentifier(), classHTTP) {
		fw.Kind = boot.FirmwareUEFIHTTP // The class decides what the firmware can load, not the number.
	}
	return arch, fw
}

func architectures(p *dhcpv4.DHCPv4) []uint16 {
	b := p.Options.Get(dhcpv4.OptionClientSystemArchitectureType)
	if len(b) >= 2 {
		out := make([]uint16, 0, len(b)/2) //nolint:mnd // Two octets each.
		for ; len(b) >= 2; b = b[2:] {
			out = append(out, binary.BigEndian.Uint16(b))
		}
		return out
	}
	parts := strings.Split(p.ClassIdentifier(), ":")
	if len(parts) < 3 || parts[1] != "Arch" {
		return nil
	}
	// Decimal by the specification; some firmware writes hexadecimal (0001b).
	for _, base := range []int{10, 16} {
		if n, err := strconv.ParseUint(parts[2], base, 16); err == nil {
			return []uint16{uint16(n)}
		}
	}
	return nil
}

// ipxeOf says whether an iPXE speaks, and whether it can fetch a script by HTTP. iPXE says so by user class, or (NVIDIA's
// FlexBoot) only by its own option 175, which lists its features. An old ROM without HTTP is chained like any PXE ROM: what
// it is given next has HTTP, so that this happens once.
func ipxeOf(p *dhcpv4.DHCPv4) (ipxe, http bool) {
	classes := userClasses(p.Options.Get(dhcpv4.OptionUserClassInformation))
	tags, ok := encapsulated(p.Options.Get(dhcpv4.OptionEtherboot))
	named := slices.Contains(classes, "iPXE")
	if !ok || len(tags) == 0 {
		return named, named
	}
	http = slices.Contains(tags, featureHTTP)
	return named || http || slices.Contains(tags, tagBusID) || slices.Contains(tags, tagVersion), http
}

// Tags of iPXE's encapsulated options (src/include/ipxe/dhcp.h, features.h).
const (
	featureHTTP = 0x13
	tagNoProxy  = 0xb0
	tagBusID    = 0xb1
	tagVersion  = 0xeb
	tagEnd      = 0xff
)

// encapsulated lists the tags of an option that holds options; false: it doesn't hold any.
func encapsulated(b []byte) ([]byte, bool) {
	var tags []byte
	for len(b) > 0 {
		switch {
		case b[0] == 0:
			b = b[1:]
		case b[0] == tagEnd:
			return tags, true
		case len(b) < 2 || len(b) < 2+int(b[1]):
			return nil, false
		default:
			tags = append(tags, b[0])
			b = b[2+int(b[1]):]
		}
	}
	return tags, true
}

// userClasses reads option 77, which RFC 3004 wants as a list of strings with their lengths, and which iPXE and others
// send raw: it's a list only if all lengths fit.
func userClasses(b []byte) []string {
	var list []string
	rest := b
	for len(rest) > 0 {
		n := int(rest[0])
		if n == 0 || n > len(rest)-1 {
			return []string{strings.TrimRight(string(b), "\x00")}
		}
		list = append(list, string(rest[1:1+n]))
		rest = rest[1+n:]
	}
	return list
}

func relayOf(p *dhcpv4.DHCPv4) Relay {
	r := Relay{Address: addressOf(p.GatewayIPAddr)}
	info := p.RelayAgentInfo()
	if !r.Address.IsValid() || info == nil {
		return r // Option 82 of a client itself means nothing (RFC 3046 §2.1).
	}
	r.Link = option4(info.Options, dhcpv4.LinkSelectionSubOption)
	r.ServerID = option4(info.Options, dhcpv4.ServerIdentifierOverrideSubOption)
	r.SourcePort = info.Has(dhcpv4.RelaySourcePortSubOption)
	return r
}

// option4 reads an option of exactly one address.
func option4(o dhcpv4.Options, code dhcpv4.OptionCode) netip.Addr {
	b := o.Get(code)
	if len(b) != net.IPv4len {
		return netip.Addr{}
	}
	return addressOf(b)
}

// addressOf gives a header's address; invalid for 0.0.0.0.
func addressOf(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	a = a.Unmap()
	if !a.Is4() || a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}
