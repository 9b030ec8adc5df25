package dhcp

import (
	"encoding/binary"
	"math"
	"net"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

const (
	portServer = 67
	portClient = 68

	defaultLease = 12 * time.Hour
	// headers of IP and UDP, which a client's maximum message size (option 57) includes.
	headers        = 28
	defaultMaxSize = 576
	// maxFile is what fits into the header's file field, with its NUL.
	maxFile = 127
)

// give makes an OFFER or ACK with everything that the machine needs.
func (e *exchange) give(t dhcpv4.MessageType, why Reason) Answer {
	p := e.packet(t)
	p.ServerIPAddr = e.server.AsSlice()
	if e.facts.Type == dhcpv4.MessageTypeRequest || e.facts.Type == dhcpv4.MessageTypeInform {
		p.ClientIPAddr = e.req.ClientIPAddr // RFC 2131 table 3: kept in an ACK, zero in an OFFER.
	}
	if why != Informed {
		p.YourIPAddr = e.plan.Network.Address.Addr().AsSlice()
		e.lease(p)
	}
	e.network(p)
	if why := e.boot(p); why != "" {
		return e.silence(why)
	}
	fit(p, e.req)
	return e.answer(p, why)
}

// nak refuses an address. The broadcast flag makes a relay broadcast it, since the client's address is wrong (RFC 2131
// §4.3.2).
func (e *exchange) nak() *dhcpv4.DHCPv4 {
	p := e.packet(dhcpv4.MessageTypeNak)
	if e.facts.Relay.Address.IsValid() {
		p.SetBroadcast()
	}
	return p
}

// packet makes a reply with what every reply has: xid, flags, hops and giaddr of the request, who we are, and options 61
// (RFC 6842) and 82 (RFC 3046 §2.2) byte for byte.
func (e *exchange) packet(t dhcpv4.MessageType) *dhcpv4.DHCPv4 {
	p := &dhcpv4.DHCPv4{
		OpCode: dhcpv4.OpcodeBootReply, HWType: e.req.HWType, HopCount: e.req.HopCount,
		TransactionID: e.req.TransactionID, Flags: e.req.Flags, ClientHWAddr: e.req.ClientHWAddr,
		ClientIPAddr: net.IPv4zero, YourIPAddr: net.IPv4zero, ServerIPAddr: net.IPv4zero,
		GatewayIPAddr: e.req.GatewayIPAddr, Options: dhcpv4.Options{},
	}
	p.UpdateOption(dhcpv4.OptMessageType(t))
	p.UpdateOption(dhcpv4.OptServerIdentifier(e.id.AsSlice()))
	for _, code := range []dhcpv4.OptionCode{dhcpv4.OptionClientIdentifier, dhcpv4.OptionRelayAgentInformation} {
		if e.req.Options.Has(code) {
			p.UpdateOption(dhcpv4.OptGeneric(code, e.req.Options.Get(code)))
		}
	}
	return p
}

func (e *exchange) lease(p *dhcpv4.DHCPv4) {
	lease := e.plan.Network.Lease
	if lease <= 0 {
		lease = defaultLease
	}
	p.UpdateOption(dhcpv4.OptIPAddressLeaseTime(lease))
	p.UpdateOption(dhcpv4.OptRenewTimeValue(lease / 2))         //nolint:mnd // T1 of RFC 2131 §4.4.5.
	p.UpdateOption(dhcpv4.OptRebindingTimeValue(lease * 7 / 8)) //nolint:mnd // T2, the same.
}

// network adds what makes the address useful. Mask and router are given unasked: a Raspberry Pi needs them and doesn't ask.
func (e *exchange) network(p *dhcpv4.DHCPv4) {
	n := e.plan.Network
	p.UpdateOption(dhcpv4.OptSubnetMask(net.CIDRMask(n.Address.Bits(), 32))) //nolint:mnd // Of IPv4.
	p.UpdateOption(dhcpv4.OptBroadcastAddress(broadcastOf(n.Address)))
	if n.Gateway.Is4() {
		p.UpdateOption(dhcpv4.OptRouter(n.Gateway.AsSlice()))
	}
	e.asked(p, dhcpv4.OptionDomainNameServer, addresses(n.DNS))
	e.asked(p, dhcpv4.OptionNTPServers, addresses(n.NTP))
	e.asked(p, dhcpv4.OptionHostName, []byte(e.plan.Hostname))
	e.asked(p, dhcpv4.OptionDomainName, []byte(n.Domain))
	if n.MTU > 0 && n.MTU <= math.MaxUint16 {
		e.asked(p, dhcpv4.OptionInterfaceMTU, binary.BigEndian.AppendUint16(nil, uint16(n.MTU)))
	}
}

func (e *exchange) asked(p *dhcpv4.DHCPv4, code dhcpv4.OptionCode, value []byte) {
	if len(value) > 0 && e.req.IsOptionRequested(code) {
		p.UpdateOption(dhcpv4.OptGeneric(code, value))
	}
}

func addresses(as []netip.Addr) []byte {
	var b []byte
	for _, a := range as {
		if a.Is4() {
			b = append(b, a.AsSlice()...)
		}
	}
	return b
}

func broadcastOf(p netip.Prefix) net.IP {
	a := p.Addr().As4()
	n := binary.BigEndian.Uint32(a[:]) | uint32(math.MaxUint32>>p.Bits())
	return net.IP(binary.BigEndian.AppendUint32(nil, n))
}

// boot adds what a network boot goes on with; a reason: then silence is better.
func (e *exchange) boot(p *dhcpv4.DHCPv4) Reason {
	switch e.facts.Client {
	case ClientPXE:
		e.bootPXE(p)
	case ClientHTTP:
		e.bootHTTP(p)
	case ClientIPXE:
		return e.bootScript(p)
	case ClientOther, ClientOS:
	}
	return ""
}

// bootPXE names the first stage, in the header and as options: ROMs differ in where they look. Option 43's discovery
// control 8 tells the ROM to load this file without looking for boot servers, nor for a proxy on port 4011 (PXE 2.1 §2.2.3).
func (e *exchange) bootPXE(p *dhcpv4.DHCPv4) {
	name := e.view.Files.For(e.facts.Firmware)
	if name == "" {
		return
	}
	setFile(p, name)
	p.UpdateOption(dhcpv4.OptTFTPServerName(e.server.String()))
	p.UpdateOption(dhcpv4.OptClassIdentifier(classPXE))
	p.UpdateOption(dhcpv4.OptGeneric(dhcpv4.OptionVendorSpecificInformation, []byte{6, 1, 8, tagEnd}))
	e.echoMachineID(p)
}

// bootHTTP gives UEFI HTTP Boot its URL. Firmware takes no answer that doesn't echo its class (UEFI 2.10 §24.7.3).
func (e *exchange) bootHTTP(p *dhcpv4.DHCPv4) {
	name := e.view.Files.For(e.facts.Firmware)
	if name == "" {
		return
	}
	setFile(p, ipxe.FirmwareURL(e.base(), name))
	p.UpdateOption(dhcpv4.OptClassIdentifier(classHTTP))
	e.echoMachineID(p)
}

// echoMachineID gives option 97 back, as PXE 2.1 §2.2.2 wants of every server.
func (e *exchange) echoMachineID(p *dhcpv4.DHCPv4) {
	const size = 17
	if id := e.req.Options.Get(dhcpv4.OptionClientMachineIdentifier); len(id) == size {
		p.UpdateOption(dhcpv4.OptGeneric(dhcpv4.OptionClientMachineIdentifier, id))
	}
}

// bootScript gives iPXE the URL of its script, with a token of this exchange. Option 175's no-pxedhcp saves the seconds in
// which iPXE would wait for a proxyDHCP server.
func (e *exchange) bootScript(p *dhcpv4.DHCPv4) Reason {
	token, ok := e.token()
	if !ok {
		return SilentNoKeys
	}
	setFile(p, ipxe.ScriptURL(e.base(), token, e.facts.Arch))
	p.UpdateOption(dhcpv4.OptGeneric(dhcpv4.OptionEtherboot, []byte{tagNoProxy, 1, 1}))
	return ""
}

// bootsApart is how soon a machine can't have started again.
const bootsApart = time.Minute

// token makes the script token of this exchange: derived, so that every replica gives the same one. The exchange is known by
// its xid and its minute: OVMF under Debian's iPXE has the same xid at every boot, and a boot loop must not look like one
// boot that is told twice.
func (e *exchange) token() (string, bool) {
	if len(e.view.Keys) == 0 {
		return "", false
	}
	key, uid := e.view.Keys[0], e.plan.EntryUID
	c := boot.Claims{Kind: boot.TokenScript, Entry: boot.KeyOf(uid), Expires: expiry(nil, e.view.Now)}
	if s, ok := e.view.State.Sessions[uid]; ok && s.Grant != nil {
		c.GrantID, c.Expires = s.Grant.ID, expiry(s.Grant, e.view.Now)
	}
	minute := e.view.Now.Truncate(bootsApart).UTC().Format(time.RFC3339)
	c.Nonce = boot.DerivedNonce(key, string(e.facts.MAC), e.req.TransactionID.String(), minute, uid, c.GrantID)
	t, err := boot.Mint(key, c)
	return t, err == nil
}

// expiry of a script token: that of the grant while it lasts, else a day from the next full hour, which all replicas agree
// on but in the instant in which the hour turns.
func expiry(g *boot.Grant, now time.Time) time.Time {
	if g != nil && now.Before(g.Expires) {
		return g.Expires
	}
	return now.Truncate(time.Hour).Add(25 * time.Hour) //nolint:mnd // The hour that has begun, and a day.
}

func (e *exchange) base() string {
	return "http://" + netip.AddrPortFrom(e.server, e.view.HTTPPort).String()
}

func setFile(p *dhcpv4.DHCPv4, name string) {
	p.UpdateOption(dhcpv4.OptBootFileName(name))
	if len(name) <= maxFile {
		p.BootFileName = name
	}
}

// fit drops what is least needed until the reply is no longer than the client can take (option 57; 576 where it says
// nothing or less, RFC 2132 §9.10).
func fit(p, req *dhcpv4.DHCPv4) {
	size := defaultMaxSize
	if n, err := req.MaxMessageSize(); err == nil {
		size = max(size, int(n))
	}
	for _, code := range []dhcpv4.OptionCode{
		dhcpv4.OptionNTPServers, dhcpv4.OptionInterfaceMTU, dhcpv4.OptionHostName, dhcpv4.OptionDomainName,
		dhcpv4.OptionDomainNameServer, dhcpv4.OptionTFTPServerName,
	} {
		if len(p.ToBytes()) <= size-headers {
			return
		}
		p.DeleteOption(code)
	}
}

// answer addresses a packet (RFC 2131 §4.1). Where it says to unicast to a client that can't answer ARP yet, we broadcast:
// every client takes that, and it needs no raw socket.
func (e *exchange) answer(p *dhcpv4.DHCPv4, why Reason) Answer {
	a := Answer{Packet: p, Reason: why, Facts: e.facts, Plan: e.plan, From: e.in.To}
	relay := e.facts.Relay
	switch {
	case relay.Address.IsValid() && relay.SourcePort && e.in.From.Port() != 0:
		a.To = netip.AddrPortFrom(relay.Address, e.in.From.Port())
	case relay.Address.IsValid():
		a.To = netip.AddrPortFrom(relay.Address, portServer)
	case why != Refused && e.segment.Contains(e.facts.Address): // Out of its segment nothing is sent on a stranger's word.
		a.To = netip.AddrPortFrom(e.facts.Address, portClient)
	default:
		a.To = netip.AddrPortFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), portClient)
		a.From, a.Broadcast = e.local(), true
	}
	return a
}

// local is our address to broadcast from: e.server, unless that's one which is advertised for somebody else's NAT.
func (e *exchange) local() netip.Addr {
	for _, a := range e.in.Addresses {
		if a == e.server {
			return a
		}
	}
	return netip.Addr{}
}
