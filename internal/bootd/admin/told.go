package admin

import (
	"context"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// told is what says what a machine would be told that was given a file; nil: it's told nothing by us.
func (h *handler) told(as dhcp.Guise, x Exchange) func(ctx context.Context, token, base string, arch uint16) (gate.Answer, string, error) {
	if _, _, _, ok := ipxe.LoaderOf(x.File); ok {
		return h.o.Grub
	}
	switch {
	case as.Client == dhcp.ClientIPXE:
		return h.o.Script
	case as.Client == dhcp.ClientPi && x.Answer != silence:
		return h.o.Pi
	}
	return nil
}
