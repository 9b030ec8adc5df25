package pi

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// known is what firmware looks for in option 43; the first ROMs want the blanks behind it.
const known = "Raspberry Pi Boot   "

// dhcp gets an address. A Pi 3 takes an OFFER for all there is; the others ask for it, without saying again what they are.
func (f *firmware) dhcp() error {
	relay := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(relay, 0)))
	if err != nil {
		return fmt.Errorf("cannot open the relay's port: %w", err)
	}
	defer func() { _ = conn.Close() }()
	xid := dhcpv4.TransactionID{0x26, 0xf3, 0x03, 0x39} // That of every Pi 3, in each exchange.
	if f.c.Model != Three {
		if xid, err = dhcpv4.GenerateTransactionID(); err != nil {
			return fmt.Errorf("cannot make a transaction id: %w", err)
		}
	}
	offer, err := f.exchange(conn, xid, dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeOffer,
		dhcpv4.WithGeneric(dhcpv4.OptionClassIdentifier, []byte("PXEClient:Arch:00000:UNDI:002001")), dhcpv4.WithGeneric(dhcpv4.OptionClientSystemArchitectureType, []byte{0, 0}),
		dhcpv4.WithGeneric(dhcpv4.OptionClientNetworkInterfaceIdentifier, []byte{1, 2, 1}),
		dhcpv4.WithGeneric(dhcpv4.OptionParameterRequestList, []byte{1, 3, 43, 60, 66, 67, 128, 129, 130, 131, 132, 133, 134, 135}))
	if err != nil {
		return err
	}
	if menu := string(offer.Options.Get(dhcpv4.OptionVendorSpecificInformation)); !strings.Contains(menu, known) || offer.ClassIdentifier() != "PXEClient" || offer.BootFileName != "" {
		return fmt.Errorf("an OFFER with option 43 %q, class %q and file %q isn't for a Raspberry Pi: %w", menu, offer.ClassIdentifier(), offer.BootFileName, errNone)
	}
	if f.c.Model != Three {
		ack, err := f.exchange(conn, xid, dhcpv4.MessageTypeRequest, dhcpv4.MessageTypeAck,
			dhcpv4.WithOption(dhcpv4.OptServerIdentifier(offer.ServerIdentifier())), dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(offer.YourIPAddr)))
		if err != nil {
			return err
		}
		offer = ack
	}
	address, ok := netip.AddrFromSlice(offer.YourIPAddr.To4())
	server, ok2 := netip.AddrFromSlice(offer.ServerIPAddr.To4())
	if !ok || !ok2 {
		return fmt.Errorf("a %s gives %s, and %s for its server", offer.MessageType(), offer.YourIPAddr, offer.ServerIPAddr)
	}
	f.boot.Address, f.server = address, netip.AddrPortFrom(server, f.c.TFTPPort)
	return nil
}

// exchange sends a message through the relay until its answer comes.
func (f *firmware) exchange(conn *net.UDPConn, xid dhcpv4.TransactionID, kind, want dhcpv4.MessageType, mods ...dhcpv4.Modifier) (*dhcpv4.DHCPv4, error) {
	const tries, patience = 10, time.Second
	link := f.c.Link.As4()
	p, err := dhcpv4.New(append([]dhcpv4.Modifier{
		dhcpv4.WithTransactionID(xid), dhcpv4.WithHwAddr(f.c.MAC), dhcpv4.WithMessageType(kind), dhcpv4.WithGatewayIP(net.IPv4(127, 0, 0, 1)),
		dhcpv4.WithGeneric(dhcpv4.OptionClientMachineIdentifier, f.machineID()), dhcpv4.WithGeneric(dhcpv4.OptionRelayAgentInformation, append([]byte{5, 4}, link[:]...)),
		// So that a relay without the right to port 67 has its answer (RFC 8357).
		func(d *dhcpv4.DHCPv4) {
			d.Options.Update(dhcpv4.OptGeneric(dhcpv4.OptionRelayAgentInformation, append(d.Options.Get(dhcpv4.OptionRelayAgentInformation), 19, 0)))
		},
	}, mods...)...)
	if err != nil {
		return nil, fmt.Errorf("cannot build a %s: %w", kind, err)
	}
	b := make([]byte, 2048)
	for range tries {
		if _, err := conn.WriteToUDPAddrPort(p.ToBytes(), f.c.Server); err != nil {
			return nil, fmt.Errorf("cannot send a %s: %w", kind, err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return nil, fmt.Errorf("cannot wait for an answer: %w", err)
		}
		n, _, err := conn.ReadFromUDPAddrPort(b)
		if err != nil {
			continue
		}
		if got, err := dhcpv4.FromBytes(slices.Clone(b[:n])); err == nil && got.TransactionID == xid && got.MessageType() == want {
			return got, nil
		}
	}
	return nil, fmt.Errorf("no answer to a %s: %w", kind, errNone)
}

// machineID is option 97: of a Pi 3 its serial number four times, lowest octet first; of a later one its model, revision, MAC and serial number.
func (f *firmware) machineID() []byte {
	serial := f.c.Serial
	slices.Reverse(serial[:])
	if f.c.Model == Three {
		return append([]byte{0}, slices.Repeat(serial[:], 4)...)
	}
	id := fmt.Appendf([]byte{0}, "RPi%d", f.c.Model)
	id = append(id, 0x30, 0x31, 0xc0, 0x00)
	id = append(id, f.c.MAC[2:]...)
	return append(id, serial[:]...)
}
