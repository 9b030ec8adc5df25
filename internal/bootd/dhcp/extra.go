package dhcp

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// routes adds the classless static routes of a subnet, for who asks. Who reads them doesn't read the router option any more, so that the way by the
// gateway is among them (RFC 3442, DHCP Client Behavior).
func (e *exchange) routes(p *wire.Reply, n *boot.Network) {
	rs := e.segment.RoutesOn(n.Address.Masked())
	if len(rs) == 0 {
		return
	}
	var value []byte
	for _, code := range []byte{wire.OptionRoutes, wire.OptionRoutesMicrosoft} { // Windows of old asks for the latter, by the same value.
		if !e.req.Asked(code) {
			continue
		}
		if value == nil {
			value = classless(rs, n)
		}
		rank := uint8(rankRoutes)
		if code == wire.OptionRoutesMicrosoft && e.req.Asked(wire.OptionRoutes) {
			rank = rankRoutesMicrosoft
		}
		p.Bytes(code, rank, value)
	}
}

// classless writes routes: the width of each destination, as many of its octets as count, and its router.
func classless(rs []boot.Route, n *boot.Network) (out []byte) {
	for _, r := range rs {
		to, via := r.To.Addr().As4(), r.Via.As4()
		out = append(out, byte(r.To.Bits())) //nolint:gosec // 32 at most.
		out = append(out, to[:(r.To.Bits()+7)/8]...)
		out = append(out, via[:]...)
	}
	if n.Gateway.Is4() {
		via := n.Gateway.As4()
		out = append(append(out, 0), via[:]...)
	}
	return out
}

// options adds what the segment's operator says beside. What a boot goes on with is never another's: it's there already.
func (e *exchange) options(p *wire.Reply) {
	for _, o := range e.segment.Options {
		if !o.Always && !e.req.Asked(o.Code) || p.Has(o.Code) || o.Code == wire.OptionVendor && e.boots() {
			continue
		}
		if o.VendorClass != "" && !strings.HasPrefix(string(e.req.Get(wire.OptionClass)), o.VendorClass) {
			continue
		}
		p.Bytes(o.Code, rankOption, o.Value)
	}
}

// boots says that a request is firmware's that reads option 43 as PXE has it: iPXE, too, which is told to load by itself, and says PXE's class.
func (e *exchange) boots() bool {
	return slices.Contains([]Client{ClientPXE, ClientHTTP, ClientIPXE, ClientPi}, e.facts.Client)
}
