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

// proxyEvery is how often it's looked whether a segment needs the port of proxyDHCP, and whether that can be had.
const proxyEvery = 250 * time.Millisecond

// A proxyPort is that of proxyDHCP, 4011. It's open while a segment of mode Proxy is known, so that a node without any leaves it to
// whoever has it; where it can't be had such segments aren't answered at port 67 either.
type proxyPort struct {
	c    Config
	open atomic.Bool

	mu sync.Mutex
	// problem says why the port can't be had; "": it can, or nobody needs it.
	problem string
	stop    func()
}

// Open says whether the port is heard.
func (p *proxyPort) Open() bool { return p.open.Load() }

// Problem with a segment, in a sentence; "": none.
func (p *proxyPort) Problem(g boot.Segment) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.Mode != boot.SegmentProxy {
		return ""
	}
	return p.problem
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
		p.say("")
	case !p.Open():
		p.close() // What is left of one that has failed.
		conns, err := p.listen(ctx)
		if err != nil {
			p.say("BootNetworks of mode Proxy aren't served, at port 67 either: " + err.Error())
			return
		}
		p.say("")
		p.serve(ctx, conns, srv)
	}
}

// say notes a problem, and logs it once.
func (p *proxyPort) say(problem string) {
	p.mu.Lock()
	news := p.problem != problem
	p.problem = problem
	p.mu.Unlock()
	switch {
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
		return nil, cannotListen(what, "udp4", p.c.ProxyListen, err)
	}
	u, _ := c.(*net.UDPConn)
	return dhcp.NewProxyConn(u) //nolint:wrapcheck // It says what failed.
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
