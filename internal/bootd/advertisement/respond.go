package advertisement

import (
	"net/netip"

	"github.com/mdlayher/ndp"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

// An Ingress is where a solicitation came in.
type Ingress struct {
	// From is the sender, without a zone: that's Link. HopLimit is what was left of it.
	From     netip.Addr
	HopLimit int
	Link     links.Link
}

// An Answer is what a solicitation gets.
type Answer struct {
	// Packet is nil for silence. Its checksum is the system's to fill in.
	Packet []byte
	// To is who is answered: the sender, or all.
	To     netip.Addr
	Reason dhcp.Reason
}

// everybody on the link, who have no address to be answered at yet, and Group where routers are asked (RFC 4291 §2.7.1).
func everybody() netip.Addr { return netip.MustParseAddr("ff02::1") }

// Group is where routers are asked.
func Group() netip.Addr { return netip.MustParseAddr("ff02::2") }

// Respond answers an ICMPv6 message, whose checksum is right.
func Respond(v View, b []byte, in Ingress) Answer {
	if reason := judge(b, in); reason != "" {
		return Answer{Reason: reason}
	}
	to := in.From
	if to.IsUnspecified() {
		to = everybody()
	}
	return answer(v, in.Link, to)
}

// answer makes an advertisement as it is now.
func answer(v View, l links.Link, to netip.Addr) Answer {
	ra, reason := Content(v, l)
	if ra == nil {
		return Answer{Reason: reason}
	}
	b, err := ndp.MarshalMessage(ra)
	if err != nil {
		return Answer{Reason: dhcp.SilentMalformed}
	}
	return Answer{Packet: b, To: to, Reason: Advertised}
}

// judge says why a message is no solicitation of this link's (RFC 4861 §6.1.1). One whose hop limit isn't whole was sent from afar.
func judge(b []byte, in Ingress) dhcp.Reason {
	if in.HopLimit != ndp.HopLimit || !in.From.IsUnspecified() && !in.From.IsLinkLocalUnicast() {
		return dhcp.SilentUnicast
	}
	const code = 1
	m, err := ndp.ParseMessage(b)
	if err != nil || b[code] != 0 {
		return dhcp.SilentMalformed
	}
	rs, ok := m.(*ndp.RouterSolicitation)
	if !ok {
		return dhcp.SilentNotRequest
	}
	for _, o := range rs.Options {
		if o.Code() == byte(ndp.Source) && in.From.IsUnspecified() {
			return dhcp.SilentMalformed
		}
	}
	return ""
}
