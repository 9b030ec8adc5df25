package dhcp

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// SilentPortTaken is silence towards a machine behind whose port another one was seen before: a port names a place, and who is there now is unknown.
const SilentPortTaken Reason = "PortHeldByAnother"

// directly is what's said of a machine whose entry names a port and whose request no relay passed on.
const directly = "on a link of bootd's own, behind no relay"

// A Sight is what an answer says of a switch port; the zero value: nothing.
type Sight struct {
	// Behind says that the machine is behind the port that its entry names.
	Behind bool
	// Elsewhere is where it is in the place of that, for people; "": nowhere else.
	Elsewhere string
	// Plan is the one whose port another machine is behind, and Holder the machine that was seen there before; nil where that's none.
	Plan   *boot.Plan
	Holder boot.MAC
}

// Port is the port that a relay names, whoever it is; the zero value: none.
func (r Relay) Port() boot.Port {
	return boot.Port{Circuit: boot.PortID(r.Circuit), Remote: boot.PortID(r.Remote)}
}

// named says whether a request came by a relay that a segment names: what others say of ports isn't believed, and a client's own option 82 says
// nothing (RFC 3046 §2.1).
func (e *exchange) named(g *boot.Segment) bool {
	return e.facts.Relay.Address.IsValid() && len(g.Relays) > 0 && g.TrustsRelay(e.facts.Relay.Address)
}

// look looks whether the machine is behind the port that its entry names. What comes without a relay from its own address says nothing of that: so
// a lease is renewed.
func (e *exchange) look() {
	if e.plan.Port == nil {
		return
	}
	switch e.sight = (Sight{}); {
	case e.named(&e.segment):
		if at := e.facts.Relay.Port(); at == *e.plan.Port {
			e.sight.Behind = true
		} else {
			e.sight.Elsewhere = "behind port " + at.String()
		}
	case !e.facts.Relay.Address.IsValid() && !e.in.To.IsValid():
		e.sight.Elsewhere = directly
	}
}

// placed finds the plan of a machine that no entry names by its MAC: that of the port which it's behind, as long as no other machine was seen
// there; a reason: there's none.
func (e *exchange) placed() (*boot.Plan, Reason) {
	st := e.view.State
	if e.view.Holders == nil || !st.HasPorts() || e.in.Proxy || st.Withheld(e.facts.MAC) {
		return nil, SilentUnknown
	}
	if !e.facts.Relay.Address.IsValid() {
		return e.renewing()
	}
	port := e.facts.Relay.Port()
	for i := range st.Segments {
		g := &st.Segments[i]
		p, ok := st.ByPort(g.Name, port)
		if !ok || !p.PlacedAlone() || !g.GivesAddresses() || !e.named(g) {
			continue
		}
		link := e.facts.Relay.Address
		if e.facts.Relay.Link.IsValid() {
			link = e.facts.Relay.Link
		}
		if g.Contains(link) {
			return e.behind(p)
		}
	}
	return nil, SilentUnknown
}

// behind says whether the machine behind a port is the one that's meant: the one that holds it, or where nobody does who boots from the network, or
// has the address already. A BMC that shares the NIC does neither.
func (e *exchange) behind(p *boot.Plan) (*boot.Plan, Reason) {
	holder, held := e.view.Holders.Of(p.PlaceKey(), e.view.Now)
	its := p.Network.Address.Addr()
	switch {
	case held && holder == e.facts.MAC:
		return p, ""
	case held && e.facts.Client.Netboots():
		e.sight.Plan, e.sight.Holder = p, holder
		return nil, SilentPortTaken
	case !held && (e.facts.Client.Netboots() || e.facts.Requested == its || e.facts.Address == its):
		return p, ""
	}
	return nil, SilentUnknown
}

// renewing finds the plan of a port's holder that renews its lease: by unicast, from the planned address, without its relay.
func (e *exchange) renewing() (*boot.Plan, Reason) {
	place, ok := e.view.Holders.Place(e.facts.MAC)
	if !ok || !e.in.To.IsValid() {
		return nil, SilentUnknown
	}
	p, ok := e.view.State.AtPlace(place)
	if !ok || !p.PlacedAlone() || e.facts.Address != p.Network.Address.Addr() || e.in.From.Addr() != e.facts.Address {
		return nil, SilentUnknown
	}
	return p, ""
}

// holds takes note of who is behind a port, before the answer is sent; where somebody else came first, there's none. A machine that's named by its
// MAC holds the port that it's seen behind, whoever did before: its entry says so.
func (s *Server) holds(a *Answer, now time.Time) {
	p := a.Plan
	if p == nil || p.Port == nil || s.cfg.Holders == nil {
		return
	}
	until := time.Time{} // For good.
	switch {
	case a.Reason == SilentOtherServer && a.Facts.Type == wire.Request: // It has the address from another bootd.
	case a.Packet == nil:
		return
	case a.Reason == Offered && a.Pi == "": // A Pi 3 asks for no more than the offer.
		until = now.Add(offerHolds)
	case a.Reason != Offered && a.Reason != Acknowledged:
		return
	}
	switch {
	case len(p.MACs) > 0 && a.Sight.Behind && until.IsZero():
		s.cfg.Holders.Name(p.PlaceKey(), a.Facts.MAC)
	case len(p.MACs) == 0 && !s.cfg.Holders.Hold(p.PlaceKey(), a.Facts.MAC, now, until):
		a.Packet, a.Reason, a.Plan, a.Stage = nil, SilentPortTaken, nil, ""
		a.Sight.Plan = p
	}
}

// misplaced passes on that a machine is elsewhere than its entry says, or that another one is where it should be: once a boot, or for each that comes.
func (s *Server) misplaced(a *Answer, first bool, now time.Time) {
	switch {
	case s.cfg.Misplaced == nil:
	case a.Reason == SilentPortTaken && a.Sight.Plan != nil && s.cfg.Holders.Refuses(a.Sight.Plan.PlaceKey(), a.Facts.MAC):
		s.cfg.Misplaced(a.Sight.Plan, "NeedsConfirmation: MAC "+string(a.Facts.MAC)+" asks behind port "+a.Sight.Plan.Port.String()+", where "+string(a.Sight.Holder)+
			" was before; if that's the machine that is meant, name it in machine.macs", now)
	case first && a.Sight.Elsewhere != "" && a.Plan != nil:
		s.cfg.Misplaced(a.Plan.Kept(), "MAC "+string(a.Facts.MAC)+" is "+a.Sight.Elsewhere+", and not behind port "+a.Plan.Port.String()+": nothing is installed on it there", now)
	}
}
