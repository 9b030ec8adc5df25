package bootd

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

const (
	// joinEvery is how often it's looked on which interfaces a segment of IPv6 lies.
	joinEvery = 2 * time.Second
	// againEvery is how often ports that can't be had are tried.
	againEvery = 5 * time.Second
)

// six is what is served over IPv6: DHCPv6 and TFTP. (HTTP at all addresses is at those of IPv6 anyway.) Its ports are open while a segment
// with a subnet of IPv6 is known, so that a node without any has neither a port nor memory for it.
type six struct {
	c Config
	// server makes the server of DHCPv6; tftp serves on a listener, nil: TFTP isn't served.
	server func() *dhcp6.Server
	tftp   func(context.Context, *net.UDPConn) error

	// answers is the server of DHCPv6, while it runs; tftpOpen says whether TFTP is served.
	answers  atomic.Pointer[dhcp6.Server]
	tftpOpen atomic.Bool

	// problem says what isn't served.
	problem trouble

	learnt *dhcp6.Learnt
	socket *dhcp6.Socket
	failed atomic.Bool // something that served has ended
	tried  time.Time   // when the ports were last opened
	// openTFTP opens TFTP's port; nil: it's open, or not served.
	openTFTP  func() error
	noTFTP    string // why it can't be had
	triedTFTP time.Time
	// noHTTP says why nothing is booted over IPv6; "": something is.
	noHTTP string
	joined time.Time
	stop   func()
}

// Problem with a segment, in a sentence; "": none.
func (x *six) Problem(g boot.Segment) string {
	if !dhcp6.Serves(g) {
		return ""
	}
	return x.problem.get()
}

// view is what DHCPv6 answers rest on now; false: it isn't served.
func (x *six) view() (dhcp6.View, bool) {
	srv := x.answers.Load()
	if srv == nil {
		return dhcp6.View{}, false
	}
	return srv.View(), true
}

// say notes a problem, and logs it once.
func (x *six) say(problem string) {
	switch news := x.problem.set(problem); {
	case news && problem != "":
		x.c.Logger.Error("IPv6 isn't served, or not all of it", "problem", problem)
	case news:
		x.c.Logger.Info("IPv6 is no problem any more")
	}
}

// run keeps the ports until ctx ends.
func (x *six) run(ctx context.Context, state func() *boot.State) error {
	if x.c.DHCP6Listen == "" {
		x.problem.set("subnets of IPv6 aren't served: bootd hears no DHCPv6 (--dhcp6-listen)")
		return nil
	}
	defer x.close()
	for {
		x.turn(ctx, state())
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(proxyEvery):
		}
	}
}

func (x *six) turn(ctx context.Context, st *boot.State) {
	if st == nil || !slices.ContainsFunc(st.Segments, dhcp6.Serves) {
		x.close()
		x.say("")
		return
	}
	if x.stop == nil || x.failed.Load() {
		x.close()
		if time.Since(x.tried) < againEvery {
			return
		}
		x.tried = time.Now()
		if err := x.open(ctx); err != nil {
			x.close()
			x.say("subnets of IPv6 aren't served: " + err.Error())
			return
		}
	}
	if now := time.Now(); now.Sub(x.joined) >= joinEvery {
		x.joined = now
		partly := x.tryTFTP(now)
		if _, err := x.socket.Join(func(name string, as []netip.Addr) bool { return x.hears(st, name, as) }); err != nil {
			x.say("subnets of IPv6 aren't served on all interfaces: " + err.Error())
			return
		}
		x.say(cmp.Or(x.noHTTP, partly))
	}
}

// tryTFTP opens TFTP's port where it isn't open yet, and says what is wrong without it; "": nothing.
func (x *six) tryTFTP(now time.Time) string {
	if x.openTFTP == nil {
		x.noTFTP = ""
		return ""
	}
	if x.noTFTP != "" && now.Sub(x.triedTFTP) < againEvery {
		return x.noTFTP
	}
	x.triedTFTP, x.noTFTP = now, ""
	if err := x.openTFTP(); err != nil {
		x.noTFTP = "machines whose firmware boots over IPv6 by PXE get an address and no first stage: " + err.Error()
		return x.noTFTP
	}
	x.openTFTP = nil
	return ""
}

// hears says whether a segment of IPv6 lies on an interface.
func (x *six) hears(st *boot.State, name string, as []netip.Addr) bool {
	if !x.on(name) {
		return false
	}
	return slices.ContainsFunc(st.Segments, func(g boot.Segment) bool {
		return dhcp6.Serves(g) && (slices.Contains(g.Interfaces, name) || len(g.Interfaces) == 0 && slices.ContainsFunc(as, g.Contains))
	})
}

// on says whether DHCP may be heard on an interface at all.
func (x *six) on(name string) bool {
	return len(x.c.DHCPInterfaces) == 0 || slices.Contains(x.c.DHCPInterfaces, name)
}

// open opens DHCPv6's port, and serves until it's closed, or something fails: then all is opened anew. TFTP's is opened after it, as soon as
// it can be had: systems want their addresses without it.
func (x *six) open(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	x.failed.Store(false)
	x.stop = func() {
		cancel()
		all.Wait()
	}
	serve := func(what string, f func() error) {
		all.Go(func() {
			if err := f(); ctx.Err() == nil {
				x.c.Logger.Error("IPv6 isn't served for a moment", "for", what, "error", fmt.Sprint(err))
				x.failed.Store(true)
			}
		})
	}
	lc := &net.ListenConfig{}
	udp := func(what, address string) (*net.UDPConn, error) {
		p, err := lc.ListenPacket(ctx, "udp6", address)
		if err != nil {
			return nil, cannotListen(what, "udp6", address, err)
		}
		c, _ := p.(*net.UDPConn)
		x.c.Logger.Info("listening", "for", what, "address", address)
		return c, nil
	}
	c, err := udp("DHCPv6", x.c.DHCP6Listen)
	if err != nil {
		return err
	}
	if x.socket, err = dhcp6.NewSocket(c); err != nil {
		_ = c.Close()
		return err //nolint:wrapcheck // It says what failed.
	}
	x.joined = time.Time{}
	srv, socket := x.server(), x.socket
	x.answers.Store(srv)
	serve("DHCPv6", func() error { return srv.Serve(ctx, socket) })
	serve("DUIDs", func() error { return x.learnt.Run(ctx, x.c.Logger) })
	if at, ok := everywhere(x.c.TFTPListen); ok && x.tftp != nil {
		x.openTFTP = func() error {
			c, err := udp("TFTP", at)
			if err != nil {
				return err
			}
			x.tftpOpen.Store(true)
			serve("TFTP", func() error { return x.tftp(ctx, c) })
			return nil
		}
	}
	return nil
}

func (x *six) close() {
	x.answers.Store(nil)
	x.tftpOpen.Store(false)
	x.openTFTP = nil
	if x.stop != nil {
		x.stop()
		x.stop = nil
	}
}

// everywhere gives the port of an address that is all of this host's, at all of its addresses of IPv6; false: it's one address.
func everywhere(address string) (string, bool) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", false
	}
	if a, err := netip.ParseAddr(host); host != "" && (err != nil || !a.IsUnspecified()) {
		return "", false
	}
	return net.JoinHostPort("::", port), true
}

// portSix is the port of a listener that takes IPv6, alone or beside IPv4; 0: it doesn't.
func portSix(l net.Listener) uint16 {
	if l == nil {
		return 0
	}
	a, ok := l.Addr().(*net.TCPAddr)
	if !ok || a.IP.To4() != nil {
		return 0
	}
	return a.AddrPort().Port()
}

// serveSix serves over IPv6 while somebody needs it.
func (d *daemon) serveSix(ctx context.Context, l listeners) error {
	x, web := d.six, portSix(l.http)
	if d.tftp != nil {
		x.tftp = d.tftp.Serve
	}
	if d.c.HTTPListen != "" && web == 0 && portSix(l.https) == 0 {
		x.noHTTP = fmt.Sprintf("machines get addresses over IPv6 and nothing to boot, since HTTP is served at %s alone: give --http-listen an address of both families, as 0.0.0.0:8480 is", d.c.HTTPListen)
	}
	x.server = func() *dhcp6.Server {
		if x.learnt == nil {
			var err error
			if x.learnt, err = dhcp6.OpenLearnt(filepath.Join(d.c.StateDir, "duids.json")); err != nil {
				d.c.Logger.Warn("starting without the DUIDs that were known before", "error", err.Error())
			}
		}
		return dhcp6.New(dhcp6.Config{
			State: d.state, Keys: d.keys, Hears: x.on, Sightings: d, Sights: d.sights, Declined: d.declined, Own: d.has, OtherServer: d.otherServer6, Observe: d.answered6,
			Limit: limit.New(limit.Default()), Delay: d.turn(), Leave: d.leaves, Learnt: x.learnt, Trace: d.tracer6(), Advertise: d.c.Advertise,
			HTTPPort: web, Secure: d.secure(l), TFTP: x.tftpOpen.Load, Files: d.firstStages(), Log: d.c.Logger, Now: d.c.Now,
		})
	}
	return x.run(ctx, d.state)
}

// otherServer6 tells a source that keeps its records alone of another server of DHCPv6 that answers its machine. A DUID doesn't say which address
// that has, but of an address it can be said whether it's a bootd's there.
func (d *daemon) otherServer6(p *boot.Plan, id []byte) {
	d.trails.Asked(session.MachineOf(p.Entry))
	own, _ := net.InterfaceAddrs()
	name, ours := duidText(id), slices.Concat(addressesOf(own), d.c.Peers, []netip.Addr{d.c.Advertise})
	if slices.Contains(peerNames(ours, d.c.PeerIDs), name) {
		return
	}
	d.elsewhere(p, name)
}

// duidText is how a server is named of which a DUID is known, and how --peer has it.
func duidText(id []byte) string {
	return "duid:" + hex.EncodeToString(id[:min(len(id), dhcp6.MaxDUID)])
}

// peerNames are the names by which servers are known: their addresses, and the DUIDs that bootds have by those of IPv6.
func peerNames(peers []netip.Addr, ids [][]byte) (all []string) {
	for _, id := range ids {
		all = append(all, duidText(id))
	}
	for _, a := range peers {
		all = append(all, a.Unmap().String())
		if a = a.Unmap(); a.Is6() {
			all = append(all, duidText(dhcp6.ServerID(a)))
		}
	}
	return all
}
