package bootd

import (
	"context"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/admin"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/httpboot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/trace"
)

// portDHCP is where clients and relays reach a DHCP server, portProxy where they reach one that gives no addresses, portDHCP6 one of
// DHCPv6.
const (
	portDHCP  = 67
	portProxy = 4011
	portDHCP6 = 547
)

// tracedDHCP keeps what a machine asked, and what it was answered. It's called between two packets.
func (d *daemon) tracedDHCP(request []byte, in dhcp.Ingress, a dhcp.Answer, at time.Time) {
	to, port := in.To, uint16(portDHCP)
	if in.Proxy {
		port = portProxy
	}
	if !to.IsValid() {
		to = netip.AddrFrom4([4]byte{255, 255, 255, 255})
	}
	asked := trace.Packet{At: at, From: in.From, To: netip.AddrPortFrom(to, port), Index: in.Index, Data: request}
	from := a.From
	if !from.IsValid() && len(in.Addresses) > 0 {
		from = in.Addresses[0]
	}
	d.trace.Add(a.Facts.MAC, a.Plan != nil, asked, trace.Packet{
		At: at, From: netip.AddrPortFrom(from, port), To: a.To, Index: in.Index, Sent: true, Data: a.Packet,
	})
}

// tracedDHCP6 is tracedDHCP for DHCPv6.
func (d *daemon) tracedDHCP6(request []byte, in dhcp6.Ingress, a dhcp6.Answer, at time.Time) {
	to, from := in.To, a.From
	if !to.IsValid() {
		to = dhcp6.Group()
	}
	if !from.IsValid() && len(in.Addresses) > 0 {
		from = in.Addresses[0]
	}
	asked := trace.Packet{At: at, From: in.From, To: netip.AddrPortFrom(to, portDHCP6), Index: in.Index, Data: request}
	d.trace.Add(a.MAC, a.Plan != nil, asked, trace.Packet{
		At: at, From: netip.AddrPortFrom(from, portDHCP6), To: a.To, Index: in.Index, Sent: true, Data: a.Packet,
	})
}

// tracer6 is tracedDHCP6, or nil where nothing is kept.
func (d *daemon) tracer6() func([]byte, dhcp6.Ingress, dhcp6.Answer, time.Time) {
	if d.trace == nil {
		return nil
	}
	return d.tracedDHCP6
}

// tracer is tracedDHCP, or nil where nothing is kept.
func (d *daemon) tracer() func([]byte, dhcp.Ingress, dhcp.Answer, time.Time) {
	if d.trace == nil {
		return nil
	}
	return d.tracedDHCP
}

// tracedTFTP keeps a packet of a machine that's known by its address.
func (d *daemon) tracedTFTP(p *boot.Plan, x tftp.Packet) {
	if len(p.MACs) == 0 {
		return
	}
	kept := trace.Packet{At: x.At, From: x.Client, To: x.Ours, Sent: x.Sent, Data: x.Data}
	if x.Sent {
		kept.From, kept.To = x.Ours, x.Client
	}
	d.trace.Add(p.MACs[0], true, kept, trace.Packet{})
}

// serveAdmin answers people on this host. A bootd that can't goes on: machines don't need it.
func (d *daemon) serveAdmin(ctx context.Context, g *errgroup.Group, answers *dhcp.Server, web *httpboot.Server, l listeners) {
	socket, err := admin.Listen(ctx, d.c.StateDir)
	if err != nil {
		d.c.Logger.Warn("bootd explain and bootd trace can't be answered", "error", err.Error())
		return
	}
	o := admin.Options{
		Name: d.c.Name, View: answers.View, View6: d.six.view, Logged: d.sessions.Logged, Interfaces: interfaces, Trace: d.trace, Now: d.c.Now, Turn: d.turn(), Stopping: d.left,
		File: func(name string) (int, bool, bool) {
			if size, ok := d.files.HasSigned(name); ok {
				return size, false, true
			}
			f, ok := d.files.Find(name)
			return len(f.Data), f.StandIn, ok
		},
	}
	if s, ok := d.source.(interface{ Why(p *boot.Plan) string }); ok {
		o.Why = d.why(s.Why)
	}
	if web != nil {
		o.Script = web.Foresee
	}
	if l.tftp != nil {
		o.Grub, o.Pi = d.grub(l).Foresee, d.pis.Foresee
	}
	for what, served := range map[string]bool{"DHCP": d.c.DHCPListen+d.c.ProxyListen != "", "TFTP": l.tftp != nil, "HTTP": l.http != nil} {
		if !served {
			o.NotServed = append(o.NotServed, what)
		}
	}
	g.Go(func() error {
		if err := admin.Serve(ctx, socket, admin.Handler(o), d.c.Logger); err != nil {
			d.c.Logger.Warn("bootd explain and bootd trace aren't answered any more", "error", err.Error())
		}
		return nil
	})
}

// interfaces of this node, with their addresses; those that can't be read are left out.
func interfaces() (out []admin.Interface) {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range all {
		as, err := i.Addrs()
		if err != nil {
			continue
		}
		x := admin.Interface{Name: i.Name, Index: i.Index}
		for _, a := range addressesOf(as) {
			if a.Is4() {
				x.Addresses = append(x.Addresses, a)
			}
		}
		for _, a := range links.Of(&i).Addresses { // In the order in which answers have them.
			if a.Is6() {
				x.Six = append(x.Six, a)
			}
		}
		out = append(out, x)
	}
	return out
}

// why says what keeps installs from a machine: what its source knows, or that the state folder couldn't be written when a machine last asked.
func (d *daemon) why(knows func(*boot.Plan) string) func(*boot.Plan) string {
	return func(p *boot.Plan) string {
		why := knows(p)
		if why == "" && d.gate.Unwritten() && p.Mode == boot.ModeInstall && p.InstallGeneration > p.InstalledGeneration {
			return gate.ReasonDisk + ": the state folder couldn't be written when a machine last asked: is its disk full, or read-only? Each boot tries again"
		}
		return why
	}
}
