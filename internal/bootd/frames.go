package bootd

import (
	"context"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// frames opens what machines without an address are answered by, until ctx ends; nil: they're answered by broadcast.
func (d *daemon) frames(ctx context.Context, l listeners) *dhcp.Frames {
	if len(l.dhcp) == 0 {
		return nil
	}
	f, err := dhcp.OpenFrames()
	if err != nil {
		d.c.Logger.Warn("machines that have no address yet are answered by broadcast alone; to answer them at their hardware address takes CAP_NET_RAW", "error", err.Error())
		return nil
	}
	context.AfterFunc(ctx, func() { _ = f.Close() })
	return f
}
