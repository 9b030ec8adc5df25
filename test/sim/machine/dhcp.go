package machine

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"

	"github.com/google/uuid"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
)

// speaker is the program that talks DHCP with the machine's MAC; servers tell the four apart by their options.
type speaker string

const (
	speakerPXE  speaker = "pxe"  // the NIC's ROM, or OVMF's PXE client
	speakerHTTP speaker = "http" // UEFI HTTP Boot
	speakerIPXE speaker = "ipxe"
	speakerOS   speaker = "os" // what runs from disk or RAM: no option 60, 93, 94 or 97
)

const (
	optionIPXE      = dhcpv4.GenericOptionCode(175) // iPXE's encapsulated options
	maxSizeFirmware = 1472
	maxSizeOS       = 1500
)

// ipxeFeatures is option 175 as iPXE 1.0.0+git-20190125 of Debian sends it (recorded under QEMU).
func ipxeFeatures() []byte {
	return []byte{
		0xb1, 0x05, 0x01, 0x1a, 0xf4, 0x10, 0x00, 0xeb, 0x03, 0x01, 0x00, 0x00, 0x17, 0x01, 0x01, 0x22,
		0x01, 0x01, 0x13, 0x01, 0x01, 0x11, 0x01, 0x01, 0x27, 0x01, 0x01, 0x19, 0x01, 0x01, 0x29, 0x01,
		0x01, 0x10, 0x01, 0x02, 0x21, 0x01, 0x01, 0x15, 0x01, 0x01, 0x18, 0x01, 0x01, 0x12, 0x01, 0x01,
	}
}

// discover builds the DISCOVER that s broadcasts; the relay's part is added by relayed.
func (c Config) discover(s speaker, xid dhcpv4.TransactionID) (*dhcpv4.DHCPv4, error) {
	mods := []dhcpv4.Modifier{
		dhcpv4.WithTransactionID(xid),
		dhcpv4.WithHwAddr(c.MAC),
		dhcpv4.WithMessageType(dhcpv4.MessageTypeDiscover),
		dhcpv4.WithBroadcast(c.Firmware == UEFI && s != speakerIPXE && s != speakerOS),
	}
	return dhcpv4.New(append(mods, c.identity(s)...)...)
}

// request builds the REQUEST that accepts offer; everything that identifies the speaker is as in its DISCOVER.
func (c Config) request(s speaker, offer *dhcpv4.DHCPv4) (*dhcpv4.DHCPv4, error) {
	p, err := c.discover(s, offer.TransactionID)
	if err != nil {
		return nil, err
	}
	p.UpdateOption(dhcpv4.OptMessageType(dhcpv4.MessageTypeRequest))
	p.UpdateOption(dhcpv4.OptServerIdentifier(offer.ServerIdentifier()))
	p.UpdateOption(dhcpv4.OptRequestedIPAddress(offer.YourIPAddr))
	return p, nil
}

// identity returns the options by which a server knows what kind of program is asking.
func (c Config) identity(s speaker) []dhcpv4.Modifier {
	if s == speakerOS {
		// As systemd-networkd does: a DUID-based client identifier that differs from the firmware's.
		clientID := append([]byte{0xff}, c.MAC[2:]...)
		clientID = append(clientID, 0x00, 0x03, 0x00, 0x01)
		clientID = append(clientID, c.MAC...)
		return []dhcpv4.Modifier{
			dhcpv4.WithOption(dhcpv4.OptMaxMessageSize(maxSizeOS)),
			dhcpv4.WithGeneric(dhcpv4.OptionClientIdentifier, clientID),
			dhcpv4.WithRequestedOptions(dhcpv4.OptionSubnetMask, dhcpv4.OptionRouter, dhcpv4.OptionDomainNameServer,
				dhcpv4.OptionHostName, dhcpv4.OptionDomainName, dhcpv4.OptionInterfaceMTU, dhcpv4.OptionNTPServers),
		}
	}
	mods := []dhcpv4.Modifier{
		dhcpv4.WithOption(dhcpv4.OptMaxMessageSize(maxSizeFirmware)),
		dhcpv4.WithOption(dhcpv4.OptClassIdentifier(c.class(s))),
		dhcpv4.WithOption(dhcpv4.OptClientArch(c.arch(s))),
		dhcpv4.WithGeneric(dhcpv4.OptionClientNetworkInterfaceIdentifier, c.undi(s)),
		dhcpv4.WithRequestedOptions(dhcpv4.OptionSubnetMask, dhcpv4.OptionRouter, dhcpv4.OptionDomainNameServer,
			dhcpv4.OptionHostName, dhcpv4.OptionVendorSpecificInformation, dhcpv4.OptionClassIdentifier,
			dhcpv4.OptionTFTPServerName, dhcpv4.OptionBootfileName),
	}
	if c.UUID != uuid.Nil {
		mods = append(mods, dhcpv4.WithGeneric(dhcpv4.OptionClientMachineIdentifier, append([]byte{0}, smbiosBytes(c.UUID)...)))
	}
	if s == speakerIPXE {
		mods = append(mods,
			dhcpv4.WithUserClass("iPXE", false), // raw, not RFC 3004
			dhcpv4.WithGeneric(optionIPXE, ipxeFeatures()),
			dhcpv4.WithGeneric(dhcpv4.OptionClientIdentifier, append([]byte{1}, c.MAC...)))
	}
	return mods
}

func (c Config) arch(s speaker) iana.Arch {
	switch {
	case s == speakerHTTP:
		return iana.EFI_X86_64_HTTP
	case c.Firmware == UEFI:
		return iana.EFI_X86_64 // 7, as OVMF sends; RFC 4578 prints 9, its errata swap them
	default:
		return iana.INTEL_X86PC
	}
}

// undi is option 94: type 1, then the version of the network driver interface as OVMF, iPXE and BIOS ROMs say it.
func (c Config) undi(s speaker) []byte {
	switch {
	case c.Firmware == UEFI && s == speakerIPXE:
		return []byte{1, 3, 10} //nolint:mnd // recorded
	case c.Firmware == UEFI:
		return []byte{1, 3, 0}
	default:
		return []byte{1, 2, 1}
	}
}

func (c Config) class(s speaker) string {
	name := "PXEClient"
	if s == speakerHTTP {
		name = "HTTPClient"
	}
	u := c.undi(s)
	return fmt.Sprintf("%s:Arch:%05d:UNDI:%03d%03d", name, uint16(c.arch(s)), u[1], u[2])
}

// smbiosBytes returns u as SMBIOS ≥ 2.6 stores it: the first three fields little-endian. Firmware sends these bytes.
func smbiosBytes(u uuid.UUID) []byte {
	b := bytes.Clone(u[:])
	b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
	b[4], b[5] = b[5], b[4]
	b[6], b[7] = b[7], b[6]
	return b
}

// relayed returns p as the relay forwards it: giaddr, one hop more, and option 82 with circuit, link selection (RFC 3527)
// and the empty sub-option 19 that asks the server to answer to our source port (RFC 8357 section 4.1).
func (r Relay) relayed(p *dhcpv4.DHCPv4) []byte {
	p.GatewayIPAddr = r.Address.AsSlice()
	p.HopCount++
	sub := []dhcpv4.Option{
		dhcpv4.OptGeneric(dhcpv4.AgentCircuitIDSubOption, []byte(r.CircuitID)),
		dhcpv4.OptGeneric(dhcpv4.RelaySourcePortSubOption, nil),
	}
	if r.Link.IsValid() {
		sub = append(sub, dhcpv4.OptGeneric(dhcpv4.LinkSelectionSubOption, r.Link.AsSlice()))
	}
	p.UpdateOption(dhcpv4.OptRelayAgentInfo(sub...))
	return p.ToBytes()
}

// unrelayed parses a server's answer and says why the relay would not hand it to the machine.
func (r Relay) unrelayed(data []byte, sent *dhcpv4.DHCPv4) (*dhcpv4.DHCPv4, error) {
	p, err := dhcpv4.FromBytes(data)
	if err != nil {
		return nil, fmt.Errorf("cannot parse a reply of %d bytes: %w", len(data), err)
	}
	want, got := sent.Options.Get(dhcpv4.OptionRelayAgentInformation), p.Options.Get(dhcpv4.OptionRelayAgentInformation)
	switch {
	case p.OpCode != dhcpv4.OpcodeBootReply:
		return nil, fmt.Errorf("op %s is not a reply", p.OpCode)
	case p.TransactionID != sent.TransactionID:
		return nil, fmt.Errorf("transaction %s is not %s", p.TransactionID, sent.TransactionID)
	case !bytes.Equal(p.ClientHWAddr, sent.ClientHWAddr):
		return nil, fmt.Errorf("chaddr %s is not %s", p.ClientHWAddr, sent.ClientHWAddr)
	case !p.GatewayIPAddr.Equal(net.IP(r.Address.AsSlice())):
		return nil, fmt.Errorf("giaddr %s is not %s", p.GatewayIPAddr, r.Address)
	case !bytes.Equal(want, got):
		return nil, fmt.Errorf("option 82 came back as %x instead of %x", got, want)
	}
	return p, nil
}

// Lease is what the machine was told in its last acknowledged exchange.
type Lease struct {
	Address    netip.Addr // yiaddr
	Server     netip.Addr // option 54
	NextServer netip.Addr // siaddr, or option 66 where siaddr is zero; invalid where there is neither
	BootFile   string     // file, else option 67
	Hostname   string     // option 12
}

// lease reads what a machine needs from an ACK or OFFER.
func lease(p *dhcpv4.DHCPv4) Lease {
	l := Lease{
		Address:  addr(p.YourIPAddr),
		Server:   addr(p.ServerIdentifier()),
		BootFile: p.BootFileName,
		Hostname: p.HostName(),
	}
	if l.BootFile == "" {
		l.BootFile = p.BootFileNameOption()
	}
	l.NextServer = addr(p.ServerIPAddr)
	if !l.NextServer.IsValid() || l.NextServer.IsUnspecified() {
		l.NextServer, _ = netip.ParseAddr(p.TFTPServerName())
	}
	return l
}

func addr(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}

// wanted says why s would not take this offer; nil: it would. Firmware without a boot file to load has no use for an
// address, and HTTP Boot looks only at servers that echo its class (UEFI 2.10, 24.7.3).
func wanted(s speaker, offer *dhcpv4.DHCPv4) error {
	switch {
	case offer.MessageType() != dhcpv4.MessageTypeOffer:
		return fmt.Errorf("a %s is not an OFFER", offer.MessageType())
	case s == speakerOS, s == speakerIPXE:
		return nil
	case s == speakerHTTP && offer.ClassIdentifier() != "HTTPClient":
		return fmt.Errorf("class %q is not HTTPClient", offer.ClassIdentifier())
	case lease(offer).BootFile == "":
		return fmt.Errorf("the OFFER of %s names no boot file", addr(offer.ServerIdentifier()))
	}
	return nil
}
