package dhcp

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// A Guise is what a machine may ask as: which of its programs, on which firmware (a value of option 93).
type Guise struct {
	Client Client
	Arch   uint16
}

// Numbers of firmware (IANA, "Processor Architecture Types").
const (
	ArchBIOS          = 0
	ArchUEFIAMD64     = 7
	ArchUEFIARM64     = 11
	ArchUEFIHTTPAMD64 = 16
	ArchUEFIHTTPARM64 = 19
)

// String names a guise for people.
func (g Guise) String() string {
	on := map[uint16]string{
		ArchBIOS: "BIOS", ArchUEFIAMD64: "UEFI x64", ArchUEFIARM64: "UEFI arm64", ArchUEFIHTTPAMD64: "UEFI x64", ArchUEFIHTTPARM64: "UEFI arm64",
	}
	firmware, ok := on[g.Arch]
	if !ok {
		firmware = fmt.Sprintf("architecture %d", g.Arch)
	}
	switch g.Client {
	case ClientPi:
		return "Raspberry Pi"
	case ClientOS:
		return "its system"
	case ClientHTTP:
		return firmware + ", HTTP Boot"
	case ClientIPXE:
		return firmware + ", iPXE"
	case ClientPXE, ClientOther:
	}
	return firmware + ", PXE"
}

// foreseen is the number of an exchange that nobody began.
func foreseen() [4]byte { return [4]byte([]byte("why?")) }

// Discover writes the DISCOVER that a machine would send in a guise: by broadcast, or through a relay where one is given. link is an
// address on the link that the relay speaks for (option 82.5); invalid where that's the relay's own.
func Discover(mac boot.MAC, g Guise, relay, link netip.Addr) ([]byte, error) {
	return DiscoverBehind(mac, g, relay, link, nil)
}

// DiscoverBehind is Discover of a machine behind a port of the relay's; nil: the relay says nothing of that.
func DiscoverBehind(mac boot.MAC, g Guise, relay, link netip.Addr, port *boot.Port) ([]byte, error) {
	hw, err := hex.DecodeString(strings.ReplaceAll(string(mac), ":", ""))
	if err != nil || len(hw) != 6 {
		return nil, fmt.Errorf("MAC %q is malformed", mac)
	}
	b := wire.Ask(wire.Discover, foreseen(), [6]byte(hw), relay)
	b = wire.AppendOption(b, wire.OptionParameters, wire.OptionMask, wire.OptionRouter, wire.OptionDNS, wire.OptionHostname, wire.OptionDomain,
		wire.OptionMTU, wire.OptionNTP, wire.OptionVendor, wire.OptionClass, wire.OptionTFTPServer, wire.OptionBootFile)
	b = wire.AppendOption(b, wire.OptionMaxSize, linkSize>>8, linkSize&0xff)
	class := classPXE
	if g.Client == ClientHTTP {
		class = classHTTP
	}
	if g.Client == ClientPi {
		b = wire.AppendOption(b, wire.OptionMachineID, []byte("\x00RPi4\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")...)
	}
	if g.Client != ClientOS {
		b = wire.AppendOption(b, wire.OptionClass, fmt.Appendf(nil, "%s:Arch:%05d:UNDI:003016", class, g.Arch)...)
		b = wire.AppendOption(b, wire.OptionArchitecture, byte(g.Arch>>8), byte(g.Arch&0xff))
		b = wire.AppendOption(b, wire.OptionInterfaceID, 1, 3, 16)
	}
	if g.Client == ClientIPXE {
		b = wire.AppendOption(b, wire.OptionUserClass, []byte("iPXE")...)
		b = wire.AppendOption(b, wire.OptionEtherboot, featureHTTP, 1, 1)
	}
	if info := agent(link, port); relay.IsValid() && len(info) > 0 {
		b = wire.AppendOption(b, wire.OptionRelayAgent, info...)
	}
	return wire.End(b), nil
}

// agent is what a relay adds: option 82 without its header.
func agent(link netip.Addr, port *boot.Port) (info []byte) {
	add := func(code byte, v []byte) {
		if len(v) > 0 {
			info = append(append(info, code, byte(len(v))), v...) //nolint:gosec // At most 255.
		}
	}
	if port != nil {
		add(subCircuit, boot.PortBytes(port.Circuit))
		add(subRemote, boot.PortBytes(port.Remote))
	}
	if link.Is4() {
		a := link.As4()
		add(subLink, a[:])
	}
	return info
}

// Foresee says what a request would be answered, and what it asks as. It's what Respond says; nothing is sent, noted or counted. An error
// says that it isn't a request at all.
func Foresee(v View, request []byte, in Ingress) (Answer, Guise, error) {
	m := &wire.Message{}
	if err := m.Read(request); err != nil {
		return Answer{}, Guise{}, fmt.Errorf("cannot read the request: %w", err)
	}
	a := Respond(v, m, in)
	return a, Guise{a.Facts.Client, a.Facts.Arch}, nil
}
