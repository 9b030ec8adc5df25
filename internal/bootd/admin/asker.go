package admin

import (
	"context"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// An asker is a machine that asks for an address, in a guise and over a family, and what the answer rests on.
type asker struct {
	v   dhcp.View
	g   boot.Segment
	p   *boot.Plan
	mac boot.MAC
	as  dhcp.Guise
	six bool
}

// asking adds what a machine would get that asks for an address, and what it would then be told.
func (h *handler) asking(ctx context.Context, e *Explanation, a asker) error {
	x, base, err := h.discovered(a)
	if err != nil {
		return err
	}
	x.As = a.as.String()
	if a.six && a.p.Network.Six != nil {
		x.As += ", IPv6" // The same line is there for IPv4.
	}
	e.DHCP = append(e.DHCP, x)
	ask := h.told(a.as, x)
	if ask == nil {
		return nil
	}
	s, err := h.script(ctx, a, base, ask)
	if err != nil {
		return err
	}
	s.As = x.As
	e.Scripts = append(e.Scripts, s)
	return nil
}

// discovered says what a machine would get that asks for an address, and where an iPXE that got it reaches bootd.
func (h *handler) discovered(a asker) (Exchange, string, error) {
	if a.six {
		return h.solicited(a.g, a.mac, a.as)
	}
	via := h.way(a.v, a.g)
	if a.p.Port != nil {
		via = h.viaRelay(a.v, a.g)
	}
	request, err := dhcp.DiscoverBehind(a.mac, a.as, via.relay, via.link, a.p.Port)
	if err != nil {
		return Exchange{}, "", err //nolint:wrapcheck // It says what is wrong.
	}
	x, answer, err := h.exchange(a.v, request, via.in, via.text)
	return x, baseOf(answer), err
}
