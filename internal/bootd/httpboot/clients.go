package httpboot

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// clients bounds the connections of all clients together, and once three quarters of them are taken those of each client: one
// machine which opens them and says nothing doesn't keep a rack from booting, and a hall behind one address of a NAT boots. One
// too many of a client is closed at once; one too many of all waits until another ends.
type clients struct {
	net.Listener

	most   int
	places chan struct{}
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open map[netip.Addr]int
	all  int
}

func boundClients(l net.Listener, most, total int) *clients {
	return &clients{
		Listener: l, most: most, places: make(chan struct{}, total), closed: make(chan struct{}), open: map[netip.Addr]int{},
	}
}

// Accept gives the next connection of a client that hasn't too many.
func (l *clients) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.places
			return nil, err //nolint:wrapcheck // The listener's own words.
		}
		a := remote(c)
		if others, ok := l.take(a); ok {
			holdLittle(c, others)
			return &counted{Conn: c, release: sync.OnceFunc(func() { l.release(a); <-l.places })}, nil
		}
		_ = c.Close()
	}
}

const (
	// unsent is what the kernel holds of an answer, at most, beside what is on its way: of a whole hall it's a good part of what a host has for TCP.
	unsent = 128 << 10
	// unsentOfFew is that of the first few connections. With less a fast client sleeps between two pieces, and to wake it each time takes half of what
	// sending does; with four times as much what is on its way is in no cache any more.
	unsentOfFew, few = 512 << 10, 256
)

// holdLittle has the kernel take the next of an answer as soon as little of it is left to send. Otherwise it takes megabytes, and then
// nothing until a third of them is gone: to a slow machine that's many minutes, in which it looks as if it took nothing.
func holdLittle(c net.Conn, others int) {
	s, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	rc, err := s.SyscallConn()
	if err != nil {
		return
	}
	little := unsent
	if others < few {
		little = unsentOfFew
	}
	_ = rc.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, little)
	})
}

// Close closes the listener, and ends an Accept that waits for a place.
func (l *clients) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close() //nolint:wrapcheck // The listener's own words.
}

func remote(c net.Conn) netip.Addr {
	a, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap()
}

// take a place for a client, beside others that are taken; false: it has too many.
func (l *clients) take(a netip.Addr) (others int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if 4*l.all >= 3*cap(l.places) && l.open[a] >= l.most {
		return l.all, false
	}
	l.open[a]++
	l.all++
	return l.all - 1, true
}

func (l *clients) release(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[a]--
	l.all--
	if l.open[a] <= 0 {
		delete(l.open, a)
	}
}

// counted is a connection that gives its place back.
type counted struct {
	net.Conn

	release func()
	// until is the deadline of writing, in nanoseconds, and slack is how much later a next one is as good; 0: none is known.
	until, slack atomic.Int64
}

// Close closes the connection.
func (c *counted) Close() error {
	defer c.release()
	return c.Conn.Close() //nolint:wrapcheck // The connection's own words.
}

// SetWriteDeadline puts the deadline of writing off, unless that's by less than a sixty-fourth of what is left: a machine that asks a thousand
// times a second needs it moved once a second.
func (c *counted) SetWriteDeadline(t time.Time) error {
	set := c.until.Load()
	if later := t.UnixNano() - set; set != 0 && !t.IsZero() && later >= 0 && later < c.slack.Load() {
		return nil
	}
	err := c.Conn.SetWriteDeadline(t)
	if set = t.UnixNano(); err != nil || t.IsZero() {
		set = 0
	}
	c.until.Store(set)
	c.slack.Store(int64(time.Until(t)) / 64)
	return err //nolint:wrapcheck // The connection's own words.
}

// SetDeadline moves both.
func (c *counted) SetDeadline(t time.Time) error {
	c.until.Store(0)
	return c.Conn.SetDeadline(t) //nolint:wrapcheck // The connection's own words.
}

// ReadFrom lets the kernel send a file by itself (sendfile), which net/http asks for by this method alone.
func (c *counted) ReadFrom(r io.Reader) (int64, error) {
	if p, ok := r.(*part); ok {
		if n, sent, err := sendNow(c.Conn, p); sent {
			return n, err
		}
		r = &p.LimitedReader
	}
	if to, ok := c.Conn.(io.ReaderFrom); ok {
		return to.ReadFrom(r) //nolint:wrapcheck // The connection's own words.
	}
	return io.Copy(c.Conn, r) //nolint:wrapcheck // The connection's own words.
}
