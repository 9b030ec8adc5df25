package dhcp6

import (
	"bytes"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
)

// Respond decides what a request gets. It's pure: the same request gets the same answer from every replica that knows the same, each
// under its own address. The answer's packet lies in buf where that is large enough.
func Respond(v View, req *wire.Message, in Ingress, buf []byte) Answer {
	e := exchange{view: v, req: req, in: in, buf: buf, facts: Classify(req, in.From.Addr())}
	if why := e.find(); why != "" {
		return e.silence(why)
	}
	if why := e.place(); why != "" {
		return e.silence(why)
	}
	if why := e.addressed(); why != "" {
		return e.silence(why)
	}
	switch e.facts.Type { //nolint:exhaustive // place lets no other by.
	case wire.Solicit:
		return e.solicit()
	case wire.Request, wire.Renew, wire.Rebind:
		return e.bind()
	case wire.Confirm:
		return e.confirm()
	case wire.Release:
		return e.acknowledge(dhcp.Released)
	case wire.Decline:
		return e.decline()
	case wire.InformationRequest:
		return e.give(wire.Reply, dhcp.Informed)
	}
	return e.silence(dhcp.SilentType)
}

// An exchange is one request on its way to an answer.
type exchange struct {
	view  View
	req   *wire.Message
	facts Facts
	in    Ingress
	buf   []byte

	mac     boot.MAC
	plan    *boot.Plan
	place6  boot.Place // the machine's in IPv6
	segment boot.Segment
	server  netip.Addr // the host of URLs, and what our DUID is of
	id      []byte
}

func (e *exchange) silence(why dhcp.Reason) Answer {
	return Answer{Reason: why, Facts: e.facts, Plan: e.plan, MAC: e.mac, XID: e.req.XID}
}

// find finds the machine's plan. What a NIC's own link says goes first, and then nothing else counts: a system copied to another machine
// has its DUID there, and that machine may not be installed by this one's grant. A DUID, be there a MAC in it or one that it was seen with,
// is anybody's to say: it's worth an address to a system, and to firmware nothing.
func (e *exchange) find() dhcp.Reason {
	switch e.facts.Type {
	case wire.Solicit, wire.Request, wire.Confirm, wire.Renew, wire.Rebind, wire.Release, wire.Decline, wire.InformationRequest:
	default:
		return dhcp.SilentNotRequest
	}
	if e.view.State == nil {
		return dhcp.SilentUnsynced
	}
	if e.mac = e.facts.Link; e.mac == "" {
		e.mac = e.byID()
	}
	plan, ok := e.view.State.ByMAC(e.mac)
	if !ok || e.mac == "" {
		return dhcp.SilentUnknown
	}
	e.plan = plan
	if e.facts.Link == "" && e.facts.Client.Netboots() {
		return SilentUnproven
	}
	if e.place6, ok = plan.Network.InSix(); !ok {
		return dhcp.SilentNoAddress
	}
	return ""
}

// byID gives the MAC that the client's DUID holds, or else was seen with.
func (e *exchange) byID() boot.MAC {
	if e.facts.Named != "" || e.view.Learnt == nil || len(e.facts.ID) == 0 {
		return e.facts.Named
	}
	mac, _ := e.view.Learnt(e.facts.ID)
	return mac
}

// addressed says why a message isn't for us, or isn't as its kind has to be (RFC 8415 §16).
func (e *exchange) addressed() dhcp.Reason {
	if len(e.facts.ID) == 0 && (e.facts.Type != wire.InformationRequest || e.req.Options.Has(wire.OptionClientID)) {
		return SilentNoID
	}
	switch e.facts.Type { //nolint:exhaustive // The others name a server.
	case wire.Solicit, wire.Confirm, wire.Rebind:
		if e.facts.Server != nil {
			return dhcp.SilentMalformed
		}
		return ""
	case wire.InformationRequest:
		if e.binds() {
			return dhcp.SilentMalformed // §16.12: it asks for what isn't information.
		}
		if e.facts.Server == nil {
			return ""
		}
	}
	switch {
	case e.facts.Server == nil:
		return dhcp.SilentMalformed
	case !bytes.Equal(e.facts.Server, e.id):
		return dhcp.SilentOtherServer
	}
	return ""
}

// planned is the address of IPv6 that the machine is to have.
func (e *exchange) planned() netip.Addr { return e.place6.Address.Addr() }

// withheld says why the planned address isn't given.
func (e *exchange) withheld() dhcp.Reason {
	return dhcp.Withheld(e.plan, e.planned(), e.view.Now, e.view.Own, e.view.Declined)
}

// solicit offers the address, or gives it at once where the client wants that (RFC 8415 §18.3.1). It's reserved for this machine alone,
// so that it costs nothing where another server was faster.
func (e *exchange) solicit() Answer {
	if !e.associates() {
		return e.silence(SilentNoAssociation)
	}
	if why := e.withheld(); why != "" {
		return e.silence(why)
	}
	if e.facts.Rapid && !e.wantsPrefix() {
		a := e.give(wire.Reply, dhcp.Acknowledged)
		a.Offers = true
		return e.staged(a)
	}
	a := e.give(wire.Advertise, Advertised)
	a.Offers = true
	return a
}

// associates says whether the client asks for an address.
func (e *exchange) associates() bool {
	for range e.req.IAs() {
		return true
	}
	return false
}

// wantsPrefix says whether a system wants a prefix beside its address: a router. We have none, but another server on its link may, and it hears of
// that by waiting for all offers alone: at the highest preference (RFC 8415 §18.2.1), and with what's given at once, it waits for none. Then it
// chooses for itself (§18.2.9). Firmware does nothing with a prefix, and boots by our offer alone.
func (e *exchange) wantsPrefix() bool {
	return !e.facts.Client.Netboots() && e.req.Options.Has(wire.OptionIAPD)
}

// binds says whether a message has an association of any kind in it: for an address, a temporary one, or a prefix.
func (e *exchange) binds() bool {
	return slices.ContainsFunc([]uint16{wire.OptionIANA, wire.OptionIATA, wire.OptionIAPD}, e.req.Options.Has)
}

// bind gives the address to who has chosen us, or has it and goes on with it.
func (e *exchange) bind() Answer {
	if !e.associates() {
		return e.silence(SilentNoAssociation)
	}
	if e.facts.Type == wire.Request { // A system that uses the address and renews it goes on.
		if why := e.withheld(); why != "" {
			return e.silence(why)
		}
	}
	return e.staged(e.give(wire.Reply, dhcp.Acknowledged))
}

// staged says what an answer that gives an address is a sight of: of firmware, a boot. What asks as a system is no sign of one that runs:
// OVMF's own IPv6 does so as well, before anything is booted, where a router advertises that addresses are managed.
func (e *exchange) staged(a Answer) Answer {
	if a.Packet != nil && e.facts.Client.Netboots() && (e.facts.Type == wire.Solicit || e.facts.Type == wire.Request) {
		a.Stage = boot.StageDHCP
	}
	return a
}

// confirm says whether the addresses that a system still has are right here (RFC 8415 §18.3.3): the planned one is, on its segment.
func (e *exchange) confirm() Answer {
	named, right := false, true
	for ia := range e.req.IAs() {
		for a := range ia.Addresses() {
			named, right = true, right && a == e.planned()
		}
	}
	switch {
	case !named:
		return e.silence(dhcp.SilentMalformed)
	case !right && (e.segment.Mode != boot.SegmentAuthoritative || e.facts.Client.Netboots()):
		return e.silence(dhcp.SilentWrongAddress)
	case !right:
		return e.status(wire.NotOnLink, dhcp.Refused)
	}
	return e.status(wire.Success, Confirmed)
}

// decline takes note that the machine can't use its address.
func (e *exchange) decline() Answer {
	for ia := range e.req.IAs() {
		for a := range ia.Addresses() {
			if a == e.planned() {
				return e.acknowledge(dhcp.Declined)
			}
		}
	}
	return e.silence(dhcp.SilentWrongAddress)
}

func (e *exchange) acknowledge(why dhcp.Reason) Answer { return e.status(wire.Success, why) }
