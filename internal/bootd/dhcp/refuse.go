package dhcp

import (
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// refuse sends a NAK where that's ours to say, and never to firmware: some goes straight to its disk on a NAK, while silence makes it ask
// again from DISCOVER.
func (e *exchange) refuse() Answer {
	if !e.decides() || e.facts.Client.Netboots() {
		return e.silence(SilentWrongAddress)
	}
	if why := e.foreign(); why != "" {
		return e.silence(why)
	}
	return e.answer(e.nak(), Refused)
}

// nak refuses an address. The broadcast flag makes a relay broadcast it, since the client's address is wrong (RFC 2131
// §4.3.2).
func (e *exchange) nak() *wire.Reply {
	p := e.packet(wire.NAK)
	if e.facts.Relay.Address.IsValid() {
		p.Broadcast()
	}
	return p
}

// decides says whether it's ours to say that an address is wrong. Where we are authoritative it always is. Where relays alone are heard they may ask
// another server, too, and then it is where the machine has chosen us (option 54), or goes on with its address: it comes to us with that as to the
// server which gave it, or, by the relay, once that server has been silent for long (RFC 2131 §4.4.5). Who only asks after a restart for what it had
// (INIT-REBOOT) may have that from the other server: it starts, and is refused when it goes on. What is broadcast and not relayed doesn't get here.
func (e *exchange) decides() bool {
	switch e.segment.Mode {
	case boot.SegmentAuthoritative:
		return true
	case boot.SegmentRelayOnly:
		return e.facts.Server.IsValid() || !e.facts.Requested.IsValid()
	case boot.SegmentProxy, boot.SegmentOff:
	}
	return false
}

// outdated says that a running system goes on with an address of its segment that isn't the planned one, or not any more: by unicast to us as the server that
// gave it (RFC 2131 §4.3.2, RENEWING), from that very address. All that comes of it is a NAK to there, so that who says so in another's name takes
// nothing from that one.
func (e *exchange) outdated() bool {
	f := &e.facts
	return f.Type == wire.Request && f.Client == ClientOS && e.in.To.IsValid() && !f.Server.IsValid() && !f.Requested.IsValid() &&
		f.Address == e.in.From.Addr() && e.segment.Contains(f.Address)
}
