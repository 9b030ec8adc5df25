package admin

import (
	"net"
	"net/netip"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// anyMachine stands for one of which nothing is known but its port.
const anyMachine boot.MAC = "02:00:00:00:00:01"

// macsOf are the NICs of a machine: those that its plan names, or that of the one behind its port.
func macsOf(v dhcp.View, p *boot.Plan) []boot.MAC {
	if mac, ok := holderOf(v, p); ok && p.PlacedAlone() {
		return []boot.MAC{mac}
	}
	return p.MACs
}

// holderOf is the machine that was seen behind a plan's port.
func holderOf(v dhcp.View, p *boot.Plan) (boot.MAC, bool) {
	if p.Port == nil || v.Holders == nil {
		return "", false
	}
	return v.Holders.Of(p.PlaceKey(), v.Now)
}

// byHolder gives the plan of a machine that's known by its port.
func byHolder(v dhcp.View, mac boot.MAC) (*boot.Plan, bool) {
	if v.Holders == nil {
		return nil, false
	}
	place, ok := v.Holders.Place(mac)
	if !ok {
		return nil, false
	}
	p, ok := v.State.AtPlace(place)
	return p, ok && p.PlacedAlone()
}

// behind says which port a relay names; "": none.
func behind(r dhcp.Relay) string {
	if port := r.Port(); port != (boot.Port{}) {
		return ", port " + port.String()
	}
	return ""
}

// viaRelay is how requests come in from a segment through a relay.
func (h *handler) viaRelay(v dhcp.View, g boot.Segment) way {
	w := way{}
	w.relay, w.link = relayOf(g)
	w.in = dhcp.Ingress{From: netip.AddrPortFrom(w.relay, portDHCP), To: v.Advertise}
	all := h.o.Interfaces()
	if ours := towards(w.relay); !w.in.To.IsValid() && slices.ContainsFunc(all, func(i Interface) bool { return slices.Contains(i.Addresses, ours) }) {
		w.in.To = ours
	}
	for _, i := range all {
		for _, a := range i.Addresses {
			if !w.in.To.IsValid() && a.Is4() && !a.IsLoopback() {
				w.in.To = a
			}
			if a == w.in.To {
				w.in.Interface, w.in.Index, w.in.Addresses = i.Name, i.Index, i.Addresses
			}
		}
	}
	w.text = "a relay"
	if w.relay.IsValid() {
		w.text = "relay " + w.relay.String()
	}
	return w
}

// towards is the address of this host that is on the way to another; a relay asks that, if people haven't told it another. Nothing is sent to learn it.
func towards(a netip.Addr) netip.Addr {
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, portDHCP)))
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = c.Close() }()
	at, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
