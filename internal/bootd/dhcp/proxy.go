package dhcp

import (
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// proxy answers beside another DHCP server, which gives the addresses (PXE 2.1 §2.2.3): it says what firmware loads, to machines of
// ours that boot from the network, and nothing else. No address is given, refused or taken back, so that whatever is wrong here costs
// nobody the one that he has.
func (e *exchange) proxy() Answer {
	kind := wire.ACK
	switch e.facts.Type {
	case wire.Discover:
		kind = wire.Offer
	case wire.Request, wire.Inform:
		if !e.asksForBoot() {
			return e.watched(e.others())
		}
	default:
		return e.silence(SilentType)
	}
	if !e.facts.Client.Netboots() {
		return e.silence(SilentNoNetboot)
	}
	p := e.packet(kind)
	p.Server(e.server)
	if kind == wire.ACK {
		p.KeepClient(e.req)
	}
	if why := e.bootProxied(p); why != "" {
		return e.silence(why)
	}
	a := e.answer(p, Proxied)
	if kind == wire.ACK && e.view.ProxyAlone {
		a.Stage = boot.StageDHCP // Elsewhere its REQUEST to the other server was heard before.
	}
	return a
}

// asksForBoot says whether a machine that has its address wants its boot from us: it speaks to an address of ours, from its own
// (place has seen to that), or names us.
func (e *exchange) asksForBoot() bool {
	if !e.segment.Contains(e.facts.Address) {
		return false
	}
	return e.direct() || e.facts.Server == e.id
}

// others is why what isn't for us gets no answer: the machine names the server that it takes its address from, or doesn't.
func (e *exchange) others() Reason {
	if e.facts.Server.IsValid() && e.facts.Server != e.id {
		return SilentOtherServer
	}
	return SilentProxied
}

// direct says that a request was sent to an address of ours, and by no relay.
func (e *exchange) direct() bool { return e.in.To.IsValid() && !e.facts.Relay.Address.IsValid() }

// preferred is option 175's priority. Of two servers that name the class, such as one that was told to for another's sake, iPXE takes the later
// answer for the proxy's, unless one is of a higher priority: without a word is 0.
const preferred = "\x01\x01\x01"

// bootProxied adds what a network boot goes on with, in an offer that doesn't make a ROM look for more at port 4011; a reason: there
// is nothing.
func (e *exchange) bootProxied(p *wire.Reply) Reason {
	if e.view.HTTPPort == 0 {
		return SilentNoFile
	}
	if e.facts.Client != ClientIPXE {
		if e.file() == "" {
			return SilentNoFile
		}
		return e.boot(p)
	}
	token, ok := e.token()
	if !ok {
		return SilentNoKeys
	}
	setFile(p, ipxe.ScriptURL(e.base(e.view.Secure.IPXE), token, e.facts.Arch))
	p.Text(wire.OptionClass, wire.Needed, classPXE) // Without it iPXE takes no offer that has no address.
	p.Text(wire.OptionEtherboot, wire.Needed, preferred)
	e.echoMachineID(p)
	return ""
}

// watched is silent, and takes what a machine says to another server for a sight of its boot, as the same said to us would be. What
// may have been routed here from anywhere is no sight.
func (e *exchange) watched(why Reason) Answer {
	a := e.silence(why)
	if e.facts.Type == wire.Request && e.facts.Requested.IsValid() && !e.direct() {
		a.Stage = e.stage()
	}
	return a
}

// closed says why a segment's mode leaves a port alone. Of a proxy both ports are heard or none: a ROM that was offered something at
// one may go on at the other.
func (e *exchange) closed() Reason {
	switch e.segment.Mode {
	case boot.SegmentProxy:
		if !e.view.Proxy {
			return SilentNoProxy
		}
		return ""
	case boot.SegmentAuthoritative, boot.SegmentRelayOnly, boot.SegmentOff:
		if e.in.Proxy {
			return SilentNotProxied
		}
		return ""
	}
	return SilentNoSegment // A snapshot may be of a newer version, which knows more modes.
}

// clientPort is where a client hears us. A ROM may ask the port of proxyDHCP from another one than its own, and waits there.
func (e *exchange) clientPort() uint16 {
	if from := e.in.From; e.in.Proxy && from.Addr() == e.facts.Address && from.Port() != 0 {
		return from.Port()
	}
	return portClient
}
