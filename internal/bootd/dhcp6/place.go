package dhcp6

import (
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// place says why the request doesn't come from the machine's own segment, or not in a way that counts there, and finds which of our
// addresses it's answered by.
func (e *exchange) place() dhcp.Reason {
	var ok bool
	if e.segment, ok = e.view.State.Segment(e.plan.Network.Name); !ok {
		return dhcp.SilentNoSegment
	}
	switch e.segment.Mode {
	case boot.SegmentAuthoritative, boot.SegmentRelayOnly:
	case boot.SegmentOff, boot.SegmentProxy:
		return dhcp.SilentOff // There's no proxyDHCP of IPv6 here.
	default:
		return dhcp.SilentOff
	}
	why := e.direct
	if len(e.req.Relays) > 0 {
		why = e.relayed
	}
	if reason := why(); reason != "" {
		return reason
	}
	if e.server = e.ourAddress(); !e.server.IsValid() {
		return dhcp.SilentNoServer
	}
	e.id = ServerID(e.server)
	return ""
}

// direct judges a request without a relay. It must be a client's on the link: sent to the group, from an address of the link alone, so
// that no router has passed it on, nor does it pass on what's answered.
func (e *exchange) direct() dhcp.Reason {
	if e.in.To.IsValid() || !e.in.From.Addr().IsLinkLocalUnicast() {
		return dhcp.SilentUnicast
	}
	if e.segment.Mode == boot.SegmentRelayOnly {
		return dhcp.SilentRelayOnly
	}
	if len(e.segment.Interfaces) > 0 {
		if !slices.Contains(e.segment.Interfaces, e.in.Interface) {
			return dhcp.SilentNotServedHere
		}
		return ""
	}
	if !slices.ContainsFunc(e.in.Addresses, e.segment.Contains) {
		return dhcp.SilentElsewhere
	}
	return ""
}

// relayed judges what relays say. The one that we hear must be trusted: its own address is where the answer goes. One behind it that isn't
// trusted, such as a switch without an address, or a client that makes believe, may add what it likes but where the client is, and who.
func (e *exchange) relayed() dhcp.Reason {
	from, link, believed := e.in.From.Addr(), netip.Addr{}, len(e.req.Relays)
	for i, r := range e.req.Relays {
		says := !r.Link.IsUnspecified() && !r.Link.IsLinkLocalUnicast()
		trusted := believed == len(e.req.Relays) && e.segment.TrustsRelay(from) // Behind one that isn't trusted nobody is.
		switch {
		case !trusted && (i == 0 || says):
			return dhcp.SilentRelayUntrusted
		case says:
			link = r.Link // The nearest to the client (RFC 8415 §13.1).
		}
		if !trusted {
			believed = min(believed, i)
		}
		from = r.Peer
	}
	if !link.IsValid() || !e.segment.Contains(link) {
		return dhcp.SilentElsewhere
	}
	return e.heard(believed)
}

// heard judges who the client is by the first so many relays, which are trusted. The last of these says whom it has the rest from. A switch
// sends that from its client's own address (RFC 6221 §5.2.1), so that it agrees. Where it doesn't, what is inside is as good as a DUID, and
// nothing is learnt of it; a MAC that only an untrusted relay's option 79 says is no word at all.
func (e *exchange) heard(believed int) dhcp.Reason {
	if believed == len(e.req.Relays) || e.facts.Link == "" || linkSaid(e.req.Relays[believed-1]) == e.mac {
		return ""
	}
	e.facts.Link = ""
	said := inAddress(e.req.Relays[len(e.req.Relays)-1].Peer)
	if said == "" {
		said = e.byID()
	}
	if said != e.mac || e.facts.Client.Netboots() {
		return SilentUnproven
	}
	return ""
}

func (e *exchange) ourAddress() netip.Addr {
	if e.view.Advertise.Is6() {
		return e.view.Advertise
	}
	if e.in.To.Is6() && !e.in.To.IsLinkLocalUnicast() {
		return e.in.To
	}
	for _, a := range e.in.Addresses {
		if e.segment.Contains(a) {
			return a
		}
	}
	if len(e.in.Addresses) > 0 {
		return e.in.Addresses[0]
	}
	return netip.Addr{}
}
