package httpboot

import (
	"net"
	"net/netip"
	"sync"
)

// clients bounds the connections of each client, so that one machine which opens them and says nothing doesn't keep a rack
// from booting. One too many is closed at once.
type clients struct {
	net.Listener

	most int

	mu   sync.Mutex
	open map[netip.Addr]int
}

func boundClients(l net.Listener, most int) *clients {
	return &clients{Listener: l, most: most, open: map[netip.Addr]int{}}
}

// Accept gives the next connection of a client that hasn't too many.
func (l *clients) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // The listener's own words.
		}
		a := remote(c)
		if l.take(a) {
			return &counted{Conn: c, release: sync.OnceFunc(func() { l.release(a) })}, nil
		}
		_ = c.Close()
	}
}

func remote(c net.Conn) netip.Addr {
	a, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap()
}

func (l *clients) take(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[a] >= l.most {
		return false
	}
	l.open[a]++
	return true
}

func (l *clients) release(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[a]--
	if l.open[a] <= 0 {
		delete(l.open, a)
	}
}

// counted is a connection that gives its place back.
type counted struct {
	net.Conn

	release func()
}

// Close closes the connection.
func (c *counted) Close() error {
	defer c.release()
	return c.Conn.Close() //nolint:wrapcheck // The connection's own words.
}
