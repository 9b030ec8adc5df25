package bootd

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

const (
	// proxyEvery is how often it's looked whether a segment needs the port of proxyDHCP, and whether that can be had.
	proxyEvery = 250 * time.Millisecond
	// ownerAgain is how long at first whoever has the port isn't looked for again, which takes a look at each process's files, and ownerSeldom
	// how long at last.
	ownerAgain  = time.Second
	ownerSeldom = time.Minute
)

// A proxyPort is that of proxyDHCP, 4011. It's open while a segment of mode Proxy is known, so that a node without any leaves it to
// whoever has it; where it can't be had such segments aren't answered at port 67 either.
type proxyPort struct {
	c    Config
	open atomic.Bool

	// problem says why the port can't be had; "": it can, or nobody needs it.
	problem trouble
	stop    func()

	// owned is who has the port, as it was last seen. It's run's alone.
	owned sighted
}

// sighted is what was found out by a search that costs something: it's made less and less often.
type sighted struct {
	what string
	at   time.Time
	wait time.Duration
	// find makes the search; nil: by the system's processes.
	find func(network, address string) string
}

// look gives what the last search has found, or makes another.
func (s *sighted) look(now time.Time, network, address string) string {
	if s.wait > 0 && now.Sub(s.at) < s.wait {
		return s.what
	}
	find := s.find
	if find == nil {
		find = func(network, address string) string { return owner("/proc", network, address) }
	}
	s.what, s.at = find(network, address), now
	s.wait = max(ownerAgain, min(2*s.wait, ownerSeldom)) //nolint:mnd // Doubling.
	return s.what
}

// forget what was found: the next look searches.
func (s *sighted) forget() { s.wait = 0 }

// Open says whether the port is heard.
func (p *proxyPort) Open() bool { return p.open.Load() }

// Problem with a segment, in a sentence; "": none.
func (p *proxyPort) Problem(g boot.Segment) string {
	if g.Mode != boot.SegmentProxy {
		return ""
	}
	return p.problem.get()
}

// run keeps the port until ctx ends.
func (p *proxyPort) run(ctx context.Context, state func() *boot.State, srv *dhcp.Server) error {
	defer p.close()
	for {
		p.turn(ctx, proxied(state()), srv)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(proxyEvery):
		}
	}
}

// proxied says whether a segment needs the port.
func proxied(st *boot.State) bool {
	return st != nil && slices.ContainsFunc(st.Segments, func(g boot.Segment) bool { return g.Mode == boot.SegmentProxy })
}

func (p *proxyPort) turn(ctx context.Context, needed bool, srv *dhcp.Server) {
	switch {
	case !needed:
		p.close()
		p.owned.forget()
		p.say("")
	case !p.Open():
		p.close() // What is left of one that has failed.
		conns, err := p.listen(ctx)
		if err != nil {
			p.say("BootNetworks of mode Proxy aren't served, at port 67 either: " + err.Error())
			return
		}
		p.owned.forget()
		p.say("")
		p.serve(ctx, conns, srv)
	}
}

// say notes a problem, and logs it once.
func (p *proxyPort) say(problem string) {
	switch news := p.problem.set(problem); {
	case news && problem != "":
		p.c.Logger.Error("proxyDHCP isn't served", "problem", problem)
	case news:
		p.c.Logger.Info("the port of proxyDHCP is no problem any more")
	}
}

// listen opens one socket, or one for each interface that DHCP is bound to: all or none.
func (p *proxyPort) listen(ctx context.Context) ([]dhcp.Conn, error) {
	if p.c.ProxyListen == "" {
		return nil, errors.New("bootd hears no DHCP (--dhcp-listen), nor proxyDHCP (--proxy-listen)")
	}
	var conns []dhcp.Conn
	on := p.c.DHCPInterfaces
	if len(on) == 0 {
		on = []string{""}
	}
	for _, name := range on {
		conn, err := p.listenOn(ctx, name)
		if err != nil {
			for _, c := range conns {
				_ = c.Close()
			}
			return nil, err
		}
		conns = append(conns, conn)
	}
	return conns, nil
}

// listenOn opens the socket of one interface; "": of all.
func (p *proxyPort) listenOn(ctx context.Context, name string) (dhcp.Conn, error) {
	lc, what := &net.ListenConfig{}, "proxyDHCP"
	if name != "" {
		lc, what = onInterface(name), what+onDevice+name
	}
	c, err := lc.ListenPacket(ctx, "udp4", p.c.ProxyListen)
	if err != nil {
		const network = "udp4"
		return nil, notHeard(what, network, p.c.ProxyListen, err, func() string { return p.owned.look(p.c.Now(), network, p.c.ProxyListen) })
	}
	u, _ := c.(*net.UDPConn)
	conn, err := dhcp.NewProxyConn(u)
	if err != nil || name == "" {
		return conn, err //nolint:wrapcheck // It says what failed.
	}
	ctx, stop := context.WithCancel(ctx)
	go func() { _ = follow(name, u, p.c.Logger).run(ctx) }()
	return followed{conn, stop}, nil
}

// serve answers at the port until it's closed, or a socket fails: then none of them counts, and they're opened anew.
func (p *proxyPort) serve(ctx context.Context, conns []dhcp.Conn, srv *dhcp.Server) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	p.open.Store(true)
	for _, c := range conns {
		all.Go(func() {
			if err := srv.Serve(ctx, c); err != nil {
				p.c.Logger.Error("proxyDHCP isn't heard for a moment", "error", err.Error())
			}
			p.open.Store(false)
			cancel()
		})
	}
	p.c.Logger.Info("listening", "for", "proxyDHCP", "address", p.c.ProxyListen)
	p.stop = func() {
		cancel()
		all.Wait()
	}
}

func (p *proxyPort) close() {
	p.open.Store(false)
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}
