package dhcp

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math"
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

const (
	portServer = 67
	portClient = 68

	defaultLease = 12 * time.Hour
	// headers of IP and UDP, which a client's maximum message size (option 57) includes.
	headers        = 28
	defaultMaxSize = 576
	// linkSize is what a link takes: UEFI says that it takes 65280, and no answer is sent in fragments.
	linkSize = 1500
)

// Ranks of what a reply can do without where its client takes less (option 57): the first goes first. What a boot goes on
// with is the last of them, and then only where the header says it too.
const (
	rankOption          = iota + 1
	rankRoutesMicrosoft // The same as the next, for who reads no other: where there's room for one of them, it's the standard's.
	rankRoutes
	rankNTP
	rankMTU
	rankHostname
	rankDomain
	rankDNS
	rankTFTPServer
	rankTimers
	rankBroadcast
	rankFile
)

// give makes an OFFER or ACK with everything that the machine needs.
func (e *exchange) give(t wire.Type, why Reason) Answer {
	p := e.packet(t)
	p.Server(e.server)
	if e.facts.Type == wire.Request || e.facts.Type == wire.Inform {
		p.KeepClient(e.req) // RFC 2131 table 3: kept in an ACK, zero in an OFFER.
	}
	if why != Informed {
		e.yours = e.plan.Network.Address.Addr()
		p.Yours(e.yours)
		e.lease(p, e.plan.Network.Lease)
	}
	e.network(p, &e.plan.Network, e.plan.Hostname)
	if why := e.boot(p); why != "" {
		return e.silence(why)
	}
	e.options(p)
	p.Overload = e.facts.Client == ClientOS
	return e.answer(p, why)
}

// packet begins a reply with what every reply has: what it shares with its request, and who we are.
func (e *exchange) packet(t wire.Type) *wire.Reply {
	e.reply.Answer(e.req, t)
	e.reply.Addresses(wire.OptionServer, wire.Needed, e.id)
	return e.reply
}

func (e *exchange) lease(p *wire.Reply, lease time.Duration) {
	if lease <= 0 {
		lease = defaultLease
	}
	p.Uint32(wire.OptionLease, wire.Needed, seconds(lease))
	p.Uint32(wire.OptionRenewal, rankTimers, seconds(lease/2))         //nolint:mnd // T1 of RFC 2131 §4.4.5.
	p.Uint32(wire.OptionRebinding, rankTimers, seconds(lease-lease/8)) //nolint:mnd // T2, the same.
}

// seconds of a lease; the largest number would mean for ever (RFC 2131 §3.3).
func seconds(d time.Duration) uint32 { return uint32(min(uint64(d/time.Second), math.MaxUint32-1)) } //nolint:gosec // A lease is positive.

// network adds what makes the address useful. Mask and router are given unasked: a Raspberry Pi needs them and doesn't ask.
func (e *exchange) network(p *wire.Reply, n *boot.Network, hostname string) {
	p.Uint32(wire.OptionMask, wire.Needed, ^hostBits(n.Address))
	p.Addresses(wire.OptionBroadcast, rankBroadcast, broadcastOf(n.Address))
	p.Addresses(wire.OptionRouter, wire.Needed, n.Gateway)
	if e.req.Asked(wire.OptionDNS) {
		p.Addresses(wire.OptionDNS, rankDNS, n.DNS...)
	}
	if e.req.Asked(wire.OptionNTP) {
		p.Addresses(wire.OptionNTP, rankNTP, n.NTP...)
	}
	if hostname != "" && e.req.Asked(wire.OptionHostname) {
		p.Text(wire.OptionHostname, rankHostname, hostname)
	}
	if n.Domain != "" && e.req.Asked(wire.OptionDomain) {
		p.Text(wire.OptionDomain, rankDomain, n.Domain)
	}
	if n.MTU > 0 && n.MTU <= math.MaxUint16 && e.req.Asked(wire.OptionMTU) {
		p.Uint16(wire.OptionMTU, rankMTU, uint16(n.MTU))
	}
	e.routes(p, n)
}

func hostBits(p netip.Prefix) uint32 { return math.MaxUint32 >> p.Bits() }

// broadcastOf is a subnet's broadcast address; none of one without (RFC 3021).
func broadcastOf(p netip.Prefix) netip.Addr {
	if p.Bits() > 30 {
		return netip.Addr{}
	}
	a := p.Addr().As4()
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])|hostBits(p))
	return netip.AddrFrom4(a)
}

// boot adds what a network boot goes on with; a reason: then silence is better. Without HTTP an iPXE finds no script, and may load its own first stage again.
func (e *exchange) boot(p *wire.Reply) Reason {
	if e.view.HTTPPort == 0 || e.routed {
		return ""
	}
	switch e.facts.Client {
	case ClientPXE:
		return e.bootPXE(p)
	case ClientHTTP:
		e.bootHTTP(p)
	case ClientIPXE:
		return e.bootScript(p)
	case ClientPi:
		return e.bootPi(p)
	case ClientOther, ClientOS:
	}
	return ""
}

// loadByItself is discovery control 8 of option 43: the ROM loads the file that it's told, without looking for boot servers,
// nor for a proxy on port 4011 (PXE 2.1 §2.2.3).
const loadByItself = "\x06\x01\x08\xff"

// bootPXE names the first stage, in the header and as options: ROMs differ in where they look.
func (e *exchange) bootPXE(p *wire.Reply) Reason {
	name := e.file()
	if shim := e.shim(); shim != "" {
		token, ok := e.token()
		if !ok {
			return SilentNoKeys
		}
		name = ipxe.LoaderPath(token, e.facts.Firmware.Arch, shim)
	}
	if name == "" {
		return ""
	}
	e.setROM(p, name)
	p.Text(wire.OptionClass, wire.Needed, classPXE)
	p.Text(wire.OptionVendor, wire.Needed, loadByItself)
	e.echoMachineID(p)
	return ""
}

// file is the first stage of a firmware that runs anything; "" where there's none.
func (e *exchange) file() string {
	if e.grubAlone() != "" {
		return ""
	}
	return e.view.Files.Unsigned(e.plan.FirstStage, e.facts.Firmware)
}

// grubAlone is the first stage of a U-Boot on arm64, unless its machine is said to have an iPXE with drivers of its own: a shim finds no PXE protocol there by
// which it could load its grub, and iPXE was seen to stop at its first prompt. "" for any other firmware.
func (e *exchange) grubAlone() string {
	f := &e.facts
	if !f.UBoot || f.Firmware.Kind != boot.FirmwareUEFI || f.Firmware.Arch != boot.ARM64 || !e.segment.GivesAddresses() || e.plan.FirstStage == boot.FirstStageNativeIPXE {
		return ""
	}
	return e.view.Files.GrubARM64
}

// signed is the first stage of a machine that boots by grub, where its plan says that of it.
func (e *exchange) signed(stage boot.FirstStage) string {
	return cmp.Or(e.grubAlone(), e.view.Files.Signed(stage, e.facts.Firmware))
}

// shim is the first stage of a machine that boots by shim and grub; "" for any other. Grub takes its server from who gave the address: a
// proxy can't begin it. A machine that nobody has said it of, and that has nothing to boot from here, isn't taken from its own way to its
// disk by a loader that knows less of it than its firmware, unless it's said that this knows more (LocalBootGrub).
func (e *exchange) shim() string {
	if e.facts.Firmware.Kind != boot.FirmwareUEFI || !e.segment.GivesAddresses() {
		return ""
	}
	name, grub := e.signed(e.plan.FirstStage), e.plan.LocalBoot == boot.LocalBootGrub
	if e.plan.FirstStage == boot.FirstStageShim || name == "" && !grub {
		return name
	}
	switch a := e.foretold(); {
	case a == boot.AnswerInstall || a == boot.AnswerLive:
		return name
	case a == boot.AnswerLocalDisk && grub:
		return e.signed(e.plan.Stage(a))
	}
	return ""
}

// foretold is what the gate will say, as far as it's known here: an install that is granted, what it netboots each time, or its disk. That all bootds
// know of the grant it can wait for in its loader. Nothing is given by it but the loader's name.
func (e *exchange) foretold() boot.Answer {
	f := boot.Facts{Now: e.view.Now, Plan: e.plan, Synced: true, Arch: e.facts.Firmware.Arch}
	if e.view.Skewed != nil && e.view.Skewed() {
		f.Now = time.Time{} // What has expired nobody knows here; the gate says so.
	}
	if x, ok := e.view.State.Sessions[e.plan.EntryUID]; ok {
		f.Session = &x
	}
	return boot.Decide(f).Answer
}

// bootHTTP gives UEFI HTTP Boot its URL. Firmware takes no answer that doesn't echo its class (UEFI 2.10 §24.7.3).
func (e *exchange) bootHTTP(p *wire.Reply) {
	name := e.file()
	if name == "" {
		return
	}
	setFile(p, ipxe.FirmwareURL(e.base(e.view.Secure.Firmware), name))
	p.Text(wire.OptionClass, wire.Needed, classHTTP)
	e.echoMachineID(p)
}

// echoMachineID gives option 97 back, as PXE 2.1 §2.2.2 wants of every server.
func (e *exchange) echoMachineID(p *wire.Reply) {
	if id := e.req.Get(wire.OptionMachineID); len(id) == 1+machineIDSize {
		p.Bytes(wire.OptionMachineID, wire.Needed, id)
	}
}

// noProxy is option 175's no-pxedhcp: it saves the seconds in which iPXE would wait for a proxyDHCP server.
const noProxy = "\xb0\x01\x01"

// bootScript gives iPXE the URL of its script, with a token of this exchange.
func (e *exchange) bootScript(p *wire.Reply) Reason {
	token, ok := e.token()
	if !ok {
		return SilentNoKeys
	}
	setFile(p, ipxe.ScriptURL(e.base(e.view.Secure.IPXE), token, e.facts.Arch))
	p.Text(wire.OptionEtherboot, wire.Needed, noProxy)
	return ""
}

// token makes the script token of this exchange.
func (e *exchange) token() (string, bool) {
	return ScriptToken(e.view.State, e.view.Keys, e.plan, e.facts.MAC, xidText(e.req.XID()), e.sight.Behind, e.view.Now)
}

func (e *exchange) base(secured bool) string {
	base := "http://" + netip.AddrPortFrom(e.server, e.view.HTTPPort).String()
	if secured && e.view.Secure.Base != nil {
		return e.view.Secure.Base(base)
	}
	return base
}

// xidText is an exchange's number as tokens are derived from it: every replica must write it in the same way.
func xidText(xid [4]byte) string { return "0x" + hex.EncodeToString(xid[:]) }

// setFile names what is loaded next, in the header where it fits, and as an option: clients differ in where they look. Of a
// client that takes little the option is given up where the header says the same.
func setFile(p *wire.Reply, name string) { p.Text(wire.OptionBootFile, rankOf(p.File(name)), name) }

// setROM is setFile for a ROM, which loads its first stage by TFTP. Texts end with a NUL for it, as dnsmasq has them: some take them for C strings,
// whatever their length says, and would go on with the next option's number, asking for "undionly.kpxea" (97). UEFI of EDK2 writes a NUL behind
// the name by itself, over that number.
func (e *exchange) setROM(p *wire.Reply, name string) {
	p.CString(wire.OptionBootFile, rankOf(p.File(name)), name)
	p.AddressCString(wire.OptionTFTPServer, rankTFTPServer, e.server)
}

// rankOf an option that says the same as the header, where that has it.
func rankOf(inHeader bool) uint8 {
	if inHeader {
		return rankFile
	}
	return wire.Needed
}

// most is how long a reply may be (option 57; 576 where it says nothing or less, RFC 2132 §9.10).
func most(req *wire.Message) int {
	return min(max(defaultMaxSize, req.MaxSize()), linkSize) - headers
}

// answer addresses a packet (RFC 2131 §4.1). Where it says to unicast to a client that can't answer ARP yet, and we may not send frames,
// we broadcast: nearly every client takes that. A NAK is broadcast, but to who came by unicast from its address: it has that still, a router may stand
// between, and nobody far away has us broadcast in the name of a MAC.
func (e *exchange) answer(p *wire.Reply, why Reason) Answer {
	if why == Informed {
		p.Direct()
	}
	a := Answer{Packet: p.Append(e.buf[:0], most(e.req)), Reason: why, Facts: e.facts, Plan: e.plan, From: e.in.To, Pi: e.pi, Sight: e.sight}
	relay := e.facts.Relay
	switch {
	case why == Informed: // Relays know no address to send it on to: it's the client's own (RFC 2131 §4.3.5).
		a.To = netip.AddrPortFrom(e.facts.Address, e.clientPort())
	case relay.Address.IsValid() && relay.SourcePort && e.in.From.Port() != 0:
		a.To = netip.AddrPortFrom(relay.Address, e.in.From.Port())
	case relay.Address.IsValid():
		a.To = netip.AddrPortFrom(relay.Address, portServer)
	case e.segment.HasHost(e.facts.Address) && (why != Refused || e.in.To.IsValid()): // Out of its segment, or to all of it, nothing is sent on a stranger's word.
		a.To = netip.AddrPortFrom(e.facts.Address, e.clientPort())
	default:
		a.To = netip.AddrPortFrom(everyone(), portClient)
		a.From, a.Broadcast = e.local(), true
		if e.framed(&a) {
			a.To, a.Hardware = netip.AddrPortFrom(e.yours, portClient), [6]byte(e.req.Hardware())
		}
	}
	return a
}

// framed says whether an answer without a relay goes to the client's hardware address, and the address that it's given. A NAK never does
// (RFC 2131 §4.1).
func (e *exchange) framed(a *Answer) bool {
	return e.view.Frames && e.yours.IsValid() && a.Reason != Refused && a.From.IsValid() && e.in.Index != 0 && e.req.Ethernet() && !e.req.WantsBroadcast()
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
