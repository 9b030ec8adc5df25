package admin

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6/wire"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

const portDHCP6 = 547

// reasonNoSix is that of a machine of IPv6 where nothing is served over that.
const reasonNoSix = "NoIPv6"

// familiesOf are those that a machine has an address of, IPv4 first; true: IPv6. One without any is thought of as of IPv4.
func familiesOf(p *boot.Plan) (six []bool) {
	if !p.Network.Address.Addr().Is6() {
		six = append(six, false)
	}
	if _, ok := p.Network.InSix(); ok {
		six = append(six, true)
	}
	return six
}

// asks6 says whether a packet is a request by DHCPv6.
func asks6(p trace.Packet) bool { return !p.Sent && p.To.Port() == portDHCP6 && p.To.Addr().Is6() }

// solicited says what a machine would get that asks by DHCPv6, and where an iPXE that got it reaches bootd.
func (h *handler) solicited(g boot.Segment, mac boot.MAC, as dhcp.Guise) (Exchange, string, error) {
	v, ok := h.view6()
	if !ok {
		return Exchange{
			As: as.String(), Via: "DHCPv6", Answer: silence, Reason: reasonNoSix,
			Because: "its address is one of IPv6, which this bootd doesn't serve: see --dhcp6-listen, and its log",
		}, unknownBase, nil
	}
	in, link, via := h.way6(v, g)
	request, from, err := dhcp6.Solicit(mac, as, link)
	if err != nil {
		return Exchange{}, "", err //nolint:wrapcheck // It says what is wrong.
	}
	if !link.IsValid() {
		in.From = netip.AddrPortFrom(from, 546)
	}
	return h.exchange6(v, request, in, via)
}

// view6 is what DHCPv6 answers rest on; false: it isn't served.
func (h *handler) view6() (dhcp6.View, bool) {
	if h.o.View6 == nil {
		return dhcp6.View{}, false
	}
	return h.o.View6()
}

// way6 says how requests come in from a segment: from the link where this node has an address there, else through a relay.
func (h *handler) way6(v dhcp6.View, g boot.Segment) (in dhcp6.Ingress, link netip.Addr, via string) {
	all := h.o.Interfaces()
	for _, i := range all {
		named := len(g.Interfaces) == 0 || slices.Contains(g.Interfaces, i.Name)
		if g.Mode != boot.SegmentRelayOnly && named && slices.ContainsFunc(i.Six, g.Contains) {
			return dhcp6.Ingress{Interface: i.Name, Index: i.Index, Addresses: i.Six}, netip.Addr{}, "multicast on " + i.Name
		}
	}
	for _, s := range g.Subnets {
		if s.Addr().Is6() {
			link = s.Masked().Addr().Next()
			break
		}
	}
	relay := link
	if len(g.Relays) > 0 {
		relay = g.Relays[0].Masked().Addr()
	}
	in.From, in.To = netip.AddrPortFrom(relay, portDHCP6), v.Advertise
	for _, i := range all {
		for _, a := range i.Six {
			if !in.To.Is6() && !a.IsLoopback() {
				in.To = a
			}
		}
	}
	return in, link, "relay " + relay.String()
}

// exchange6 says what a request would get, and where an iPXE that got it reaches bootd.
func (h *handler) exchange6(v dhcp6.View, request []byte, in dhcp6.Ingress, via string) (Exchange, string, error) {
	f, as, err := dhcp6.Foresee(v, request, in)
	if err != nil {
		return Exchange{}, "", err //nolint:wrapcheck // It says what is wrong.
	}
	x := Exchange{As: as.String(), Via: via, Answer: silence, Reason: string(f.Reason), Because: becauseDHCP6(f.Reason)}
	if f.Packet == nil {
		return x, unknownBase, nil
	}
	x.Answer, x.To, x.File = f.Kind.String(), f.To.String(), shown(f.File)
	if f.Address.IsValid() {
		x.Address = f.Address.String()
	}
	if name, ok := tftpName(f.File); ok {
		x.TFTP = h.file(name)
	}
	base, _, ok := strings.Cut(f.File, ipxe.PathBoot)
	if !ok {
		base = unknownBase
	}
	return x, base, nil
}

// tftpName is what is asked of TFTP by a URL; false: it isn't one of TFTP.
func tftpName(file string) (string, bool) {
	rest, ok := strings.CutPrefix(file, "tftp://")
	if !ok {
		return "", false
	}
	_, name, ok := strings.Cut(rest, "/")
	return name, ok
}

// lastAsked6 is what a request that was heard would get now; false: it's none of DHCPv6 that asks for an address.
func (h *handler) lastAsked6(p trace.Packet) (Exchange, bool) {
	v, ok := h.view6()
	if !ok {
		return Exchange{}, false
	}
	in := dhcp6.Ingress{From: p.From, Index: p.Index}
	for _, i := range h.o.Interfaces() {
		if i.Index == p.Index {
			in.Interface, in.Addresses = i.Name, i.Six
		}
	}
	via := "multicast"
	if !p.To.Addr().IsMulticast() {
		in.To, via = p.To.Addr(), "relay "+p.From.Addr().String()
	}
	if in.Interface != "" {
		via += " on " + in.Interface
	}
	m := &wire.Message{}
	if m.Read(p.Data) != nil || m.Type != wire.Solicit && m.Type != wire.Request {
		return Exchange{}, false
	}
	x, _, err := h.exchange6(v, p.Data, in, via)
	at := p.At
	x.Asked = &at
	return x, err == nil
}

// becauseDHCP6 is becauseDHCP where the words of DHCPv4 would be wrong.
func becauseDHCP6(r dhcp.Reason) string {
	says := map[dhcp.Reason]string{
		dhcp.SilentNoAddress:      "its address isn't one of IPv6",
		dhcp.SilentUnicast:        "a request without a relay must be sent to ff02::1:2 from an address of the link",
		dhcp.SilentNoServer:       "bootd has no address of IPv6 on that interface but that of the link; give it one, or --advertise-address",
		dhcp.SilentRelayUntrusted: "the address that the relay sends from is neither in the BootNetwork's dhcp.relays nor, without that list, in one of its subnets",
		dhcp.SilentMalformed:      "it isn't as RFC 8415 has it",
		dhcp6.SilentNoID:          "it doesn't say who it is (option 1)",
		dhcp6.SilentNoAssociation: "it asks for no address (option 3), but for a prefix or a temporary one, say, which bootd doesn't give",
		dhcp6.SilentUnproven:      "nothing but a DUID, or a relay that isn't trusted, says which machine it is, which is too little for firmware",
	}[r]
	if says == "" {
		return becauseDHCP(r)
	}
	return says
}
