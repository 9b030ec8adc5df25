package dhcp

import (
	"net/netip"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// Respond decides what a request gets. It's pure: the same request gets the same answer from every replica that knows the
// same, retransmitted or not.
func Respond(v View, req *wire.Message, in Ingress) Answer {
	return respond(v, req, Classify(req), in, desk{reply: &wire.Reply{}})
}

// A desk is memory to work in. The answer's packet lies in buf where that is large enough, its plan in the room, and the text of its hardware address
// among those that are known, where there are these.
type desk struct {
	known *macs
	reply *wire.Reply
	buf   []byte
	room  *boot.Room
}

// respond is Respond with a desk.
func respond(v View, req *wire.Message, f Facts, in Ingress, at desk) Answer {
	e := exchange{view: v, req: req, facts: f, in: in, desk: at}
	switch why := e.place(); why {
	case "":
		e.planned()
	case SilentUnknown:
		return e.stranger()
	default:
		return e.silence(why)
	}
	switch e.segment.Mode { //nolint:exhaustive // place lets no other by.
	case boot.SegmentProxy:
		return e.proxy()
	case boot.SegmentOff:
		return e.watched(SilentOff)
	}
	switch e.facts.Type { //nolint:exhaustive // The others are a server's, or of no client we know.
	case wire.Discover:
		if why := e.foreign(); why != "" {
			return e.silence(why)
		}
		if why := e.withheld(); why != "" {
			return e.silence(why)
		}
		return e.give(wire.Offer, Offered)
	case wire.Request:
		return e.request()
	case wire.Inform:
		return e.inform()
	case wire.Decline:
		return e.silence(e.declined())
	case wire.Release:
		return e.silence(e.ours(Released))
	}
	return e.silence(SilentType)
}

// An exchange is one request on its way to an answer.
type exchange struct {
	desk

	view  View
	req   *wire.Message
	facts Facts
	in    Ingress

	plan    *boot.Plan
	segment boot.Segment
	server  netip.Addr // siaddr and the host of URLs
	id      netip.Addr // option 54
	yours   netip.Addr // what an answer gives, once it does
	share   func(netip.Addr) bool
	pi      string // the token of a Raspberry Pi's exchange, once it's told to boot
	sight   Sight
	routed  bool // a renewal that a router has passed on
}

func (e *exchange) silence(why Reason) Answer {
	return Answer{Reason: why, Facts: e.facts, Plan: e.plan, Sight: e.sight}
}

// ours narrows a message that needs no answer to those that name us.
func (e *exchange) ours(r Reason) Reason {
	if e.facts.Server.IsValid() && e.facts.Server != e.id {
		return SilentOtherServer
	}
	return r
}

// declined believes only who declines what was offered: another address is no news of the planned one.
func (e *exchange) declined() Reason {
	if !e.facts.Relay.Address.IsValid() && e.in.To.IsValid() {
		return SilentUnicast // A DECLINE is broadcast (RFC 2131 §4.4.4): this one may come from anywhere.
	}
	if e.facts.Requested.IsValid() && e.facts.Requested != e.plan.Network.Address.Addr() {
		return SilentWrongAddress
	}
	return e.ours(Declined)
}

// withheld says why the planned address isn't given.
func (e *exchange) withheld() Reason {
	return Withheld(e.plan, e.plan.Network.Address.Addr(), e.view.Now, e.view.Own, e.view.Declined)
}

// Withheld says, by a View's own and declined, why an address of a plan isn't given: this server has it, or it was declined, and offering it again and
// again would keep the machine in a loop. "": it's given.
func Withheld(p *boot.Plan, a netip.Addr, now time.Time, own func(*boot.Plan, netip.Addr) bool, declined func(boot.Name, netip.Addr, time.Time) bool) Reason {
	switch {
	case own != nil && own(p, a):
		return SilentOwn
	case declined != nil && declined(p.Network.Name, a, now):
		return SilentDeclined
	}
	return ""
}

// place finds the machine's plan and segment, and which of our addresses it speaks to; a reason: it gets no answer.
func (e *exchange) place() Reason {
	if !e.req.IsRequest() || e.facts.Type == wire.None {
		return SilentNotRequest
	}
	if e.view.State == nil {
		return SilentUnsynced
	}
	if e.facts.MAC == "" {
		return SilentUnknown
	}
	plan, ok := e.view.State.ByMACIn(e.facts.MAC, e.room)
	if !ok {
		var why Reason
		if plan, why = e.placed(); why != "" {
			return why
		}
	}
	e.plan = plan
	if !plan.Network.Address.IsValid() || !plan.Network.Address.Addr().Is4() {
		return SilentNoAddress
	}
	if e.segment, ok = e.view.State.Segment(plan.Network.Name); !ok {
		return SilentNoSegment
	}
	if why := e.closed(); why != "" {
		return why
	}
	if why := e.elsewhere(); why != "" {
		return why
	}
	e.look()
	return e.ourselves()
}

// ourselves finds out which of our addresses the machine speaks to.
func (e *exchange) ourselves() Reason {
	e.server = e.ourAddress()
	if !e.server.IsValid() {
		return SilentNoServer
	}
	e.id = e.server
	if e.facts.Relay.ServerID.IsValid() {
		e.id = e.facts.Relay.ServerID // RFC 5107 §4; that the relay is trusted was made sure of.
	}
	return ""
}

// elsewhere says why the request doesn't come from the machine's own segment, or not in a way that counts there.
func (e *exchange) elsewhere() Reason {
	if relay := e.facts.Relay; relay.Address.IsValid() {
		if !e.segment.TrustsRelay(relay.Address) {
			return SilentRelayUntrusted
		}
		link := relay.Address
		if relay.Link.IsValid() {
			link = relay.Link
		}
		if !e.segment.Contains(link) {
			return SilentElsewhere
		}
		return ""
	}
	if e.renews() || e.outdated() {
		return ""
	}
	if e.in.To.IsValid() && !e.fromItsAddress() {
		return SilentUnicast
	}
	why := e.offLink()
	if why != "" && e.goesOn() {
		e.routed, why = true, ""
	}
	return why
}

// offLink says why a request that came by no relay isn't of a link on which the segment is served.
func (e *exchange) offLink() Reason {
	if e.segment.Mode == boot.SegmentRelayOnly {
		return SilentRelayOnly
	}
	if len(e.segment.Interfaces) > 0 {
		if !slices.Contains(e.segment.Interfaces, e.in.Interface) {
			return SilentNotServedHere
		}
		return ""
	}
	if !slices.ContainsFunc(e.in.Addresses, e.segment.Contains) {
		return SilentElsewhere
	}
	return ""
}

// renews says that a running system renews its lease: by unicast and without its relay (RFC 2131 §4.3.2), from the very
// address that the answer will go to. So comes who has an address from elsewhere and asks for its boot alone.
func (e *exchange) renews() bool {
	return (e.facts.Client == ClientOS || e.segment.Mode == boot.SegmentProxy) && e.in.To.IsValid() && e.fromItsAddress()
}

// goesOn says that firmware renews its lease, as UEFI does in a download that takes long, in a way that a router may have passed on: by unicast, from its own
// address, naming neither a server nor an address (RFC 2131 §4.3.2). It's given its address for longer, and nothing to boot.
func (e *exchange) goesOn() bool {
	return e.facts.Type == wire.Request && !e.facts.Server.IsValid() && !e.facts.Requested.IsValid() && e.in.To.IsValid() && e.fromItsAddress()
}

// fromItsAddress says whether a request comes from the planned address and wants its answer there. Any other unicast may
// have been routed here from anywhere, in the name of a MAC that its sender doesn't have, to get that machine's script token.
func (e *exchange) fromItsAddress() bool {
	its := e.plan.Network.Address.Addr()
	if e.segment.Mode == boot.SegmentProxy && e.segment.Contains(e.facts.Address) {
		its = e.facts.Address // Another server gave it: what we know is that an answer to it stays on the segment.
	}
	return e.facts.Address == its && e.in.From.Addr() == its
}

func (e *exchange) ourAddress() netip.Addr {
	if e.view.Advertise.Is4() {
		return e.view.Advertise
	}
	if e.in.To.Is4() {
		return e.in.To
	}
	for _, a := range e.in.Addresses {
		if a.Is4() && e.segment.Contains(a) {
			return a
		}
	}
	for _, a := range e.in.Addresses {
		if a.Is4() {
			return a
		}
	}
	return netip.Addr{}
}

// request answers a REQUEST: selecting (option 54), init-reboot (option 50 alone), renewing or rebinding (ciaddr).
func (e *exchange) request() Answer {
	f, planned := e.facts, e.plan.Network.Address.Addr()
	if f.Server.IsValid() && f.Server != e.id {
		return e.silence(SilentOtherServer)
	}
	wanted := f.Requested
	if !wanted.IsValid() {
		wanted = f.Address
	}
	if !wanted.IsValid() {
		return e.silence(SilentMalformed)
	}
	if wanted != planned {
		return e.refuse()
	}
	if f.Requested.IsValid() { // A system that uses the address and renews it goes on.
		if why := e.withheld(); why != "" {
			return e.silence(why)
		}
	}
	a := e.give(wire.ACK, Acknowledged)
	if a.Packet != nil {
		a.Stage, a.Theirs = e.stage(), e.theirs()
	}
	return a
}

// stage is what an acknowledged request is a sight of. A system that renews its lease runs already; one that asks anew
// has just started. Whether that was from a disk is for who knows the session: an installer asks in the same way.
func (e *exchange) stage() boot.Stage {
	switch {
	case e.facts.Address.IsValid() && !e.facts.Requested.IsValid() && e.facts.Client.Netboots():
		return "" // UEFI renews its lease in a long download.
	case e.facts.Client.Netboots():
		return boot.StageDHCP
	case e.facts.Address.IsValid():
		return ""
	case e.plan.Mode == boot.ModeLive:
		return boot.StageKernel
	}
	return boot.StageBootedFromDisk
}

// inform answers with options and without an address (RFC 2131 §4.3.5).
func (e *exchange) inform() Answer {
	switch {
	case !e.facts.Address.IsValid():
		return e.silence(SilentMalformed)
	case !e.segment.HasHost(e.facts.Address):
		return e.silence(SilentElsewhere) // Its answer goes to that address, by unicast: none goes out of a segment, nor to all of it.
	}
	return e.give(wire.ACK, Informed)
}
