package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
)

// intel is the enterprise number that UEFI and iPXE put before their class.
const intel = 343

// solicit builds the SOLICIT of s, as OVMF and Debian's iPXE send it (recorded under QEMU).
func (c Config) solicit(s speaker) (*dhcpv6.Message, error) {
	p, err := dhcpv6.NewMessage(dhcpv6.WithClientID(c.duid(s)), dhcpv6.WithIAID([4]byte(c.MAC[2:])))
	if err != nil {
		return nil, fmt.Errorf("cannot build a SOLICIT: %w", err)
	}
	p.MessageType = dhcpv6.MessageTypeSolicit
	p.AddOption(dhcpv6.OptElapsedTime(0))
	for _, o := range c.identity6(s) {
		p.AddOption(o)
	}
	return p, nil
}

// duid is who s says that it is: its own word, which differs between programs of one machine.
func (c Config) duid(s speaker) dhcpv6.DUID {
	switch {
	case s == speakerOS || c.UUID == uuid.Nil:
		return &dhcpv6.DUIDLL{HWType: iana.HWTypeEthernet, LinkLayerAddr: c.MAC}
	case s == speakerIPXE:
		return &dhcpv6.DUIDUUID{UUID: c.UUID}
	}
	return &dhcpv6.DUIDUUID{UUID: [16]byte(smbiosBytes(c.UUID))}
}

// identity6 returns the options by which a server knows what kind of program is asking, and what it asks for.
func (c Config) identity6(s speaker) []dhcpv6.Option {
	if s == speakerOS {
		return []dhcpv6.Option{dhcpv6.OptRequestedOption(dhcpv6.OptionDNSRecursiveNameServer, dhcpv6.OptionDomainSearchList, dhcpv6.OptionNTPServer)}
	}
	u := c.undi(s)
	out := []dhcpv6.Option{
		&dhcpv6.OptNetworkInterfaceID{Typ: dhcpv6.NetworkInterfaceType(u[0]), Major: u[1], Minor: u[2]},
		dhcpv6.OptClientArchType(c.arch(s)),
		&dhcpv6.OptVendorClass{EnterpriseNumber: intel, Data: [][]byte{[]byte(c.class(s))}},
	}
	if s != speakerIPXE {
		return append(out, dhcpv6.OptRequestedOption(dhcpv6.OptionBootfileURL, dhcpv6.OptionBootfileParam, dhcpv6.OptionDNSRecursiveNameServer, dhcpv6.OptionVendorClass))
	}
	return append(out, &dhcpv6.OptUserClass{UserClasses: [][]byte{[]byte("iPXE")}},
		dhcpv6.OptRequestedOption(dhcpv6.OptionDNSRecursiveNameServer, dhcpv6.OptionDomainSearchList, dhcpv6.OptionBootfileURL, dhcpv6.OptionBootfileParam))
}

// linkLocal is the address that a NIC makes of its MAC (RFC 4291, appendix A).
func linkLocal(mac net.HardwareAddr) net.IP {
	return net.IP{0xfe, 0x80, 0, 0, 0, 0, 0, 0, mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]}
}

// relayed6 is p as a relay on the machine's segment passes it on, which is answered at its own port (RFC 8357).
func (c Config) relayed6(p *dhcpv6.Message) ([]byte, error) {
	r, err := dhcpv6.EncapsulateRelay(p, dhcpv6.MessageTypeRelayForward, c.Six.Link.AsSlice(), linkLocal(c.MAC))
	if err != nil {
		return nil, fmt.Errorf("cannot relay a %s: %w", p.MessageType, err)
	}
	r.AddOption(dhcpv6.OptInterfaceID([]byte(c.Relay.CircuitID)))
	r.AddOption(dhcpv6.OptRelayPort(0))
	return r.ToBytes(), nil
}

// unrelayed6 parses a server's answer and says why the relay would not hand it to the machine, or the machine not take it.
func (c Config) unrelayed6(data []byte, sent *dhcpv6.Message) (*dhcpv6.Message, error) {
	p, err := dhcpv6.FromBytes(data)
	if err != nil {
		return nil, fmt.Errorf("cannot parse a reply of %d bytes: %w", len(data), err)
	}
	r, ok := p.(*dhcpv6.RelayMessage)
	if !ok || r.MessageType != dhcpv6.MessageTypeRelayReply {
		return nil, fmt.Errorf("%s is no RELAY-REPLY", p.Summary())
	}
	m, err := r.GetInnerMessage()
	switch {
	case err != nil:
		return nil, fmt.Errorf("a RELAY-REPLY holds no message: %w", err)
	case !r.PeerAddr.Equal(linkLocal(c.MAC)) || !bytes.Equal(r.Options.InterfaceID(), []byte(c.Relay.CircuitID)):
		return nil, fmt.Errorf("a RELAY-REPLY is for %s on %q", r.PeerAddr, r.Options.InterfaceID())
	case m.TransactionID != sent.TransactionID:
		return nil, fmt.Errorf("transaction %s is not %s", m.TransactionID, sent.TransactionID)
	case m.Options.ClientID() == nil || !m.Options.ClientID().Equal(sent.Options.ClientID()):
		return nil, fmt.Errorf("client %s is not %s", m.Options.ClientID(), sent.Options.ClientID())
	}
	return m, nil
}

// lease6 runs SOLICIT, ADVERTISE, REQUEST, REPLY as s and returns what the REPLY says.
func (m *Machine) lease6(ctx context.Context, s speaker) (Lease, error) {
	l, err := m.dial("udp6", netip.IPv6Loopback(), m.cfg.Six.Servers)
	if err != nil {
		return Lease{}, err
	}
	defer func() { _ = l.conn.Close() }()
	solicit, err := m.cfg.solicit(s)
	if err != nil {
		return Lease{}, err
	}
	offer, _, err := m.ask6(ctx, l, solicit, func(p *dhcpv6.Message) error { return wanted6(s, p) })
	if err != nil {
		return Lease{}, err
	}
	request, err := m.cfg.solicit(s)
	if err != nil {
		return Lease{}, err
	}
	request.MessageType = dhcpv6.MessageTypeRequest
	request.AddOption(dhcpv6.OptServerID(offer.Options.ServerID()))
	request.UpdateOption(offer.Options.OneIANA())
	reply, from, err := m.ask6(ctx, l, request, func(p *dhcpv6.Message) error {
		if p.MessageType != dhcpv6.MessageTypeReply || !p.Options.ServerID().Equal(offer.Options.ServerID()) {
			return fmt.Errorf("a %s of %s is no REPLY of the server that was chosen", p.MessageType, p.Options.ServerID())
		}
		return addressed6(p)
	})
	if err != nil {
		return Lease{}, err
	}
	return lease6(reply, from)
}

// ask6 asks by DHCPv6, and returns the answer that accept took, and whose it is.
func (m *Machine) ask6(ctx context.Context, l *link, p *dhcpv6.Message, accept func(*dhcpv6.Message) error) (got *dhcpv6.Message, from netip.Addr, err error) {
	data, err := m.cfg.relayed6(p)
	if err != nil {
		return nil, from, err
	}
	err = l.ask(ctx, data, p.MessageType.String(), func(b []byte, of netip.Addr) (err error) {
		if got, err = m.cfg.unrelayed6(b, p); err != nil {
			return err
		}
		from = of
		return accept(got)
	})
	return got, from, err
}

// addressed6 says why an answer gives no address; nil: it does.
func addressed6(p *dhcpv6.Message) error {
	if p.Options.ServerID() == nil || p.Options.OneIANA() == nil || p.Options.OneIANA().Options.OneAddress() == nil {
		return errors.New("an answer without a server or an address: " + p.Summary())
	}
	return nil
}

// wanted6 says why s would not take this offer; nil: it would. As over IPv4, firmware has no use for an address without a file, and HTTP Boot
// looks only at servers that echo its class (UEFI 2.10, 24.7.3).
func wanted6(s speaker, offer *dhcpv6.Message) error {
	if offer.MessageType != dhcpv6.MessageTypeAdvertise {
		return fmt.Errorf("a %s is not an ADVERTISE", offer.MessageType)
	}
	if err := addressed6(offer); err != nil || s == speakerOS || s == speakerIPXE {
		return err
	}
	class := bytes.Join(offer.Options.VendorClass(intel), nil)
	switch {
	case offer.Options.BootFileURL() == "":
		return errors.New("an ADVERTISE names no boot file")
	case s == speakerHTTP && string(class) != "HTTPClient":
		return fmt.Errorf("class %q is not HTTPClient", class)
	}
	return nil
}

// lease6 reads what a machine needs from a server's REPLY. A file by TFTP is taken apart, as DHCPv4 names it.
func lease6(p *dhcpv6.Message, server netip.Addr) (Lease, error) {
	l := Lease{Address: addr(p.Options.OneIANA().Options.OneAddress().IPv6Addr), Server: server, BootFile: p.Options.BootFileURL()}
	if l.BootFile == "" {
		return l, nil
	}
	u, err := url.Parse(l.BootFile)
	if err != nil {
		return l, fmt.Errorf("cannot read the boot file's URL %q: %w", l.BootFile, err)
	}
	host, err := netip.ParseAddr(u.Hostname())
	if err != nil || !host.Is6() {
		return l, fmt.Errorf("the boot file's URL %q has no address of IPv6", l.BootFile)
	}
	if u.Scheme == "tftp" {
		l.NextServer, l.BootFile = host, strings.TrimPrefix(u.Path, "/")
	}
	return l, nil
}
