package bootd

import (
	"net/netip"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/grubboot"
)

// grub is what machines ask that boot by shim and grub.
func (d *daemon) grub(l listeners) *grubboot.Server {
	httpPort := l.httpPort()
	return grubboot.New(grubboot.Options{
		State: d.state, Gate: d.gate, Sightings: d, Artifacts: d.cache, Signed: d.files.Signed,
		Server: func(asked netip.Addr) (netip.Addr, string) {
			if d.c.Advertise.IsValid() {
				asked = d.c.Advertise
			}
			return asked, "http://" + netip.AddrPortFrom(asked, httpPort).String()
		},
		Installer: d.installers(l), Decided: d.decided, Reached: d.reached, Now: d.c.Now, Logger: d.c.Logger,
	})
}
