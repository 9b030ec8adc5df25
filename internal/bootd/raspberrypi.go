package bootd

import (
	"net/netip"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/rpiboot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// raspberryPis is what Raspberry Pis ask by TFTP. There's one: it remembers what DHCP has begun.
func (d *daemon) raspberryPis(l listeners) *rpiboot.Server {
	httpPort := l.httpPort()
	return rpiboot.New(rpiboot.Options{
		Gate: d.gate, Sightings: d, Artifacts: d.cache, Installer: d.installers(l),
		Base: func(asked netip.Addr) string {
			if d.c.Advertise.IsValid() {
				asked = d.c.Advertise
			}
			if !asked.IsValid() {
				return ""
			}
			return "http://" + netip.AddrPortFrom(asked, httpPort).String()
		},
		Decided: d.decided, Reached: d.reached, Now: d.c.Now, Logger: d.c.Logger,
	})
}

// ownFiles are those that are a machine's alone, by TFTP: a grub's by the tokens in their names, a Raspberry Pi's by what it is.
func (d *daemon) ownFiles(l listeners) tftp.Own {
	grub := d.grub(l).Own
	return func(name string, client, ours netip.Addr) (tftp.OwnFile, bool) {
		if f, ok := grub(name, client, ours); ok {
			return f, true
		}
		return d.pis.Own(name, client, ours)
	}
}
