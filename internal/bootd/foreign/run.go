package foreign

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

const (
	// turn is how often it's looked for segments that are new here.
	turn = 250 * time.Millisecond
	// regularly is how often a segment is asked whether somebody else is there, waiting how often while it waits to begin.
	regularly = 10 * time.Minute
	waiting   = 30 * time.Second
)

// Run listens and asks until ctx ends. Who may not listen hears of other servers only by the machines that take their offers: that's
// said, and is no reason to serve nobody.
func (w *Watch) Run(ctx context.Context) error {
	defer w.flush()
	var h hearing
	defer h.end()
	asked := map[boot.Name]time.Time{}
	for {
		st := w.o.State()
		if !concerns(st) {
			h.end()
		} else if !h.began {
			h = w.hear(ctx)
		}
		for _, g := range w.listen(st, asked) {
			w.ask(ctx, g)
		}
		w.flush()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(turn):
		}
	}
}

// concerns says whether there's a segment that other servers are looked for on. Where all machines come through relays nobody is heard, and a socket that
// hears all that comes costs each packet of this node something, be it of boots or not.
func concerns(st *boot.State) bool {
	return st != nil && slices.ContainsFunc(st.Segments, watched)
}

// watched says whether other servers are looked for on a segment.
func watched(g boot.Segment) bool {
	return g.Mode == boot.SegmentAuthoritative || g.Mode == boot.SegmentProxy
}

// hearing is a socket by which servers are heard. One that couldn't be had has begun, too: that's said once.
type hearing struct {
	began  bool
	cancel context.CancelFunc
	done   chan struct{}
}

// hear begins to.
func (w *Watch) hear(ctx context.Context) hearing {
	f, err := open()
	if err != nil {
		w.o.Logger.Warn("other DHCP servers are noticed only when a machine takes their offer, and a network whose foreignServer is Refuse begins beside them: give bootd CAP_NET_RAW", "error", err.Error())
		return hearing{began: true}
	}
	ctx, cancel := context.WithCancel(ctx)
	h := hearing{true, cancel, make(chan struct{})}
	go func() {
		defer close(h.done)
		e := &ear{watch: w, places: map[int]placed{}}
		if err := listenTo(ctx, f, e.heard); err != nil {
			w.o.Logger.Warn("other DHCP servers aren't heard any more", "error", err.Error())
		}
	}()
	return h
}

// end waits until nothing is heard any more.
func (h *hearing) end() {
	if h.cancel != nil {
		h.cancel()
		<-h.done
	}
	*h = hearing{}
}

// ask broadcasts a DISCOVER on each interface of a segment: who answers it isn't ours, since ours are silent to its user class. It takes no
// address: an offer that nobody takes is forgotten.
func (w *Watch) ask(ctx context.Context, g boot.Segment) {
	all, err := net.Interfaces()
	if err != nil {
		return
	}
	for i := range all {
		n := &all[i]
		const needed = net.FlagUp | net.FlagBroadcast
		if n.Flags&needed != needed || len(n.HardwareAddr) != 6 || !placeOf(n).in(g) {
			continue
		}
		if err := broadcast(ctx, n.Name, discover(n.HardwareAddr)); err != nil {
			w.o.Logger.Debug("a network can't be asked for other DHCP servers", "network", g.String(), "interface", n.Name, "error", err.Error())
		}
	}
}

// discover is the DISCOVER of a machine that nobody knows: with a MAC that is locally administered, made of the interface's, so that it's
// the same at each time, and isn't that of this node, which may have a lease of its own. Its answer is to be broadcast.
func discover(mac net.HardwareAddr) []byte {
	const size, cookie = 300, 236
	p := make([]byte, size)
	p[0], p[1], p[2] = 1, 1, 6
	_, _ = rand.Read(p[4:8]) // It never fails.
	p[10] = 0x80
	copy(p[28:34], mac)
	p[28] = p[28]&^1 | 2 ^ 8
	class := len(wire.ProbeClass)
	o := []byte{0x63, 0x82, 0x53, 0x63, 53, 1, 1, 55, 3, 1, 3, 54, wire.OptionUserClass, byte(1 + class), byte(class)}
	copy(p[cookie:], append(append(o, wire.ProbeClass...), wire.OptionEnd))
	return p
}

func broadcast(ctx context.Context, name string, data []byte) error {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if cerr := c.Control(func(fd uintptr) { err = unix.SetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE, name) }); cerr != nil {
			return cerr
		}
		return err
	}}
	conn, err := lc.ListenPacket(ctx, "udp4", ":0")
	if err != nil {
		return fmt.Errorf("cannot open a socket: %w", err)
	}
	_, err = conn.WriteTo(data, &net.UDPAddr{IP: net.IPv4bcast, Port: portServer})
	return errors.Join(err, conn.Close())
}
