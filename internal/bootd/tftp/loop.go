package tftp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	events = 128
	// maxPacket is the longest that's read: requests are shorter (RFC 2347 §2), and ACKs far shorter.
	maxPacket = 2048
	// maxWaiting is what the kernel may hold of requests, in bytes: a hall asks at once.
	maxWaiting = 1 << 20
	// spin is how long the loop looks for the next ACK before it sleeps: with one block of each client on its way at a time, a client waits as
	// long for us to wake as for its block, and who sends an ACK to a loop that sleeps does the work of waking it.
	spin = 60 * time.Microsecond
)

// A running transfer is one with its client.
type running struct {
	*transfer
	peer

	client netip.AddrPort
	// asked is the request as it came.
	asked string
	name  string
	file  []byte
	oack  []byte
	// own says that it's a machine's own file, content what that is.
	own     bool
	content Content
	// timeout of one answer; began is when it was asked for, due when the timeout is over, heard when the client last said something.
	timeout           time.Duration
	began, due, heard time.Time
	ended             bool
}

// A loop serves one socket, in one thread: with thousands of blocks a second, handing each to somebody else costs more than
// sending it.
type loop struct {
	s    *Server
	main int
	// segments says that the kernel can cut one write into packets.
	segments bool
	poll     int
	wake     int
	now      time.Time
	tick     time.Duration
	checked  time.Time
	yielded  time.Time
	swept    time.Time // when those who never answered were last given up to make room

	byClient map[netip.AddrPort]*running
	bySocket map[int]*running
	crowd    crowd
	in, out  []byte
	oob      []byte
	openings openings
}

// newLoop takes a socket's descriptor anew; the socket itself may be closed.
func newLoop(s *Server, conn *net.UDPConn) (*loop, error) {
	l := &loop{
		s: s, main: -1, poll: -1, wake: -1, tick: max(s.cfg.Timeout/4, time.Millisecond),
		byClient: map[netip.AddrPort]*running{}, bySocket: map[int]*running{},
		in: make([]byte, maxPacket), oob: make([]byte, unix.CmsgSpace(unix.SizeofInet6Pktinfo)), openings: newOpenings(s.cfg.Total),
	}
	_ = conn.SetReadBuffer(maxWaiting)
	rc, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	cerr := rc.Control(func(fd uintptr) {
		if l.main, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			err = tellDestination(l.main)
		}
	})
	if err = errors.Join(cerr, err); err == nil {
		l.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	}
	l.segments = canSegment(l.main)
	if err == nil {
		l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	for _, fd := range []int{l.main, l.wake} {
		if err == nil {
			err = l.watch(fd)
		}
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// tellDestination has the kernel say which address of ours each packet was sent to.
func tellDestination(fd int) error {
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err == nil && family == unix.AF_INET6 {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
}

func (l *loop) watch(fd int) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}) //nolint:gosec // A descriptor is an int of C.
}

func (l *loop) close() {
	l.openings.close() // They write to what is closed below.
	for _, r := range l.byClient {
		l.end(r, Aborted, errStopping)
	}
	for _, fd := range []int{l.main, l.poll, l.wake} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// run serves until the context ends.
func (l *loop) run(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.close()
	defer l.wakeAt(ctx)()
	list := make([]unix.EpollEvent, events)
	for {
		n, err := l.wait(list)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot wait for TFTP packets: %w", err)
		}
		l.now = time.Now()
		for _, e := range list[:n] {
			l.ready(int(e.Fd)) //nolint:contextcheck // What it begins to open ends with the loop (openings.close), and knows no other end.
		}
		l.round()
		l.count()
		l.expire()
	}
}

// wakeAt wakes the loop once the context ends. The descriptor may be closed only behind the function it gives: a write that's under
// way otherwise ends up in whatever file has its number by then.
func (l *loop) wakeAt(ctx context.Context) (stopped func()) {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	return func() {
		if !stop() {
			<-woken
		}
	}
}

// wait waits until a socket has something to read, or time is up somewhere.
func (l *loop) wait(list []unix.EpollEvent) (int, error) {
	if l.crowd.on {
		return l.look(list)
	}
	if n, err := pollNow(l.poll, list); n > 0 || err != nil {
		l.yield()
		return n, err
	}
	if began := time.Now(); len(l.byClient) > 0 && began.Sub(l.now) < spin {
		for time.Since(began) < spin {
			if n, err := pollNow(l.poll, list); n > 0 || err != nil {
				l.yield()
				return n, err
			}
		}
	}
	timeout := -1
	if len(l.byClient) > 0 {
		timeout = max(int(l.tick.Milliseconds()), 1)
	}
	n, err := unix.EpollWait(l.poll, list, timeout)
	if errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	return max(n, 0), err
}

// survive is deferred: a panic costs the transfer that it's about, and nobody else's. It would panic again at its next packet.
func (l *loop) survive(r *running) {
	p := recover()
	if p == nil {
		return
	}
	l.s.cfg.Log.Error("a TFTP packet caused a panic", "panic", fmt.Sprint(p))
	if r != nil {
		l.end(r, Aborted, errPanic)
	}
}

// ready reads from a socket.
func (l *loop) ready(fd int) {
	if r := l.bySocket[fd]; r != nil {
		l.read(r)
		return
	}
	defer l.survive(nil)
	switch fd {
	case l.main:
		l.requests()
	case l.wake:
		l.wakened()
	}
}

// read reads from a transfer's own socket.
func (l *loop) read(r *running) {
	defer l.survive(r)
	n, err := readNow(r.fd, l.in)
	switch {
	case err == nil:
		l.crowd.packets++
		l.take(r, l.in[:n])
	case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EMSGSIZE): // A router's word: see peer.send.
		l.end(r, Aborted, err) // The client's port is closed: it has gone.
	}
}

// take takes a packet of a transfer's client.
func (l *loop) take(r *running, b []byte) {
	if len(b) < headerSize {
		return
	}
	switch binary.BigEndian.Uint16(b) {
	case opERROR:
		l.end(r, Aborted, fmt.Errorf("the client says %d", binary.BigEndian.Uint16(b[2:]))) //nolint:err113 // For the log.
	case opACK:
		r.heard = l.now
		before := r.acked
		opening := r.opening
		what, ended := r.ack(binary.BigEndian.Uint16(b[2:]))
		if ended {
			l.end(r, Sent, nil)
			return
		}
		if r.acked != before || opening != r.opening {
			l.send(r, what)
		}
	}
}

// send sends what is due, and waits for an answer to it.
func (l *loop) send(r *running, what burst) {
	r.due = l.now.Add(r.patience(r.timeout))
	var err error
	switch {
	case what.oack:
		err = r.send(r.oack)
	case what.from > 0:
		l.out = l.out[:0]
		for n := what.from; n <= what.to; n++ {
			l.out = append(l.out, 0, opDATA, byte(n>>8&255), byte(n&255))
			if l.out, err = r.fill(l.out, n); err != nil {
				break
			}
		}
		if err == nil {
			err = r.sendAll(l.out, r.block+headerSize)
		}
	}
	if err != nil {
		l.end(r, Aborted, err)
	}
}

// expire sends again what wasn't answered in time, and gives up who is silent.
func (l *loop) expire() {
	if l.now.Sub(l.checked) < l.tick {
		return
	}
	l.checked = l.now
	for _, r := range l.byClient {
		switch {
		case r.dawdles(l.now.Sub(r.began)):
			l.end(r, Aborted, errSlow)
		case !l.now.Before(r.due):
			l.overdue(r)
		}
	}
}

func (l *loop) overdue(r *running) {
	defer l.survive(r)
	what, ended := r.expire()
	if ended {
		l.end(r, Aborted, errSilent)
		return
	}
	l.send(r, what)
}

// end ends a transfer and gives its place back.
func (l *loop) end(r *running, o Outcome, err error) {
	if l.byClient[r.client] != r {
		return
	}
	r.ended = true
	delete(l.byClient, r.client)
	if !r.shared {
		delete(l.bySocket, r.fd)
	}
	r.close()
	r.content.close()
	l.s.limits.release(r.client.Addr())
	l.s.done(o, r.client.Addr(), r.name, err)
	if l.s.cfg.Ended != nil && r.own && !r.content.Again {
		l.s.cfg.Ended()
	}
	if o != Sent {
		return
	}
	if l.s.cfg.Sent != nil {
		l.s.cfg.Sent(r.size, l.now.Sub(r.began))
	}
	if r.content.Arrived != nil {
		r.content.Arrived(int64(r.size))
	}
	if !r.own || r.content.First {
		l.s.saw(r.client.Addr())
	}
}
