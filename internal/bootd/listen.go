package bootd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// listeners are the open sockets of a bootd; nil where it doesn't serve.
type listeners struct {
	dhcp                []*net.UDPConn
	tftp                *net.UDPConn
	http, https, health net.Listener
}

// listen opens all sockets, or none.
func listen(ctx context.Context, c Config) (listeners, error) {
	l := listeners{}
	var errs []error
	lc := &net.ListenConfig{}
	udp := func(lc *net.ListenConfig, what, address string) *net.UDPConn {
		p, err := lc.ListenPacket(ctx, "udp4", address)
		if err != nil {
			errs = append(errs, cannotListen(what, "udp4", address, err))
			return nil
		}
		conn, _ := p.(*net.UDPConn)
		return conn
	}
	tcp := func(what, address string) net.Listener {
		t, err := lc.Listen(ctx, "tcp", address)
		if err != nil {
			errs = append(errs, cannotListen(what, "tcp", address, err))
		}
		return t
	}
	if c.DHCPListen != "" && len(c.DHCPInterfaces) == 0 {
		l.dhcp = append(l.dhcp, udp(lc, "DHCP", c.DHCPListen))
	}
	for _, i := range c.DHCPInterfaces {
		l.dhcp = append(l.dhcp, udp(onInterface(i), "DHCP"+onDevice+i, c.DHCPListen))
	}
	if c.TFTPListen != "" {
		l.tftp = udp(lc, "TFTP", c.TFTPListen)
	}
	if c.HTTPListen != "" {
		l.http = tcp("HTTP", c.HTTPListen)
	}
	if c.TLS.Listen != "" {
		l.https = tcp("HTTPS", c.TLS.Listen)
	}
	if c.HealthListen != "" {
		l.health = tcp("health", c.HealthListen)
	}
	if err := errors.Join(errs...); err != nil {
		l.close()
		return listeners{}, err
	}
	l.log(c.Logger)
	return l, nil
}

// onInterface makes sockets that hear one interface alone: several may have the same port, and a
// broadcast leaves where it should.
func onInterface(name string) *net.ListenConfig {
	return &net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if cerr := c.Control(func(fd uintptr) {
			err = errors.Join(
				unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
				unix.SetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE, name),
			)
		}); cerr != nil {
			return cerr
		}
		return err
	}}
}

func (l listeners) close() {
	for _, c := range append([]*net.UDPConn{l.tftp}, l.dhcp...) {
		if c != nil {
			_ = c.Close()
		}
	}
	for _, c := range []net.Listener{l.http, l.https, l.health} {
		if c != nil {
			_ = c.Close()
		}
	}
}

func (l listeners) log(log *slog.Logger) {
	for _, c := range l.dhcp {
		log.Info("listening", "for", "DHCP", "address", c.LocalAddr().String())
	}
	if l.tftp != nil {
		log.Info("listening", "for", "TFTP", "address", l.tftp.LocalAddr().String())
	}
	if l.http != nil {
		log.Info("listening", "for", "HTTP", "address", l.http.Addr().String())
	} else if len(l.dhcp) > 0 {
		log.Warn("machines get addresses and nothing to boot, since HTTP isn't served: whatever they load first goes on by HTTP; give --http-listen an address")
	}
	if l.https != nil {
		log.Info("listening", "for", "HTTPS", "address", l.https.Addr().String())
	}
	if l.health != nil {
		log.Info("listening", "for", "health and metrics", "address", l.health.Addr().String())
	}
}

// httpPort that machines are told; 0 where HTTP isn't served.
func (l listeners) httpPort() uint16 {
	if l.http == nil {
		return 0
	}
	a, _ := l.http.Addr().(*net.TCPAddr)
	if a == nil {
		return 0
	}
	return a.AddrPort().Port()
}

// addressIn gives an address of this machine on a segment; "" where it's reached through relays only.
func addressIn(g boot.Segment, all []net.Addr) string {
	for _, x := range all {
		p, err := netip.ParsePrefix(x.String())
		if err == nil && g.Contains(p.Addr()) {
			return p.Addr().String()
		}
	}
	return ""
}

// advertised gives the address that a segment is served from, as far as it's known beforehand. One that is advertised counts for its own family.
func advertised(a netip.Addr) func(boot.Segment) string {
	return func(g boot.Segment) string {
		if a.IsValid() && slices.ContainsFunc(g.Subnets, func(p netip.Prefix) bool { return p.Addr().Is4() == a.Is4() }) {
			return a.String()
		}
		all, err := net.InterfaceAddrs()
		if err != nil {
			return ""
		}
		return addressIn(g, all)
	}
}
